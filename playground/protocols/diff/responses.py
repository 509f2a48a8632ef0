"""Comparison of two responses, or of two JSON documents."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols.diff.ignored import skip_in_results, skip_outside
from playground.protocols.diff.json_values import MISSING, ValueChange, Values, moved_items
from playground.protocols.diff.matching import NumberedPart, Pair, pairs_of
from playground.protocols.diff.response_parts import ResponsePart, response_parts
from playground.protocols.diff.version_differences import version_explanation
from playground.protocols.events import Event
from playground.protocols.exchange import Version

#: Most differences that are listed; all of them are counted.
MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class ResponseSide:
    """One side of a comparison: events, outcome and version of the protocol."""

    events: Iterable[Event]
    outcome: str
    version: Version


class OrderScope(enum.Enum):
    """Scope within which the order of parts and elements counts."""

    #: The order of the results counts, and that within each part.
    EVERYWHERE = "everywhere"
    #: Only the order within a result, a message, ... counts.
    WITHIN = "within"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of the two sides."""

    #: `added` (only right), `removed` (only left), `changed`, or `moved`: then the values are its
    #: positions, from 1.
    change: str
    #: Kind of the part: `result`, `text`, `metadata`, ...
    kind: str
    #: Label of the part.
    label: str
    #: JSON Pointer into the part, "" for all of it.
    pointer: str
    #: The values, None on the side that has none.
    left: Any = None
    right: Any = None
    #: Why these two versions explain it, "" if they do not.
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison."""

    #: Expected differences last; at most `MAX_LISTED`.
    differences: tuple[Difference, ...]
    #: Number of differences, listed or not, and how many of them are expected.
    total: int
    expected: int
    #: Number of results on the left and on the right.
    results: tuple[int, int]
    #: Differences of ignored members, if requested: at most `MAX_LISTED`, and their number. They
    #: do not count.
    folded: tuple[Difference, ...] = ()
    folded_total: int = 0

    @property
    def same(self) -> bool:
        """Return whether both sides are equal, except for what their versions explain."""
        return self.total == self.expected


class _DifferenceList:
    """Collects differences: lists some, and counts all of them."""

    def __init__(self) -> None:
        #: Unexpected, expected and folded differences.
        self._listed: tuple[list[Difference], ...] = ([], [], [])
        self._counts = [0, 0, 0]

    def add(self, found: Difference, ignored: bool = False) -> None:
        which = 2 if ignored else 1 if found.expected else 0
        self._counts[which] += 1
        if len(self._listed[which]) < MAX_LISTED:
            self._listed[which].append(found)

    def comparison(self, results: tuple[int, int] = (0, 0)) -> Comparison:
        unexpected, expected, folded = self._counts
        shown = (*self._listed[0], *self._listed[1])[:MAX_LISTED]
        total = unexpected + expected
        return Comparison(shown, total, expected, results, tuple(self._listed[2]), folded)


def compare(
    left: ResponseSide,
    right: ResponseSide,
    order: OrderScope = OrderScope.WITHIN,
    *,
    folded: bool = False,
) -> Comparison:
    """Return the differences of two responses. Never raises on an agent's data.

    With `folded`, ignored members are compared as well, and listed apart from the rest.
    """
    ordered = order is not OrderScope.NOWHERE
    values = {
        is_result: Values(skip, ordered=ordered, folded=folded)
        for is_result, skip in ((True, skip_in_results), (False, skip_outside))
    }
    sides = [response_parts(side.events, side.outcome) for side in (left, right)]
    numbered = [
        [
            NumberedPart(number, part, values[part.kind == "result"].digest(part.value))
            for number, part in enumerate(parts)
        ]
        for parts in sides
    ]
    pairs = pairs_of(numbered[0], numbered[1])
    moved = _moved_parts(pairs, sides) if order is OrderScope.EVERYWHERE else {}
    listed = _DifferenceList()
    for pair in pairs:
        ours, theirs = pair
        if ours and (places := moved.get(ours.number)):
            listed.add(Difference("moved", ours.part.kind, ours.part.label, "", *places))
        if ours and theirs and ours.digest == theirs.digest and not folded:
            continue
        for found, ignored in _differences(pair, values, (left.version, right.version)):
            listed.add(found, ignored)
    counts = [sum(part.kind == "result" for part in parts) for parts in sides]
    return listed.comparison((counts[0], counts[1]))


def compare_documents(
    left: Any, right: Any, order: OrderScope = OrderScope.EVERYWHERE
) -> Comparison:
    """Return the differences of two JSON documents; those of ids and tokens are folded."""
    values = Values(skip_in_results, ordered=order is not OrderScope.NOWHERE, folded=True)
    listed = _DifferenceList()
    for change in values.changes(left, right):
        listed.add(_difference(change, "request", "Request"), change.ignored)
    return listed.comparison()


def _moved_parts(
    pairs: Iterable[Pair], sides: Sequence[Sequence[ResponsePart]]
) -> dict[int, tuple[int, int]]:
    """Return the parts that moved among those of their kind, by their number on the left.

    The values are their positions among those of their kind, from 1.
    """
    ranks = [_ranks(parts) for parts in sides]
    kinds: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lefts: dict[tuple[str, int], int] = {}
    for ours, theirs in pairs:
        if ours and theirs:
            positions = ranks[0][ours.number], ranks[1][theirs.number]
            kinds[ours.part.kind].append(positions)
            lefts[ours.part.kind, positions[0]] = ours.number
    return {
        lefts[kind, one]: (one + 1, other + 1)
        for kind, both in kinds.items()
        for one, other in moved_items(both)
    }


def _ranks(parts: Sequence[ResponsePart]) -> dict[int, int]:
    """Return the position of each part among those of its kind, by its number among all.

    Of results it is the order of their indexes, if each has one.
    """
    kinds: dict[str, list[int]] = defaultdict(list)
    for number, part in enumerate(parts):
        kinds[part.kind].append(number)
    indexes = [parts[number].index for number in kinds["result"]]
    if None not in indexes and len(set(indexes)) == len(indexes):
        kinds["result"].sort(key=lambda number: parts[number].index or 0)
    return {number: rank for numbers in kinds.values() for rank, number in enumerate(numbers)}


def _differences(
    pair: Pair, values: dict[bool, Values], versions: tuple[Version, Version]
) -> Iterator[tuple[Difference, bool]]:
    """Yield the differences of a part and its counterpart, and whether each is folded."""
    ours, theirs = (each.part if each else None for each in pair)
    if ours is None or theirs is None:
        yield _missing_part(ours, theirs), False
        return
    for change in values[ours.kind == "result"].changes(ours.value, theirs.value):
        found = _difference(change, ours.kind, ours.label)
        why = version_explanation(ours.kind, change.pointer, (found.left, found.right), versions)
        yield replace(found, expected=why), change.ignored


def _difference(change: ValueChange, kind: str, label: str) -> Difference:
    left, right = (None if side is MISSING else side for side in (change.left, change.right))
    kind_of_change = "moved" if change.moved else "changed"
    if change.left is MISSING:
        kind_of_change = "added"
    elif change.right is MISSING:
        kind_of_change = "removed"
    return Difference(kind_of_change, kind, label, change.pointer, left, right)


def _missing_part(ours: ResponsePart | None, theirs: ResponsePart | None) -> Difference:
    if ours is not None:
        return Difference("removed", ours.kind, ours.label, "", left=ours.value)
    assert theirs is not None
    return Difference("added", theirs.kind, theirs.label, "", right=theirs.value)
