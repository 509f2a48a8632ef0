"""Every expectation type: runs that pass and fail, and the texts of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from playground.expectations import (
    EXPECTATION_TYPES,
    RunFacts,
    TimedEvent,
    check_schema,
    evaluate,
    schema,
)
from playground.expectations.expectation_types import ExpectationField
from playground.protocols import events
from playground.protocols.events import EVENT_LABELS, event_label
from tests.expectations.samples import MET, RUN, UNMET, path


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
    """What a form offers is what the schema takes."""

    def test_has_the_types_of_the_schema_in_their_order(self) -> None:
        listed = [each["$ref"].rpartition("/")[2] for each in schema()["items"]["oneOf"]]
        assert listed == list(EXPECTATION_TYPES)

    @pytest.mark.parametrize("kind", EXPECTATION_TYPES)
    def test_has_the_members_of_the_schema(self, kind: str) -> None:
        members = set(schema()["$defs"][kind]["properties"]) - {"type"}
        assert {field.name for field in EXPECTATION_TYPES[kind].fields} == members

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

    def test_choices_are_those_of_the_schema(self) -> None:
        for kind, name in [("state", "equals"), ("outcome", "equals"), ("json", "is")]:
            field = next(each for each in EXPECTATION_TYPES[kind].fields if each.name == name)
            assert [value for value, _ in field.choices] == schema()["$defs"][kind]["properties"][
                name
            ]["enum"]


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
