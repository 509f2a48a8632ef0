"""The arithmetic of `make load`: what counts as lost or repeated."""

from __future__ import annotations

import pytest

from tests.qa.bench.clients import Started
from tests.qa.load.viewers import Viewer, parse


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
