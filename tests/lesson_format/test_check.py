"""Checks of steps: on requests, runs and answers, and suggested from a run."""

from __future__ import annotations

from typing import Any

import pytest

from playground.expectations import RunFacts, check_schema, evaluate
from playground.lesson_format.lesson import StepCheck, Subject, evaluate_check, suggested_check

SITE = {"type": "json", "path": "$.document.query.site", "exists": True}
ANSWER = {"type": "outcome", "equals": "answer"}


def request(**query: Any) -> dict[str, Any]:
    return {"kind": "ask", "document": {"query": {"text": "soup", **query}}}


def sent(outcome: str = "answer", **query: Any) -> Subject:
    return Subject(request(**query), lambda: RunFacts(state="completed", outcome=outcome))


def test_one_run_has_to_meet_all_of_it() -> None:
    check = StepCheck(request=[SITE], run=[ANSWER])
    assert not evaluate_check(check, []).passed
    assert not evaluate_check(check, [sent(), sent("failure", site="x")]).passed
    assert evaluate_check(check, [sent(), sent(site="x")]).passed


def test_the_closest_run_says_what_is_missing() -> None:
    check = StepCheck(request=[SITE], run=[ANSWER])
    result = evaluate_check(check, [sent(), sent("failure", site="x")])
    assert [each.expectation for each in result.failed] == [ANSWER]


def test_a_composed_request_is_enough_without_a_response() -> None:
    composed = Subject(request(site="x"))
    assert StepCheck(request=[SITE]).passes_unsent
    assert evaluate_check(StepCheck(request=[SITE]), [composed]).passed
    assert not evaluate_check(StepCheck(request=[SITE], run=[ANSWER]), [composed]).passed


def test_a_response_is_read_only_if_the_request_passes() -> None:
    def read() -> RunFacts:
        raise AssertionError

    check = StepCheck(request=[SITE], run=[ANSWER])
    assert not evaluate_check(check, [Subject(request(), read)]).passed


def test_an_answer_is_compared_without_spaces_around_it() -> None:
    check = StepCheck(answer=[{"type": "json", "path": "$", "matches": "^@type$"}])
    assert evaluate_check(check, [], " @type ").passed
    assert not evaluate_check(check, [], "type").passed
    assert not evaluate_check(check, [sent()], None).passed


def test_a_check_that_cannot_be_met_fails_and_nothing_else() -> None:
    for impossible in ([{"type": "magic"}], [7], [{"type": "results", "min": 2, "max": 1}]):
        result = evaluate_check(StepCheck(run=impossible), [sent()])
        assert not result.passed
        assert result.failed
    assert not evaluate_check(StepCheck(), [sent()]).passed


@pytest.mark.parametrize(
    ("facts", "run"),
    [
        ({"outcome": "answer", "results": 10},
         [{"type": "outcome", "equals": "answer"}, {"type": "results", "min": 1}]),
        ({"outcome": "elicitation"}, [{"type": "outcome", "equals": "elicitation"}]),
        ({"outcome": "failure", "failures": ("", "RATE_LIMITED")},
         [{"type": "outcome", "equals": "failure"}, {"type": "failure", "code": "RATE_LIMITED"}]),
    ],
)  # fmt: skip
def test_a_suggestion_from_a_response(facts: dict[str, Any], run: list[dict[str, Any]]) -> None:
    found = RunFacts(state="completed", **facts)
    assert suggested_check(found, {}, {}) == {"request": [], "run": run}
    assert all(each.met for each in evaluate(run, found))


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"query": {"text": "soup"}}, []),
        ({"query": {"text": "soup", "site": "a"}}, [("$.document.query.site", {"equals": "a"})]),
        ({"query": {"text": "soup", "diets": ["vegan"]}},
         [("$.document.query.diets", {"exists": True})]),
        ({"query": {"text": "stew"}}, [("$.document.query.text", {"equals": "stew"})]),
        ({"query": {"text": "soup"}, "prefer": {"accept-language": "de"}},
         [("$.document.prefer['accept-language']", {"equals": "de"})]),
        ({"query": {"text": "soup"}, "context": {"it's": 1}},
         [("$.document.context['it\\'s']", {"equals": 1})]),
        ({"query": {"text": "soup", "two\nlines": 1}},
         [("$.document.query['two\\nlines']", {"equals": 1})]),
        ({"query": ["soup"]}, []),
    ],
)  # fmt: skip
def test_a_suggestion_from_a_request(
    sent: dict[str, Any], expected: list[tuple[str, dict[str, Any]]]
) -> None:
    check = suggested_check(
        RunFacts(state="completed", outcome="answer"), sent, {"query": {"text": "soup"}}
    )
    wanted = [{"type": "json", "path": path, **operator} for path, operator in expected]
    assert check["request"] == wanted
    assert check_schema(wanted) == []
    facts = RunFacts(state="completed", outcome="none", document={"document": sent})
    assert all(each.met for each in evaluate(wanted, facts))
