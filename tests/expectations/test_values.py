"""Truncated values and texts, however large the response is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from playground.expectations import RunFacts, evaluate
from playground.expectations.values import (
    MAX_TEXT,
    truncated_value,
    truncated_values,
    value_as_text,
)
from tests.expectations.samples import RUN
from tests.support.json_values import values

#: Characters of JSON that a value may come to: 4,000 of texts and numbers, and what 200 values
#: of all kinds have around them.
MOST = 12_000


#: A list that leaves room for ten characters.
FULL = [*["x" * 200] * 19, "x" * 190]


def nested(width: int, depth: int, leaf: Any) -> Any:
    return leaf if depth == 0 else [nested(width, depth - 1, leaf) for _ in range(width)]


def linked(width: int, depth: int, leaf: Any) -> Any:
    """As `nested`, with objects, and each level only once in memory."""
    value = leaf
    for _ in range(depth):
        value = {f"name {at}": value for at in range(width)}
    return value


HUGE: dict[str, Any] = {
    "lists": nested(10, 5, "x" * 60),
    "objects": linked(30, 6, "x" * 1_000),
    "empty ones": linked(20, 5, []),
    "numbers": nested(20, 3, 1e100),
    "long numbers": nested(20, 3, 2**255),
    "longer numbers": nested(20, 3, 2**70_000),
    "long names": {str(at) * 5_000: {"y" * 5_000: 1} for at in range(100)},
    "a text": "x" * 1_000_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_what_is_kept_of_a_huge_value_is_little(name: str) -> None:
    kept = truncated_value(HUGE[name])
    assert len(json.dumps(kept, ensure_ascii=False)) <= MOST
    assert "…" in json.dumps(kept, ensure_ascii=False)
    assert len(value_as_text(HUGE[name])) == MAX_TEXT


@pytest.mark.parametrize("name", HUGE)
def test_several_take_no_more_than_one(name: str) -> None:
    kept = truncated_values([HUGE[name]] * 5)
    assert len(kept) == 5
    assert len(json.dumps(kept, ensure_ascii=False)) <= MOST


@pytest.mark.parametrize(
    "expectation",
    [
        {"path": "$.results[*,0,0,0,0]", "exists": True},
        {"path": "$.results[*,0,0,0,0]", "exists": False},
        {"path": "$.results", "is": "array"},
        {"path": "$.results[*]", "is": "string", "every": True},
        {"path": "$..*", "equals": "nowhere"},
    ],
    ids=lambda each: each["path"],
)
def test_a_verdict_on_a_huge_reply_is_little(expectation: dict[str, Any]) -> None:
    document = {"results": [{"name": "a", "n": nested(10, 5, "x" * 60)}]}
    observed = RunFacts("completed", "answer", document=document)
    (check,) = evaluate([{"type": "json", **expectation}], observed)
    assert len(json.dumps(check.to_json(), ensure_ascii=False)) <= 2 * MOST


@pytest.mark.parametrize(
    "expectation",
    [
        {"type": "response_type", "equals": "answer"},
        {"type": "failure", "code": "NONE"},
    ],
    ids=lambda each: each["type"],
)
def test_a_word_of_megabytes_is_told_in_short(expectation: dict[str, Any]) -> None:
    word = "x" * 1_000_000
    observed = replace(RUN, response_type=word, failures=(word,) * 9)
    (check,) = evaluate([expectation], observed)
    assert check.met is False
    assert len(json.dumps(check.to_json())) <= MOST


@pytest.mark.parametrize(
    "expectation",
    [
        {"type": "no_gap_over", "ms": 1e9},
        {"type": "order", "events": ["result"]},
        {"type": "failure", "code": "y"},
    ],
    ids=lambda each: each["type"],
)
def test_what_is_looked_through_is_counted(expectation: dict[str, Any]) -> None:
    """A hundred may be expected, of a run of millions of events or megabytes of codes."""
    run = replace(RUN, failures=("x" * 10_000_000,) * 101, events=RUN.events * 300_000)
    (check,) = evaluate([expectation], run)
    assert (check.met, check.actual) == (None, "The evaluation of this response takes too long.")


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"a": [1, 2.5, True, None, "x"]}, {"a": [1, 2.5, True, None, "x"]}),
        (list(range(25)), [*range(20), "… 5 more"]),
        ({str(at): at for at in range(22)},
         {**{str(at): at for at in range(20)}, "…": "2 more"}),
        ("x" * 201, "x" * 199 + "…"),
        ("x" * 200, "x" * 200),
        (2**256, "a very large number"),
        (nested(1, 6, 7), nested(1, 6, 7)),
        (nested(1, 7, 7), nested(1, 6, "…")),
        ([[], {}], [[], {}]),
        ([FULL, "y" * 20], [FULL, "y" * 9 + "…"]),
        ([["x" * 210] * 20, "y"], [["x" * 199 + "…"] * 20, "… 1 more"]),
    ],
    ids=["small", "elements", "members", "text", "short", "digits", "deep", "deeper", "empty",
         "all but some characters", "characters"],
)  # fmt: skip
def test_cut(value: Any, kept: Any) -> None:
    assert truncated_value(value) == kept


@given(values(("a", "b")))
def test_what_is_small_is_kept_as_it_is(value: Any) -> None:
    if len(json.dumps(value)) < MAX_TEXT and "[[[[[" not in json.dumps(value):
        assert value_as_text(value) == json.dumps(value, ensure_ascii=False)
        assert truncated_value(value) == value
