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

One lookup serves the composer, the JSON editor, the tabs of a response and the reference. A
location in a document is a JSON Pointer, as in findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import lenient, schemas
from playground.protocols.json_pointer import descend, keys_of, resolve
from playground.protocols.schema_check import holds

#: Most `$ref`s and combinations that are followed at one location; schemas may be recursive.
_MAX_NODES = 200
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


def explain_in(
    root: Mapping[str, Any], pointer: str, document: Any = _UNKNOWN
) -> Explanation | None:
    """Return the explanation of the value at a pointer, from a schema: see `explain`."""
    nodes = [_Node(root, "", is_listed=True)]
    value, name = document, str(root.get("title", ""))
    for name in keys_of(pointer):
        here = [found for node in nodes for found in _expanded(root, node, value)]
        nodes = [child for node in here for child in _children(node, name)]
        # A name that is listed anywhere is not an extension.
        nodes = [node for node in nodes if node.is_listed] or nodes
        try:
            value = descend(value, name)
        except LookupError:
            value = _UNKNOWN
    found = [each for node in nodes for each in _expanded(root, node, value)]
    texts = [node for node in found if node.schema.get("description")]
    if not texts:
        return None
    first = texts[0]
    examples: list[Any] = next(
        (node.schema["examples"] for node in found if node.schema.get("examples")), []
    )
    values = {key: text for node in found for key, text in node.schema.get("x-values", {}).items()}
    return Explanation(
        name=name,
        text=first.schema["description"],
        section=first.section,
        example=examples[0] if examples else None,
        otherwise=next((n.schema["x-otherwise"] for n in found if "x-otherwise" in n.schema), ""),
        values=values,
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


@dataclass(frozen=True, slots=True)
class _Node:
    """A schema that applies to a value, with the section that it has or inherits."""

    schema: Mapping[str, Any]
    section: str
    is_listed: bool


def _expanded(root: Mapping[str, Any], node: _Node, value: Any) -> Iterator[_Node]:
    """Yield a schema and those that apply together with it, itself first."""
    waiting, count = [node], 0
    while waiting and count < _MAX_NODES:
        count += 1
        node = waiting.pop(0)
        schema = node.schema
        section = str(schema.get("x-section", node.section))
        node = _Node(schema, section, node.is_listed)
        yield node
        parts = [resolve(root, schema["$ref"].removeprefix("#"))] if "$ref" in schema else []
        for keyword in ("allOf", "anyOf", "oneOf"):
            parts += schema.get(keyword, [])
        if "if" in schema:
            if value is _UNKNOWN:
                parts += [schema.get("then", {}), schema.get("else", {})]
            else:
                parts.append(schema.get("then" if holds(schema["if"], value) else "else", {}))
        waiting += [_Node(part, section, node.is_listed) for part in parts if part]


def _children(node: _Node, name: str) -> Iterator[_Node]:
    schema = node.schema
    if name in schema.get("properties", {}):
        yield _Node(schema["properties"][name], node.section, is_listed=True)
    elif name.isdecimal() and isinstance(schema.get("items"), Mapping):
        yield _Node(schema["items"], node.section, node.is_listed)
    elif isinstance(others := schema.get("additionalProperties"), Mapping):
        yield _Node(others, node.section, is_listed=False)
