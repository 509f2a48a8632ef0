"""Counters of a run: frames and events counted as they arrive, for columns of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.models.columns import storable
from playground.protocols.events import (
    Completed,
    Content,
    Elicitation,
    Event,
    Failure,
    Handshake,
    Message,
    Note,
    Result,
    Started,
    Status,
    ToolCall,
    ToolOutput,
    Tools,
)
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.placement import Placement, PlacementAssigner

#: Events that change how later frames are read: metadata at the beginning of an answer, and
#: messages, which later events belong to. A failure can be a message, and is not reported again
#: with that. Over MCP also the handshake, elicitations in mid-call, and the answer.
_CHANGES_READING = frozenset({Started, Message, Content, Status, ToolCall, ToolOutput, Failure})
_CHANGES_READING |= frozenset({Completed, Elicitation, Handshake, Note, Tools})
_SHOWN = (Placement.ENTRY, Placement.PINNED, Placement.ASIDE)


class RunCounters:
    """The counts and times of one run."""

    def __init__(self, other_bytes: int = 0) -> None:
        """Count from the beginning of a run that had these bytes when it was created."""
        self._assigner = PlacementAssigner()
        self._highest_index = -1
        self._placements = dict.fromkeys(Placement, 0)
        #: Columns of the run, by name. Times are in µs since the first call.
        self.columns: dict[str, Any] = {"events": 0, "results": 0, "bytes": 0, "entries": 0}
        self.columns |= {"other_bytes": other_bytes, "failures": 0, "terminated": False}

    def add(self, readings: Sequence[tuple[Frame, Sequence[Event]]]) -> dict[str, Any]:
        """Count frames with their events; return the columns of their batch."""
        entries, pinned, aside = (self._placements[placement] for placement in _SHOWN)
        changes_reading = False
        for frame, events in readings:
            for event in events:
                self._count_event(event)
                changes_reading |= type(event) in _CHANGES_READING
            self._count_frame(frame, events)
        new_entries = self._placements[Placement.ENTRY] - entries
        new_pinned = self._placements[Placement.PINNED] - pinned
        self.columns["entries"] += new_entries + new_pinned
        above = new_pinned + self._placements[Placement.ASIDE] - aside
        return {"entries": new_entries, "pinned": above, "changes_reading": changes_reading}

    def _count_event(self, event: Event) -> None:
        columns = self.columns
        columns["events"] += 1
        self._placements[self._assigner.assign(event)] += 1
        if type(event) is Failure:
            columns["failures"] += 1
        elif type(event) is Completed:
            columns["terminated"] = True
        elif type(event) is Result:
            columns["results"] += 1
            if event.index is not None:
                if event.index < self._highest_index:
                    columns["out_of_order"] = True
                self._highest_index = max(self._highest_index, event.index)

    def _count_frame(self, frame: Frame, events: Sequence[Event]) -> None:
        columns = self.columns
        if frame.kind in BODY_KINDS:
            columns["bytes"] += len(frame.data)
            if events or frame.kind is FrameKind.BODY:
                columns.setdefault("first_event_us", frame.at_us)
            return
        columns["other_bytes"] += len(frame.data)
        if frame.kind is FrameKind.HEAD:
            columns.setdefault("headers_us", frame.at_us)
            columns["status"], headers = read_head(frame.data)
            columns["retry_after"] = storable(headers.get("retry-after", "")[:60])
