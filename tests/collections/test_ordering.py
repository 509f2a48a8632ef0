"""Order of items: an item gets the wanted index, with as few changes as possible."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.collections.ordering import (
    LARGEST,
    RelativePosition,
    changed_positions,
    evenly_spaced,
)

pytestmark = pytest.mark.database

STEP = 1024
positions = st.integers(min_value=0, max_value=LARGEST)


def test_one_that_moves_changes_nothing_else() -> None:
    others = [("a", 1024), ("b", 2048), ("c", 3072)]
    assert changed_positions(others, "x", 0, STEP) == {"x": 512}
    assert changed_positions(others, "x", 2, STEP) == {"x": 2560}
    assert changed_positions(others, "x", 3, STEP) == {"x": 4096}


def test_without_a_gap_all_are_numbered_anew() -> None:
    assert changed_positions([("a", 1024), ("b", 1025)], "x", 1, STEP) == {"x": 2048, "b": 3072}


@st.composite
def orders(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Return keys with ascending positions, some of them equal as a fixture may have them."""
    numbers = sorted(draw(st.lists(positions | st.integers(0, 5), max_size=12)))
    return list(enumerate(numbers))


@given(orders(), st.integers(-2, 14))
def test_it_stands_where_it_was_put(others: list[tuple[int, int]], index: int) -> None:
    key = -1
    changed = changed_positions(others, key, index, STEP)
    place = min(max(index, 0), len(others))
    wanted = [each for each, _ in others]
    wanted.insert(place, key)
    after = {**dict(others), **changed}
    # The database orders by number and then by row; only the rows themselves may be equal.
    found = sorted(after, key=lambda each: after[each])
    others_found = [each for each in found if each != key]
    assert others_found == [each for each, _ in others]
    assert found == wanted
    assert all(0 <= number <= LARGEST for number in changed.values())
    neighbours = [after[each] for each in wanted[max(place - 1, 0) : place + 2]]
    assert len(set(neighbours)) == len(neighbours)


@given(st.integers(0, 300))
def test_numbers_ascend_and_fit(count: int) -> None:
    found = list(evenly_spaced(range(count), STEP).values())
    assert found == sorted(set(found))
    assert not found or (found[0] > 0 and found[-1] <= LARGEST)


def test_moving_again_and_again_between_the_same_two_always_works() -> None:
    order = evenly_spaced(["a", "b"], STEP)
    for index in range(200):
        others = sorted(order.items(), key=lambda each: each[1])
        order |= changed_positions(others, f"x{index}", 1, STEP)
        found = sorted(order, key=lambda each: order[each])
        assert found[:2] == ["a", f"x{index}"]


@pytest.mark.parametrize(
    ("where", "order"),
    [
        ({"before": "a"}, "cabd"),
        ({"before": "d"}, "abcd"),
        ({"after": "a"}, "acbd"),
        ({"after": "d"}, "abdc"),
        ({"step": -1}, "acbd"),
        ({"step": 1}, "abdc"),
        ({"step": -9}, "cabd"),
        ({"step": 9}, "abdc"),
        ({"before": "gone"}, "abdc"),
        ({"after": "gone"}, "abdc"),
        ({"before": "c"}, "abdc"),
        ({}, "abdc"),
    ],
    ids=str,
)
def test_where_it_comes_to_stand(where: dict[str, Any], order: str) -> None:
    others = list("abd")
    others.insert(RelativePosition(**where).index_in("abcd", "c"), "c")
    assert "".join(others) == order


def test_what_was_elsewhere_comes_to_the_end() -> None:
    assert RelativePosition(step=-1).index_in("ab", "x") == 2
