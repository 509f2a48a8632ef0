"""Explanations: the meaning of each name of a protocol, its section and an example.

They are in the JSON Schema files of `playground.protocols.schemas`, beside the types:

===============  =================================================================
`description`    the meaning, as one sentence
`examples`       the first one is shown
`x-section`      section of the specification; names below inherit it
`x-otherwise`    effect of another choice, or of omitting the name, as one sentence
`x-values`       meanings of single values, by value
`x-additions`    the values that the specification does not list and known agents use
`x-addition`     true for a name that known agents use and the specification does not define
===============  =================================================================

More annotations are for the validation of requests: see `playground.protocols.schema_check`.

One walk over a schema serves the composer, the JSON editor, the tabs of a response and the
reference: `children` and `expanded` go from a value to those in it. A location in a document is a
JSON Pointer, as in findings; in that of a `Node`, `0` is any element and `*` any name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from playground.protocols import lenient, schemas
from playground.protocols.json_pointer import descend, escape, keys_of, resolve
from playground.protocols.schema_check import Schema, holds

#: Any element of an array, and any name that a schema does not list.
ELEMENT, OTHER = "0", "*"
#: Most schemas that apply to one value; they may refer to each other endlessly.
_MAX_NODES = 200
_DEFINITIONS = "#/$defs/"
_UNKNOWN = object()


@dataclass(frozen=True, slots=True)
class Explanation:
    """The meaning of a name of a protocol."""

    name: str
    #: One sentence.
    text: str
    #: Section of the specification, for example "4.1.1"; "" if the schema names none.
    section: str = ""
    #: A value, or None for none. An example that is null itself is not shown.
    example: Any = None
    #: Effect of another choice, or of omitting the name; "" for none.
    otherwise: str = ""
    #: Meanings of single values.
    values: Mapping[str, str] = field(default_factory=dict)
    #: Whether the specification has this very name; False for extensions, such as filters.
    is_listed: bool = True


def explain(
    protocol: str, version: str, schema: str, pointer: str, document: Any = _UNKNOWN
) -> Explanation | None:
    """Return the explanation of the value at a pointer into a document of a schema.

    With `document`, conditions in the schema (`if`) apply as they do to it; without, all
    alternatives count. None if the schema does not describe that place. Raises `ValueError` for a
    protocol, version or schema that does not exist.
    """
    root = schemas.load(protocol, version, schema)
    return explain_in(root, pointer, document)


def explain_in(root: Schema, pointer: str, document: Any = _UNKNOWN) -> Explanation | None:
    """Return the explanation of the value at a pointer, from a schema: see `explain`."""
    nodes, value, name = [Node.of(root)], document, str(root.get("title", ""))
    for name in keys_of(pointer):
        nodes = children(expanded(root, nodes, value), name)
        try:
            value = descend(value, name)
        except LookupError:
            value = _UNKNOWN
    found = list(expanded(root, nodes, value))
    first = next((node for node in found if node.schema.get("description")), None)
    if first is None:
        return None
    examples: list[Any] = next(
        (node.schema["examples"] for node in found if node.schema.get("examples")), [None]
    )
    return Explanation(
        name=name,
        text=first.schema["description"],
        section=first.section,
        example=examples[0],
        otherwise=next((n.schema["x-otherwise"] for n in found if "x-otherwise" in n.schema), ""),
        values={key: text for n in found for key, text in n.schema.get("x-values", {}).items()},
        is_listed=first.is_listed,
    )


def schema_of_response(protocol: str, version: str, document: Any, event: str = "") -> str:
    """Return the name of the schema of a response, or of the data of an event with this name.

    Raises `ValueError` for a protocol or version without schemas.
    """
    known = schemas.names(protocol, version)
    members = lenient.members(document)
    meta = members.get("_meta")
    kind = meta.get("response_type") if isinstance(meta, Mapping) else members.get("object")
    candidates = (f"event-{event}", str(kind).lower(), "error" if "error" in members else "")
    return next((name for name in candidates if name in known), "response")


# The walk over a schema


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


class Node(NamedTuple):
    """A schema that applies to a value, when these conditions apply."""

    schema: Schema
    #: Name of the document that describes the value, and the pointer in it.
    document: str
    pointer: str
    #: Its own, or that of the nearest schema around it.
    section: str
    #: Whether the specification has the name of the value.
    is_listed: bool = True
    conditions: tuple[Condition, ...] = ()
    #: Whether it is one of several forms (`anyOf`, `oneOf`).
    is_alternative: bool = False
    #: Whether it is a whole document to which the schema of the value refers.
    is_reference: bool = False

    @classmethod
    def of(cls, root: Schema, document: str = "") -> Node:
        return cls(root, document, "", str(root.get("x-section", "")))

    @property
    def names(self) -> list[str]:
        """Return the names of the members that it describes, with `ELEMENT` and `OTHER`."""
        others = [(ELEMENT, "items"), (OTHER, "additionalProperties")]
        is_open = [name for name, keyword in others if self._values_in(keyword)]
        return [*self.schema.get("properties", {}), *is_open]

    def below(self, key: str) -> Node | None:
        """Return the schema of the value at a key, `ELEMENT` or `OTHER`; None without one."""
        properties = self.schema.get("properties", {})
        if key in properties:
            return self._child(properties[key], key)
        if key.isdecimal() and (schema := self._values_in("items")):
            return self._child(schema, ELEMENT, is_listed=self.is_listed)
        schema = self._values_in("additionalProperties")
        return self._child(schema, OTHER, is_listed=False) if schema else None

    def _values_in(self, keyword: str) -> Schema:
        schema = self.schema.get(keyword)
        return schema if isinstance(schema, Mapping) else {}

    def _child(self, schema: Schema, name: str, *, is_listed: bool = True) -> Node:
        pointer, section = f"{self.pointer}/{escape(name)}", schema.get("x-section", self.section)
        return Node(schema, self.document, pointer, section, is_listed, self.conditions)

    def parts(self, root: Schema, value: Any) -> Iterator[Node]:
        """Yield the schemas that apply together with this one: see `expanded`."""
        schema = self.schema
        if "$ref" in schema:
            target = resolve(root, schema["$ref"].removeprefix("#"))
            name = schema["$ref"].removeprefix(_DEFINITIONS)
            yield self._with(target, document=name, pointer="", is_reference=True)
        for part in schema.get("allOf", ()):
            yield self._with(part)
        for keyword in ("anyOf", "oneOf"):
            forms = schema.get(keyword, ())
            for form in forms:
                yield self._with(form, is_alternative=self.is_alternative or len(forms) > 1)
        if "if" not in schema:
            return
        if value is not _UNKNOWN:
            if part := schema.get("then" if holds(schema["if"], value) else "else"):
                yield self._with(part)
            return
        given = tuple(_read_conditions(schema["if"], self.pointer))
        negated = tuple(replace(each, is_negated=True) for each in given)
        for keyword, added in (("then", given), ("else", negated)):
            if part := schema.get(keyword):
                yield self._with(part, conditions=(*self.conditions, *added))

    def _with(self, schema: Schema, **changes: Any) -> Node:
        section = schema.get("x-section", self.section)
        return self._replace(schema=schema, section=section, **changes)


def children(nodes: Iterable[Node], key: str) -> list[Node]:
    """Return the schemas of the value at a key, from all those of the value around it."""
    found = [child for node in nodes if (child := node.below(key))]
    # A name that is listed anywhere is not an extension.
    return [node for node in found if node.is_listed] or found


def expanded(
    root: Schema, nodes: Iterable[Node], value: Any = _UNKNOWN, *, within_document: bool = False
) -> Iterator[Node]:
    """Yield schemas and those that apply together with them, themselves first.

    Conditions hold or not for `value`; if it is not known, both cases count. `within_document`
    yields a document that a schema refers to, but not what applies together with that.
    """
    waiting, count = list(nodes), 0
    while waiting and count < _MAX_NODES:
        count += 1
        node = waiting.pop(0)
        yield node
        if not (within_document and node.is_reference):
            waiting += node.parts(root, value)


def _read_conditions(schema: Schema, pointer: str) -> Iterator[Condition]:
    """Yield the conditions of an `if`."""
    required = schema.get("required", ())
    properties: Mapping[str, Schema] = schema.get("properties", {})
    for name, part in properties.items():
        at = f"{pointer}/{escape(name)}"
        if "const" in part or "enum" in part:
            values = tuple(part.get("enum", [part.get("const")]))
            yield Condition(at, values, may_be_missing=name not in required)
        else:
            yield from _read_conditions(part, at)
    yield from (Condition(f"{pointer}/{escape(n)}", ()) for n in required if n not in properties)
