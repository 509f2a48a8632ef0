"""The arguments of a tool as the controls of a form, from the JSON Schema that describes them.

Strings, numbers, whole numbers, yes and no, choices and lists of strings have controls of their
own; whatever else a schema says is filled in as JSON. What a form cannot show of the arguments
it leaves as it is. Total: any schema and any arguments are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.protocols import json_decoder, json_errors

#: Controls of a form, choices of one, and characters of what is said about it.
MAX_FIELDS, MAX_OPTIONS, MAX_TEXT = 100, 200, 500
#: Nesting of JSON that a control takes.
MAX_DEPTH = 50

#: What the control of an argument is called in a submitted form, before the number of it.
PREFIX = "argument-"


@dataclass(frozen=True, slots=True)
class ToolControl:
    """One argument."""

    number: int
    #: The member of the arguments.
    name: str
    #: `string`, `number`, `integer`, `boolean`, `choice`, `lines` or `json`.
    kind: str
    label: str
    hint: str
    required: bool
    #: What it holds, as text.
    value: str
    #: What can be chosen, as JSON.
    options: tuple[str, ...] = ()

    @property
    def choices(self) -> list[tuple[str, str]]:
        """What can be chosen, as JSON and as words."""
        return [(option, _words(option)) for option in self.options]

    @property
    def field(self) -> str:
        """What it is called in a submitted form."""
        return f"{PREFIX}{self.number}"


def controls_of(schema: Any, arguments: Any) -> list[ToolControl]:
    """The controls of a tool's `inputSchema`, filled with the arguments."""
    own = schema if isinstance(schema, Mapping) else {}
    properties = own.get("properties")
    required = own.get("required")
    names = required if isinstance(required, list) else []
    given = arguments if isinstance(arguments, Mapping) else {}
    found: list[ToolControl] = []
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        if len(found) == MAX_FIELDS:
            break
        about = each if isinstance(each, Mapping) else {}
        kind, options = _kind(about)
        value = given[name] if name in given else about.get("default")
        if kind != "json" and value is not None and not _fits(kind, options, value):
            kind, options = "json", ()
        found.append(
            ToolControl(
                number=len(found),
                name=name,
                kind=kind,
                label=_text(about.get("title")) or name,
                hint=_text(about.get("description")),
                required=name in names,
                value=_shown(kind, value),
                options=options,
            )
        )
    return found


def arguments_of(
    controls: Sequence[ToolControl], data: Mapping[str, str], given: Any
) -> tuple[dict[str, Any], list[str]]:
    """The arguments that a submitted form has, and what is wrong with it, as sentences.

    `data` is the text of each control by its name in the form; `given` are the arguments
    before, of which what has no control is kept. An empty control leaves its argument out.
    """
    names = {control.name for control in controls}
    before = given if isinstance(given, Mapping) else {}
    found = {name: value for name, value in before.items() if name not in names}
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
            problems.append(f"{control.label}: {_reason(error)}")
    return found, problems


def _kind(about: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    options = about.get("enum")
    if isinstance(options, list) and 0 < len(options) <= MAX_OPTIONS:
        return "choice", tuple(map(_json, options))
    kind = about.get("type")
    if kind in ("string", "number", "integer", "boolean"):
        return str(kind), ()
    items = about.get("items")
    if kind == "array" and isinstance(items, Mapping) and items.get("type") == "string":
        return "lines", ()
    return "json", ()


def _fits(kind: str, options: tuple[str, ...], value: Any) -> bool:
    """Whether a control of this kind can hold a value without changing it."""
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


def _shown(kind: str, value: Any) -> str:
    if value is None:
        return ""
    if kind == "string":
        return str(value)
    return "\n".join(value) if kind == "lines" else _json(value)


def _value(control: ToolControl, text: str) -> Any:
    """The value of a text. Raises `ValueError` with a sentence, or `RecursionError`."""
    if control.kind == "string":
        return text.replace("\r\n", "\n")
    if control.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if json_decoder.exceeds_depth(text, MAX_DEPTH):
        raise ValueError("This is nested too deep.")
    value = json_decoder.decode(text.strip())
    if control.kind == "choice" and _json(value) not in control.options:
        raise ValueError("This is none of the choices.")
    if control.kind in ("number", "integer", "boolean") and not _fits(control.kind, (), value):
        raise ValueError("This is not a number." if control.kind != "boolean" else "Say yes or no.")
    if control.kind == "integer":
        if value != int(value):
            raise ValueError("This is not a whole number.")
        return int(value)
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        place = f"line {error.lineno}, column {error.colno}"
        return f"This is not valid JSON: {json_errors.said(error)} ({place})."
    return str(error) or "This is nested too deep."


def _words(option: str) -> str:
    value = json.loads(option)
    return value if isinstance(value, str) and value else option


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(value: Any) -> str:
    return value.strip()[:MAX_TEXT] if isinstance(value, str) else ""
