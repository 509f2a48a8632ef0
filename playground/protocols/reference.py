"""Reference of a protocol: every attribute of every document, read from its JSON Schemas.

A reference has one document for each schema file and one attribute for each name in it. A schema
that another one refers to by its file is a document of its own, so each attribute occurs once, and
`Reference.find` follows the references from a location in a whole document. `changes` compares two
versions, `example_request` uses one attribute.

A location of an attribute is a JSON Pointer in which `0` is any element of an array and `*` any
name that the schema does not list. Conditions in a schema (`if`) are kept as conditions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from playground.protocols import schemas
from playground.protocols.explanations import (
    ELEMENT,
    OTHER,
    Condition,
    Node,
    children,
    expanded,
    explain_in,
)
from playground.protocols.json_pointer import escape, keys_of, resolve
from playground.protocols.schema_check import Schema

#: Levels of attributes in one document.
_MAX_DEPTH = 12
_REQUEST = re.compile(r"(^|-)request$")
_EVENT = re.compile(r"^event(-|$)")
#: Keywords that limit a value, with their meaning.
_LIMITS: Mapping[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "minimum length {}",
    "maxLength": "maximum length {}",
    "minItems": "minimum number of elements {}",
    "maxItems": "maximum number of elements {}",
    "pattern": "matches {}",
    "format": "format {}",
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name in a document, with everything that its schema says."""

    #: Name of the document's schema.
    document: str
    pointer: str
    name: str
    #: Names of JSON types; () if it is a document, or of any type.
    types: tuple[str, ...]
    #: The same for the elements of an array.
    element_types: tuple[str, ...]
    #: Names of the documents that a value may be, and an element of it.
    refers_to: tuple[str, ...]
    elements_refer_to: tuple[str, ...]
    #: Whether it is required whenever the conditions apply.
    is_required: bool
    #: Whether it is required in one of several forms only.
    is_alternative: bool
    #: Each a list of conditions that apply together; () if the attribute is always defined.
    conditions: tuple[tuple[Condition, ...], ...]
    #: The same for when it is required, if it is not always.
    required_if: tuple[tuple[Condition, ...], ...]
    #: The only allowed values, () for any.
    choices: tuple[Any, ...]
    #: Limits of the value, as text.
    limits: tuple[str, ...]
    #: The default, or None for none.
    default: Any
    #: One sentence, "" if the schema has none.
    text: str
    section: str
    example: Any
    otherwise: str
    #: Meanings of single values.
    values: Mapping[str, str]

    @property
    def anchor(self) -> str:
        """Return the name of its anchor: its document, and its location there."""
        return anchor(self.document, self.pointer)

    @property
    def depth(self) -> int:
        """Return the number of names above it in the document."""
        return sum(key != ELEMENT for key in keys_of(self.pointer)) - 1

    @property
    def path(self) -> str:
        """Return its location as people write it, such as `elicitation.questions[].id`."""
        return path_of(self.pointer)

    @property
    def is_listed(self) -> bool:
        """Return whether the specification has this very name."""
        return [key for key in keys_of(self.pointer) if key != ELEMENT][-1] != OTHER


@dataclass(frozen=True, slots=True)
class Document:
    """A request, a response, an event or a part of one."""

    name: str
    title: str
    text: str
    section: str
    examples: tuple[Any, ...]
    #: "request", "response", "event", "part", or "document" for all others.
    kind: str
    attributes: tuple[Attribute, ...]
    #: Names of the documents that it may be, too.
    alternatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """All documents of a version of a protocol."""

    protocol: str
    version: str
    documents: tuple[Document, ...]
    _roots: Mapping[str, Schema] = field(repr=False)
    #: The references of each document to others, as (pointer, document).
    _references: Mapping[str, Sequence[tuple[str, str]]] = field(repr=False)

    def document(self, name: str) -> Document | None:
        return next((each for each in self.documents if each.name == name), None)

    def attributes(self) -> Iterator[Attribute]:
        for document in self.documents:
            yield from document.attributes

    def attribute(self, document: str, pointer: str) -> Attribute | None:
        found = self.document(document)
        attributes = found.attributes if found else ()
        return next((each for each in attributes if each.pointer == pointer), None)

    def find(
        self, document: str, pointer: str, *, is_exact: bool = False
    ) -> tuple[tuple[str, str], ...]:
        """Return the places that describe a location, as (document, pointer).

        There are several where documents describe the same value together. A location that is not
        described has the nearest place above it, at the last the document itself: its pointer is
        "". With `is_exact` it has none. Empty for a document that does not exist.
        """
        if document not in self._roots:
            return ()
        root = self._roots[document]
        nodes = [Node.of(root, document)]
        for key in keys_of(pointer):
            below = children(expanded(root, nodes), key)
            if not below and is_exact:
                return ()
            if not below:
                break
            nodes = below
        return tuple(dict.fromkeys(self._described(each.document, each.pointer) for each in nodes))

    def _described(self, document: str, pointer: str) -> tuple[str, str]:
        """Return a place that has an anchor: this one or the nearest above it."""
        while pointer and self.attribute(document, pointer) is None:
            pointer = pointer.rpartition("/")[0]
        return document, pointer

    def request_location(self, attribute: Attribute) -> tuple[str, str] | None:
        """Return the request document that an attribute is part of, and its location there.

        None if it is not part of a request.
        """
        for each in self.documents:
            if each.kind == "request":
                above = self._location_of(attribute.document, each.name)
                if above is not None:
                    return each.name, above + attribute.pointer
        return None

    def _location_of(self, part: str, start: str) -> str | None:
        """Return the pointer of the first value in a document that is a part."""
        waiting, seen = [(start, "")], {start}
        while waiting:
            name, above = waiting.pop(0)
            if name == part:
                return above
            for pointer, other in self._references[name]:
                if other not in seen:
                    seen.add(other)
                    waiting.append((other, above + pointer))
        return None


@lru_cache(maxsize=32)
def reference(protocol: str, version: str) -> Reference:
    """Raises `ValueError` for a version without schemas."""
    names = schemas.names(protocol, version)
    roots = {name: schemas.load(protocol, version, name) for name in names}
    return read_reference(protocol, version, roots)


def read_reference(protocol: str, version: str, roots: Mapping[str, Schema]) -> Reference:
    """Return the reference of schemas by their names."""
    places = {name: dict(_places(root, [Node.of(root, name)])) for name, root in roots.items()}
    references = {
        name: [(at, other) for at, nodes in found.items() for other in _documents_of(nodes)]
        for name, found in places.items()
    }
    documents = [
        Document(
            name,
            str(root.get("title", name)),
            found.text if found else "",
            found.section if found else "",
            tuple(root.get("examples", ())),
            _kind(name, references),
            tuple(_attributes(root, places[name])),
            _documents_of(places[name][""]),
        )
        for name, root in roots.items()
        for found in [explain_in(root, "")]
    ]
    documents.sort(key=lambda each: (_KINDS.index(each.kind), each.name != "response", each.name))
    return Reference(protocol, version, tuple(documents), roots, references)


def anchor(document: str, pointer: str) -> str:
    """Return the name of the anchor of a place, which can stand in a URL as it is."""
    return quote(f"{document}{pointer}", safe="/~@*$!+")


def path_of(pointer: str) -> str:
    """Return a pointer of a reference as people write it: `questions[].id`."""
    text = ""
    for key in keys_of(pointer):
        text += "[]" if key == ELEMENT and text else f".{key}" if text else key
    return text


# Documents

_KINDS = ("request", "response", "event", "document", "part")


def _kind(name: str, references: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    if _REQUEST.search(name):
        return "request"
    if name == "response" or ("", name) in references.get("response", ()):
        return "response"
    if _EVENT.search(name):
        return "event"
    is_part = any(
        other == name and pointer and document != name
        for document, found in references.items()
        for pointer, other in found
    )
    return "part" if is_part else "document"


#: The schemas that apply at each place of a document, outer places first.
_Places = Mapping[str, Sequence[Node]]


def _places(
    root: Schema, nodes: Sequence[Node], pointer: str = "", depth: int = 0
) -> Iterator[tuple[str, Sequence[Node]]]:
    found = list(expanded(root, nodes, within_document=True))
    yield pointer, found
    own = _own(found)
    for name in dict.fromkeys(name for node in own for name in node.names):
        if depth < _MAX_DEPTH:
            at = f"{pointer}/{escape(name)}"
            below = [each for each in children(own, name) if each.pointer == at]
            yield from _places(root, below, at, depth + 1)


def _own(nodes: Iterable[Node]) -> list[Node]:
    """Return the schemas of a document itself, without the documents that it refers to."""
    return [node for node in nodes if not node.is_reference]


def _documents_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return the names of the documents that a value may be."""
    return tuple(dict.fromkeys(node.document for node in nodes if node.is_reference))


def _attributes(root: Schema, places: _Places) -> Iterator[Attribute]:
    for pointer, nodes in places.items():
        is_described = any("description" in each.schema for each in _own(nodes))
        # An element has a row of its own if there is something to say about it.
        if pointer and (is_described or not pointer.endswith(f"/{ELEMENT}")):
            yield _attribute(root, places, pointer)


def _attribute(root: Schema, places: _Places, pointer: str) -> Attribute:
    nodes, elements = places[pointer], places.get(f"{pointer}/{ELEMENT}", ())
    own, name = _own(nodes), keys_of(pointer)[-1]
    conditions = _conditions_of(nodes)
    around = places[pointer.rpartition("/")[0]]
    requiring = [node for node in around if name in node.schema.get("required", ())]
    required_if = _conditions_of(node for node in requiring if not node.is_alternative)
    is_required = any(not node.is_alternative and not node.conditions for node in requiring)
    is_required |= bool(conditions and set(conditions) <= set(required_if))
    found = explain_in(root, pointer)
    limits = [
        text.format(node.schema[keyword])
        for node in own
        for keyword, text in _LIMITS.items()
        if keyword in node.schema
    ]
    return Attribute(
        document=nodes[0].document,
        pointer=pointer,
        name=name,
        types=_types_of(nodes),
        element_types=_types_of(elements),
        refers_to=_documents_of(nodes),
        elements_refer_to=_documents_of(elements),
        is_required=is_required,
        is_alternative=not is_required and any(node.is_alternative for node in requiring),
        conditions=conditions,
        required_if=() if is_required else required_if,
        choices=_choices_of(own),
        limits=tuple(dict.fromkeys(limits)),
        default=next((node.schema["default"] for node in own if "default" in node.schema), None),
        text=found.text if found else "",
        section=found.section if found else "",
        # The document that it refers to has its own example.
        example=found.example if found and any("examples" in node.schema for node in own) else None,
        otherwise=found.otherwise if found else "",
        values=found.values if found else {},
    )


def _conditions_of(nodes: Iterable[Node]) -> tuple[tuple[Condition, ...], ...]:
    """Return when schemas apply, () if one of them always does."""
    found = [node.conditions for node in nodes]
    return tuple(dict.fromkeys(found)) if all(found) else ()


_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}


def _types_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return the types of a value, null last; () if it is a document, or of any type."""
    found: dict[str, None] = {}
    for node in _own(nodes):
        schema = node.schema
        named = schema.get("type", [])
        names = [named] if isinstance(named, str) else list(named)
        if not names and ("enum" in schema or "const" in schema):
            names = [_TYPES[type(value)] for value in schema.get("enum", [schema.get("const")])]
        if not names and "properties" in schema:
            names = ["object"]
        if not names and "items" in schema:
            names = ["array"]
        found |= dict.fromkeys(names)
    return tuple(sorted(found, key=lambda name: name == "null"))


def _choices_of(nodes: Iterable[Node]) -> tuple[Any, ...]:
    """Return the allowed values, without those that other forms allow by type only."""
    found: list[Any] = []
    for node in nodes:
        listed = node.schema.get("enum", [node.schema["const"]] if "const" in node.schema else [])
        found += [value for value in listed if value not in found]
    return tuple(found)


# Changes between two versions: documents and attributes

#: What may change about an attribute, and how to read it.
ASPECTS: Mapping[str, Callable[[Attribute], tuple[str, ...]]] = {
    "type": lambda attribute: (
        *attribute.types,
        *attribute.refers_to,
        *(f"elements: {name}" for name in (*attribute.element_types, *attribute.elements_refer_to)),
    ),
    "required": lambda attribute: (requirement(attribute),),
    "values": lambda attribute: tuple(
        dict.fromkeys((*map(text_of, attribute.choices), *attribute.values))
    ),
    "limits": lambda attribute: attribute.limits,
    "default": lambda attribute: () if attribute.default is None else (text_of(attribute.default),),
    "condition": lambda attribute: tuple(
        f"{each.name} = {text_of(value)}"
        for together in attribute.conditions
        for each in together
        for value in each.values
    ),
}


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a document or of an attribute."""

    #: "added", "removed" or a key of `ASPECTS`.
    kind: str
    #: Name of the document.
    document: str
    #: "" for the document as a whole.
    pointer: str
    #: Values that only the older or only the newer version has.
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    #: The meaning, in the version that has it, or in the newer one.
    text: str = ""

    @property
    def anchor(self) -> str:
        return anchor(self.document, self.pointer)

    @property
    def path(self) -> str:
        return path_of(self.pointer)


def requirement(attribute: Attribute) -> str:
    """Return whether an attribute is required, as a word or two."""
    if attribute.is_required:
        return "required"
    if attribute.required_if:
        return "sometimes required"
    return "required in some forms" if attribute.is_alternative else "optional"


def changes(older: Reference, newer: Reference) -> tuple[Change, ...]:
    """Return the changes from one version to the next, in the order of the newer one."""
    return tuple(_changes(older, newer))


def _changes(older: Reference, newer: Reference) -> Iterator[Change]:
    names = dict.fromkeys(each.name for each in (*newer.documents, *older.documents))
    for name in names:
        before, after = older.document(name), newer.document(name)
        if before and after:
            yield from _of_document(before, after)
        elif after:
            yield Change("added", name, "", text=after.text)
        elif before:
            yield Change("removed", name, "", text=before.text)


def _of_document(before: Document, after: Document) -> Iterator[Change]:
    old = {each.pointer: each for each in before.attributes}
    new = {each.pointer: each for each in after.attributes}
    for pointer, attribute in new.items():
        if pointer not in old:
            yield Change("added", after.name, pointer, text=attribute.text)
            continue
        for kind, read in ASPECTS.items():
            was, now = read(old[pointer]), read(attribute)
            if set(was) != set(now):
                gone, come = _without(was, now), _without(now, was)
                yield Change(kind, after.name, pointer, gone, come, attribute.text)
    for pointer, attribute in old.items():
        if pointer not in new:
            yield Change("removed", before.name, pointer, text=attribute.text)


def _without(values: Iterable[str], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(value for value in values if value not in others)


def text_of(value: Any) -> str:
    """Return a value of a schema as text: a string as it is, another one as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


# Example requests: the example of a document, with one attribute set

_NONE = object()
#: Values where a schema has no example.
_BY_TYPE: dict[str, Any] = {
    "boolean": True,
    "integer": 1,
    "number": 1,
    "string": "text",
    "array": [],
    "object": {},
}


def example_request(reference: Reference, attribute: Attribute) -> dict[str, Any] | None:
    """Return a request in which an attribute is set; it shares values with the schemas.

    None if the attribute is not part of a request, has no value to set, or no name.
    """
    found = reference.request_location(attribute)
    if found is None or OTHER in keys_of(attribute.pointer):
        return None
    name, pointer = found
    request = _example_of(reference, name, pointer)
    above = pointer.removesuffix(attribute.pointer)
    if above and not _has(request, pointer):
        part = _example_of(reference, attribute.document, attribute.pointer)
        if part:
            request = _with(request, keys_of(above), part)
    for condition in next(iter((*attribute.conditions, *attribute.required_if)), ()):
        if condition.values and not condition.is_negated:
            keys = keys_of(above + condition.pointer)
            request = _with(request, keys, condition.values[0])
    if _has(request, pointer):
        return request
    value = _value(reference, attribute)
    return None if value is _NONE else _with(request, keys_of(pointer), value)


def _example_of(reference: Reference, name: str, pointer: str) -> dict[str, Any]:
    """Return an example of a document, one that has a value at the pointer if there is one."""
    document = reference.document(name)
    examples = [each for each in document.examples if isinstance(each, dict)] if document else []
    return next((each for each in examples if _has(each, pointer)), next(iter(examples), {}))


def _value(reference: Reference, attribute: Attribute) -> Any:
    if attribute.example is not None:
        return attribute.example
    if attribute.choices:
        return attribute.choices[0]
    if attribute.default is not None:
        return attribute.default
    for name in attribute.refers_to:
        if example := _example_of(reference, name, ""):
            return example
    below = {
        each.name: _value(reference, each)
        for each in reference.attributes()
        if each.document == attribute.document
        and each.pointer.rpartition("/")[0] == attribute.pointer
        and each.name not in (ELEMENT, OTHER)
        and (each.is_required or each.example is not None)
    }
    if below := {name: value for name, value in below.items() if value is not _NONE}:
        return below
    for name in attribute.elements_refer_to:
        if example := _example_of(reference, name, ""):
            return [example]
    return next((_BY_TYPE[name] for name in attribute.types if name in _BY_TYPE), _NONE)


def _has(value: Any, pointer: str) -> bool:
    try:
        resolve(value, pointer)
    except LookupError:
        return False
    return True


def _with(value: Any, keys: Sequence[str], new: Any) -> Any:
    """Return a value with another one set in it, with the objects and arrays around it."""
    if not keys:
        return new
    key, *rest = keys
    if key == ELEMENT:
        elements = value if isinstance(value, list) else []
        return [_with(next(iter(elements), None), rest, new), *elements[1:]]
    members = value if isinstance(value, dict) else {}
    return {**members, key: _with(members.get(key), rest, new)}
