"""What a run's columns say about its frames, counted while they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.models.json_text import storable
from playground.protocols.events import (
    Completed,
    Content,
    Elicitation,
    Event,
    Failure,
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

#: What changes how later frames are read: metadata that opens an answer, and messages, which
#: later events belong to. A failure can be a message, and is not told again when that is. Over
#: MCP also what opens a server, what it asks in mid-call, and the answer.
_OPENING = frozenset({Started, Message, Content, Status, ToolCall, ToolOutput, Failure})
_OPENING |= frozenset({Completed, Elicitation, Note, Tools})
_SHOWN = (Placement.ENTRY, Placement.PINNED, Placement.ASIDE)


class RunCounters:
    """Counts and moments of one run."""

    def __init__(self) -> None:
        self._placer = PlacementAssigner()
        self._highest = -1
        self._places = dict.fromkeys(Placement, 0)
        #: Columns of the run, by name. Moments are in µs since the first call.
        self.columns: dict[str, Any] = {"events": 0, "results": 0, "bytes": 0}
        self.columns |= {"entries": 0, "failures": 0}

    def add(self, readings: Sequence[tuple[Frame, Sequence[Event]]]) -> dict[str, Any]:
        """Count frames with their events; returns what the batch's own columns say of them."""
        entries, pinned, aside = (self._places[place] for place in _SHOWN)
        opening = False
        for frame, events in readings:
            for event in events:
                self._event(event)
                opening |= type(event) in _OPENING
            self._frame(frame, events)
        new_entries = self._places[Placement.ENTRY] - entries
        new_pinned = self._places[Placement.PINNED] - pinned
        self.columns["entries"] += new_entries + new_pinned
        above = new_pinned + self._places[Placement.ASIDE] - aside
        return {"entries": new_entries, "pinned": above, "changes_reading": opening}

    def _event(self, event: Event) -> None:
        columns = self.columns
        columns["events"] += 1
        self._places[self._placer.assign(event)] += 1
        if type(event) is Failure:
            columns["failures"] += 1
        elif type(event) is Result:
            columns["results"] += 1
            if event.index is not None:
                if event.index < self._highest:
                    columns["out_of_order"] = True
                self._highest = max(self._highest, event.index)

    def _frame(self, frame: Frame, events: Sequence[Event]) -> None:
        columns = self.columns
        if frame.kind in BODY_KINDS:
            columns["bytes"] += len(frame.data)
            if events or frame.kind is FrameKind.BODY:
                columns.setdefault("first_event_us", frame.at_us)
        elif frame.kind is FrameKind.HEAD:
            columns.setdefault("headers_us", frame.at_us)
            columns["status"], headers = read_head(frame.data)
            columns["retry_after"] = storable(headers.get("retry-after", "")[:60])
