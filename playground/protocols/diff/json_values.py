"""Differences of two JSON values, each with its location as a JSON Pointer.

The order of an object's members is ignored; that of a list's elements counts, unless `ordered` is
false. 1 and 1.0 are the same number; true is not a number. Time is near-linear in the size of
both values, whatever an agent sends.

Why not deepdiff 9.1, which was tried on responses of 1,000 results and on hostile values: five
times slower where lists keep their order and 150 times where they do not (12.5 s for two lists
of 1,000 results in another order); true equals 1 as soon as 1 equals 1.0, and then integers
beyond a float raise OverflowError; no JSON Pointers, and no pairing of a list's elements by a
naming member without comparing each with each.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from playground.protocols.json_pointer import escape
from playground.protocols.text import shorten

#: Levels of nesting in which changes are located; deeper values are compared as a whole.
MAX_DEPTH = 200
#: Most characters of a name in a pointer, and of a pointer that is still extended.
MAX_NAME, MAX_POINTER = 200, 1_000

#: Types of objects and lists, the usual ones first.
_NESTED = (dict, list, tuple, Mapping)

#: Return whether a member of an object is ignored, by its name.
Skip = Callable[[str], bool]


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


#: Used where only the other side has a member or an element.
MISSING = Missing()


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One location where two values differ."""

    #: JSON Pointer, shortened if it is very long. Into the left value, if that has the location.
    pointer: str
    #: One of them may be `MISSING`. For an element that has moved, its positions, from 1.
    left: Any
    right: Any
    #: Whether an element of a list is at another position, with the same value or nearly so.
    moved: bool = False
    #: Whether it is an ignored member, which differs from one exchange to the next.
    ignored: bool = False


class Values:
    """Digests and differences of values, without the members that `skip` names.

    With `folded`, differences of those members are included as ignored ones; without
    `ordered`, the order of lists is ignored; with `by_place`, elements of lists are compared by
    index. Values nested deeper than `levels` are compared as a whole. Stores the digest of every
    object and list that it has seen, so those must be neither changed nor freed while it is used.
    """

    def __init__(
        self,
        skip: Skip = lambda _: False,
        *,
        ordered: bool = True,
        folded: bool = False,
        by_place: bool = False,
        levels: int = MAX_DEPTH,
    ) -> None:
        self._skip = skip
        self._ordered = ordered
        self._folded = folded
        self._by_place = by_place
        self._levels = min(levels, MAX_DEPTH)
        self._known: tuple[dict[int, bytes], dict[int, bytes]] = ({}, {})

    def digest(self, value: Any) -> bytes:
        """Return a digest that is the same for equal values, and only for those."""
        return self._digest(value, False)

    def _digest(self, value: Any, exact: bool) -> bytes:
        """Return the digest; with `exact`, ignored members are included."""
        if not isinstance(value, _NESTED):
            return _hash(b"s", _scalar(value))
        known = self._known[exact]
        if id(value) in known:
            return known[id(value)]
        # A loop, because nesting may exceed the stack: inner values come after outer ones.
        found: list[tuple[Any, Mapping[str, Any] | None]] = []
        waiting = [value]
        while waiting:
            outer = waiting.pop()
            if id(outer) in known:
                continue
            members = self._members(outer, exact) if isinstance(outer, Mapping) else None
            found.append((outer, members))
            for each in outer if members is None else members.values():
                if isinstance(each, _NESTED):
                    waiting.append(each)  # noqa: PERF401
        for outer, members in reversed(found):
            if members is None:
                parts = [self._digest(each, exact) for each in outer]
                known[id(outer)] = _hash(b"l", *(parts if self._ordered else sorted(parts)))
            else:
                pairs = sorted((_text(n), self._digest(each, exact)) for n, each in members.items())
                known[id(outer)] = _hash(b"o", *(part for pair in pairs for part in pair))
        return known[id(value)]

    def changes(
        self, left: Any, right: Any, pointer: str = "", depth: int = 0
    ) -> Iterator[ValueChange]:
        """Yield the differences of two values, in the order of the left one's members."""
        if self._digest(left, self._folded) == self._digest(right, self._folded):
            return
        is_inside = depth < self._levels
        if is_inside and isinstance(left, Mapping) and isinstance(right, Mapping):
            yield from self._of_objects(left, right, pointer, depth)
        elif is_inside and isinstance(left, list | tuple) and isinstance(right, list | tuple):
            yield from self._of_lists(left, right, pointer, depth)
        else:
            yield ValueChange(pointer, left, right)

    def _of_objects(
        self, left: Mapping[Any, Any], right: Mapping[Any, Any], pointer: str, depth: int
    ) -> Iterator[ValueChange]:
        ours, theirs = self._members(left, self._folded), self._members(right, self._folded)
        for name in {**ours, **theirs}:
            location = _extend(pointer, escape(name))
            one, other = ours.get(name, MISSING), theirs.get(name, MISSING)
            if self._folded and self._skip(name):
                is_alone = one is MISSING or other is MISSING
                if is_alone or self._digest(one, True) != self._digest(other, True):
                    yield ValueChange(location, one, other, ignored=True)
            elif one is MISSING or other is MISSING:
                yield ValueChange(location, one, other)
            else:
                yield from self.changes(one, other, location, depth + 1)

    def _of_lists(
        self, left: Sequence[Any], right: Sequence[Any], pointer: str, depth: int
    ) -> Iterator[ValueChange]:
        """Compare two lists element by element: `align` pairs the elements."""
        if self._by_place:
            pairs = _side_by_side(range(len(left)), range(len(right)))
        else:
            digests = [[self.digest(each) for each in side] for side in (left, right)]
            pairs = align(left, right, *digests, ordered=self._ordered)
        moved = moved_items(pairs) if self._ordered else frozenset()
        for ours, theirs in pairs:
            location = _extend(pointer, str(theirs if ours is None else ours))
            if ours is None or theirs is None:
                one = MISSING if ours is None else left[ours]
                yield ValueChange(location, one, MISSING if theirs is None else right[theirs])
                continue
            if (ours, theirs) in moved:
                yield ValueChange(location, ours + 1, theirs + 1, moved=True)
            yield from self.changes(left[ours], right[theirs], location, depth + 1)

    def _members(self, value: Mapping[Any, Any], exact: bool) -> dict[str, Any]:
        return {str(name): value[name] for name in value if exact or not self._skip(str(name))}


def identical(left: Any, right: Any) -> bool:
    """Return whether two values are the same JSON text: members in one order, 1 and 1.0 apart."""
    if left != right or type(left) is not type(right):
        return False
    # Of equal values `repr` tells the same apart as JSON text, in half the time.
    return not isinstance(left, dict | list) or not left or repr(left) == repr(right)


def _extend(pointer: str, name: str) -> str:
    """Return the pointer of a member. A long one would be copied for every difference below it."""
    if len(pointer) > MAX_POINTER:
        return pointer if pointer.endswith("…") else f"{pointer}/…"
    return f"{pointer}/{shorten(name, MAX_NAME + 1)}"


def _scalar(value: Any) -> bytes:
    if isinstance(value, bool) or value is None:
        return repr(value).encode()
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        # In base 16, because Python does not write thousands of decimal digits.
        return f"n{value:x}".encode()
    if isinstance(value, str):
        return b"t" + _text(value)
    return repr(value).encode("utf-8", "surrogatepass")


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(kind: bytes, *parts: bytes) -> bytes:
    found = blake2b(kind, digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.digest()


# Alignment of the elements of two lists: by a naming member, and otherwise by index.
# Near-linear, like everything here: elements are found by their keys and digests, and never
# compared each with each.

#: Members that identify an element of a list, the most specific first.
NAMES = ("url", "@id", "name")

#: Indexes of an element on the left and on the right; None where that side has none.
Indexes = tuple[int | None, int | None]


def align(
    left: Sequence[Any],
    right: Sequence[Any],
    ours: Sequence[bytes],
    theirs: Sequence[bytes],
    *,
    ordered: bool = True,
) -> list[Indexes]:
    """Return pairs of indexes, in the order of the left and then of the right.

    `ours` and `theirs` are the digests of the elements. Lists in which one of `NAMES` identifies
    every element are paired by it. Of other lists, elements at the same index are paired between
    the common beginning and the common end; if the order is ignored, equal elements, and the rest
    in its order.
    """
    keys = _keys(left, right)
    if keys is not None:
        return _by_key(*keys)
    if ordered:
        return _by_index(ours, theirs)
    pairs = _by_key(_numbered(ours), _numbered(theirs))
    same = [pair for pair in pairs if None not in pair]
    alone = [each for each, other in pairs if each is not None and other is None]
    others = [each for one, each in pairs if one is None and each is not None]
    found = [*same, *_side_by_side(alone, others)]
    return sorted(found, key=lambda pair: (pair[0] is None, pair[0] or 0, pair[1] or 0))


def moved_items(pairs: Iterable[Indexes]) -> frozenset[tuple[int, int]]:
    """Return the pairs in another order than the rest: the fewest that explain the difference.

    The others are a longest rising sequence of indexes on the right, in the order of the left.
    """
    both = sorted((one, other) for one, other in pairs if one is not None and other is not None)
    ends: list[int] = []
    #: For each length, the last pair of the best sequence; for each pair, the previous one.
    last: list[int] = []
    before: list[int] = []
    for at, (_, index) in enumerate(both):
        length = bisect_left(ends, index)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [index]
        last[length : length + 1] = [at]
    staying = set()
    at = last[-1] if last else -1
    while at >= 0:
        staying.add(both[at])
        at = before[at]
    return frozenset(pair for pair in both if pair not in staying)


def _keys(left: Sequence[Any], right: Sequence[Any]) -> tuple[list[Any], list[Any]] | None:
    """Return the names of both lists' elements, None if no member identifies all of them."""
    for name in NAMES:
        found = [
            [each.get(name) if isinstance(each, Mapping) else None for each in side]
            for side in (left, right)
        ]
        if all(
            all(isinstance(key, str) and key for key in keys) and len(set(keys)) == len(keys)
            for keys in found
        ):
            return found[0], found[1]
    return None


def _by_key(left: Sequence[Any], right: Sequence[Any]) -> list[Indexes]:
    indexes = {key: index for index, key in enumerate(right)}
    pairs: list[Indexes] = [(index, indexes.pop(key, None)) for index, key in enumerate(left)]
    return [*pairs, *((None, index) for index in indexes.values())]


def _numbered(digests: Sequence[bytes]) -> list[tuple[bytes, int]]:
    """Return the digests, each with the number of its earlier occurrences."""
    counts: dict[bytes, int] = defaultdict(int)
    found = []
    for digest in digests:
        found.append((digest, counts[digest]))
        counts[digest] += 1
    return found


def _by_index(ours: Sequence[bytes], theirs: Sequence[bytes]) -> list[Indexes]:
    shorter = min(len(ours), len(theirs))
    start = 0
    while start < shorter and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < shorter - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    middle, others = len(ours) - end, len(theirs) - end
    pairs: list[Indexes] = [(index, index) for index in range(start)]
    pairs += _side_by_side(list(range(start, middle)), list(range(start, others)))
    return [*pairs, *((middle + index, others + index) for index in range(end))]


def _side_by_side(left: Sequence[int], right: Sequence[int]) -> list[Indexes]:
    """Pair two lists of indexes as far as both reach, then the rest alone."""
    common = min(len(left), len(right))
    pairs: list[Indexes] = list(zip(left, right, strict=False))
    pairs += [(index, None) for index in left[common:]]
    return [*pairs, *((None, index) for index in right[common:])]
