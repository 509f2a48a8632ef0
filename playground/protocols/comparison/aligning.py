"""Which element of one list is which of another: by what names it, and otherwise by its place.

Near-linear, like everything here: elements are found by their keys and digests, and never
compared each with each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Members that tell an element from the others of its list, the surest first.
NAMES = ("url", "@id", "name")

#: Places of an element on the left and on the right; None where that side has none.
Places = tuple[int | None, int | None]


def align(
    left: Sequence[Any],
    right: Sequence[Any],
    ours: Sequence[bytes],
    theirs: Sequence[bytes],
    *,
    ordered: bool = True,
) -> list[Places]:
    """The pairs, in the order of the left and then of the right.

    `ours` and `theirs` are the digests of the elements. Lists in which one of `NAMES` tells every
    element from the others are paired by it. Of others those are paired that stand at the same
    place between what both begin with and what both end with; where the order means nothing,
    those that say the same, and the rest as it comes.
    """
    keys = _keys(left, right)
    if keys is not None:
        return _by_key(*keys)
    if ordered:
        return _by_place(ours, theirs)
    pairs = _by_key(_numbered(ours), _numbered(theirs))
    same = [pair for pair in pairs if None not in pair]
    alone = [each for each, other in pairs if each is not None and other is None]
    others = [each for one, each in pairs if one is None and each is not None]
    return _in_order([*same, *_beside(alone, others)])


def moved(pairs: Iterable[Places]) -> frozenset[tuple[int, int]]:
    """The pairs that stand in another order than the rest: the fewest that explain it.

    Those that stay are a longest rising sequence of places on the right, in the order of the left.
    """
    both = sorted((one, other) for one, other in pairs if one is not None and other is not None)
    ends: list[int] = []
    #: For each length, the last pair of the best sequence so long; for each pair, the one before.
    last: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(both):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [at]
    staying = set()
    at = last[-1] if last else -1
    while at >= 0:
        staying.add(both[at])
        at = before[at]
    return frozenset(pair for pair in both if pair not in staying)


def _keys(left: Sequence[Any], right: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
    """What names the elements of both lists; None where nothing names all of them apart."""
    for name in NAMES:
        found = [
            [each.get(name) if isinstance(each, Mapping) else None for each in side]
            for side in (left, right)
        ]
        if all(_tell_apart(side) for side in found):
            return found[0], found[1]
    return None


def _tell_apart(keys: Sequence[Any]) -> bool:
    named = all(isinstance(key, str) and key for key in keys)
    return named and len(set(keys)) == len(keys)


def _by_key(left: Sequence[Any], right: Sequence[Any]) -> list[Places]:
    places = {key: place for place, key in enumerate(right)}
    pairs: list[Places] = [(place, places.pop(key, None)) for place, key in enumerate(left)]
    return [*pairs, *((None, place) for place in places.values())]


def _numbered(digests: Sequence[bytes]) -> list[tuple[bytes, int]]:
    """The digests, the first of its kind, the second, ..., told apart."""
    counts: dict[bytes, int] = defaultdict(int)
    found = []
    for digest in digests:
        found.append((digest, counts[digest]))
        counts[digest] += 1
    return found


def _by_place(ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[Places]:
    shorter = min(len(ours), len(theirs))
    start = 0
    while start < shorter and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < shorter - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    middle, others = len(ours) - end, len(theirs) - end
    pairs: list[Places] = [(place, place) for place in range(start)]
    pairs += _beside(list(range(start, middle)), list(range(start, others)))
    return [*pairs, *((middle + place, others + place) for place in range(end))]


def _beside(left: Sequence[int], right: Sequence[int]) -> list[Places]:
    """One beside the other, as far as they reach, then the rest alone."""
    common = min(len(left), len(right))
    pairs: list[Places] = list(zip(left, right, strict=False))
    pairs += [(place, None) for place in left[common:]]
    return [*pairs, *((None, place) for place in right[common:])]


def _in_order(pairs: list[Places]) -> list[Places]:
    return sorted(pairs, key=lambda pair: (pair[0] is None, pair[0] or 0, pair[1] or 0))
