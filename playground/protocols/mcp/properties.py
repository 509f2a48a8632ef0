"""One property of the schema that a server asks by, as a question, and its answer in return.

The small part of JSON Schema that MCP's elicitation knows, read leniently: choices as `enum`,
`oneOf` or `anyOf`, bounds, a format. Total: any JSON value is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from playground.protocols.events import Constraints, Question

#: Options that are read.
MAX_OPTIONS = 500
#: Characters of a format's name, and the longest that a text can have to be.
_MAX_FORMAT, _LONGEST = 200, 2**53


def question_of(
    schema: Mapping[str, Any], name: str, *, identifier: str, required: bool
) -> Question:
    """The question that the property called `name` is; its answer is keyed by `identifier`."""
    kind, choices = _choices(schema)
    lists = kind == "multi_select"
    return Question(
        id=identifier,
        text=_text(schema, "title") or name,
        type=kind or _TYPES.get(_text(schema, "type"), "free_text"),
        options=tuple(text for text, _, _ in choices),
        labels=tuple(label for _, label, _ in choices),
        default=_default(schema, choices),
        hint=_text(schema, "description"),
        constraints=Constraints(
            required=required,
            integer=schema.get("type") == "integer",
            minimum=_number(schema, "minItems" if lists else "minimum"),
            maximum=_number(schema, "maxItems" if lists else "maximum"),
            min_length=_length(schema, "minLength"),
            max_length=_length(schema, "maxLength"),
            format=_text(schema, "format")[:_MAX_FORMAT],
        ),
    )


def answer_of(schema: Mapping[str, Any], value: Any) -> Any:
    """An answer as the schema has it: options are texts in a form and may be more in JSON."""
    _, choices = _choices(schema)
    if schema.get("type") == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if not choices and schema.get("type") == "array" and isinstance(value, str):
        return value.splitlines()
    values = {text: own for text, _, own in choices}
    if isinstance(value, list):
        return [values.get(one, one) for one in value]
    return values.get(value, value) if isinstance(value, str) else value


_TYPES: Mapping[str, str] = {
    "boolean": "boolean",
    "number": "number",
    "integer": "number",
    "string": "free_text",
}
_Choice = tuple[str, str, Any]


def _choices(schema: Mapping[str, Any]) -> tuple[str, list[_Choice]]:
    """The type of a question that offers options, and the options: text, label and value."""
    items = schema.get("items")
    if schema.get("type") == "array" or isinstance(items, Mapping):
        inner = list(_options(items)) if isinstance(items, Mapping) else []
        return ("multi_select", inner) if inner else ("", [])
    own = list(_options(schema))
    return ("single_select", own) if own else ("", [])


def _options(schema: Mapping[str, Any]) -> Iterator[_Choice]:
    titled = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(titled, list):
        for one in titled[:MAX_OPTIONS]:
            if isinstance(one, Mapping) and "const" in one:
                text = _as_text(one["const"])
                yield text, _text(one, "title") or text, one["const"]
        return
    values, names = schema.get("enum"), schema.get("enumNames")
    if not isinstance(values, list):
        return
    names = names if isinstance(names, list) else []
    for number, value in enumerate(values[:MAX_OPTIONS]):
        text = _as_text(value)
        label = names[number] if number < len(names) else None
        yield text, label if isinstance(label, str) and label else text, value


def _default(schema: Mapping[str, Any], choices: Sequence[_Choice]) -> Any:
    default = schema.get("default")
    if not choices:
        return default
    if isinstance(default, list):
        return [_as_text(one) for one in default]
    return None if default is None else _as_text(default)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else "" if value is None else str(value)


def _text(schema: Mapping[str, Any], name: str) -> str:
    value = schema.get(name)
    return value if isinstance(value, str) else ""


def _number(schema: Mapping[str, Any], name: str) -> float | None:
    value = schema.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def _length(schema: Mapping[str, Any], name: str) -> int | None:
    value = schema.get(name)
    # A longer one than any text can have says nothing, and is none that can be written out.
    return value if type(value) is int and 0 <= value <= _LONGEST else None
