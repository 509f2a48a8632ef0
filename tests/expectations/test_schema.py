"""Invalid expectations: the message, its location, and the check that cannot be evaluated."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import (
    check_schema,
    schema,
)
from tests.expectations.samples import MET, NAMES, TEXTS, UNMET
from tests.support.json_values import objects


@pytest.mark.parametrize(
    ("expectations", "pointer", "words"),
    [
        ({}, "", "Expectations must be an array, not an object."),
        ([1], "/0", "An expectation must be an object, not a number."),
        ([{}], "/0/type", "Add a type: state, outcome"),
        ([{"type": "stat"}], "/0/type", 'Unknown expectation type "stat". Supported: state'),
        ([{"type": 7}], "/0/type", "Unknown expectation type 7."),
        ([{"type": "state"}], "/0/equals", "Add equals."),
        ([{"type": "state", "equals": "done"}], "/0/equals", "Set this to one of: completed"),
        ([{"type": "status", "equals": "200"}], "/0/equals", 'of type "integer"'),
        ([{"type": "status", "equals": 20}], "/0/equals", "at least 100"),
        ([{"type": "results"}], "/0", "Add min, max or exact."),
        ([{"type": "results", "min": 4, "max": 2}], "/0/max", "less than min"),
        ([{"type": "results", "min": -1}], "/0/min", "at least 0"),
        ([{"type": "json", "path": "$", "equal": 1}], "/0", "Use exactly one of exists"),
        ([{"type": "json", "path": "$", "equals": 1, "exists": True}], "/0", "exactly one of"),
        ([{"type": "json", "path": "results", "exists": True}], "/0/path", "at character 1:"),
        ([{"type": "json", "path": "$.a[?", "exists": True}], "/0/path", "at character"),
        ([{"type": "json", "path": "$[?f(@)]", "exists": True}], "/0/path", "'f' is not defined"),
        ([{"type": "json", "path": "$", "matches": "(a"}], "/0/matches", "Invalid RE2 pattern"),
        ([{"type": "json", "path": "$", "matches": r"(a)\1"}], "/0/matches", "Invalid RE2 pattern"),
        ([{"type": "json", "path": "$", "matches": "(?=a)"}], "/0/matches", "Invalid RE2 pattern"),
        ([{"type": "json", "path": "$", "is": "text"}], "/0/is", "Set this to one of: string"),
        ([{"type": "first_within", "ms": 0}], "/0/ms", "greater than 0"),
        ([{"type": "order", "events": ["finish"]}], "/0/events/0", "Set this to one of: started"),
        ([{"type": "order", "events": []}], "/0/events", "The value violates minItems 1."),
        ([{"type": "failure", "code": "a", "a/b": 1}], "/0/a~1b", "Unknown member."),
        ([{"type": "state", "equals": "failed"}] * 101, "", "more than 100"),
    ],
)
def test_places(expectations: Any, pointer: str, words: str) -> None:
    problems = check_schema(expectations)
    assert next((problem.pointer, problem.level) for problem in problems) == (pointer, "error")
    assert words in " ".join(problem.message for problem in problems)


@pytest.mark.parametrize("expectation", [*MET, *UNMET], ids=str)
def test_the_file_takes_what_the_check_takes(expectation: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema()).validate([expectation])


def test_the_file_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@given(st.lists(objects(NAMES, TEXTS), max_size=3))
def test_the_file_refuses_only_what_the_check_refuses(expectations: list[Any]) -> None:
    """The check goes on where a schema cannot: paths, patterns and bounds."""
    if not check_schema(expectations):
        jsonschema.Draft202012Validator(schema()).validate(expectations)
