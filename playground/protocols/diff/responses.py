"""Two replies, and what one says that the other does not."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols.diff.ignored import skip_in_results, skip_outside
from playground.protocols.diff.matching import NumberedPart, Pair, pairs_of
from playground.protocols.diff.response_parts import ResponsePart, response_parts
from playground.protocols.diff.version_differences import version_explanation
from playground.protocols.events import Event
from playground.protocols.exchange import Version
from playground.protocols.json_diff import MISSING, Change, Values, moved

#: Differences that are listed; beyond them they are counted.
MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """One side: what was read, what it amounts to, and the version that it is of."""

    events: Iterable[Event]
    outcome: str
    version: Version


class OrderScope(enum.Enum):
    """Where the order of things says something."""

    #: Of the results, and within each of them.
    EVERYWHERE = "everywhere"
    #: Within a result, a message, ...; which came first means nothing.
    WITHIN = "within"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not the same on both sides."""

    #: `added` (only right), `removed` (only left), `changed`, or `moved`: it stands elsewhere, and
    #: the values are its places, from 1.
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
    #: Differences of members that differ from one exchange to the next, where they were asked
    #: for: at most `MAX_LISTED`, and how many there are. They make no difference.
    folded: tuple[Difference, ...] = ()
    folded_total: int = 0

    @property
    def same(self) -> bool:
        """Whether both say the same, but for what their versions explain."""
        return self.total == self.expected


class _Listed:
    """Takes in differences: lists some, and counts all of them."""

    def __init__(self) -> None:
        #: The surprising, those to be expected, and those that are folded.
        self._listed: tuple[list[Difference], ...] = ([], [], [])
        self._counts = [0, 0, 0]

    def take(self, found: Difference, volatile: bool = False) -> None:
        which = 2 if volatile else 1 if found.expected else 0
        self._counts[which] += 1
        if len(self._listed[which]) < MAX_LISTED:
            self._listed[which].append(found)

    def sum(self, results: tuple[int, int] = (0, 0)) -> Comparison:
        surprising, expected, folded = self._counts
        shown = (*self._listed[0], *self._listed[1])[:MAX_LISTED]
        total = surprising + expected
        return Comparison(shown, total, expected, results, tuple(self._listed[2]), folded)


def compare(
    left: Reply, right: Reply, order: OrderScope = OrderScope.WITHIN, *, folded: bool = False
) -> Comparison:
    """The difference of two replies. Never raises on an agent's data.

    With `folded`, what is ignored of them is compared, too, and told apart from the rest.
    """
    ordered = order is not OrderScope.NOWHERE
    values = {
        is_result: Values(skip, ordered=ordered, folded=folded)
        for is_result, skip in ((True, skip_in_results), (False, skip_outside))
    }
    sides = [response_parts(reply.events, reply.outcome) for reply in (left, right)]
    placed = [
        [
            NumberedPart(place, thing, values[thing.kind == "result"].digest(thing.value))
            for place, thing in enumerate(things)
        ]
        for things in sides
    ]
    pairs = pairs_of(placed[0], placed[1])
    gone = _moved(pairs, sides) if order is OrderScope.EVERYWHERE else {}
    listed = _Listed()
    for pair in pairs:
        ours, theirs = pair
        if ours and (places := gone.get(ours.number)):
            listed.take(Difference("moved", ours.part.kind, ours.part.label, "", *places))
        if ours and theirs and ours.digest == theirs.digest and not folded:
            continue
        for found, volatile in _differences(pair, values, (left.version, right.version)):
            listed.take(found, volatile)
    counts = [sum(thing.kind == "result" for thing in things) for things in sides]
    return listed.sum((counts[0], counts[1]))


def compare_documents(
    left: Any, right: Any, order: OrderScope = OrderScope.EVERYWHERE
) -> Comparison:
    """The difference of two JSON documents; identifiers of one exchange and tokens are folded."""
    values = Values(skip_in_results, ordered=order is not OrderScope.NOWHERE, folded=True)
    listed = _Listed()
    for change in values.changes(left, right):
        listed.take(_difference(change, "request", "Request"), change.volatile)
    return listed.sum()


def _moved(
    pairs: Iterable[Pair], sides: Sequence[Sequence[ResponsePart]]
) -> dict[int, tuple[int, int]]:
    """The things that stand elsewhere among those of their kind: by their place on the left.

    The values are their places among those of their kind, from 1.
    """
    ranks = [_ranks(things) for things in sides]
    kinds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lefts: dict[tuple[str, int], int] = {}
    for ours, theirs in pairs:
        if ours and theirs:
            places = ranks[0][ours.number], ranks[1][theirs.number]
            kinds[ours.part.kind].append(places)
            lefts[ours.part.kind, places[0]] = ours.number
    return {
        lefts[kind, one]: (one + 1, other + 1)
        for kind, both in kinds.items()
        for one, other in moved(both)
    }


def _ranks(things: Sequence[ResponsePart]) -> dict[int, int]:
    """The place of each among those of its kind, by its place among all.

    Of results that is the one that their indexes say, where each gives one.
    """
    kinds: dict[str, list[int]] = defaultdict(list)
    for place, thing in enumerate(things):
        kinds[thing.kind].append(place)
    indexes = [things[place].index for place in kinds["result"]]
    if None not in indexes and len(set(indexes)) == len(indexes):
        kinds["result"].sort(key=lambda place: things[place].index or 0)
    return {place: rank for places in kinds.values() for rank, place in enumerate(places)}


def _differences(
    pair: Pair, values: dict[bool, Values], versions: tuple[Version, Version]
) -> Iterator[tuple[Difference, bool]]:
    """What differs between a thing and its counterpart, and whether that is to be folded."""
    ours, theirs = (each.part if each else None for each in pair)
    if ours is None or theirs is None:
        yield _alone(ours, theirs), False
        return
    for change in values[ours.kind == "result"].changes(ours.value, theirs.value):
        found = _difference(change, ours.kind, ours.label)
        why = version_explanation(ours.kind, change.pointer, (found.left, found.right), versions)
        yield replace(found, expected=why), change.volatile


def _difference(change: Change, kind: str, label: str) -> Difference:
    left, right = (None if side is MISSING else side for side in (change.left, change.right))
    how = "moved" if change.moved else "changed"
    if change.left is MISSING:
        how = "added"
    elif change.right is MISSING:
        how = "removed"
    return Difference(how, kind, label, change.pointer, left, right)


def _alone(ours: ResponsePart | None, theirs: ResponsePart | None) -> Difference:
    """A thing that only one side has."""
    if ours is not None:
        return Difference("removed", ours.kind, ours.label, "", left=ours.value)
    assert theirs is not None
    return Difference("added", theirs.kind, theirs.label, "", right=theirs.value)
