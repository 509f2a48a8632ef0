"""Lessons that cannot be stored, and why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.lesson_format.lesson import (
    TABS,
    Lesson,
    lesson_problems,
    requests_of,
    with_requests,
)

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


@pytest.mark.parametrize("value", [None, lesson(), lesson(check=CHECK), COMPLETE, SEQUENCE])
def test_a_valid_lesson_has_no_problems(value: Any) -> None:
    assert list(lesson_problems(value)) == []


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        ([], "", "must be an object"),
        ({}, "", "“version” is missing"),
        ({"version": 2, "steps": 7}, "/version", "version 2 of the format"),
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
