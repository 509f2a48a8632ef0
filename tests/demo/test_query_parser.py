from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.demo.query_parser import diets_in, excluded, parse_query


def test_stop_words_are_not_searched() -> None:
    assert parse_query("Could you find me something with cinnamon in it?").search_terms == [
        "cinnamon"
    ]


def test_types_are_told_from_words() -> None:
    query = parse_query("cheap Italian restaurants")
    assert query.kinds == {"Restaurant"}
    assert query.search_terms == ["cheap", "italian"]
    assert "budget" in query.related


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
    assert parse_query(text).max_minutes == minutes


def test_diets_in_words() -> None:
    assert diets_in("Gluten-free and vegan, please") == {"glutenfree", "vegan"}
    assert diets_in("non-vegetarian, not vegan") == frozenset()


def test_what_must_not_be_in_it() -> None:
    assert excluded("curry without any coconut, allergic to nuts") == {"coconut", "nuts"}
    assert parse_query("curry without coconut").search_terms == ["curry"]


@given(st.text(max_size=200))
def test_any_text_can_be_understood(text: str) -> None:
    query = parse_query(text)
    assert all(word == word.lower() for word in query.search_terms)
