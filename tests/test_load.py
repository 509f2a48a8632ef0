"""The arithmetic of `make load`: targets, what counts as lost or repeated, and what is flat."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.qa.bench.clients import Started
from tests.qa.load.comparison import Comparison, Figures, Ratios, percentiles
from tests.qa.load.soak import RETURNING, Sample, verdict
from tests.qa.load.viewers import Viewer, parse

BARE = Figures(
    p50=10, p99=20, cores=0.2, cpu=1, viewers=0.3, unknown=0, idle=1, lost=0, repeated=0,
    received=100,
)  # fmt: skip
TARGET = Ratios(p99=3, cpu=4)


def compare(ours: dict[str, Any], theirs: dict[str, Any]) -> Comparison:
    playground = replace(BARE, **ours)
    return Comparison("", playground, replace(BARE, **theirs), TARGET, 1.5)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ({}, {}, "met"),
        ({"p99": 60, "cpu": 4}, {}, "met"),
        ({"p99": 61}, {}, "**missed**"),
        ({"cpu": 4.1}, {}, "**missed**"),
        # The median has no target.
        ({"p50": 19, "p99": 20}, {"p50": 1}, "met"),
        # Both are slower on another core.
        ({"p99": 600, "cpu": 40}, {"p99": 200, "cpu": 10}, "met"),
        # What takes less than five milliseconds counts as five.
        ({"p99": 15}, {"p99": 0.1}, "met"),
        ({"p99": 16}, {"p99": 0.1}, "**missed**"),
        ({"lost": 1}, {}, "**events lost or repeated**"),
        ({"repeated": 1}, {}, "**events lost or repeated**"),
        ({}, {"lost": 1}, "**events lost or repeated**"),
        ({"viewers": 0.9}, {}, "inconclusive: the viewers were the limit"),
        ({"p99": 900}, {"viewers": 0.9}, "inconclusive: the viewers were the limit"),
        ({"unknown": 0.6}, {}, "inconclusive: other programs used the cores"),
        ({"p99": 900}, {"unknown": 0.6}, "inconclusive: other programs used the cores"),
        # Processor time is that of the process, whatever else the machine does.
        ({"cpu": 4.1, "unknown": 0.6}, {}, "**missed**"),
        ({"cpu": 4.1, "viewers": 0.9}, {}, "**missed**"),
        ({"cpu": 1}, {"cpu": 0}, "**missed**"),
    ],
)
def test_a_row_is_judged_by_its_ratios(
    ours: dict[str, Any], theirs: dict[str, Any], verdict: str
) -> None:
    assert compare(ours, theirs).verdict == verdict


def test_a_row_shows_both_sides_and_their_ratios() -> None:
    row = compare({"p50": 4, "p99": 30, "cpu": 2.5, "dropped": 7}, {"p99": 20})
    assert row.cells[1:6] == [
        "p50 4.0 ms, p99 30 ms; 0.20 cores, 2.50 ms an event; 7 connections dropped",
        "p50 10 ms, p99 20 ms; 0.20 cores, 1.00 ms an event",
        "p50 0.5, p99 1.5, CPU 2.5",
        "p99 3.0, CPU 4.0",
        "0 of 200",
    ]


def test_percentiles_of_nothing_are_no_good_times() -> None:
    assert percentiles([]) == (float("inf"), float("inf"))
    assert percentiles(range(101)) == (50, pytest.approx(99.98))


def message(first: int, last: int, *results: tuple[str, int]) -> bytes:
    """A message with cards, each with the moment of its result twice."""
    cards = "".join(
        f'<article class="card" id="entry-{entry}" data-seq="1">sent@{moment}@ sent@{moment}@'
        f'<p id="other">{entry}</p></article>'
        for entry, moment in results
    )
    return f'{cards}<run-cursor id="run-cursor" data-first="{first}" data-last="{last}">'.encode()


#: Messages to a viewer that has frame 2 and expects two results; what is lost, and repeated.
RECEIVED: dict[str, tuple[list[bytes], int, int]] = {
    "all": ([message(3, 3, ("3-0", 10)), message(4, 5, ("5-0", 20))], 0, 0),
    "all in one message": ([message(3, 5, ("3-0", 10), ("5-0", 20))], 0, 0),
    "two results of one frame": ([message(3, 3, ("3-0", 10), ("3-1", 20))], 0, 0),
    "a message without a frame": (
        [message(3, 2), message(3, 4, ("3-0", 10), ("4-0", 20))], 0, 0,
    ),
    "a result is missing": ([message(3, 5, ("3-0", 10))], 1, 0),
    "frames are missing": ([message(5, 6, ("5-0", 10), ("6-0", 20))], 2, 0),
    "an entry comes twice": ([message(3, 3, ("3-0", 10)), message(4, 4, ("3-0", 20))], 1, 1),
    "a result comes as two entries": (
        [message(3, 3, ("3-0", 10)), message(4, 4, ("4-0", 10))], 1, 1,
    ),
    "an entry comes twice in a message": ([message(3, 4, ("3-0", 10), ("3-0", 20))], 1, 1),
    "a frame comes twice": (
        [message(3, 3, ("3-0", 10)), message(3, 4, ("4-0", 20))], 0, 1,
    ),
    "results are not in order": ([message(3, 4, ("4-0", 20), ("3-0", 10))], 1, 1),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "lost", "repeated"), RECEIVED.values(), ids=RECEIVED)
def test_what_a_viewer_counts(messages: list[bytes], lost: int, repeated: int) -> None:
    viewer = Viewer(Started("run", "", "", last=2), results=2)
    for each in messages:
        viewer.receive(parse(each))
    assert (viewer.lost, viewer.repeated) == (lost, repeated)


def sample(minutes: float, rss: float, **figures: int) -> Sample:
    """A sample of a server whose other figures are 1."""
    return {**dict.fromkeys(RETURNING, 1), "seconds": 60 * minutes, "rss": rss, **figures}


def soaked(minutes: float, growth: float, warm_up: float = 0) -> list[Sample]:
    """Samples with megabytes per hour of growth, and of each of the first five minutes."""
    return [
        sample(minute, 100 + growth * minute / 60 + warm_up * min(minute, 5), sockets=9)
        for minute in (minutes * number / 100 for number in range(101))
    ]


@pytest.mark.parametrize(
    ("samples", "after", "found"),
    [
        (soaked(60, 4.9), {}, "flat"),
        (soaked(60, 5.1), {}, "not flat: rss"),
        # The caches have been filled.
        (soaked(60, 4.9, warm_up=10), {}, "flat"),
        (soaked(20, 60), {}, "not flat: rss"),
        (soaked(19, 60), {}, "flat, in less than 20 minutes without rss"),
        (soaked(60, 0), {"sockets": 0}, "flat"),
        (soaked(60, 0), {"sockets": 2}, "not flat: sockets"),
        (soaked(2, 60), {"files": 2, "background tasks": 3}, "not flat: background tasks, files"),
        (soaked(60, 6), {"threads": 2}, "not flat: threads, rss"),
    ],
)
def test_a_soak_is_flat(samples: list[Sample], after: dict[str, int], found: str) -> None:
    assert verdict(sample(0, 100), samples, sample(60, 500, **after)) == found
