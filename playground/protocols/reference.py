"""Reference of a protocol: every attribute of every document, read from its JSON Schemas.

A reference has one document for each schema file and one attribute for each name in it. A schema
that another one refers to by its file is a document of its own, so each attribute occurs once, and
`Reference.find` follows the references from a location in a whole document.

A location of an attribute is a JSON Pointer in which `0` is any element of an array and `*` any
name that the schema does not list. Conditions in a schema (`if`) are kept as conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from playground.protocols import schemas
from playground.protocols.explanations import Explanation, explain_in
from playground.protocols.json_pointer import escape, keys_of, resolve

#: Any element of an array, and any name that a schema does not list.
ELEMENT, OTHER = "0", "*"
#: Limits for recursive schemas: nesting of attributes, and schemas that apply to one value.
_MAX_DEPTH = 12
_MAX_NODES = 200
_DEFINITIONS = "#/$defs/"
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
class Condition:
    """A condition of a schema: a member with one of these values."""

    #: JSON Pointer from the document.
    pointer: str
    #: () if any value fulfils it.
    values: tuple[Any, ...]
    #: Whether it is fulfilled without the member, too.
    may_be_missing: bool = False
    #: Whether the member must have none of the values.
    is_negated: bool = False

    @property
    def name(self) -> str:
        return keys_of(self.pointer)[-1]


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
    _trees: Mapping[str, _Place] = field(repr=False)

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
        if document not in self._trees:
            return ()
        places = {(document, ""): self._trees[document]}
        for key in keys_of(pointer):
            below: dict[tuple[str, str], _Place] = {}
            for at, place in self._with_references(places):
                name = next((n for n in _keys_for(key, place) if n in place.below), None)
                if name is not None:
                    below[at[0], f"{at[1]}/{escape(name)}"] = place.below[name]
            if not below:
                if is_exact:
                    return ()
                break
            # A name that is listed anywhere is not an extension.
            listed = {at: place for at, place in below.items() if not at[1].endswith("/*")}
            places = listed or below
        return tuple(dict.fromkeys(self._described(*at) for at in places))

    def _with_references(
        self, places: Mapping[tuple[str, str], _Place]
    ) -> Iterator[tuple[tuple[str, str], _Place]]:
        """Yield places and the documents that they refer to, each once."""
        waiting, seen = list(places.items()), set(places)
        while waiting:
            at, place = waiting.pop(0)
            yield at, place
            for name in place.refers_to:
                if name in self._trees and (name, "") not in seen:
                    seen.add((name, ""))
                    waiting.append(((name, ""), self._trees[name]))

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
            for pointer, place in _places_of(self._trees[name]):
                for other in place.refers_to:
                    if other not in seen and other in self._trees:
                        seen.add(other)
                        waiting.append((other, above + pointer))
        return None


@dataclass(slots=True)
class _Place:
    """A place in a document: all schemas that apply there."""

    nodes: list[_Node]
    below: dict[str, _Place] = field(default_factory=dict)

    @property
    def refers_to(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.document for node in self.nodes if node.document))


@dataclass(frozen=True, slots=True)
class _Node:
    """A schema that applies to a value, when these conditions apply."""

    schema: Mapping[str, Any]
    conditions: tuple[Condition, ...] = ()
    #: Whether it is one of several forms (`anyOf`, `oneOf`).
    is_alternative: bool = False
    #: Name of the document that the value is; its schema is not read here.
    document: str = ""


@lru_cache(maxsize=32)
def reference(protocol: str, version: str) -> Reference:
    """Raises `ValueError` for a version without schemas."""
    names = schemas.names(protocol, version)
    roots = {name: schemas.load(protocol, version, name) for name in names}
    return read_reference(protocol, version, roots)


def read_reference(
    protocol: str, version: str, roots: Mapping[str, Mapping[str, Any]]
) -> Reference:
    """Return the reference of schemas by their names."""
    trees = {name: _Reader(name, roots).place([_Node(root)], "", 0) for name, root in roots.items()}
    alternatives = {name: tree.refers_to for name, tree in trees.items()}
    parts = {
        other
        for name, tree in trees.items()
        for pointer, place in _places_of(tree)
        for other in place.refers_to
        if other != name and (pointer or not alternatives[name])
    }
    kinds = {name: _kind(name, parts, alternatives) for name in roots}
    explained = _Explained(protocol, version, roots)
    documents = tuple(
        _document(name, trees[name], kinds[name], alternatives[name], explained)
        for name in sorted(
            roots, key=lambda name: (_KINDS.index(kinds[name]), name != "response", name)
        )
    )
    return Reference(protocol, version, documents, trees)


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


def _kind(name: str, parts: set[str], alternatives: Mapping[str, Sequence[str]]) -> str:
    responses = {"response", *alternatives.get("response", ())}
    if _REQUEST.search(name):
        return "request"
    if name in responses:
        return "response"
    if _EVENT.search(name):
        return "event"
    return "part" if name in parts else "document"


@dataclass(frozen=True, slots=True)
class _Explained:
    protocol: str
    version: str
    roots: Mapping[str, Mapping[str, Any]]

    def at(self, name: str, pointer: str) -> Explanation | None:
        return explain_in(self.roots[name], pointer)

    def required(self, node: _Node) -> Sequence[str]:
        """Return the names that a schema requires, or the document that it refers to."""
        schema = self.roots[node.document] if node.document else node.schema
        names: Sequence[str] = schema.get("required", ())
        return names


def _document(
    name: str,
    tree: _Place,
    kind: str,
    alternatives: tuple[str, ...],
    explained: _Explained,
) -> Document:
    found = explained.at(name, "")
    root = explained.roots[name]
    return Document(
        name,
        str(root.get("title", name)),
        found.text if found else "",
        found.section if found else "",
        tuple(root.get("examples", ())),
        kind,
        tuple(_attributes(name, tree, "", explained)),
        alternatives,
    )


def _attributes(
    document: str, place: _Place, pointer: str, explained: _Explained
) -> Iterator[Attribute]:
    for name, below in place.below.items():
        at = f"{pointer}/{escape(name)}"
        # An element has a row of its own if there is something to say about it.
        if name != ELEMENT or any("description" in node.schema for node in below.nodes):
            yield _attribute(document, at, name, place, below, explained)
        yield from _attributes(document, below, at, explained)


def _attribute(
    document: str, at: str, name: str, place: _Place, below: _Place, explained: _Explained
) -> Attribute:
    own = [node for node in below.nodes if not node.document]
    elements = below.below.get(ELEMENT)
    conditions = _conditions_of(below.nodes)
    requiring = [node for node in place.nodes if name in explained.required(node)]
    required_if = _conditions_of(node for node in requiring if not node.is_alternative)
    is_required = any(not node.is_alternative and not node.conditions for node in requiring)
    is_required |= bool(conditions and set(conditions) <= set(required_if))
    found = explained.at(document, at)
    default = next((node.schema["default"] for node in own if "default" in node.schema), None)
    return Attribute(
        document=document,
        pointer=at,
        name=name,
        types=_types_of(below),
        element_types=_types_of(elements) if elements else (),
        refers_to=below.refers_to,
        elements_refer_to=elements.refers_to if elements else (),
        is_required=is_required,
        is_alternative=not is_required and any(node.is_alternative for node in requiring),
        conditions=conditions,
        required_if=() if is_required else required_if,
        choices=_choices_of(own),
        limits=tuple(
            dict.fromkeys(
                text.format(node.schema[keyword])
                for node in own
                for keyword, text in _LIMITS.items()
                if keyword in node.schema
            )
        ),
        default=default,
        text=found.text if found else "",
        section=found.section if found else "",
        # The document that it refers to has its own example.
        example=found.example if found and any("examples" in node.schema for node in own) else None,
        otherwise=found.otherwise if found else "",
        values=found.values if found else {},
    )


def _conditions_of(nodes: Iterable[_Node]) -> tuple[tuple[Condition, ...], ...]:
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


def _types_of(place: _Place) -> tuple[str, ...]:
    """Return the types of a value, null last; () if it is a document, or of any type."""
    found: dict[str, None] = {}
    for node in place.nodes:
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


def _choices_of(nodes: Iterable[_Node]) -> tuple[Any, ...]:
    """Return the allowed values, without those that other forms allow by type only."""
    found: list[Any] = []
    for node in nodes:
        listed = node.schema.get("enum", [node.schema["const"]] if "const" in node.schema else [])
        found += [value for value in listed if value not in found]
    return tuple(found)


# Places


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reader of one document."""

    name: str
    roots: Mapping[str, Mapping[str, Any]]

    def place(self, nodes: Sequence[_Node], pointer: str, depth: int) -> _Place:
        found = _Place(list(self._expanded(nodes, pointer)))
        below: dict[str, list[_Node]] = {}
        for node in found.nodes:
            for name, schema in _members(node.schema):
                below.setdefault(name, []).append(_Node(schema, node.conditions))
        if depth < _MAX_DEPTH:
            for name, children in below.items():
                at = f"{pointer}/{escape(name)}"
                found.below[name] = self.place(children, at, depth + 1)
        return found

    def _expanded(self, nodes: Sequence[_Node], pointer: str) -> Iterator[_Node]:
        """Yield schemas and those that apply together with them."""
        waiting, count = list(nodes), 0
        while waiting and count < _MAX_NODES:
            count += 1
            node = waiting.pop(0)
            yield node
            waiting += self._parts(node, pointer)

    def _parts(self, node: _Node, pointer: str) -> Iterator[_Node]:
        schema, conditions = node.schema, node.conditions
        if "$ref" in schema:
            yield self._target(node, str(schema["$ref"]))
        for part in schema.get("allOf", ()):
            yield _Node(part, conditions, node.is_alternative)
        for keyword in ("anyOf", "oneOf"):
            forms = schema.get(keyword, ())
            for form in forms:
                yield _Node(form, conditions, node.is_alternative or len(forms) > 1)
        if "if" in schema:
            given = tuple(_read_conditions(schema["if"], pointer))
            negated = tuple(replace(each, is_negated=True) for each in given)
            for keyword, added in (("then", given), ("else", negated)):
                if part := schema.get(keyword):
                    yield _Node(part, (*conditions, *added), node.is_alternative)

    def _target(self, node: _Node, reference: str) -> _Node:
        """Return the schema that a reference leads to, or the document, which is not read here."""
        name = reference.removeprefix(_DEFINITIONS)
        name = self.name if reference == "#" else name
        if name in self.roots:
            return replace(node, schema={}, document=name)
        return replace(node, schema=resolve(self.roots[self.name], reference.removeprefix("#")))


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from schema.get("properties", {}).items()
    for keyword, name in (("items", ELEMENT), ("additionalProperties", OTHER)):
        if isinstance(part := schema.get(keyword), Mapping) and part:
            yield name, part


def _read_conditions(schema: Mapping[str, Any], pointer: str) -> Iterator[Condition]:
    """Yield the conditions of an `if`."""
    required = schema.get("required", ())
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name, part in properties.items():
        at = f"{pointer}/{escape(name)}"
        if "const" in part or "enum" in part:
            values = tuple(part.get("enum", [part.get("const")]))
            yield Condition(at, values, may_be_missing=name not in required)
        else:
            yield from _read_conditions(part, at)
    yield from (Condition(f"{pointer}/{escape(n)}", ()) for n in required if n not in properties)


def _keys_for(key: str, place: _Place) -> Iterator[str]:
    """Yield the names under which a key may be described at a place, the best one first."""
    yield key
    if key.isdecimal():
        yield ELEMENT
    yield OTHER


def _places_of(tree: _Place, pointer: str = "") -> Iterator[tuple[str, _Place]]:
    """Yield a place and all below it, with their pointers."""
    yield pointer, tree
    for name, place in tree.below.items():
        yield from _places_of(place, f"{pointer}/{escape(name)}")
