"""Matching of the parts of two responses, whatever their order.

Near-linear: parts are found by their digests and keys, never compared each with each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from playground.protocols.diff.response_parts import ResponsePart


@dataclass(frozen=True, slots=True)
class NumberedPart:
    """A part, its number in its response, and the digest of its value."""

    number: int
    part: ResponsePart
    digest: bytes


#: A part on the left and its counterpart on the right; None where there is none.
Pair = tuple[NumberedPart | None, NumberedPart | None]


def pairs_of(left: Sequence[NumberedPart], right: Sequence[NumberedPart]) -> list[Pair]:
    """Return every part with its counterpart, in the order of the left and then of the right.

    Equal parts are paired first. Of the rest, parts of one kind are paired by the most specific key
    that both have; several with one key in the order of their digests, so that nothing depends on
    the order in which they were received.
    """
    pairs, left, right = _matched(left, right, lambda each: (each.part.kind, each.digest))
    levels = max((len(each.part.keys) for each in (*left, *right)), default=0)
    for level in range(levels):
        found, left, right = _matched(left, right, partial(_key, level))
        pairs += found
    rows: list[tuple[int, int, Pair]] = []
    rows += [(0, ours.number, (ours, theirs)) for ours, theirs in pairs]
    rows += [(0, each.number, (each, None)) for each in left]
    rows += [(1, each.number, (None, each)) for each in right]
    return [pair for *_, pair in sorted(rows, key=lambda row: row[:2])]


def _matched(
    left: Iterable[NumberedPart],
    right: Iterable[NumberedPart],
    key: Callable[[NumberedPart], Hashable | None],
) -> tuple[list[tuple[NumberedPart, NumberedPart]], list[NumberedPart], list[NumberedPart]]:
    """Return the pairs with the same key, and the rest of either side."""
    groups: dict[Hashable, tuple[list[NumberedPart], list[NumberedPart]]] = defaultdict(
        lambda: ([], [])
    )
    rest: tuple[list[NumberedPart], list[NumberedPart]] = ([], [])
    for side, parts in enumerate((left, right)):
        for each in parts:
            name = key(each)
            (rest if name is None else groups[name])[side].append(each)
    pairs: list[tuple[NumberedPart, NumberedPart]] = []
    for ours, theirs in groups.values():
        ours.sort(key=_order)
        theirs.sort(key=_order)
        common = min(len(ours), len(theirs))
        pairs += zip(ours, theirs, strict=False)
        rest[0].extend(ours[common:])
        rest[1].extend(theirs[common:])
    return pairs, *rest


def _order(each: NumberedPart) -> bytes:
    return each.digest


def _key(level: int, each: NumberedPart) -> Hashable | None:
    key = each.part.keys[level] if level < len(each.part.keys) else None
    return None if key is None else (each.part.kind, key)
