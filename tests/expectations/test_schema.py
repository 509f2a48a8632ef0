"""What is no expectation: a message with the place, and a check that says that it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import (
    EXPECTATION_TYPES,
    RunFacts,
    capture,
    check_captures,
    check_schema,
    evaluate,
    schema,
)
from tests.expectations.test_types import DOCUMENT, MET, RUN, UNMET
from tests.json_values import objects, values

NAMES = ("type", "equals", "path", "min", "max", "ms", "events", "level", "code", "exists", "is")
TEXTS = (
    *EXPECTATION_TYPES,
    "$",
    "$..*",
    "$.results[*].name",
    "completed",
    "must",
    "result",
    "string",
    "(",
    "",
)


@pytest.mark.parametrize(
    ("expectations", "pointer", "words"),
    [
        ({}, "", "Expectations are an array, not object."),
        ([1], "/0", "An expectation is an object, not number."),
        ([{}], "/0/type", "Add a type: state, outcome"),
        ([{"type": "stat"}], "/0/type", 'There is no expectation "stat". There are: state'),
        ([{"type": 7}], "/0/type", "There is no expectation 7."),
        ([{"type": "state"}], "/0/equals", "Add equals."),
        ([{"type": "state", "equals": "done"}], "/0/equals", "Set this to one of: completed"),
        ([{"type": "status", "equals": "200"}], "/0/equals", 'of the type "integer"'),
        ([{"type": "status", "equals": 20}], "/0/equals", "at least 100"),
        ([{"type": "results"}], "/0", "Add min, max or exact."),
        ([{"type": "results", "min": 4, "max": 2}], "/0/max", "less than the least"),
        ([{"type": "results", "min": -1}], "/0/min", "at least 0"),
        ([{"type": "json", "path": "$", "equal": 1}], "/0", "Ask for exactly one of exists"),
        ([{"type": "json", "path": "$", "equals": 1, "exists": True}], "/0", "exactly one of"),
        ([{"type": "json", "path": "results", "exists": True}], "/0/path", "at character 1:"),
        ([{"type": "json", "path": "$.a[?", "exists": True}], "/0/path", "at character"),
        ([{"type": "json", "path": "$[?f(@)]", "exists": True}], "/0/path", "'f' is not defined"),
        ([{"type": "json", "path": "$", "matches": "(a"}], "/0/matches", "RE2 does not take"),
        ([{"type": "json", "path": "$", "matches": r"(a)\1"}], "/0/matches", "RE2 does not take"),
        ([{"type": "json", "path": "$", "matches": "(?=a)"}], "/0/matches", "RE2 does not take"),
        ([{"type": "json", "path": "$", "is": "text"}], "/0/is", "Set this to one of: string"),
        ([{"type": "first_within", "ms": 0}], "/0/ms", "more than 0"),
        ([{"type": "order", "events": ["finish"]}], "/0/events/0", "Set this to one of: started"),
        ([{"type": "order", "events": []}], "/0/events", "The minItems of this is 1."),
        ([{"type": "failure", "code": "a", "a/b": 1}], "/0/a~1b", "There is no such member."),
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


@given(values(NAMES, TEXTS) | st.lists(objects(NAMES, TEXTS), max_size=4), values(("results",)))
def test_nothing_raises(expectations: Any, document: Any) -> None:
    checks = evaluate(expectations, RunFacts("completed", "answer", document=document))
    if isinstance(expectations, list):
        assert len(checks) == len(expectations)
        assert all(check.met is None for check, each in zip(checks, expectations, strict=True)
                   if check_schema([each]))  # fmt: skip
    for check in checks:
        assert set(check.to_json()) >= {"expectation", "met", "wanted", "actual", "message"}


#: Expectations that can be judged, of any document.
JUDGEABLE = st.lists(st.sampled_from([*MET, *UNMET]), max_size=4)


@given(JUDGEABLE, values(("results", "name", "url", "price", "tags", "_meta")))
def test_every_expectation_is_judged_on_every_document(expectations: Any, document: Any) -> None:
    run = replace(RUN, document=document)
    judged = evaluate(expectations, run)
    assert [check.met is None for check in judged] == [False] * len(expectations)


def test_one_that_cannot_be_judged_is_in_nobodys_way() -> None:
    wrong = {"type": "json", "path": "$[", "exists": True}
    checks = evaluate([wrong, {"type": "state", "equals": "completed"}], RUN)
    assert [check.met for check in checks] == [None, True]
    assert checks[0].message.startswith("Could not be judged: ")
    assert "/path: The path is no JSONPath" in checks[0].actual


class TestCaptures:
    def test_take_the_first_value(self) -> None:
        captures = {"link": "$.results[*].url", "all": "$.results", "no": "$.none"}
        found, problems = capture(captures, DOCUMENT)
        assert found == {
            "link": "https://a.example/soup", "all": DOCUMENT["results"], "no": None,
        }  # fmt: skip
        assert problems == []

    def test_say_where_nothing_is(self) -> None:
        found, problems = capture({"a.b": "$.nowhere", "ok": "$.one"}, DOCUMENT)
        assert found == {"ok": 1}
        assert [(each.pointer, each.message) for each in problems] == [
            ("/a.b", "Nothing stands at $.nowhere, so a.b has no value.")
        ]

    @pytest.mark.parametrize(
        ("captures", "pointer"),
        [
            ([], ""),
            ({"a b": "$"}, "/a b"),
            ({"{{a}}": "$"}, "/{{a}}"),
            ({"": "$"}, "/"),
            ({"a/b": "$"}, "/a~1b"),
            ({"é": "$"}, "/é"),
            ({"$uuid": "$"}, "/$uuid"),
            ({"a" * 81: "$"}, "/" + "a" * 81),
            ({"a": 1}, "/a"),
            ({"a": "$["}, "/a"),
            ({str(number): "$" for number in range(101)}, ""),
        ],
        ids=str,
    )
    def test_wrong_ones_are_told(self, captures: Any, pointer: str) -> None:
        assert [problem.pointer for problem in check_captures(captures)] == [pointer]
        found, problems = capture(captures, DOCUMENT)
        assert found == {}
        assert [problem.pointer for problem in problems] == [pointer]

    @given(values(("a", "b"), TEXTS), values(("results",)))
    def test_nothing_raises(self, captures: Any, document: Any) -> None:
        found, problems = capture(captures, document)
        if isinstance(captures, dict):
            assert len(found) + len({problem.pointer for problem in problems}) == len(captures)
