"""Entries of a thread, and their elements: what shows each kind of event.

A new kind of event is a class in `playground.protocols.events`, a template in
`templates/conversation/`, and a row in `playground.conversation.elements`.
`python -m tests.scaffold event NAME` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from playground.conversation.message_joiner import JoinedMessage
from playground.protocols import events as ev
from playground.protocols.events import event_label
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.protocols.text import shorten
from playground.ui.formatting import MAX_LINE

if TYPE_CHECKING:
    from playground.conversation.thread import Thread


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in the thread of a run."""

    #: Number of its frame, and of the event in the frame.
    seq: int
    part: int
    event: ev.Event
    #: Whether it is shown above the results, wherever it is in the stream.
    pinned: bool = False
    #: The joined message of a message event; it changes while the response is read.
    message: JoinedMessage | None = None

    @property
    def ref(self) -> ev.EntryRef:
        return self.seq, self.part

    @property
    def anchor(self) -> str:
        """Return the id of its element on the page of its own run."""
        return f"entry-{self.seq}-{self.part}"


#: The name of a template, and its context beside that of any entry.
Shown = tuple[str, dict[str, Any]]


def _line(event: ev.Event) -> str:
    return str(getattr(event, "text", ""))


def _payload(event: ev.Event) -> Any:
    return getattr(event, "raw", None)


@dataclass(frozen=True, slots=True)
class Element:
    """What shows one kind of event. None of its functions raises on data of an agent."""

    #: An entry of the thread; None for a kind that has none. Called for entries on a page only:
    #: most entries of a flood are never shown.
    show: Callable[[Entry, Thread], Shown] | None = None
    #: The event in one line, for rows, steps and terminals.
    line: Callable[[Any], str] = _line
    #: The value of its JSON view; None if it has none.
    payload: Callable[[Any], Any] = _payload
    #: HTML that replaces a part of the entry when its run has ended; "" for nothing.
    close: Callable[[Entry, Thread], str] | None = None


@cache
def _elements() -> Mapping[type[ev.Event], Element]:
    """Return the table of elements, whose modules import this one; many commands need none."""
    from playground.conversation.elements import ELEMENTS

    return ELEMENTS


def element_of(event: ev.Event) -> Element:
    """Return the element of an event, of its base class for a variant such as a handshake."""
    for kind in type(event).__mro__:
        if element := _elements().get(kind):
            return element
    raise LookupError(f"{type(event).__name__} has no row in playground.conversation.elements.")


class EventRow(NamedTuple):
    """A row of the Events tab."""

    frame: Frame
    #: Event kind or frame kind, which chooses colour and shape.
    kind: str
    text: str
    #: That of a result.
    position: int | None


def rows_of(readings: Iterable[tuple[Frame, Sequence[ev.Event]]]) -> list[EventRow]:
    return [row_of(frame, events) for frame, events in readings]


def row_of(frame: Frame, events: Sequence[ev.Event]) -> EventRow:
    """Return the row of a frame: that of its first event, if it has any."""
    kind, text = frame.kind.name.lower(), _frame_text(frame)
    position = None
    if events:
        first = events[0]
        kind, text = event_label(first), element_of(first).line(first)
        position = first.index if isinstance(first, ev.Result) else None
        if len(events) > 1:
            text = f"{text}  + {len(events) - 1} more"
    return EventRow(frame, kind, shorten(text, MAX_LINE), position)


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
