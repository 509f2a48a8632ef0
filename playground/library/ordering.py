"""Places in an order that is kept as numbers: one that moves changes its own number only.

Neighbours stand a step apart, and what moves between two takes the middle. Only where no number
is left between them are all numbered anew. Pure: numbers in, numbers out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

#: The largest number that a column of positions takes (a 32-bit one, without a sign in Django).
LARGEST = 2**31 - 1


def position_between(before: int | None, after: int | None, step: int) -> int | None:
    """A number after `before` and before `after`, None where there is none.

    None for `before` is the beginning, None for `after` the end.
    """
    low = -1 if before is None else before
    if after is None:
        # Never at zero: whatever is to stand before it later needs a number, too.
        wanted = max(low, 0) + step
        return wanted if wanted <= LARGEST else None
    middle = (max(low, 0) + after) // 2
    return middle if low < middle < after else None


def evenly_spaced(keys: Iterable[Key], step: int) -> dict[Key, int]:
    """Numbers for all of `keys` in this order, a step apart, as far as there is room."""
    wanted = list(keys)
    room = max(1, min(step, LARGEST // (len(wanted) + 1)))
    return {key: room * (index + 1) for index, key in enumerate(wanted)}


def changed_positions(
    others: Sequence[tuple[Key, int]], key: Key, index: int, step: int
) -> Mapping[Key, int]:
    """The numbers that change when `key` comes to stand at `index` among `others`.

    `others` are the rest with their numbers, in order; of equal numbers the order is their own,
    so nothing can go between them before all are numbered anew. An index beyond either end is
    that end.
    """
    index = min(max(index, 0), len(others))
    before = others[index - 1][1] if index else None
    after = others[index][1] if index < len(others) else None
    number = position_between(before, after, step)
    if number is not None:
        return {key: number}
    keys = [each for each, _ in others]
    fresh = evenly_spaced([*keys[:index], key, *keys[index:]], step)
    known = dict(others)
    return {each: number for each, number in fresh.items() if known.get(each) != number}


def index_among(
    order: Sequence[Key],
    key: Key,
    *,
    before: Key | None = None,
    after: Key | None = None,
    step: int = 0,
) -> int:
    """Where `key` comes to stand among the others of `order`: an index without it.

    Before or after another one, or `step` places on from where it is now; at the end where none
    of these says anything, for instance because the other one has gone.
    """
    others = [each for each in order if each != key]
    if before in others:
        return others.index(before)
    if after in others:
        return others.index(after) + 1
    if step and key in order:
        return min(max(order.index(key) + step, 0), len(others))
    return len(others)
