"""Evaluation of any expectations on any document, and captures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations import (
    RunFacts,
    capture,
    check_captures,
    check_schema,
    evaluate,
)
from tests.expectations.samples import DOCUMENT, MET, NAMES, RUN, TEXTS, UNMET
from tests.support.json_values import objects, values


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
