"""Lessons: checks on requests, runs and answers, the check that a run suggests, and problems."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import RunFacts, check_schema, evaluate
from playground.lesson_format.lesson import (
    TABS,
    Lesson,
    StepCheck,
    Subject,
    evaluate_check,
    lesson_problems,
    requests_of,
    suggested_check,
    with_requests,
)

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


ROOT = Path(__file__).resolve().parent.parent.parent

CHECK = {"run": [{"type": "outcome", "equals": "answer"}]}


def lesson(**step: Any) -> dict[str, Any]:
    return {"version": 1, "steps": [{"slug": "a", "title": "A", "text": "Send it.", **step}]}


COMPLETE = lesson(
    request="soup",
    look=[{"label": "Events", "tab": "events", "place": "result"}],
    question="Which?",
    check={"answer": [{"type": "json", "path": "$", "equals": "x"}], "missing": "Not yet."},
    hints=["One."],
    solution={"text": "x", "request": "soup", "answer": "x"},
)


SEQUENCE = lesson(look=[{"label": "Who sent what", "tab": "sequence"}])


@pytest.mark.parametrize(
    "value",
    [None, lesson(), lesson(check=CHECK), COMPLETE, SEQUENCE, {**lesson(), "version": 1.0}],
)
def test_a_valid_lesson_has_no_problems(value: Any) -> None:
    assert list(lesson_problems(value)) == []


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        ([], "", "must be an object"),
        ({}, "", "“version” is missing"),
        ({"version": 2, "steps": 7}, "/version", "version 2 of the format"),
        ({"version": True, "steps": [{}]}, "/version", "Must be 1."),
        ({"version": 0, "steps": [{}]}, "/version", "Must be 1."),
        ({"version": 1, "steps": []}, "/steps", "at least one step"),
        ({"version": 1, "steps": [{}] * 1000}, "/steps", "Too many: 1,000. The limit is 100."),
        ({"version": 1, "minutes": 0, "steps": [{}]}, "/minutes", "from 1 to 600"),
        (lesson(slug="a b"), "/steps/0/slug", "ASCII letters"),
        (lesson(title=" "), "/steps/0/title", "empty"),
        (lesson(text="x" * 20_001), "/steps/0/text", "Too long"),
        (lesson(text="\0"), "/steps/0/text", "U+0000"),
        (lesson(script="alert(1)"), "/steps/0/script", "Unknown member"),
        (lesson(look=[{"label": "x", "tab": "Bytes"}]), "/steps/0/look/0/tab", "no tab “Bytes”"),
        (
            lesson(look=[{"label": "x", "tab": "events", "place": "explosion"}]),
            "/steps/0/look/0/place", "type of an event",
        ),
        (
            lesson(look=[{"label": "x", "tab": "request", "place": "text"}]),
            "/steps/0/look/0/place", "JSON Pointer",
        ),
        (
            lesson(look=[{"label": "x", "tab": "session", "place": "x"}]),
            "/steps/0/look/0/place", "no places",
        ),
        (
            lesson(look=[{"label": "x", "tab": "sequence", "place": "call"}]),
            "/steps/0/look/0/place", "no places",
        ),
        (lesson(check={}), "/steps/0/check", "needs expectations"),
        (lesson(check={"run": [{"type": "magic"}]}), "/steps/0/check/run/0", ""),
        (
            lesson(check={"request": [{"type": "outcome", "equals": "answer"}]}),
            "/steps/0/check/request/0", "Only expectations of the type json",
        ),
        (
            lesson(check={"answer": [{"type": "json", "path": "$", "equals": "x"}]}),
            "/steps/0/question", "needs a question",
        ),
        (lesson(question="Which?"), "/steps/0/question", "needs a check of its answer"),
        (lesson(solution={}), "/steps/0/solution", "needs a text"),
        (lesson(hints=[7]), "/steps/0/hints/0", "a string"),
    ],
)  # fmt: skip
def test_problems_have_a_location(value: Any, pointer: str, words: str) -> None:
    found = [message for at, message in lesson_problems(value) if at.startswith(pointer)]
    assert any(words in message for message in found), list(lesson_problems(value))


@pytest.mark.timeout(10)
def test_problems_of_a_huge_lesson_are_found_at_once() -> None:
    """Of 200,000 steps not each is described."""
    found = list(lesson_problems({"version": 1, "steps": [{}] * 200_000}))
    assert found[0] == ("/steps", "Too many: 200,000. The limit is 100.")
    assert len(found) < 1_000


def test_a_slug_names_one_step() -> None:
    step = lesson()["steps"][0]
    found = dict(lesson_problems({"version": 1, "steps": [step, step]}))
    assert "Duplicate slug" in found["/steps/1/slug"]


def test_references_to_deleted_requests_are_left_out() -> None:
    assert [slug for _, slug in requests_of(COMPLETE)] == ["soup", "soup"]
    assert with_requests(COMPLETE, {"soup"}) is COMPLETE
    left = with_requests(COMPLETE, set())
    assert list(requests_of(left)) == []
    assert list(lesson_problems(left)) == []
    only = lesson(solution={"request": "soup"})
    assert "solution" not in with_requests(only, set())["steps"][0]


def test_the_pane_opens_each_tab() -> None:
    script = (ROOT / "static" / "lessons" / "pane.js").read_text("utf-8")
    listed = script.partition("const TABS = {")[2].partition("};")[0]
    assert re.findall(r"^  (\w+):", listed, re.MULTILINE) == list(TABS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["version", "steps", "slug", "title", "check", "run", "look", "hints"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_nothing_makes_validation_or_reading_fail(value: Any) -> None:
    list(lesson_problems(value))
    found = Lesson.of(value)
    assert all(isinstance(step.slug, str) for step in found.steps)
    json.dumps([step.title for step in found.steps])
