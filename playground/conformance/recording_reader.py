"""The playground's own reader of NLWeb, which also notes what it was given to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from playground.conformance.http_response import MAX_DEPTH
from playground.conformance.response_parts import DecodedPayload
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Unknown
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import HttpExchange
from playground.protocols.nlweb import NLWebReader


class RecordingReader(NLWebReader):
    """The lenient reader, which also notes what it was given to read."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self._noted: list[DecodedPayload] = []

    def read(self, reply: tuple[Frame, ...]) -> tuple[DecodedPayload, ...]:
        """The messages of a reply, those that cannot be read included."""
        call = HttpCall("POST", "http://agent.invalid/ask")
        exchange = HttpExchange(call, self, max_depth=MAX_DEPTH)
        messages: list[DecodedPayload] = []
        for frame in reply:
            events = exchange.receive(frame)
            if not self._noted and events and type(events[0]) is Unknown:
                self._note_unread(frame, events)
            if frame.kind is FrameKind.TAIL:
                self._noted = [message._replace(unfinished=True) for message in self._noted]
            messages += self._noted
            self._noted = []
        return tuple(messages)

    def _note_unread(self, frame: Frame, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Unknown):
                whole = frame.kind in (FrameKind.END, FrameKind.ERROR)
                name = None if whole else event.name
                text = event.data if isinstance(event.data, str) else ""
                self._noted.append(DecodedPayload(frame.seq, name, None, text, event.reason, whole))

    def document(self, seq: int, payload: Any) -> list[Event]:
        """See `NLWebReader.document`."""
        self._noted.append(DecodedPayload(seq, None, payload, document=True))
        return super().document(seq, payload)

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """See `NLWebReader.message`."""
        events = super().message(seq, name, data)
        if not self._noted:
            why = next((event.reason for event in events if isinstance(event, Unknown)), "")
            why = why or "The message has no data."
            self._noted.append(DecodedPayload(seq, name, None, data, why))
        return events

    def payload(self, seq: int, name: str | None, payload: Any) -> list[Event]:
        """See `NLWebReader.payload`."""
        self._noted.append(DecodedPayload(seq, name, payload))
        return super().payload(seq, name, payload)
