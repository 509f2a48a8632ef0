"""Where an event stands in the thread of a run: in it, pinned above it, or not at all.

Known here and not in the rendering, because the engine counts with it: the counts let a
viewer pass over the part of a flood that nobody looks at without reading it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from playground.protocols.events import Completed, Event, Note, Result, Started, Text

#: Summaries that a run can have pinned; later ones stand in the thread like everything else.
MAX_PINNED = 10


class Place(enum.Enum):
    """Where an event is shown."""

    #: Marks progress and is shown in the bar and the Events list only.
    NONE = 0
    #: An entry of the thread.
    ENTRY = 1
    #: Sums the others up, and stands above them wherever it came in the stream
    #: (NLWeb 0.55 section 4.1.1).
    PINNED = 2


class Placer:
    """Gives the events of one run their places, in order."""

    def __init__(self) -> None:
        self._pinned = 0

    def place(self, event: Event) -> Place:
        """Where `event`, which follows those asked for before, is shown."""
        kind = type(event)
        if kind is Started or kind is Completed:
            return Place.NONE
        if kind is Note:
            return Place.ENTRY if event.name == "redirect" else Place.NONE  # type: ignore[attr-defined]
        if self._pinned < MAX_PINNED and is_summary(event):
            self._pinned += 1
            return Place.PINNED
        return Place.ENTRY


_SUMMARIES = frozenset({"SearchSummary", "Summary"})


def is_summary(event: Event) -> bool:
    """Whether the event sums up the results rather than being one."""
    kind = type(event)
    if kind is Result:
        return _sums_up(event.item)  # type: ignore[attr-defined]
    return kind is Text and event.kind == "summary"  # type: ignore[attr-defined]


def _sums_up(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    kind = item.get("@type")
    return type(kind) is str and kind in _SUMMARIES
