"""Where an event stands in the thread of a run: in it, pinned above it, or not at all.

Known here and not in the rendering, because the engine counts with it: the counts let a
viewer pass over the part of a flood that nobody looks at without reading it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from playground.protocols.events import Completed, Event, Note, Result, Started, Text


class Place(enum.Enum):
    """Where an event is shown."""

    #: Marks progress and is shown in the bar and the Events list only.
    NONE = 0
    #: An entry of the thread.
    ENTRY = 1
    #: Sums the others up, and stands above them wherever it came in the stream
    #: (NLWeb 0.55 section 4.1.1).
    PINNED = 2


_SUMMARIES = frozenset({"SearchSummary", "Summary"})


def place_of(event: Event) -> Place:
    """Where `event` is shown."""
    kind = type(event)
    if kind is Result:
        return Place.PINNED if _sums_up(event.item) else Place.ENTRY  # type: ignore[attr-defined]
    if kind is Text:
        return Place.PINNED if event.kind == "summary" else Place.ENTRY  # type: ignore[attr-defined]
    if kind is Note:
        return Place.ENTRY if event.name == "redirect" else Place.NONE  # type: ignore[attr-defined]
    return Place.NONE if kind is Started or kind is Completed else Place.ENTRY


def _sums_up(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    kind = item.get("@type")
    return type(kind) is str and kind in _SUMMARIES
