"""Checks as rows."""

from __future__ import annotations

import pytest

from playground.expectations import Check, RunFacts, evaluate
from playground.rendering.expectations import checks_view

MET = {"type": "state", "equals": "completed"}
UNMET = {"type": "outcome", "equals": "promise"}
UNCLEAR = {"type": "conformance", "level": "must"}


def checks(*expectations: dict[str, str]) -> list[Check]:
    return evaluate(list(expectations), RunFacts(state="completed", outcome="answer"))


@pytest.mark.parametrize(
    ("expectations", "verdict", "tally"),
    [
        ([MET, MET], "pass", "2 of 2 passed"),
        ([MET, UNMET], "fail", "1 of 2 passed"),
        ([MET, UNCLEAR], "incomplete", "1 of 2 passed"),
        ([UNMET, UNCLEAR], "fail", "0 of 2 passed"),
    ],
)
def test_together(expectations: list[dict[str, str]], verdict: str, tally: str) -> None:
    view = checks_view(checks(*expectations))
    assert (view.verdict, view.tally, view.total) == (verdict, tally, 2)


def test_each_has_a_shape_a_word_and_what_there_was() -> None:
    rows = checks_view(checks(MET, UNMET, UNCLEAR)).rows
    assert [(row.verdict, row.verdict_label) for row in rows] == [
        ("pass", "Passed"), ("fail", "Failed"), ("incomplete", "Inconclusive"),
    ]  # fmt: skip
    assert (rows[1].expected, rows[1].actual) == ("the outcome is promise", "answer")
    assert '"promise"' in rows[1].source
