from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.demo.index import Index, IndexRow, words_of

ROWS = [
    IndexRow("Tomato soup", "soup; winter", "tomatoes\nonion", "Warm and smooth."),
    IndexRow("Onion tart", "baking", "onions\npastry", "Good with tomato salad."),
    IndexRow("Crème brûlée", "dessert", "cream\neggs", "Crack the top."),
]


@pytest.fixture
def index() -> Index:
    return Index(ROWS)


def best(index: Index, *words: str) -> list[int]:
    scores = index.scores(words)
    return sorted(scores, key=lambda at: -scores[at])


def test_a_name_weighs_more_than_a_description(index: Index) -> None:
    assert best(index, "tomato") == [0, 1]


def test_words_are_stemmed(index: Index) -> None:
    assert best(index, "onions")[0] == 1
    assert best(index, "cracking") == [2]


def test_accents_do_not_matter(index: Index) -> None:
    assert best(index, "creme") == best(index, "crème") == [2]


def test_scores_are_positive(index: Index) -> None:
    assert all(score > 0 for score in index.scores(["soup", "dessert", "baking"]).values())


def test_nothing_is_found_for_nothing(index: Index) -> None:
    assert index.scores([]) == index.scores(["", "—", "???"]) == {}
    assert index.scores(["spaceship"]) == {}


@pytest.mark.parametrize(
    "text",
    ['"', "soup AND", "NEAR(soup, 2)", "name:soup", "soup*", "^soup", "-soup", "a OR", "{name}:x",
     "'; DROP TABLE entries; --", "soup\x00", "(", "\ud800", "NOT"],
)  # fmt: skip
def test_what_users_type_is_never_syntax(index: Index, text: str) -> None:
    index.scores([text])
    assert best(index, "soup") == [0]


@given(st.text(max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    found = Index(ROWS).scores([text])
    assert set(found) <= {0, 1, 2}


def test_words_are_letters_and_digits() -> None:
    assert words_of("Mac'n'cheese, 2-go! Don’t_stop") == ["macncheese", "2", "go", "dont", "stop"]
