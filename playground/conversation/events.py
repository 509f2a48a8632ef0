"""Events tab: frames as rows with number, time, kind and text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from playground.conversation.entries import element_of
from playground.protocols import events as ev
from playground.protocols.events import event_label
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.protocols.text import shorten
from playground.ui.formatting import MAX_LINE, kind_label, milliseconds, size


@dataclass(frozen=True, slots=True)
class EventRow:
    """A row of the Events tab."""

    seq: int
    at: str
    #: Event kind or frame kind, which chooses colour and shape.
    kind: str
    text: str
    size: str
    index: int | None = None

    @property
    def label(self) -> str:
        return kind_label(self.kind)


def rows_of(readings: Iterable[tuple[Frame, Sequence[ev.Event]]]) -> list[EventRow]:
    return [row_of(frame, events) for frame, events in readings]


def row_of(frame: Frame, events: Sequence[ev.Event]) -> EventRow:
    """Return the row of a frame: that of its first event, if it has any."""
    kind, text = frame.kind.name.lower(), _frame_text(frame)
    index = None
    if events:
        first = events[0]
        kind, text = event_label(first), event_text(first)
        index = first.index if isinstance(first, ev.Result) else None
        if len(events) > 1:
            text = f"{text}  + {len(events) - 1} more"
    shown = shorten(text, MAX_LINE)
    bytes_text = size(len(frame.data)) if frame.data else ""
    return EventRow(frame.seq, milliseconds(frame.at_ms), kind, shown, bytes_text, index)


def event_text(event: ev.Event) -> str:
    return element_of(event).line(event)


def _frame_text(frame: Frame) -> str:
    match frame.kind:
        case FrameKind.ERROR:
            return Problem.from_bytes(frame.data).cause
        case FrameKind.OPEN:
            return _open_text(frame.data)
        case FrameKind.END:
            return "Response body complete"
        case _:
            lines = frame.data.decode("utf-8", "replace").strip().splitlines()
            return lines[0] if lines else ""


def _open_text(data: bytes) -> str:
    facts: dict[str, Any] = json.loads(data)
    tls = facts.get("tls")
    text = f"connected to {facts.get('peer', '')}{f' over {tls}' if tls else ''}"
    return f"{text}, connection reused" if facts.get("reused") else text


def payload_of(event: ev.Event) -> Any:
    """Return the payload of an event for its JSON view; None if it has none."""
    return element_of(event).payload(event)
