"""Text that is too long for its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.text import shorten, shorten_middle


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("", 0, ""),
        ("", 1, ""),
        ("a", 1, "a"),
        ("ab", 1, "…"),
        ("ab", 0, "…"),
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab cd", 4, "ab …"),
        ("äöüß", 3, "äö…"),
        ("\U0001f600" * 3, 2, "\U0001f600…"),
        ("ab…", 3, "ab…"),
        ("a\nb\nc", 4, "a\nb…"),
    ],
)
def test_the_beginning(text: str, limit: int, short: str) -> None:
    assert shorten(text, limit) == short


@pytest.mark.parametrize(
    ("text", "limit", "short"),
    [
        ("", 2, ""),
        ("abc", 3, "abc"),
        ("abcd", 3, "a…d"),
        ("abcdef", 4, "ab…f"),
        ("abcdef", 5, "ab…ef"),
        ("abc", 2, "a…"),
    ],
)
def test_both_ends(text: str, limit: int, short: str) -> None:
    assert shorten_middle(text, limit) == short


@given(st.text(), st.integers(1, 20))
def test_what_is_shortened_fits(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))
    assert len(shorten_middle(text, limit + 1)) <= limit + 1
