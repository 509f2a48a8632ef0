"""What an expectation may look like, and where one does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from playground.expectations.paths import PathError, compile_path
from playground.expectations.regex import PatternError
from playground.expectations.regex import compile_pattern as compiled_pattern
from playground.expectations.reply import OPERATORS
from playground.expectations.table import EXPECTATION_TYPES
from playground.expectations.values import type_of, value_as_text
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import escape, pointer_of
from playground.variables import is_name

_NO_NAME = "The name of a variable has letters, digits, “_”, “-” and “.”, 80 at most."
#: Expectations of one request, and variables that it captures.
MAX_EXPECTATIONS = MAX_CAPTURES = 100


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a list of expectations. Shared: do not change it."""
    text = resources.files(__package__).joinpath("schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def check_schema(expectations: Any) -> list[RequestProblem]:
    """What is wrong with a list of expectations: places are JSON pointers into the list.

    Every problem is an error: what is here cannot be judged. Empty for a list that can be.
    """
    if not isinstance(expectations, list):
        return [_error("", f"Expectations are an array, not {type_of(expectations)}.")]
    if len(expectations) > MAX_EXPECTATIONS:
        return [_error("", f"There are more than {MAX_EXPECTATIONS} expectations.")]
    return [
        _error(f"/{place}{problem.pointer}", problem.message)
        for place, expectation in enumerate(expectations)
        for problem in check_one(expectation)
    ]


def check_one(expectation: Any) -> list[RequestProblem]:
    """What is wrong with one expectation; pointers into the expectation."""
    if not isinstance(expectation, Mapping):
        return [_error("", f"An expectation is an object, not {type_of(expectation)}.")]
    if "type" not in expectation:
        return [_error("/type", f"Add a type: {', '.join(EXPECTATION_TYPES)}.")]
    name = expectation["type"]
    if not isinstance(name, str) or name not in EXPECTATION_TYPES:
        listed = ", ".join(EXPECTATION_TYPES)
        return [
            _error("/type", f"There is no expectation {value_as_text(name)}. There are: {listed}.")
        ]
    found = [
        problem for each in _validator(name).iter_errors(expectation) for problem in _said(each)
    ]
    return sorted(found, key=lambda one: one.pointer) or list(_beyond_schema(expectation))


def check_captures(captures: Any) -> list[RequestProblem]:
    """What is wrong with captures, `{variable: JSONPath}`; pointers into the object."""
    if not isinstance(captures, Mapping):
        return [_error("", f"Captures are an object, not {type_of(captures)}.")]
    if len(captures) > MAX_CAPTURES:
        return [_error("", f"There are more than {MAX_CAPTURES} captures.")]
    found: list[RequestProblem] = []
    for name, path in captures.items():
        pointer = pointer_of([name])
        if not isinstance(name, str) or not is_name(name):
            found.append(_error(pointer, _NO_NAME))
        if not isinstance(path, str):
            found.append(_error(pointer, f"A path is a string, not {type_of(path)}."))
        else:
            found += [_error(pointer, reason) for reason in _refusal(compile_path, path)]
    return found


@cache
def _validator(name: str) -> Draft202012Validator:
    whole = schema()
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]})


def _beyond_schema(expectation: Mapping[str, Any]) -> Iterator[RequestProblem]:
    """What a schema cannot say: whether paths and patterns can be read, and bounds agree."""
    if expectation["type"] == "json":
        for reason in _refusal(compile_path, expectation["path"]):
            yield _error("/path", reason)
        for reason in _refusal(compiled_pattern, expectation.get("matches", "")):
            yield _error("/matches", reason)
    if expectation.get("min", 0) > expectation.get("max", float("inf")):
        yield _error("/max", "The most is less than the least.")


def _refusal(compile_: Callable[[str], Any], text: str) -> list[str]:
    try:
        compile_(text)
    except (PathError, PatternError) as error:
        return [str(error)]
    return []


def _said(error: ValidationError) -> Iterator[RequestProblem]:
    """What jsonschema found, in words and with the place that it is about."""
    pointer = pointer_of(error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in instance]
            yield from (_error(f"{pointer}/{escape(name)}", f"Add {name}.") for name in missing)
        case "additionalProperties":
            yield from (_error(f"{pointer}/{escape(name)}", _FOREIGN) for name in _extra(error))
        case "enum":
            yield _error(pointer, f"Set this to one of: {', '.join(map(str, wanted))}.")
        case other:
            words = _WORDS.get(str(other), f"The {other} of this is {{}}.")
            yield _error(pointer, words.format(value_as_text(wanted)))


_FOREIGN = "There is no such member."
_WORDS = {
    "oneOf": f"Ask for exactly one of {', '.join(OPERATORS)}.",
    "minProperties": "Add min, max or exact.",
    "type": "This has to be of the type {}.",
    "exclusiveMinimum": "This has to be more than {}.",
    "minimum": "This has to be at least {}.",
    "maximum": "This can be {} at most.",
}


def _extra(error: ValidationError) -> list[str]:
    rules: Any = error.schema
    instance: Any = error.instance
    return [name for name in instance if name not in rules["properties"]]


def _error(pointer: str, message: str) -> RequestProblem:
    return RequestProblem(pointer, message, "error")
