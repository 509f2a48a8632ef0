"""Two JSON values: a digest that tells whether they are the same, and where they differ.

The order of an object's members means nothing, that of a list's elements does. 1 and 1.0 are
the same number; true is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Any

from playground.protocols.comparison.volatile import Skip

#: Levels of nesting that are looked at; what is deeper counts as the same.
MAX_DEPTH = 200
#: Characters of a name in a pointer, and of a pointer that still gets longer.
MAX_NAME, MAX_POINTER = 200, 1_000


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


#: Stands for a member or an element that only the other side has.
MISSING = Missing()

#: JSON pointer (cut short where it is very long), value on the left, value on the right; one of
#: them may be `MISSING`.
Change = tuple[str, Any, Any]


class Values:
    """Digests and differences, with the members that `skip` names left out.

    Remembers the digest of every object and list that it has seen, so those must be neither
    changed nor thrown away as long as it is used.
    """

    def __init__(self, skip: Skip) -> None:
        self._skip = skip
        self._known: dict[int, bytes] = {}

    def digest(self, value: Any, depth: int = 0) -> bytes:
        """The same for values that say the same, and only for those."""
        if not isinstance(value, Mapping | list | tuple):
            return _hash(b"s", _scalar(value))
        if depth > MAX_DEPTH:
            return b"deep"
        key = id(value)
        if key not in self._known:
            if isinstance(value, Mapping):
                members = self._members(value)
                pairs = sorted(
                    (_text(name), self.digest(members[name], depth + 1)) for name in members
                )
                self._known[key] = _hash(b"o", *(part for pair in pairs for part in pair))
            else:
                self._known[key] = _hash(b"l", *(self.digest(each, depth + 1) for each in value))
        return self._known[key]

    def changes(self, left: Any, right: Any, pointer: str = "", depth: int = 0) -> Iterator[Change]:
        """Where the two differ, in the order of the left one's members."""
        if depth > MAX_DEPTH or self.digest(left) == self.digest(right):
            return
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            yield from self._of_objects(left, right, pointer, depth)
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            yield from self._of_lists(left, right, pointer, depth)
        else:
            yield pointer, left, right

    def _of_objects(
        self, left: Mapping[Any, Any], right: Mapping[Any, Any], pointer: str, depth: int
    ) -> Iterator[Change]:
        ours, theirs = self._members(left), self._members(right)
        for name in {**ours, **theirs}:
            place = _place(pointer, name.replace("~", "~0").replace("/", "~1"))
            if name not in ours:
                yield place, MISSING, theirs[name]
            elif name not in theirs:
                yield place, ours[name], MISSING
            else:
                yield from self.changes(ours[name], theirs[name], place, depth + 1)

    def _of_lists(self, left: Any, right: Any, pointer: str, depth: int) -> Iterator[Change]:
        """Element by element between what both begin with and what both end with."""
        ours = [self.digest(each) for each in left]
        theirs = [self.digest(each) for each in right]
        shorter = min(len(ours), len(theirs))
        start = 0
        while start < shorter and ours[start] == theirs[start]:
            start += 1
        end = 0
        while end < shorter - start and ours[-1 - end] == theirs[-1 - end]:
            end += 1
        middle, others = len(ours) - end, len(theirs) - end
        for index in range(start, max(middle, others)):
            place = _place(pointer, str(index))
            if index >= middle:
                yield place, MISSING, right[index]
            elif index >= others:
                yield place, left[index], MISSING
            else:
                yield from self.changes(left[index], right[index], place, depth + 1)

    def _members(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        return {str(name): value[name] for name in value if not self._skip(str(name))}


def _place(pointer: str, name: str) -> str:
    """The pointer to what is at `name`. A long one would be copied for every difference below."""
    if len(pointer) > MAX_POINTER:
        return pointer if pointer.endswith("…") else f"{pointer}/…"
    return f"{pointer}/{name if len(name) <= MAX_NAME else name[:MAX_NAME] + '…'}"


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
