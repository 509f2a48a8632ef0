"""JSON Schema of the fields of a file's items, and the errors of values that do not match it.

The schema is `fixture.schema.json`. Code that fastjsonschema generates from it decides whether a
value is valid; jsonschema reports the errors of one that is not. jsonschema alone takes 1.5 s for
the 10,000 requests of a large file, each time that it is read, and the generated code 0.05 s. But
that code stops at the first error, and its messages are not meant for users.
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

#: JSON Pointer into a value, and the error there, as a sentence.
Finding = tuple[str, str]

#: Sentences for errors that the schema has no "messages" for.
_MESSAGES = {
    "type": "Must be {wanted}, not {kind}.",
    "maxLength": "Too long: {length:,} characters. The limit is {limit:,}.",
    "enum": "Must be one of {known}.",
}

_TYPES = {"string": "a string", "object": "an object", "array": "an array"}


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 4) with a definition for each model. Do not change it."""
    text = resources.files(__package__).joinpath("fixture.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def schema_errors(value: Any, model: str, field: str = "") -> Iterator[Finding]:
    """Yield the errors of the fields of an item, or of one of them; one for each location."""
    is_valid, validator = _compiled(model, field)
    try:
        is_valid(value)
    except fastjsonschema.JsonSchemaValueException:
        reported = set()
        for error in validator.iter_errors(value):
            pointer = pointer_of(error.absolute_path)
            # Missing and unknown fields have the same location, the object.
            key = pointer, error.validator if error.validator in _OBJECT_KEYWORDS else ""
            if key not in reported:
                reported.add(key)
                yield from _sentences(pointer, error)


def json_type_name(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = ((str, "a string"), (list, "an array"), (dict, "an object"))
    return next((word for kind, word in kinds if isinstance(value, kind)), "a number")


def pointer_token(name: str) -> str:
    """Return a name as one token of a JSON Pointer, shortened to be readable."""
    return escape(shorten(name, 61))


@cache
def _compiled(model: str, field: str) -> tuple[Callable[[Any], Any], Draft4Validator]:
    whole = schema()
    reference = f"#/definitions/{model}" + (f"/properties/{field}" if field else "")
    part = {name: whole[name] for name in ("$schema", "definitions")} | {
        "allOf": [{"$ref": reference}]
    }
    fast = fastjsonschema.compile(part, use_default=False, use_formats=False)
    return fast, Draft4Validator(part)


def _missing_fields(pointer: str, rules: Any, fields: Any) -> Iterator[Finding]:
    message = rules["messages"]["required"]
    yield from ((pointer, message.format(name=n)) for n in rules["required"] if n not in fields)


def _unknown_fields(pointer: str, rules: Any, fields: Any) -> Iterator[Finding]:
    message, known = rules["messages"]["additionalProperties"], rules["properties"]
    yield from (
        (f"{pointer}/{pointer_token(name)}", message) for name in fields if name not in known
    )


_OBJECT_KEYWORDS: Mapping[str, Callable[[str, Any, Any], Iterator[Finding]]] = {
    "required": _missing_fields,
    "additionalProperties": _unknown_fields,
}


def _sentences(pointer: str, error: ValidationError) -> Iterator[Finding]:
    keyword, rules, value = str(error.validator), error.schema, error.instance
    if keyword in _OBJECT_KEYWORDS:
        yield from _OBJECT_KEYWORDS[keyword](pointer, rules, value)
        return
    assert isinstance(rules, Mapping)
    message = rules.get("messages", {}).get(keyword) or _MESSAGES[keyword]
    limit = error.validator_value
    yield (
        pointer,
        message.format(
            value=value,
            limit=limit,
            kind=json_type_name(value),
            length=len(value) if isinstance(value, str) else 0,
            wanted=_TYPES.get(str(limit), limit),
            known=", ".join(limit) if isinstance(limit, list) else "",
        ),
    )
