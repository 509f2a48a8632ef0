"""Pages of the reference: attributes with their types, rules and requests to try."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from playground.conformance import RULESETS, Rule
from playground.conformance.locations import locations_of
from playground.generated import REFERENCE_RESPONSES, read
from playground.protocols import registry, schemas
from playground.protocols.explanations import Condition
from playground.protocols.reference import (
    Attribute,
    Document,
    Reference,
    anchor,
    changes,
    example_request,
    path_of,
    reference,
    text_of,
)
from playground.protocols.registry import PROTOCOLS
from playground.reference.rules import rule_groups
from playground.verdicts.conformance import RULES, source_of

#: Protocols in the order of the pages: title and description.
ABOUT: Mapping[str, tuple[str, str]] = {
    **{name: (row.label, row.about) for name, row in PROTOCOLS.items()},
    "http": (
        "HTTP",
        "Request line, headers, status codes and event streams, which transport every protocol.",
    ),
    "mcp": ("MCP", "JSON-RPC messages that transport NLWeb requests as calls of tools."),
    "a2a": ("A2A", "Agent cards and messages, for actions of results."),
    "playground": ("Playground", "Terms on these pages: states, outcomes, events and frames."),
}
#: Headings of the kinds of documents.
KINDS: Mapping[str, str] = {
    "request": "Requests",
    "response": "Responses",
    "event": "Events of a stream",
    "document": "Documents",
    "part": "Parts",
}
_KINDS_OF: Mapping[tuple[str, str], str] = {
    ("http", "document"): "Parts of HTTP",
    ("playground", "document"): "Terms",
}
#: Where to begin: protocol and document, in the latest version.
START: Sequence[tuple[str, str]] = tuple(
    (protocol, name) for protocol, row in PROTOCOLS.items() for name in row.starts
)
#: Labels of what a version table says and schemas do not.
_TRAITS: Mapping[str, str] = {
    "meta_fields": "Names of the metadata of a response",
    "version_fields": "Names of the version",
    "stream_events": "Events of a stream",
    "summary_in": "Location of a summary",
    "question_types": "Types of questions",
    "error_codes": "Error codes",
    "default_format": "Default of prefer.response_format",
}
_SUMMARY_IN: Mapping[str, str] = {
    "meta": "_meta.summary",
    "item": "an item of type SearchSummary",
}

#: A part of a type, and whether it is the name of a document.
TypePart = tuple[str, bool]


class RuleLink(NamedTuple):
    """A rule that judges an attribute, a document or a response."""

    rule: Rule[Any]
    group: str
    level: str


@dataclass(frozen=True, slots=True)
class TryLink:
    """A request in the workbench."""

    agent: str
    protocol: str
    version: str
    #: The request document as JSON.
    request: str

    @property
    def query(self) -> str:
        return urlencode(asdict(self), quote_via=quote, safe="")


@dataclass(frozen=True)
class AttributeView:
    """An attribute as its page shows it."""

    attribute: Attribute
    rules: list[RuleLink]
    request: TryLink | None
    #: A request whose response has the attribute.
    response: TryLink | None

    @property
    def label(self) -> str:
        return {"*": "any other name", "0": "[]"}.get(self.attribute.name, self.attribute.name)

    @property
    def above(self) -> str:
        """Return the path without the name."""
        name = "[]" if self.attribute.name == "0" else self.attribute.name
        return self.attribute.path.removesuffix(name)

    @property
    def type(self) -> list[TypePart]:
        return list(_type_parts(self.attribute))

    @property
    def requirement(self) -> str:
        found = self.attribute
        if found.is_required:
            conditions = found.conditions
            return f"Required if {_conditions(conditions)}" if conditions else "Required"
        if found.required_if:
            return f"Required if {_conditions(found.required_if)}"
        if found.is_alternative:
            return "Required in one of several forms"
        if found.name == "0":
            return ""
        return f"Only if {_conditions(found.conditions)}" if found.conditions else "Optional"

    @property
    def source(self) -> str:
        return _source(self.attribute.section)

    @property
    def example(self) -> str:
        return _json(self.attribute.example)

    @property
    def default(self) -> str:
        return _json(self.attribute.default)

    @cached_property
    def values(self) -> list[tuple[str, str]]:
        """Return each value with its meaning, or ""."""
        values = dict(self.attribute.values)
        for choice in self.attribute.choices:
            values.setdefault(text_of(choice), "")
        return list(values.items())

    @property
    def has_meanings(self) -> bool:
        return any(meaning for _, meaning in self.values)

    @property
    def documents(self) -> str:
        """Return the documents that a value, or an element, is, for links to attributes in them."""
        names = (*self.attribute.refers_to, *self.attribute.elements_refer_to)
        return " ".join(dict.fromkeys(names))

    @cached_property
    def words(self) -> str:
        """Return the text that the filter searches."""
        found = self.attribute
        return _words(
            f"{found.document}.{found.path}",
            *(found.text, found.otherwise, found.section, *found.types),
            *(text for pair in self.values for text in pair),
            *(link.rule.id for link in self.rules),
        )


@dataclass(frozen=True)
class DocumentView:
    """A document as its page shows it."""

    document: Document
    #: Key and title of the kind of documents that it is listed with.
    heading: tuple[str, str]
    attributes: list[AttributeView]
    #: Rules on the document as a whole.
    rules: list[RuleLink]

    @property
    def is_list(self) -> bool:
        """Return whether it is a list of terms: its attributes are no members of an object."""
        return not any(each.types or each.refers_to for each in self.document.attributes)

    @property
    def source(self) -> str:
        return _source(self.document.section)

    @property
    def example(self) -> str:
        return _json(next(iter(self.document.examples), None))

    @property
    def words(self) -> str:
        found = self.document
        return _words(found.name, found.title, found.text, found.section)


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """The page of a version of a protocol."""

    protocol: str
    version: str
    documents: list[DocumentView]
    #: Rules that judge a response as a whole.
    rules: list[RuleLink]

    @property
    def title(self) -> str:
        return version_title(self.protocol, self.version)

    @property
    def about(self) -> str:
        return ABOUT.get(self.protocol, ("", ""))[1]

    @property
    def others(self) -> list[VersionLink]:
        return [each for each in version_links(self.protocol) if each.version != self.version]

    @property
    def previous(self) -> VersionLink | None:
        return previous_version(self.protocol, self.version)

    @property
    def count(self) -> int:
        return sum(len(each.attributes) for each in self.documents)

    def filtered(self, text: str) -> ReferenceView:
        """Return the documents and attributes that contain each word of a text."""
        words = text.casefold().split()
        if not words:
            return self
        documents = []
        for each in self.documents:
            found = [row for row in each.attributes if _has_words(row.words, words)]
            if found or _has_words(each.words, words):
                documents.append(replace(each, attributes=found))
        rules = [
            link for link in self.rules if _has_words(_words(link.rule.id, link.rule.title), words)
        ]
        return replace(self, documents=documents, rules=rules)


def _has_words(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def _words(*texts: str) -> str:
    return " ".join(texts).casefold()


def _source(section: str) -> str:
    return source_of(section) if section else ""


def _json(value: Any) -> str:
    """Return a value as JSON, on one line if it is short; "" for None."""
    if value is None:
        return ""
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= 60 else json.dumps(value, ensure_ascii=False, indent=2)


# Versions


class VersionLink(NamedTuple):
    """A link to the page of a version."""

    protocol: str
    version: str
    label: str


def version_links(protocol: str = "") -> list[VersionLink]:
    """Return the versions with a reference: of one protocol or of all, the latest ones first."""
    names = list(ABOUT)

    def order(pair: tuple[str, str]) -> tuple[int, str, int, str]:
        name, version = pair
        rows = PROTOCOLS[name].versions if name in PROTOCOLS else ()
        at = next((at for at, row in enumerate(rows) if row.name == version), 0)
        return names.index(name) if name in names else len(names), name, -at, version

    found = sorted((p for p in schemas.versions() if protocol in ("", p[0])), key=order)
    return [VersionLink(*pair, version_title(*pair)) for pair in found]


def version_title(protocol: str, version: str) -> str:
    """Return the title of a version's page, such as "NLWeb 0.55"."""
    row = registry.version(protocol, version)
    return row.label if row else ABOUT.get(protocol, (f"{protocol} {version}",))[0]


def previous_version(protocol: str, version: str) -> VersionLink | None:
    """Return the version before, if both can be compared."""
    links = [
        each
        for each in version_links(protocol)
        if (row := registry.version(protocol, each.version)) and "flat" not in row.traits
    ]
    names = [each.version for each in links]
    at = names.index(version) + 1 if version in names else len(links)
    return links[at] if at < len(links) else None


# The page of a version


@lru_cache(maxsize=32)
def reference_view(protocol: str, version: str) -> ReferenceView:
    """Return the page of a version. Raises `ValueError` for one without schemas."""
    found = reference(protocol, version)
    placed, whole = _rules_of(found)
    shown = _requests_by_response(found)
    documents = [
        DocumentView(
            document,
            (document.kind, _KINDS_OF.get((protocol, document.kind), KINDS[document.kind])),
            [
                AttributeView(
                    each,
                    placed.get(place, []),
                    _try_link(found, each),
                    shown.get(place) if found.request_location(each) is None else None,
                )
                for each in document.attributes
                for place in [(document.name, each.pointer)]
            ],
            placed.get((document.name, ""), []),
        )
        for document in found.documents
    ]
    return ReferenceView(protocol, version, documents, whole)


def _type_parts(attribute: Attribute) -> Iterator[TypePart]:
    """Yield the type of an attribute as text: `string or null`, `array of item`."""
    elements = [(name, True) for name in attribute.elements_refer_to]
    elements += [
        (name, False)
        for name in attribute.element_types
        if name != "object" or not attribute.elements_refer_to
    ]
    parts = [[(name, True)] for name in attribute.refers_to]
    for name in attribute.types:
        if name == "array" and elements:
            parts.append([("array of ", False), *_joined([[each] for each in elements])])
        elif name != "object" or not attribute.refers_to:
            parts.append([(name, False)])
    yield from _joined(sorted(parts, key=lambda part: part[0][0] == "null"))
    if not parts:
        yield "any type", False


def _joined(parts: Sequence[Sequence[TypePart]]) -> Iterator[TypePart]:
    for at, part in enumerate(parts):
        if at:
            yield " or ", False
        yield from part


def _conditions(conditions: Iterable[Iterable[Condition]]) -> str:
    return ", or ".join(
        dict.fromkeys(" and ".join(_condition(each) for each in all_of) for all_of in conditions)
    )


def _condition(condition: Condition) -> str:
    texts = [text_of(each) for each in condition.values]
    if not texts:
        return f"{condition.name} is {'omitted' if condition.is_negated else 'set'}"
    if condition.is_negated:
        return f"{condition.name} is not {' or '.join(texts)}"
    if condition.may_be_missing:
        texts.append("omitted")
    return f"{condition.name} is {' or '.join(texts)}"


def _try_link(found: Reference, attribute: Attribute) -> TryLink | None:
    row = PROTOCOLS.get(found.protocol)
    agent = row.demo_agents.get(found.version) if row else None
    request = example_request(found, attribute) if agent else None
    if agent is None or request is None:
        return None
    text = json.dumps(request, ensure_ascii=False)
    return TryLink(agent, found.protocol, found.version, text)


def _requests_by_response(found: Reference) -> dict[tuple[str, str], TryLink]:
    """Return a request for each attribute that a response of the demo agent has."""
    shown: dict[tuple[str, str], TryLink] = {}
    for row in read(REFERENCE_RESPONSES):
        if (row["protocol"], row["version"]) != (found.protocol, found.version):
            continue
        text = json.dumps(row["request"], ensure_ascii=False)
        link = TryLink(row["agent"], found.protocol, found.version, text)
        for each in row["shows"]:
            document, _, pointer = each.partition("#")
            for place in found.find(document, pointer, is_exact=True):
                shown.setdefault(place, link)
    return shown


# Rules


def _rules_of(
    found: Reference,
) -> tuple[dict[tuple[str, str], list[RuleLink]], list[RuleLink]]:
    """Return the rules of a version by document and pointer, and those on a whole response."""
    placed: dict[tuple[str, str], list[RuleLink]] = {}
    whole: list[RuleLink] = []
    for rule in _rules(found):
        level = rule.requirement(found.version).level.value
        link = RuleLink(rule, RULES[rule.id][1], level)
        places = dict.fromkeys(
            place
            for each in locations_of(rule.id)
            if (each.protocol, each.version) == (found.protocol, found.version)
            for place in found.find(each.schema, each.pointer)
        )
        for place in places:
            placed.setdefault(place, []).append(link)
        if not places:
            whole.append(link)
    return placed, whole


def _rules(found: Reference) -> Iterable[Rule[Any]]:
    if found.protocol == "mcp":
        return [rule for group in rule_groups() if group.slug == "mcp" for rule in group.rules]
    if found.protocol == "http":
        rules = {rule.id: rule for group in rule_groups() for rule in group.rules}
        protocols = {name: {each.protocol for each in locations_of(name)} for name in rules}
        return [rule for name, rule in rules.items() if "http" in protocols[name]]
    ruleset = RULESETS.get((found.protocol, "http"))
    return [r for r in ruleset.rules if found.version in r.requirements] if ruleset else ()


@lru_cache(maxsize=512)
def attributes_of_rule(rule: str) -> list[tuple[VersionLink, list[tuple[str, str]]]]:
    """Return the attributes that a rule judges, by version, as (label, anchor).

    Empty for one about a response as a whole.
    """
    found: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for each in locations_of(rule):
        pair = (each.protocol, each.version)
        if pair in schemas.versions():
            places = reference(*pair).find(each.schema, each.pointer)
            found.setdefault(pair, {}).update(dict.fromkeys(places))
    return [
        (link, [(_label(*place), anchor(*place)) for place in found[link[:2]]])
        for link in version_links()
        if link[:2] in found
    ]


def _label(document: str, pointer: str) -> str:
    return f"{document}: {path_of(pointer)}" if pointer else document


# Changes


@lru_cache(maxsize=8)
def changes_view(protocol: str, version: str) -> dict[str, Any] | None:
    """Return the page of the changes from the previous version; None without one.

    Raises `ValueError` for a version without schemas.
    """
    newer = reference(protocol, version)
    older = previous_version(protocol, version)
    if older is None:
        return None
    return {
        "older": older,
        "newer": VersionLink(protocol, version, version_title(protocol, version)),
        "changes": changes(reference(protocol, older.version), newer),
        "traits": list(_trait_rows(protocol, older.version, version)),
    }


def _trait_rows(protocol: str, older: str, newer: str) -> Iterator[tuple[str, str, str]]:
    """Yield label, value before and value after of what schemas do not say."""
    before, after = registry.version(protocol, older), registry.version(protocol, newer)
    for name, label in _TRAITS.items():
        if before and after and before.traits.get(name) != after.traits.get(name):
            yield label, _trait(before.traits.get(name)), _trait(after.traits.get(name))


def _trait(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else _SUMMARY_IN.get(value, str(value))


# The first page


@lru_cache(maxsize=1)
def protocol_views() -> list[dict[str, Any]]:
    """Return the protocols with their versions and the documents of the latest one."""
    found = []
    for name in dict.fromkeys(link.protocol for link in version_links()):
        links = version_links(name)
        title, about = ABOUT.get(name, (links[0].label, ""))
        found.append(
            {
                "name": name,
                "title": title,
                "about": about,
                "versions": links,
                "documents": reference(name, links[0].version).documents,
                #: The version with a page of changes, None for none.
                "changed": next((e for e in links if previous_version(name, e.version)), None),
            }
        )
    return found


@lru_cache(maxsize=1)
def start_links() -> list[tuple[VersionLink, Document]]:
    """Return the documents to begin with."""
    found = []
    for protocol, name in START:
        link = version_links(protocol)[0]
        if document := reference(protocol, link.version).document(name):
            found.append((link, document))
    return found
