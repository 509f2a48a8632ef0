"""Which thing of one reply is which of the other, whatever the order.

Near-linear: things are found by their digests and keys, never compared each with each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from playground.protocols.diff.response_parts import ResponsePart


@dataclass(frozen=True, slots=True)
class NumberedPart:
    """A thing, where it stands in its reply, and the digest of what it says."""

    number: int
    part: ResponsePart
    digest: bytes


#: A thing on the left and the one on the right that it is; None where there is none.
Pair = tuple[NumberedPart | None, NumberedPart | None]


def pairs_of(left: Sequence[NumberedPart], right: Sequence[NumberedPart]) -> list[Pair]:
    """Every thing with its counterpart, in the order of the left and then of the right.

    First goes what is the same. Of the rest, things of one kind are paired by the surest key
    that both have; several with one key in the order of their digests, so that nothing depends
    on the order in which they came.
    """
    pairs, left, right = _matched(left, right, lambda each: (each.part.kind, each.digest))
    levels = max((len(each.part.keys) for each in (*left, *right)), default=0)
    for level in range(levels):
        found, left, right = _matched(left, right, partial(_key, level))
        pairs += found
    placed: list[tuple[int, int, Pair]] = []
    placed += [(0, ours.number, (ours, theirs)) for ours, theirs in pairs]
    placed += [(0, each.number, (each, None)) for each in left]
    placed += [(1, each.number, (None, each)) for each in right]
    return [pair for *_, pair in sorted(placed, key=lambda row: row[:2])]


def _matched(
    left: Iterable[NumberedPart],
    right: Iterable[NumberedPart],
    key: Callable[[NumberedPart], Hashable | None],
) -> tuple[list[tuple[NumberedPart, NumberedPart]], list[NumberedPart], list[NumberedPart]]:
    """The pairs with the same key, and what is left over on either side."""
    groups: dict[Hashable, tuple[list[NumberedPart], list[NumberedPart]]] = defaultdict(
        lambda: ([], [])
    )
    spare: tuple[list[NumberedPart], list[NumberedPart]] = ([], [])
    for side, things in enumerate((left, right)):
        for each in things:
            name = key(each)
            (spare if name is None else groups[name])[side].append(each)
    pairs: list[tuple[NumberedPart, NumberedPart]] = []
    for ours, theirs in groups.values():
        ours.sort(key=_order)
        theirs.sort(key=_order)
        common = min(len(ours), len(theirs))
        pairs += zip(ours, theirs, strict=False)
        spare[0].extend(ours[common:])
        spare[1].extend(theirs[common:])
    return pairs, *spare


def _order(placed: NumberedPart) -> bytes:
    return placed.digest


def _key(level: int, placed: NumberedPart) -> Hashable | None:
    key = placed.part.keys[level] if level < len(placed.part.keys) else None
    return None if key is None else (placed.part.kind, key)
