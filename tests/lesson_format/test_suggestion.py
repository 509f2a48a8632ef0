"""The check that is suggested for a step."""

from __future__ import annotations

from typing import Any

import pytest

from playground.expectations import RunFacts, check_schema, evaluate
from playground.lesson_format.lesson import suggested_check


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
def test_the_response(facts: dict[str, Any], run: list[dict[str, Any]]) -> None:
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
def test_the_request(sent: dict[str, Any], expected: list[tuple[str, dict[str, Any]]]) -> None:
    check = suggested_check(
        RunFacts(state="completed", outcome="answer"), sent, {"query": {"text": "soup"}}
    )
    wanted = [{"type": "json", "path": path, **operator} for path, operator in expected]
    assert check["request"] == wanted
    assert check_schema(wanted) == []
    facts = RunFacts(state="completed", outcome="none", document={"document": sent})
    assert all(each.met for each in evaluate(wanted, facts))
