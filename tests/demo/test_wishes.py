from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.demo.wishes import diets_in, excluded, understand


def test_stop_words_are_not_searched() -> None:
    assert understand("Could you find me something with cinnamon in it?").words == ["cinnamon"]


def test_types_are_told_from_words() -> None:
    wish = understand("cheap Italian restaurants")
    assert wish.kinds == {"Restaurant"}
    assert wish.words == ["cheap", "italian"]
    assert "budget" in wish.related


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("dinner under 30 minutes", 30),
        ("ready in 15 min", 15),
        ("in less than 2 hours", 120),
        ("within an hour", 60),
        ("in half an hour", 30),
        ("serves 30 people", None),
        ("30 minute walk", None),
    ],
)
def test_times_in_words(text: str, minutes: float | None) -> None:
    assert understand(text).max_minutes == minutes


def test_diets_in_words() -> None:
    assert diets_in("Gluten-free and vegan, please") == {"glutenfree", "vegan"}
    assert diets_in("non-vegetarian, not vegan") == frozenset()


def test_what_must_not_be_in_it() -> None:
    assert excluded("curry without any coconut, allergic to nuts") == {"coconut", "nuts"}
    assert understand("curry without coconut").words == ["curry"]


@given(st.text(max_size=200))
def test_any_text_can_be_understood(text: str) -> None:
    wish = understand(text)
    assert all(word == word.lower() for word in wish.words)
