"""A time axis that leaves out the time in which nothing of the run happened.

An action that somebody runs an hour after the answer would otherwise press the answer into a
hair's breadth. What the playground itself waits for, such as a promise, is never left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

WIDTH = 100
#: Share of the width that a break takes, and how many there are at most.
BREAK, MAX_BREAKS = 4, 8
#: A silence is left out when it is longer than this (µs), and than all that was before it.
SHORTEST = 2_000_000

#: When something began and when it ended, in µs since the run's first call.
Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AxisBreak:
    """Time that is left out."""

    x: float
    #: How long it was, in µs.
    length: int


class Axis:
    """Places moments, in µs, on a drawing of `WIDTH`."""

    def __init__(self, first: int, later: Iterable[Stretch] = ()) -> None:
        """An axis of all that lasts from 0 to `first`, and of stretches that may be apart."""
        self._pieces = _pieces(first, later)
        shown = sum(end - start for start, end in self._pieces)
        self.scale = (WIDTH - BREAK * (len(self._pieces) - 1)) / max(1, shown)

    @property
    def first(self) -> int:
        """The end of what is drawn without a break, in µs."""
        return self._pieces[0][1]

    @property
    def end(self) -> int:
        """The last moment of the axis, in µs."""
        return self._pieces[-1][1]

    @property
    def breaks(self) -> list[AxisBreak]:
        """The time that is left out, in order."""
        pairs = pairwise(self._pieces)
        return [AxisBreak(round(self.x(a[1]), 2), b[0] - a[1]) for a, b in pairs]

    def x(self, moment: int) -> float:
        """Where a moment is; one in a break is where the break ends."""
        x = 0.0
        for start, end in self._pieces:
            if moment <= end:
                # Not beyond the end, where the last digit of a fraction would put it.
                return min(float(WIDTH), x + max(0, moment - start) * self.scale)
            x += (end - start) * self.scale + BREAK
        return float(WIDTH)


def _pieces(first: int, later: Iterable[Stretch]) -> list[Stretch]:
    """What is drawn, piece by piece: stretches with short silences between them are one."""
    pieces = [(0, first)]
    shown = first
    for start, end in sorted(later):
        last_start, last_end = pieces[-1]
        silence = start - last_end
        if silence > max(SHORTEST, shown) and len(pieces) <= MAX_BREAKS:
            pieces.append((start, end))
            shown += end - start
        elif end > last_end:
            pieces[-1] = (last_start, end)
            shown += end - last_end
    return pieces
