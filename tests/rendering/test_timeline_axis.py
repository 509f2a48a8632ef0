"""Time axis: what it draws, and what it leaves out."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playground.rendering.timeline import BREAK, MAX_BREAKS, SHORTEST, WIDTH, Axis, Stretch

SECOND = 1_000_000


def test_without_anything_later_it_is_the_run() -> None:
    axis = Axis(4 * SECOND)
    assert [axis.x(n * SECOND) for n in (0, 1, 4)] == [0, WIDTH / 4, WIDTH]
    assert (axis.first, axis.end, axis.breaks) == (4 * SECOND, 4 * SECOND, [])


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (4 * SECOND, [(6 * SECOND, 7 * SECOND)]),  # A silence shorter than the run.
        (SECOND // 10, [(2 * SECOND, 2 * SECOND + 1)]),  # A short one.
        (4 * SECOND, [(SECOND, 9 * SECOND)]),  # None.
    ],
)
def test_short_silences_stay(first: int, later: list[Stretch]) -> None:
    axis = Axis(first, later)
    assert not axis.breaks
    assert axis.end == later[0][1] == axis.first


def test_a_long_silence_is_left_out() -> None:
    hour = 3600 * SECOND
    axis = Axis(3 * SECOND, [(hour, hour + SECOND)])
    (found,) = axis.breaks
    assert found.length == hour - 3 * SECOND
    assert found.x == pytest.approx(axis.x(3 * SECOND), abs=0.01)
    assert axis.x(hour) == pytest.approx(found.x + BREAK, abs=0.01)
    # The run takes three quarters of the rest, the action one.
    assert axis.x(3 * SECOND) == pytest.approx((WIDTH - BREAK) * 0.75)
    assert axis.x(hour + SECOND) == pytest.approx(WIDTH)


def test_breaks_are_not_without_number() -> None:
    later = [(n * 100 * SECOND, n * 100 * SECOND + SECOND) for n in range(1, 50)]
    assert len(Axis(SECOND, later).breaks) == MAX_BREAKS


@given(
    st.integers(1, 10**13),
    st.lists(st.tuples(st.integers(0, 10**13), st.integers(0, 10**10)), max_size=20),
    st.lists(st.integers(0, 2 * 10**13), min_size=2, max_size=6),
)
@example(151, [], [151, 152])
def test_time_never_runs_backwards(
    first: int, later: list[tuple[int, int]], moments: list[int]
) -> None:
    axis = Axis(first, [(start, start + length) for start, length in later])
    places = [axis.x(moment) for moment in sorted(moments)]
    assert places == sorted(places)
    assert all(0 <= place <= WIDTH + 1e-6 for place in places)
    assert all(one.length > SHORTEST for one in axis.breaks)
    assert axis.x(axis.end) == pytest.approx(WIDTH)
