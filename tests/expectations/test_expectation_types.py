"""Expectations by table: their results, invalid ones, and any on any document."""

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
    TimedEvent,
    capture,
    check_captures,
    check_schema,
    evaluate,
    schema,
)
from playground.expectations.expectation_types import ExpectationField
from playground.protocols import events
from playground.protocols.events import EVENT_LABELS, event_label
from tests.expectations.samples import DOCUMENT, MET, NAMES, RUN, TEXTS, UNMET, path
from tests.support.json_values import objects, values


def met(expectation: dict[str, Any], run: RunFacts = RUN) -> bool | None:
    assert check_schema([expectation]) == []
    return evaluate([expectation], run)[0].met


@pytest.mark.parametrize("expectation", MET, ids=str)
def test_met(expectation: dict[str, Any]) -> None:
    assert met(expectation) is True


@pytest.mark.parametrize("expectation", UNMET, ids=str)
def test_not_met(expectation: dict[str, Any]) -> None:
    assert met(expectation) is False


@pytest.mark.parametrize("kind", EXPECTATION_TYPES)
def test_both_tables_have_every_type(kind: str) -> None:
    assert kind in {each["type"] for each in MET}
    assert kind in {each["type"] for each in UNMET}


@pytest.mark.parametrize(
    ("expectation", "wanted", "actual"),
    [
        ({"type": "status", "equals": 404}, "the HTTP status is 404", "200"),
        (
            {"type": "results", "min": 3, "max": 9},
            "the number of results is at least 3 and at most 9", "2",
        ),
        (path("$.results[0].name", equals="Pie"), '$.results[0].name equals "Pie"', '"Soup"'),
        (
            path("$.results[*].name", equals="Tea"),
            '$.results[*].name equals "Tea"', '2 values: "Soup", "Pie"',
        ),
        (
            path("$.results[*].name", equals="Soup", every=True),
            'every value at $.results[*].name equals "Soup"', '"Pie", one of 2 values',
        ),
        (path("$.nowhere", equals=1), "$.nowhere equals 1", "no match"),
        (
            {"type": "no_gap_over", "ms": 100},
            "no gap between events is longer than 100 ms",
            "360 ms, from event 2 (result) to event 3 (result)",
        ),
        (
            {"type": "order", "events": ["completed", "result"]},
            "the events are in this order: completed, then result",
            "started, result × 2, completed",
        ),
        (
            {"type": "conformance", "level": "should"},
            "no MUST or SHOULD violations", "2: item-url, item-name",
        ),
        ({"type": "failure", "code": "A"}, "the failure code is A", "NO_RESULTS"),
    ],
)  # fmt: skip
def test_words(expectation: dict[str, Any], wanted: str, actual: str) -> None:
    check = evaluate([expectation], RUN)[0]
    assert (check.expected, check.actual) == (wanted, actual)
    assert check.message == f"Failed: {wanted}; actual: {actual}"


class TestRunsThatHaveLittle:
    """Nothing came, or it did not come to its end."""

    NOTHING = RunFacts(state="failed", outcome="none")

    @pytest.mark.parametrize(
        ("expectation", "actual"),
        [
            ({"type": "status", "equals": 200}, "none"),
            ({"type": "response_type", "equals": "answer"}, "none"),
            ({"type": "first_within", "ms": 5}, "no events"),
            ({"type": "complete_within", "ms": 5}, "not completed: failed"),
            ({"type": "no_gap_over", "ms": 5}, "no events"),
            ({"type": "order", "events": ["result"]}, "no events"),
            ({"type": "failure", "code": "A"}, "no failure"),
            (path("$.results", exists=True), "no match"),
        ],
    )
    def test_are_no_match(self, expectation: dict[str, Any], actual: str) -> None:
        check = evaluate([expectation], self.NOTHING)[0]
        assert (check.met, check.actual) == (False, actual)

    def test_without_rules_conformance_is_not_judged(self) -> None:
        check = evaluate([{"type": "conformance", "level": "must"}], self.NOTHING)[0]
        assert check.met is None
        assert "no rules" in check.actual

    def test_one_event_has_no_gap_but_to_the_end(self) -> None:
        run = replace(RUN, events=(TimedEvent("result", 10.0),), ended_ms=None)
        assert met({"type": "no_gap_over", "ms": 1}, run)
        assert not met({"type": "no_gap_over", "ms": 1}, replace(run, ended_ms=500.0))

    def test_a_truncated_run_did_not_complete_however_soon(self) -> None:
        assert met({"type": "complete_within", "ms": 1e6}, replace(RUN, state="truncated")) is False


def test_rules_are_asked_once_and_only_where_somebody_wants_to_know() -> None:
    asked: list[int] = []

    def judge() -> dict[str, list[str]]:
        asked.append(1)
        return {"must": []}

    run = replace(RUN, run_rules=judge)
    evaluate([{"type": "state", "equals": "completed"}], run)
    assert asked == []
    evaluate([{"type": "conformance", "level": level} for level in ("must", "should")], run)
    assert asked == [1]


class TestTheTable:
    @pytest.mark.parametrize("kind", EXPECTATION_TYPES)
    def test_what_a_new_one_holds_can_be_judged(self, kind: str) -> None:
        fields = EXPECTATION_TYPES[kind].fields
        operands = [field for field in fields if field.operator]
        wanted = [field for field in fields if not field.operator] + operands[:1]
        fresh = {field.name: fresh_value(field) for field in wanted}
        fresh = {name: value for name, value in fresh.items() if value != ""}
        assert check_schema([{"type": kind, **fresh}]) == []

    def test_knows_every_kind_of_event(self) -> None:
        classes = [each for each in vars(events).values() if isinstance(each, type)]
        found = {event_label(each.__new__(each)) for each in classes if is_event(each)}
        assert found == set(EVENT_LABELS)


def is_event(kind: type) -> bool:
    return issubclass(kind, events.Event) and kind is not events.Event


def fresh_value(field: ExpectationField) -> Any:
    """What the page makes of a field that nobody has touched."""
    first = field.choices[0][0] if field.choices else field.default
    if field.control == "flag":
        return first == "true" if first else ""
    if field.control == "number":
        return float(first) if first else ""
    return first.split(", ") if field.control == "words" else first


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
def test_places_of_problems(expectations: Any, pointer: str, words: str) -> None:
    problems = check_schema(expectations)
    assert next((problem.pointer, problem.level) for problem in problems) == (pointer, "error")
    assert words in " ".join(problem.message for problem in problems)


@pytest.mark.parametrize("expectation", [*MET, *UNMET], ids=str)
def test_the_schema_takes_what_the_check_takes(expectation: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema()).validate([expectation])


def test_the_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@given(st.lists(objects(NAMES, TEXTS), max_size=3))
def test_the_schema_refuses_only_what_the_check_refuses(expectations: list[Any]) -> None:
    """The check goes on where a schema cannot: paths, patterns and bounds."""
    if not check_schema(expectations):
        jsonschema.Draft202012Validator(schema()).validate(expectations)


@given(values(NAMES, TEXTS) | st.lists(objects(NAMES, TEXTS), max_size=4), values(("results",)))
def test_no_expectation_raises(expectations: Any, document: Any) -> None:
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
    assert checks[0].message.startswith("Inconclusive: ")
    assert "/path: Invalid JSONPath" in checks[0].actual


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
            ("/a.b", "No match for $.nowhere; a.b was not captured.")
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
