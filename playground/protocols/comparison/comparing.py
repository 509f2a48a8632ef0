"""Two replies, and what one says that the other does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from playground.protocols.comparison.known import explanation
from playground.protocols.comparison.matching import Pair, Placed, pairs_of
from playground.protocols.comparison.things import Thing, things_of
from playground.protocols.comparison.values import MISSING, Values
from playground.protocols.comparison.volatile import skip_in_results, skip_outside
from playground.protocols.events import Event
from playground.protocols.exchange import Version

#: Differences that are listed; beyond them they are counted.
MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """One side: what was read, what it amounts to, and the version that it is of."""

    events: Iterable[Event]
    outcome: str
    version: Version


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same on both sides."""

    #: `added` (only right), `removed` (only left) or `changed`.
    change: str
    #: What it belongs to: `result`, `text`, `metadata`, ...
    kind: str
    #: What that is called.
    label: str
    #: JSON pointer into it, "" for the whole of it.
    pointer: str
    #: The values; None on the side that has none.
    left: Any = None
    right: Any = None
    #: Why it is to be expected of these two versions; "" where it is not.
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison has come to."""

    #: Those to be expected last; at most `MAX_LISTED`.
    differences: tuple[Difference, ...]
    #: How many there are, listed or not, and how many of them are to be expected.
    total: int
    expected: int
    #: How many results there are on the left and on the right.
    results: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether both say the same, but for what their versions explain."""
        return self.total == self.expected


def compare(left: Reply, right: Reply) -> Comparison:
    """The difference of two replies. Never raises on an agent's data."""
    values = {True: Values(skip_in_results), False: Values(skip_outside)}
    sides = [things_of(reply.events, reply.outcome) for reply in (left, right)]
    placed = [
        [
            Placed(place, thing, values[thing.kind == "result"].digest(thing.value))
            for place, thing in enumerate(things)
        ]
        for things in sides
    ]
    versions = left.version, right.version
    surprising: list[Difference] = []
    explained: list[Difference] = []
    total = expected = 0
    for pair in pairs_of(placed[0], placed[1]):
        for found in _differences(pair, values, versions):
            total += 1
            expected += bool(found.expected)
            listed = explained if found.expected else surprising
            if len(listed) < MAX_LISTED:
                listed.append(found)
    counts = [sum(thing.kind == "result" for thing in things) for things in sides]
    shown = (*surprising, *explained)[:MAX_LISTED]
    return Comparison(shown, total, expected, (counts[0], counts[1]))


def _differences(
    pair: Pair, values: dict[bool, Values], versions: tuple[Version, Version]
) -> Iterator[Difference]:
    """What differs between a thing and its counterpart."""
    ours, theirs = pair
    if ours is None or theirs is None:
        yield _alone(ours, theirs)
        return
    for pointer, left, right in values[ours.kind == "result"].changes(ours.value, theirs.value):
        change = "added" if left is MISSING else "removed" if right is MISSING else "changed"
        told = (None if left is MISSING else left, None if right is MISSING else right)
        why = explanation(ours.kind, pointer, told, versions)
        yield Difference(change, ours.kind, ours.label, pointer, *told, why)


def _alone(ours: Thing | None, theirs: Thing | None) -> Difference:
    """A thing that only one side has."""
    if ours is not None:
        return Difference("removed", ours.kind, ours.label, "", left=ours.value)
    assert theirs is not None
    return Difference("added", theirs.kind, theirs.label, "", right=theirs.value)
