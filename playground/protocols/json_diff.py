"""Differences of two JSON values, each with its place as a JSON Pointer.

The order of an object's members means nothing, that of a list's elements does unless one is told
otherwise. 1 and 1.0 are the same number; true is none. Time is near-linear in the size of both
values, whatever an agent sends.

Why not deepdiff 9.1, which was tried on replies of 1,000 results and on hostile values: five
times slower where lists keep their order and 150 times where they do not (12.5 s for two lists
in which 1,000 results stand in another order); true equals 1 as soon as 1 equals 1.0, and
then integers beyond a float raise OverflowError; no JSON Pointers, and no pairing of a list's
elements by what names them without comparing each with each.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from playground.protocols.json_pointer import escape
from playground.protocols.text import shorten

#: Levels of nesting in which places are told; what is deeper is compared as a whole.
MAX_DEPTH = 200
#: Characters of a name in a pointer, and of a pointer that still gets longer.
MAX_NAME, MAX_POINTER = 200, 1_000

#: Types of objects and lists, the usual ones first.
_NESTED = (dict, list, tuple, Mapping)


#: Whether a member of an object is left out, by its name.
Skip = Callable[[str], bool]


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


#: Stands for a member or an element that only the other side has.
MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Change:
    """One place where two values differ."""

    #: JSON pointer, cut short where it is very long. Into the left one, where it has the place.
    pointer: str
    #: One of them may be `MISSING`. Of an element that has moved, its places, from 1.
    left: Any
    right: Any
    #: Whether an element of a list says the same, or nearly, at another place.
    moved: bool = False
    #: Whether it is one of those members that differ from one exchange to the next.
    volatile: bool = False


class Values:
    """Digests and differences, with the members that `skip` names left out.

    With `folded`, differences of those members are told, too, as volatile ones; without
    `ordered`, the order of no list means anything; with `by_place`, elements of lists are
    compared that stand at the same place. What is nested deeper than `levels` is compared as a
    whole. Remembers the digest of every object and list that it has seen, so those must be
    neither changed nor thrown away as long as it is used.
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
        """The same for values that say the same, and only for those."""
        return self._digest(value, False)

    def _digest(self, value: Any, exact: bool) -> bytes:
        """`exact`: with the members that are left out otherwise."""
        if not isinstance(value, _NESTED):
            return _hash(b"s", _scalar(value))
        known = self._known[exact]
        if id(value) in known:
            return known[id(value)]
        # A loop, because nesting may exceed the stack: what is inside comes after what is around.
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

    def changes(self, left: Any, right: Any, pointer: str = "", depth: int = 0) -> Iterator[Change]:
        """Return the places in which the two differ, in the order of the left one's members."""
        if self._digest(left, self._folded) == self._digest(right, self._folded):
            return
        is_inside = depth < self._levels
        if is_inside and isinstance(left, Mapping) and isinstance(right, Mapping):
            yield from self._of_objects(left, right, pointer, depth)
        elif is_inside and isinstance(left, list | tuple) and isinstance(right, list | tuple):
            yield from self._of_lists(left, right, pointer, depth)
        else:
            yield Change(pointer, left, right)

    def _of_objects(
        self, left: Mapping[Any, Any], right: Mapping[Any, Any], pointer: str, depth: int
    ) -> Iterator[Change]:
        ours, theirs = self._members(left, self._folded), self._members(right, self._folded)
        for name in {**ours, **theirs}:
            place = _place(pointer, escape(name))
            one, other = ours.get(name, MISSING), theirs.get(name, MISSING)
            if self._folded and self._skip(name):
                if self._differ(one, other):
                    yield Change(place, one, other, volatile=True)
            elif one is MISSING or other is MISSING:
                yield Change(place, one, other)
            else:
                yield from self.changes(one, other, place, depth + 1)

    def _differ(self, left: Any, right: Any) -> bool:
        if left is MISSING or right is MISSING:
            return True
        return self._digest(left, True) != self._digest(right, True)

    def _of_lists(
        self, left: Sequence[Any], right: Sequence[Any], pointer: str, depth: int
    ) -> Iterator[Change]:
        """Element by element: which is which is decided by `align`."""
        if self._by_place:
            pairs = _beside(range(len(left)), range(len(right)))
        else:
            digests = [[self.digest(each) for each in side] for side in (left, right)]
            pairs = align(left, right, *digests, ordered=self._ordered)
        gone = moved(pairs) if self._ordered else frozenset()
        for ours, theirs in pairs:
            place = _place(pointer, str(theirs if ours is None else ours))
            if ours is None or theirs is None:
                one = MISSING if ours is None else left[ours]
                yield Change(place, one, MISSING if theirs is None else right[theirs])
                continue
            if (ours, theirs) in gone:
                yield Change(place, ours + 1, theirs + 1, moved=True)
            yield from self.changes(left[ours], right[theirs], place, depth + 1)

    def _members(self, value: Mapping[Any, Any], exact: bool) -> dict[str, Any]:
        return {str(name): value[name] for name in value if exact or not self._skip(str(name))}


def identical(left: Any, right: Any) -> bool:
    """Return whether two values are the same JSON text: members in one order, 1 and 1.0 apart."""
    if left != right or type(left) is not type(right):
        return False
    return not isinstance(left, dict | list) or not left or json.dumps(left) == json.dumps(right)


def _place(pointer: str, name: str) -> str:
    """The pointer to what is at `name`. A long one would be copied for every difference below."""
    if len(pointer) > MAX_POINTER:
        return pointer if pointer.endswith("…") else f"{pointer}/…"
    return f"{pointer}/{shorten(name, MAX_NAME + 1)}"


def _scalar(value: Any) -> bytes:
    if isinstance(value, bool) or value is None:
        return repr(value).encode()
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        # In base 16, because Python refuses to write thousands of decimal digits.
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


# Which element of one list is which of another: by what names it, and otherwise by its place.
# Near-linear, like everything here: elements are found by their keys and digests, and never
# compared each with each.

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
    """Return the names of both lists' elements, None where no member tells all of them apart."""
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
