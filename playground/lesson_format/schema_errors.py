"""Errors of a value by its JSON Schema, as sentences; of lessons, and of collections' files.

A schema is of draft 4, because there 1.0 is no integer. Its "messages" have a sentence for a
keyword that fails, where `_MESSAGES` has none, or one that does not say enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import fastjsonschema
from jsonschema import Draft4Validator
from jsonschema.exceptions import ValidationError

from playground.protocols.json_pointer import escape, pointer_of
from playground.protocols.text import shorten

#: JSON Pointer into a value, and the error there, as a sentence.
Finding = tuple[str, str]

_MESSAGES = {
    "type": "Must be {wanted}, not {kind}.",
    "maxLength": "Too long: {length:,} characters. The limit is {limit:,}.",
    "maxItems": "Too many: {length:,}. The limit is {limit:,}.",
    "enum": "Must be one of {known}.",
    "required": "“{name}” is missing.",
    "additionalProperties": "Unknown member. Supported: {known}.",
}

#: Keywords whose errors have one location, the object.
_OBJECT_KEYWORDS = frozenset({"required", "additionalProperties"})

_TYPES = {"string": "a string", "object": "an object", "array": "an array"}


class SchemaErrors:
    """The errors of values by one schema.

    Code that fastjsonschema generates from the schema decides whether a value is valid; jsonschema
    reports the errors of one that is not. jsonschema alone takes 1.5 s for the 10,000 requests of a
    large file, each time that it is read, and the generated code 0.05 s. But that code stops at the
    first error, and its messages are not meant for users.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self._is_valid = fastjsonschema.compile(schema, use_default=False, use_formats=False)
        self.validator = Draft4Validator(schema)

    def of(self, value: Any) -> Iterator[Finding]:
        """Yield the errors of a value, one for each location."""
        try:
            self._is_valid(value)
        except fastjsonschema.JsonSchemaValueException:
            reported = set()
            for error in self.validator.iter_errors(value):
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


def _sentences(pointer: str, error: ValidationError) -> Iterator[Finding]:
    keyword, rules = str(error.validator), error.schema
    value: Any = error.instance
    assert isinstance(rules, Mapping)
    message = rules.get("messages", {}).get(keyword) or _MESSAGES[keyword]
    if keyword == "required":
        missing = (name for name in rules["required"] if name not in value)
        yield from ((pointer, message.format(name=name)) for name in missing)
        return
    if keyword == "additionalProperties":
        message = message.format(known=", ".join(rules["properties"]))
        unknown = (name for name in value if name not in rules["properties"])
        yield from ((f"{pointer}/{pointer_token(name)}", message) for name in unknown)
        return
    limit = error.validator_value
    yield (
        pointer,
        message.format(
            value=value,
            limit=limit,
            kind=json_type_name(value),
            length=len(value) if isinstance(value, str | list) else 0,
            wanted=_TYPES.get(str(limit), limit),
            known=", ".join(map(str, limit)) if isinstance(limit, list) else "",
        ),
    )
