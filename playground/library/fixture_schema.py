"""The JSON Schema of the fields of a file's items, and where a value does not have that shape.

The schema is `fixture.schema.json`. Code that fastjsonschema generates from it decides whether a
value is valid; jsonschema says what is wrong with one that is not. jsonschema alone takes 1.5 s for
the 10,000 requests of a large file, each time that it is read, and the generated code 0.05 s. But
that code stops at the first error, and has no sentence for people.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

import fastjsonschema
from jsonschema import Draft4Validator
from jsonschema.exceptions import ValidationError

from playground.protocols.json_pointer import escape, pointer_of
from playground.protocols.text import shorten

#: JSON Pointer into a value, and what is wrong there, as a sentence.
Finding = tuple[str, str]

#: What is wrong where the schema does not say it in its "messages".
_MESSAGES = {
    "type": "This must be {wanted}, not {kind}.",
    "maxLength": "This has {length:,} characters; up to {limit:,} are possible.",
    "enum": "This must be one of {known}.",
}
_TYPES = {"string": "text", "object": "an object", "array": "a list"}


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 4) with a definition for each model. Do not change it."""
    text = resources.files(__package__).joinpath("fixture.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def findings(value: Any, model: str, field: str = "") -> Iterator[Finding]:
    """Yield what is wrong with the fields of an item, or with one of them; once for each place."""
    is_right, validator = _compiled(model, field)
    try:
        is_right(value)
    except fastjsonschema.JsonSchemaValueException:
        told = set()
        for error in validator.iter_errors(value):
            pointer = pointer_of(error.absolute_path)
            # Missing and unknown fields have one place, the object.
            key = pointer, error.validator if error.validator in _OF_OBJECTS else ""
            if key not in told:
                told.add(key)
                yield from _said(pointer, error)


def kind_of(value: Any) -> str:
    """Return what a JSON value is, in words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = ((str, "text"), (list, "a list"), (dict, "an object"))
    return next((word for kind, word in kinds if isinstance(value, kind)), "a number")


def escaped(name: str) -> str:
    """Return a name as one token of a JSON Pointer, not too long to be read."""
    return escape(shorten(name, 61))


@cache
def _compiled(model: str, field: str) -> tuple[Callable[[Any], Any], Draft4Validator]:
    whole = schema()
    place = f"#/definitions/{model}" + (f"/properties/{field}" if field else "")
    part = {name: whole[name] for name in ("$schema", "definitions")} | {"allOf": [{"$ref": place}]}
    fast = fastjsonschema.compile(part, use_default=False, use_formats=False)
    return fast, Draft4Validator(part)


def _missing(pointer: str, rules: Any, fields: Any) -> Iterator[Finding]:
    message = rules["messages"]["required"]
    yield from ((pointer, message.format(name=n)) for n in rules["required"] if n not in fields)


def _unknown(pointer: str, rules: Any, fields: Any) -> Iterator[Finding]:
    message, known = rules["messages"]["additionalProperties"], rules["properties"]
    yield from ((f"{pointer}/{escaped(name)}", message) for name in fields if name not in known)


_OF_OBJECTS: Mapping[str, Callable[[str, Any, Any], Iterator[Finding]]] = {
    "required": _missing,
    "additionalProperties": _unknown,
}


def _said(pointer: str, error: ValidationError) -> Iterator[Finding]:
    keyword, rules, value = str(error.validator), error.schema, error.instance
    if keyword in _OF_OBJECTS:
        yield from _OF_OBJECTS[keyword](pointer, rules, value)
        return
    assert isinstance(rules, Mapping)
    message = rules.get("messages", {}).get(keyword) or _MESSAGES[keyword]
    limit = error.validator_value
    yield (
        pointer,
        message.format(
            value=value,
            limit=limit,
            kind=kind_of(value),
            length=len(value) if isinstance(value, str) else 0,
            wanted=_TYPES.get(str(limit), limit),
            known=", ".join(limit) if isinstance(limit, list) else "",
        ),
    )
