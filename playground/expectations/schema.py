"""Validation of expectations and captures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from playground.expectations.expectation_types import EXPECTATION_TYPES, JSON_OPERATORS
from playground.expectations.jsonpath import PathError, compile_path
from playground.expectations.regex import PatternError, compile_pattern
from playground.expectations.values import type_of, value_as_text
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import escape, pointer_of
from playground.variables.names import is_name

_INVALID_NAME = (
    "Variable names contain only letters, digits, “_”, “-” and “.”, up to 80 characters."
)
#: The most expectations of one request, and variables that it captures.
MAX_EXPECTATIONS = MAX_CAPTURES = 100


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a list of expectations. Shared: do not modify it."""
    types = {name: kind.schema for name, kind in EXPECTATION_TYPES.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "array",
        "maxItems": MAX_EXPECTATIONS,
        "items": {
            "type": "object",
            "required": ["type"],
            "oneOf": [{"$ref": f"#/$defs/{name}"} for name in types],
        },
        "$defs": types,
    }


def check_schema(expectations: Any) -> list[RequestProblem]:
    """Return the problems of a list of expectations, located by JSON pointers into the list.

    Every problem is an error: that expectation cannot be evaluated. Empty for a valid list.
    """
    if not isinstance(expectations, list):
        return [
            _error("", f"Expectations must be an array, not {_type_with_article(expectations)}.")
        ]
    if len(expectations) > MAX_EXPECTATIONS:
        return [_error("", f"There are more than {MAX_EXPECTATIONS} expectations.")]
    return [
        _error(f"/{index}{problem.pointer}", problem.message)
        for index, expectation in enumerate(expectations)
        for problem in check_one(expectation)
    ]


def check_one(expectation: Any) -> list[RequestProblem]:
    """Return the problems of one expectation, with pointers into the expectation."""
    if not isinstance(expectation, Mapping):
        return [
            _error("", f"An expectation must be an object, not {_type_with_article(expectation)}.")
        ]
    if "type" not in expectation:
        return [_error("/type", f"Add a type: {', '.join(EXPECTATION_TYPES)}.")]
    name = expectation["type"]
    if not isinstance(name, str) or name not in EXPECTATION_TYPES:
        listed = ", ".join(EXPECTATION_TYPES)
        return [
            _error("/type", f"Unknown expectation type {value_as_text(name)}. Supported: {listed}.")
        ]
    found = [
        problem
        for each in _validator(name).iter_errors(expectation)
        for problem in _problems_of(each)
    ]
    return sorted(found, key=lambda one: one.pointer) or list(_beyond_schema(expectation))


def check_captures(captures: Any) -> list[RequestProblem]:
    """Return the problems of captures, `{variable: JSONPath}`, with pointers into the object."""
    if not isinstance(captures, Mapping):
        return [_error("", f"Captures must be an object, not {_type_with_article(captures)}.")]
    if len(captures) > MAX_CAPTURES:
        return [_error("", f"There are more than {MAX_CAPTURES} captures.")]
    found: list[RequestProblem] = []
    for name, path in captures.items():
        pointer = pointer_of([name])
        if not isinstance(name, str) or not is_name(name):
            found.append(_error(pointer, _INVALID_NAME))
        if not isinstance(path, str):
            found.append(
                _error(pointer, f"A path must be a string, not {_type_with_article(path)}.")
            )
        else:
            found += [_error(pointer, reason) for reason in _errors_of(compile_path, path)]
    return found


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(EXPECTATION_TYPES[name].schema)


def _beyond_schema(expectation: Mapping[str, Any]) -> Iterator[RequestProblem]:
    """Yield problems beyond JSON Schema: invalid paths and patterns, bounds that disagree."""
    if expectation["type"] == "json":
        for reason in _errors_of(compile_path, expectation["path"]):
            yield _error("/path", reason)
        for reason in _errors_of(compile_pattern, expectation.get("matches", "")):
            yield _error("/matches", reason)
    if expectation.get("min", 0) > expectation.get("max", float("inf")):
        yield _error("/max", "max must not be less than min.")


def _type_with_article(value: Any) -> str:
    name = type_of(value)
    return name if name == "null" else f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def _errors_of(compile_: Callable[[str], Any], text: str) -> list[str]:
    try:
        compile_(text)
    except (PathError, PatternError) as error:
        return [str(error)]
    return []


def _problems_of(error: ValidationError) -> Iterator[RequestProblem]:
    pointer = pointer_of(error.absolute_path)
    expected: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            missing = [name for name in expected if name not in instance]
            yield from (_error(f"{pointer}/{escape(name)}", f"Add {name}.") for name in missing)
        case "additionalProperties":
            rules: Any = error.schema
            others = [name for name in instance if name not in rules["properties"]]
            yield from (_error(f"{pointer}/{escape(name)}", "Unknown member.") for name in others)
        case "enum":
            yield _error(pointer, f"Set this to one of: {', '.join(map(str, expected))}.")
        case other:
            message = _MESSAGES.get(str(other), f"The value violates {other} {{}}.")
            yield _error(pointer, message.format(value_as_text(expected)))


_MESSAGES = {
    "oneOf": f"Use exactly one of {', '.join(JSON_OPERATORS)}.",
    "minProperties": "Add min, max or exact.",
    "type": "This must be of type {}.",
    "exclusiveMinimum": "This must be greater than {}.",
    "minimum": "This must be at least {}.",
    "maximum": "This must be at most {}.",
}


def _error(pointer: str, message: str) -> RequestProblem:
    return RequestProblem(pointer, message, "error")
