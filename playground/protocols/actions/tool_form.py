"""Form of a tool: its arguments as controls, from the JSON Schema that describes them.

Strings, numbers, integers, booleans, choices and lists of strings have controls of their own; any
other argument is entered as JSON. Arguments without a control are left unchanged. Total: any
schema and any arguments are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.protocols import json_decoder, lenient

#: Controls of a form, choices of one, and characters of its label and its hint.
MAX_FIELDS, MAX_OPTIONS, MAX_TEXT = 100, 200, 500
#: Nesting of JSON that a control accepts.
MAX_DEPTH = 50

#: The name of a control in a submitted form, before its number.
PREFIX = "argument-"


@dataclass(frozen=True, slots=True)
class ToolControl:
    """The control of one argument."""

    number: int
    #: The member of the arguments.
    name: str
    #: `string`, `number`, `integer`, `boolean`, `choice`, `lines` or `json`.
    kind: str
    label: str
    hint: str
    required: bool
    #: Its value, as text.
    value: str
    #: The choices, as JSON.
    options: tuple[str, ...] = ()

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The choices: value as JSON, and label."""
        return [(option, _label(option)) for option in self.options]

    @property
    def field(self) -> str:
        """The name of the control in a submitted form."""
        return f"{PREFIX}{self.number}"

    @property
    def expected(self) -> str:
        """What has to be entered, such as "one per line, required"; "" where anything may be."""
        type_ = {"lines": "one per line", "json": "JSON"}.get(self.kind, "")
        if self.kind in ("integer", "number"):
            type_ = self.kind
        return ", ".join(each for each in (type_, "required" if self.required else "") if each)


def controls_of(schema: Any, arguments: Any) -> list[ToolControl]:
    """Return the controls for a tool's `inputSchema`, filled with the arguments."""
    schema = lenient.members(schema)
    names = lenient.items(schema.get("required"))
    given = lenient.members(arguments)
    found: list[ToolControl] = []
    for name, each in lenient.members(schema.get("properties")).items():
        if len(found) == MAX_FIELDS:
            break
        own_schema = lenient.members(each)
        kind, options = _kind(own_schema)
        value = given[name] if name in given else own_schema.get("default")
        if kind != "json" and value is not None and not _fits(kind, options, value):
            kind, options = "json", ()
        found.append(
            ToolControl(
                number=len(found),
                name=name,
                kind=kind,
                label=_text(own_schema.get("title")) or name,
                hint=_text(own_schema.get("description")),
                required=name in names,
                value=_as_text(kind, value),
                options=options,
            )
        )
    return found


def arguments_of(
    controls: Sequence[ToolControl], data: Mapping[str, str], given: Any
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a submitted form, and its errors as sentences.

    `data` is the text of each control by its name in the form; `given` are the previous
    arguments, of which those without a control are kept. An empty control omits its argument.
    """
    names = {control.name for control in controls}
    previous = lenient.members(given)
    found = {name: value for name, value in previous.items() if name not in names}
    problems: list[str] = []
    for control in controls:
        text = data.get(control.field, "")
        if not text.strip() and (control.kind != "string" or not text):
            if control.required:
                problems.append(f"{control.label} is missing.")
            continue
        try:
            found[control.name] = _value(control, text)
        except (ValueError, RecursionError) as error:
            problems.append(f"{control.label}: {_error_text(error)}")
    return found, problems


def _kind(schema: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    options = schema.get("enum")
    if isinstance(options, list) and 0 < len(options) <= MAX_OPTIONS:
        return "choice", tuple(map(_json, options))
    kind = schema.get("type")
    if kind in ("string", "number", "integer", "boolean"):
        return str(kind), ()
    items = schema.get("items")
    if kind == "array" and isinstance(items, Mapping) and items.get("type") == "string":
        return "lines", ()
    return "json", ()


def _fits(kind: str, options: tuple[str, ...], value: Any) -> bool:
    """Return whether a control of this kind can hold a value without changing it."""
    match kind:
        case "choice":
            return _json(value) in options
        case "boolean":
            return isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "lines":
            return isinstance(value, list) and all(_is_line(each) for each in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_line(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.splitlines() == [value]


def _as_text(kind: str, value: Any) -> str:
    if value is None:
        return ""
    if kind == "string":
        return str(value)
    return "\n".join(value) if kind == "lines" else _json(value)


def _value(control: ToolControl, text: str) -> Any:
    """Return the value of a text. Raise `ValueError` with a sentence, or `RecursionError`."""
    if control.kind == "string":
        return text.replace("\r\n", "\n")
    if control.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if json_decoder.exceeds_depth(text, MAX_DEPTH):
        raise ValueError("The JSON is nested too deeply.")
    value = json_decoder.decode(text.strip())
    if control.kind == "choice" and _json(value) not in control.options:
        raise ValueError("This is not one of the choices.")
    if control.kind in ("number", "integer", "boolean") and not _fits(control.kind, (), value):
        raise ValueError(
            "This is not a number." if control.kind != "boolean" else "Choose yes or no."
        )
    if control.kind == "integer":
        if value != int(value):
            raise ValueError("This is not an integer.")
        return int(value)
    return value


def _error_text(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        location = f"line {error.lineno}, column {error.colno}"
        return f"Invalid JSON: {json_decoder.describe_error(error)} ({location})."
    return str(error) or "The JSON is nested too deeply."


def _label(option: str) -> str:
    value = json.loads(option)
    return value if isinstance(value, str) and value else option


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str:
    return value.strip()[:MAX_TEXT] if isinstance(value, str) else ""
