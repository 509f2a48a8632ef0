"""The NLWeb reader of the playground, recording the payloads that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from playground.conformance.http_response import MAX_DEPTH, RecordedResponse, as_tail, decoded
from playground.conformance.response_parts import DecodedPayload
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Unknown
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import HttpExchange
from playground.protocols.nlweb import NLWebReader


class RecordingReader(NLWebReader):
    """The lenient reader, which also records the payloads that it reads."""

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self._recorded: list[DecodedPayload] = []
        self._is_in_document = False

    def read(self, http_response: RecordedResponse) -> tuple[DecodedPayload, ...]:
        """Return the messages of a response, including unreadable ones."""
        call = HttpCall("POST", "http://agent.invalid/ask")
        exchange = HttpExchange(call, self, max_depth=MAX_DEPTH)
        messages: list[DecodedPayload] = []
        for frame in http_response.frames:
            events = exchange.receive(frame)
            if not self._recorded and events and type(events[0]) is Unknown:
                self._record_unreadable(frame, events)
            if frame.kind is FrameKind.TAIL and self._recorded:
                self._recorded[-1] = as_tail(self._recorded[-1], http_response)
            messages += self._recorded
            self._recorded = []
        return tuple(messages)

    def _record_unreadable(self, frame: Frame, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, Unknown):
                is_document = frame.kind in (FrameKind.END, FrameKind.ERROR)
                name = None if is_document else event.name
                text = event.data if isinstance(event.data, str) else ""
                message = decoded(frame.seq, name, text)
                self._recorded.append(message._replace(reason=event.reason, document=is_document))

    def document(self, seq: int, payload: Any) -> list[Event]:
        self._recorded.append(DecodedPayload(seq, None, payload, document=True))
        # The messages in an array, which older servers send, are no responses of their own.
        self._is_in_document = True
        events = super().document(seq, payload)
        self._is_in_document = False
        return events

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        events = super().message(seq, name, data)
        if not self._recorded:
            self._recorded.append(decoded(seq, name, data))
        return events

    def payload(self, seq: int, name: str | None, payload: Any) -> list[Event]:
        if not self._is_in_document:
            self._recorded.append(DecodedPayload(seq, name, payload))
        return super().payload(seq, name, payload)
