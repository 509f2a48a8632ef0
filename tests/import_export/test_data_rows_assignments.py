"""Assignments `name=value`, on the command line and on pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.import_export.data_rows import MAX_LINES, AssignmentError, parse_assignments


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("city=Oslo", {"city": "Oslo"}),
        ("city=Oslo\r\n\n  day=Monday\n", {"city": "Oslo", "day": "Monday"}),
        ("n=5\nyes=true\nwords=[\"a\"]", {"n": 5, "yes": True, "words": ["a"]}),
        ("n=\"5\"", {"n": "5"}),
        ("query=a=b&c", {"query": "a=b&c"}),
        ("empty=", {"empty": ""}),
        ("twice=1\ntwice=2", {"twice": 2}),
    ],
    ids=range(8),
)  # fmt: skip
def test_they_are_read(text: str, found: dict[str, Any]) -> None:
    assert parse_assignments(text) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a=1\nhunter2", "Line 2: expected name=value."),
        ("two words=1", "Line 1: expected name=value."),
        ("=1", "Line 1: expected name=value."),
        ("$uuid=1", "Line 1: expected name=value."),
        ("a=1\n" * (MAX_LINES + 1), f"Too many lines. The limit is {MAX_LINES}."),
    ],
    ids=range(5),
)
def test_what_is_none_is_said_with_its_line_and_not_quoted(text: str, told: str) -> None:
    with pytest.raises(AssignmentError) as error:
        parse_assignments(text)
    assert str(error.value) == told


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_assignments(text), dict)
    except AssignmentError:
        assert text.strip()
