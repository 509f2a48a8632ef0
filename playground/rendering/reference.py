"""Pages of the reference: attributes with their types, rules and requests to try."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from playground.conformance import RULESETS, Rule
from playground.conformance.locations import locations_of
from playground.protocols import schemas
from playground.protocols.exchange import Version
from playground.protocols.reference import (
    Attribute,
    Condition,
    Document,
    Reference,
    anchor,
    path_of,
    reference,
)
from playground.protocols.reference_changes import Change, changes
from playground.protocols.reference_examples import example_request
from playground.protocols.registry import PROTOCOLS
from playground.rendering.conformance import source_of
from playground.rendering.rules import rule_groups

#: Protocols in the order of the pages: title and description.
ABOUT: Mapping[str, tuple[str, str]] = {
    "nlweb": (
        "NLWeb",
        "Questions in natural language. The response is one document or a stream of events: "
        "results, questions to the user, a promise or a failure.",
    ),
    "agent-api": (
        "Agent API",
        "Messages to an agent. The response consists of messages, whose contents grow "
        "while it is streamed.",
    ),
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
START: Sequence[tuple[str, str]] = (
    ("nlweb", "ask-request"),
    ("nlweb", "answer"),
    ("nlweb", "event-result"),
    ("nlweb", "elicitation"),
    ("nlweb", "promise"),
    ("nlweb", "action"),
)
#: The agents of the playground that requests can be sent to.
_AGENTS: Mapping[tuple[str, str], str] = {
    ("nlweb", "0.54"): "demo",
    ("nlweb", "0.55"): "demo",
    ("agent-api", "1"): "demo-agent-api",
}
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
#: Labels of changes.
CHANGES: Mapping[str, str] = {
    "added": "Added",
    "removed": "Removed",
    "type": "Type",
    "required": "Required",
    "values": "Values",
    "limits": "Limits",
    "default": "Default",
    "condition": "Condition",
}
_MCP_GROUP = "mcp"


class TypePart(NamedTuple):
    """A part of a type: text, or the name of a document."""

    text: str
    is_document: bool = False


@dataclass(frozen=True, slots=True)
class RuleLink:
    """A rule that judges an attribute, a document or a response."""

    id: str
    group: str
    title: str
    level: str


@dataclass(frozen=True, slots=True)
class TryLink:
    """A request in the workbench."""

    agent: str
    protocol: str
    version: str
    #: The request document as JSON.
    request: str


@dataclass(frozen=True, slots=True)
class AttributeView:
    """An attribute as its page shows it."""

    attribute: Attribute
    #: The path without the name, and the name.
    above: str
    label: str
    type: list[TypePart]
    requirement: str
    source: str
    #: JSON of the example, "" for none.
    example: str
    default: str
    #: (value, meaning or "").
    values: list[tuple[str, str]]
    rules: list[RuleLink]
    request: TryLink | None
    #: A request whose response has the attribute.
    response: TryLink | None
    #: Text that the filter searches.
    words: str

    @property
    def documents(self) -> str:
        """Return the documents that a value, or an element, is, for links to attributes in them."""
        names = (*self.attribute.refers_to, *self.attribute.elements_refer_to)
        return " ".join(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as its page shows it."""

    document: Document
    source: str
    example: str
    attributes: list[AttributeView]
    #: Rules on the document as a whole.
    rules: list[RuleLink]
    words: str


@dataclass(frozen=True, slots=True)
class DocumentGroup:
    """Documents of a kind."""

    kind: str
    title: str
    documents: list[DocumentView]


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """The page of a version of a protocol."""

    protocol: str
    version: str
    title: str
    about: str
    groups: list[DocumentGroup]
    #: Rules that judge a response as a whole.
    rules: list[RuleLink]
    #: Other versions of the protocol, as (version, label).
    others: list[tuple[str, str]]
    #: The version before, None without one to compare with.
    previous: tuple[str, str] | None

    @property
    def count(self) -> int:
        """Return the number of attributes."""
        return sum(len(each.attributes) for group in self.groups for each in group.documents)

    def filtered(self, text: str) -> ReferenceView:
        """Return the documents and attributes that contain each word of a text."""
        words = text.casefold().split()
        if not words:
            return self
        groups = (
            replace(group, documents=list(_filtered(group.documents, words)))
            for group in self.groups
        )
        rules = [rule for rule in self.rules if _has_words(_words(rule.id, rule.title), words)]
        return replace(self, groups=[group for group in groups if group.documents], rules=rules)


def _filtered(documents: Iterable[DocumentView], words: Sequence[str]) -> Iterator[DocumentView]:
    for document in documents:
        found = [each for each in document.attributes if _has_words(each.words, words)]
        if found or _has_words(document.words, words):
            yield replace(document, attributes=found)


def _has_words(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def _words(*texts: str) -> str:
    return " ".join(texts).casefold()


# Versions


class VersionLink(NamedTuple):
    """A link to the page of a version."""

    protocol: str
    version: str
    label: str


def version_links(protocol: str = "") -> list[VersionLink]:
    """Return the versions with a reference: of one protocol or of all, the latest ones first."""
    found = [pair for pair in schemas.versions() if protocol in ("", pair[0])]
    names = list(ABOUT)
    found.sort(key=lambda pair: names.index(pair[0]) if pair[0] in names else len(names))
    order = {
        (name, version.name): -at
        for name, spec in PROTOCOLS.items()
        for at, version in enumerate(spec.versions)
    }
    by_protocol = dict.fromkeys(name for name, _ in found)
    return [
        VersionLink(name, version, version_title(name, version))
        for name in by_protocol
        for version in sorted(
            (version for each, version in found if each == name),
            key=lambda version: (order.get((name, version), 0), version),
        )
    ]


def version_title(protocol: str, version: str) -> str:
    """Return the title of a version's page, such as "NLWeb 0.55"."""
    row = _row(protocol, version)
    return row.label if row else ABOUT.get(protocol, (f"{protocol} {version}",))[0]


def _row(protocol: str, version: str) -> Version | None:
    """Return the row of a version in the version table of its protocol."""
    versions = PROTOCOLS[protocol].versions if protocol in PROTOCOLS else ()
    return next((each for each in versions if each.name == version), None)


def previous_version(protocol: str, version: str) -> VersionLink | None:
    """Return the version before, if both can be compared."""
    links = [
        each
        for each in version_links(protocol)
        if (row := _row(protocol, each.version)) and "flat" not in row.traits
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
    documents = [_document_view(found, document, placed) for document in found.documents]
    groups = [
        DocumentGroup(
            kind,
            _KINDS_OF.get((protocol, kind), title),
            [each for each in documents if each.document.kind == kind],
        )
        for kind, title in KINDS.items()
    ]
    previous = previous_version(protocol, version)
    return ReferenceView(
        protocol,
        version,
        version_title(protocol, version),
        ABOUT.get(protocol, ("", ""))[1],
        [group for group in groups if group.documents],
        whole,
        [(e.version, e.label) for e in version_links(protocol) if e.version != version],
        (previous.version, previous.label) if previous else None,
    )


def _document_view(
    found: Reference, document: Document, rules: Mapping[tuple[str, str], list[RuleLink]]
) -> DocumentView:
    attributes = [
        _attribute_view(found, each, rules.get((document.name, each.pointer), []))
        for each in document.attributes
    ]
    example = document.examples[0] if document.examples else None
    return DocumentView(
        document,
        source_of(document.section) if document.section else "",
        _json(example) if example is not None else "",
        attributes,
        rules.get((document.name, ""), []),
        _words(document.name, document.title, document.text, document.section),
    )


def _attribute_view(found: Reference, attribute: Attribute, rules: list[RuleLink]) -> AttributeView:
    label = "any other name" if attribute.name == "*" else attribute.name
    above = path_of(attribute.pointer).removesuffix("*").removesuffix(attribute.name)
    if attribute.name == "0":
        above, label = path_of(attribute.pointer).removesuffix("[]"), "[]"
    values = dict(attribute.values)
    for choice in attribute.choices:
        values.setdefault(choice if isinstance(choice, str) else json.dumps(choice), "")
    return AttributeView(
        attribute,
        above,
        label,
        list(_type_parts(attribute)),
        _requirement(attribute),
        source_of(attribute.section) if attribute.section else "",
        _json(attribute.example) if attribute.example is not None else "",
        json.dumps(attribute.default) if attribute.default is not None else "",
        list(values.items()),
        rules,
        _try_link(found, attribute),
        None,
        _words(
            f"{attribute.document}.{attribute.path}",
            attribute.text,
            attribute.otherwise,
            attribute.section,
            *attribute.types,
            *values,
            *values.values(),
            *(rule.id for rule in rules),
        ),
    )


def _json(value: Any) -> str:
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) <= 60 else json.dumps(value, ensure_ascii=False, indent=2)


def _type_parts(attribute: Attribute) -> Iterator[TypePart]:
    """Yield the type of an attribute as text: `string or null`, `array of item`."""
    elements = [TypePart(name, is_document=True) for name in attribute.elements_refer_to]
    elements += [
        TypePart(name)
        for name in attribute.element_types
        if name != "object" or not attribute.elements_refer_to
    ]
    parts = [[TypePart(name, is_document=True)] for name in attribute.refers_to]
    for name in attribute.types:
        if name == "array" and elements:
            parts.append([TypePart("array of "), *_joined([[each] for each in elements])])
        elif name != "object" or not attribute.refers_to:
            parts.append([TypePart(name)])
    yield from _joined(sorted(parts, key=lambda part: part[0].text == "null"))
    if not parts:
        yield TypePart("any type")


def _joined(parts: Sequence[Sequence[TypePart]]) -> Iterator[TypePart]:
    for at, part in enumerate(parts):
        if at:
            yield TypePart(" or ")
        yield from part


def _requirement(attribute: Attribute) -> str:
    if attribute.is_required:
        conditions = attribute.conditions
        return f"Required if {_conditions(conditions)}" if conditions else "Required"
    if attribute.required_if:
        return f"Required if {_conditions(attribute.required_if)}"
    if attribute.is_alternative:
        return "Required in one of several forms"
    return f"Only if {_conditions(attribute.conditions)}" if attribute.conditions else "Optional"


def _conditions(conditions: Iterable[Iterable[Condition]]) -> str:
    return ", or ".join(
        dict.fromkeys(" and ".join(_condition(each) for each in all_of) for all_of in conditions)
    )


def _condition(condition: Condition) -> str:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in condition.values]
    if not texts:
        return f"{condition.name} is {'omitted' if condition.is_negated else 'set'}"
    if condition.is_negated:
        return f"{condition.name} is not {' or '.join(texts)}"
    if condition.may_be_missing:
        texts.append("omitted")
    return f"{condition.name} is {' or '.join(texts)}"


def _try_link(found: Reference, attribute: Attribute) -> TryLink | None:
    agent = _AGENTS.get((found.protocol, found.version))
    request = example_request(found, attribute) if agent else None
    if agent is None or request is None:
        return None
    text = json.dumps(request, ensure_ascii=False)
    return TryLink(agent, found.protocol, found.version, text)


# Rules


def _rules_of(
    found: Reference,
) -> tuple[dict[tuple[str, str], list[RuleLink]], list[RuleLink]]:
    """Return the rules of a version by document and pointer, and those on a whole response."""
    groups = {rule.id: group.slug for group in rule_groups() for rule in group.rules}
    placed: dict[tuple[str, str], list[RuleLink]] = {}
    whole: list[RuleLink] = []
    for rule in _rules(found):
        level = rule.requirement(found.version).level.value
        link = RuleLink(rule.id, groups[rule.id], rule.title, level)
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


def _rules(found: Reference) -> Iterator[Rule[Any]]:
    """Yield the rules on documents of a version."""
    if found.protocol == _MCP_GROUP:
        groups = [group for group in rule_groups() if group.slug == _MCP_GROUP]
        yield from (rule for group in groups for rule in group.rules)
    elif ruleset := RULESETS.get((found.protocol, "http")):
        yield from (rule for rule in ruleset.rules if found.version in rule.requirements)


class AttributeLink(NamedTuple):
    """A link to an attribute, or to a document."""

    label: str
    anchor: str


class VersionAttributes(NamedTuple):
    """Attributes that a rule judges in a version."""

    link: VersionLink
    attributes: list[AttributeLink]


@lru_cache(maxsize=512)
def attributes_of_rule(rule: str) -> tuple[VersionAttributes, ...]:
    """Return the attributes that a rule judges, by version; () for a response as a whole."""
    found: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for each in locations_of(rule):
        pair = (each.protocol, each.version)
        if pair in schemas.versions():
            places = reference(*pair).find(each.schema, each.pointer)
            found.setdefault(pair, {}).update(dict.fromkeys(places))
    return tuple(
        VersionAttributes(
            link,
            [AttributeLink(_label(*place), anchor(*place)) for place in found[link[:2]]],
        )
        for link in version_links()
        if link[:2] in found
    )


def _label(document: str, pointer: str) -> str:
    return f"{document}: {path_of(pointer)}" if pointer else document


# Changes


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change between two versions as a row of its table."""

    label: str
    kind: str
    document: str
    #: The attribute, "" for the document as a whole.
    path: str
    #: Anchor on the page of the version that has it.
    anchor: str
    version: str
    before: str
    after: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangesView:
    """The page of changes from the previous version."""

    older: VersionLink
    newer: VersionLink
    changes: list[ChangeView]
    #: (label, before, after) of what schemas do not say.
    traits: list[tuple[str, str, str]]


@lru_cache(maxsize=8)
def changes_view(protocol: str, version: str) -> ChangesView | None:
    """Return the changes from the previous version; None without one.

    Raises `ValueError` for a version without schemas.
    """
    newer = reference(protocol, version)
    link = previous_version(protocol, version)
    if link is None:
        return None
    older = reference(protocol, link.version)
    rows = (_change_view(change, older, newer) for change in changes(older, newer))
    return ChangesView(
        link,
        VersionLink(protocol, version, version_title(protocol, version)),
        list(rows),
        list(_trait_rows(protocol, link.version, version)),
    )


def _change_view(change: Change, older: Reference, newer: Reference) -> ChangeView:
    version = older.version if change.kind == "removed" else newer.version
    return ChangeView(
        CHANGES[change.kind],
        change.kind,
        change.document,
        path_of(change.pointer),
        anchor(change.document, change.pointer),
        version,
        _listed(change.before),
        _listed(change.after),
        change.text,
    )


def _trait_rows(protocol: str, older: str, newer: str) -> Iterator[tuple[str, str, str]]:
    before, after = _row(protocol, older), _row(protocol, newer)
    for name, label in _TRAITS.items():
        if before and after and before.traits.get(name) != after.traits.get(name):
            yield label, _trait(before.traits.get(name)), _trait(after.traits.get(name))


def _trait(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else _SUMMARY_IN.get(value, str(value))


def _listed(values: Sequence[Any]) -> str:
    return ", ".join(each if isinstance(each, str) else json.dumps(each) for each in values)


# The first page


@dataclass(frozen=True, slots=True)
class ProtocolView:
    """A protocol on the first page."""

    name: str
    title: str
    about: str
    versions: list[VersionLink]
    #: Documents of the latest version.
    documents: list[DocumentView]
    #: The version with a page of changes, None for none.
    changed: VersionLink | None


@lru_cache(maxsize=1)
def protocol_views() -> tuple[ProtocolView, ...]:
    """Return the protocols with a reference."""
    found = []
    for name in dict.fromkeys(link.protocol for link in version_links()):
        links = version_links(name)
        latest = reference_view(name, links[0].version)
        title, about = ABOUT.get(name, (latest.title, ""))
        documents = [each for group in latest.groups for each in group.documents]
        changed = next((each for each in links if previous_version(name, each.version)), None)
        found.append(ProtocolView(name, title, about, links, documents, changed))
    return tuple(found)


class StartLink(NamedTuple):
    """A document to begin with."""

    version: VersionLink
    document: Document


@lru_cache(maxsize=1)
def start_links() -> tuple[StartLink, ...]:
    """Return the documents to begin with."""
    found = []
    for protocol, name in START:
        links = version_links(protocol)
        document = reference(*links[0][:2]).document(name) if links else None
        if document is not None:
            found.append(StartLink(links[0], document))
    return tuple(found)
