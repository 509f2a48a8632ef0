"""Validation of the fields of a collection's file: JSON Schema, and the checks beyond a schema.

The latter are a table. Each check takes a value and yields its errors: a JSON Pointer into the
value, and a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from playground.base import credentials
from playground.collections.fixture import (
    COLLECTION,
    REQUEST,
    schema_errors,
)
from playground.collections.recordings import validate_recording
from playground.expectations import check_captures, check_schema
from playground.expectations.schema import MAX_EXPECTATIONS
from playground.lesson_format.schema_errors import Finding, pointer_token
from playground.lesson_format.validation import lesson_problems
from playground.models.columns import storable
from playground.protocols import headers as header_rules
from playground.protocols import raw
from playground.protocols.exchange import RequestProblem
from playground.variables.names import PLACEHOLDER, is_name

Check = Callable[[Any], Iterable[Finding]]

#: Limit on the characters of a document as JSON.
MAX_DOCUMENT = 1_000_000

#: Limit on the characters of a user name.
MAX_USER = 200

#: Limit on the characters of an expectation whose errors are cached.
_MAX_CACHED = 2_000


def validate_item(model: str, fields: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the errors of an item's fields: JSON Pointers into them, and sentences."""
    invalid = set()
    for pointer, message in schema_errors(fields, model):
        invalid.add(pointer)
        yield pointer, message
    for name, extra_check in _EXTRA_CHECKS.get(model, {}).items():
        if name in fields and f"/{name}" not in invalid:
            yield from ((f"/{name}{at}", message) for at, message in extra_check(fields[name]))


def validate_field(name: str, value: Any) -> Iterator[Finding]:
    """Yield the errors of one field of a request: JSON Pointers into it, and sentences."""
    invalid = list(schema_errors(value, REQUEST, name))
    yield from invalid
    extra_checks = _EXTRA_CHECKS[REQUEST]
    if not invalid and name in extra_checks:
        yield from extra_checks[name](value)


def _check_document(value: Any) -> Iterator[Finding]:
    if len(json.dumps(value)) > MAX_DOCUMENT:
        yield "", f"Longer than {MAX_DOCUMENT:,} characters as JSON."
    yield from _from_problems(raw.problems_of, value)


def _check_headers(value: Any) -> Iterator[Finding]:
    for index, row in enumerate(value):
        if not credentials.is_pair(row):
            yield f"/{index}", "Must be a pair of strings, [name, value]."
        elif error := header_rules.header_error(row[0], PLACEHOLDER.sub("x", row[1])):
            yield f"/{index}", f"Cannot be sent. {error}"


def _check_auth(value: Any) -> Iterator[Finding]:
    if not value:
        return
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in credentials.AUTH_FIELDS:
        yield "/type", f"Must be one of {', '.join(credentials.AUTH_FIELDS)}."
        return
    names = credentials.AUTH_FIELDS[kind]
    for name in sorted(value.keys() - {"type", *names}):
        yield f"/{pointer_token(name)}", f"Not a member of “{kind}”."
    for name in names:
        yield from (
            (f"/{name}{at}", message) for at, message in _check_auth_field(name, value.get(name))
        )


def _check_auth_field(name: str, value: Any) -> Iterator[Finding]:
    if not isinstance(value, str):
        yield "", "Must be a string."
    elif name == "user" and len(value) > MAX_USER:
        yield "", f"Too long: {len(value):,} characters. The limit is {MAX_USER}."
    elif name == "user" and storable(value) != value:
        yield "", "Contains U+0000 or a lone surrogate, which cannot be stored."
    elif not value:
        return  # Not filled in yet.
    elif name == "secret" and not is_name(value):
        yield "", "Must be the name of a variable: files cannot contain secrets."
    elif name == "header" and not header_rules.is_token(value):
        yield "", "Must be a valid header name."


def _from_problems(
    validate: Callable[[Any], Iterable[RequestProblem]], value: Any
) -> Iterator[Finding]:
    for problem in validate(value):
        yield problem.pointer, problem.message


def _check_expectations(value: Any) -> Iterator[Finding]:
    if not isinstance(value, list) or len(value) > MAX_EXPECTATIONS:
        yield from _from_problems(check_schema, value)
        return
    for index, each in enumerate(value):
        text = json.dumps(each)
        # A large one would stay in memory for the lifetime of the process.
        validate = (
            expectation_errors if len(text) <= _MAX_CACHED else expectation_errors.__wrapped__
        )
        for pointer, message in validate(text):
            yield f"/{index}{pointer}", message


@lru_cache(maxsize=256)
def expectation_errors(text: str) -> tuple[Finding, ...]:
    """Return the errors of an expectation, given as JSON.

    They are cached, as thousands of requests have the same few expectations.
    """
    found = check_schema([json.loads(text)])
    return tuple((problem.pointer.removeprefix("/0"), problem.message) for problem in found)


#: Checks of fields that a schema cannot express, by model. References to other items are checked
#: by `fixture_parser`.
_EXTRA_CHECKS: Mapping[str, Mapping[str, Check]] = {
    COLLECTION: {"lesson": lesson_problems},
    REQUEST: {
        "document": _check_document,
        "headers": _check_headers,
        "auth": _check_auth,
        "expectations": _check_expectations,
        "captures": partial(_from_problems, check_captures),
        "reply": lambda value: () if value is None else validate_recording(value),
    },
}
