"""Response to an action over HTTP. No specification says what it must be, so any is read.

A JSON document is a result, and so is each JSON message of a stream; anything else is text. The
status says whether the action failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.protocols import error_documents, json_decoder, sse, unreadable
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Failure, Note, Outcome, Result, Text, Unknown
from playground.protocols.exchange import Reader
from playground.protocols.frames import Frame
from playground.protocols.http import REASON_PHRASES, HttpExchange


class ActionReader(Reader):
    """Reader of JSON as results and of everything else as text."""

    def __init__(self) -> None:
        self._outcome = Outcome.NONE

    def document(self, seq: int, payload: Any) -> list[Event]:
        self._outcome = Outcome.ANSWER
        return [Result(seq, payload)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return a stream message as a result or as text."""
        if not data or data.isspace():
            return [Note(seq, name or "message")]
        if failure := error_documents.of_event(seq, name, data):
            self._outcome = Outcome.FAILURE
            return [failure]
        self._outcome = Outcome.ANSWER
        try:
            return [Result(seq, json_decoder.decode(data))]
        except (ValueError, RecursionError):
            return [Text(seq, data, raw=data)]

    def end(self) -> None:
        """Set the outcome: a complete response is an answer, even an empty one."""
        if self._outcome is Outcome.NONE:
            self._outcome = Outcome.ANSWER

    @property
    def outcome(self) -> Outcome:
        """An answer as soon as anything is received."""
        return self._outcome


class ActionExchange(HttpExchange):
    """Exchange of one call of an action and its response."""

    def __init__(self, call: HttpCall, *, max_depth: int) -> None:
        super().__init__(call, ActionReader(), max_depth=max_depth)

    @property
    def outcome(self) -> Outcome:
        """Failure or answer by the status; none for a redirect."""
        if self._failed:
            return Outcome.FAILURE
        return Outcome.NONE if self.status // 100 == 3 else super().outcome

    @property
    def _failed(self) -> bool:
        return self.status >= 400

    def _tail(self, frame: Frame) -> Sequence[Event]:
        """Return the event of data after the last blank line, which text may end with."""
        return () if sse.Block(frame.data).is_comment else self._event(frame)

    def _end(self, frame: Frame) -> Sequence[Event]:
        events = (
            self._document(frame.seq) if not self._response.has_blocks else self._failure(frame.seq)
        )
        if self._problem is None:
            self._reader.end()
        return events

    def _error(self, frame: Frame) -> Sequence[Event]:
        return super()._error(frame) or self._failure(frame.seq)

    def _document(self, seq: int) -> Sequence[Event]:
        size = len(self._response.body)
        text, is_valid = self._response.take_text()
        if not text.strip():
            return self._empty(seq)
        if json_decoder.exceeds_depth(text, self._max_depth):
            return [*self._too_deep(seq, "document", text), *self._failure(seq)]
        try:
            payload = json_decoder.decode(text)
        except (ValueError, RecursionError) as error:
            return self._no_json(seq, text, error, None if is_valid else size)
        if self._failed:
            return self._failure(seq, error_documents.describe(payload).message, payload)
        return self._reader.document(seq, payload)

    def _empty(self, seq: int) -> Sequence[Event]:
        """Return the event of a response without a body: its status."""
        if self._failed:
            return self._failure(seq)
        return () if self.status // 100 == 3 else [Note(seq, "empty", {"status": self.status})]

    def _no_json(
        self, seq: int, text: str, error: ValueError | RecursionError, binary: int | None
    ) -> Sequence[Event]:
        """Return the event of a body that is not JSON; `binary` is its size if it is no text."""
        if self._failed:
            what, _ = unreadable.describe_body(text, error, utf8=binary is None)
            is_prose = what == unreadable.PROSE
            said = text.strip() if is_prose else f"{self._status_text}. The response body {what}."
            return self._failure(seq, said, raw=text)
        media_type = self._response.media_type
        if binary is not None:
            reason = f"The response body is {binary:,} bytes of binary data."
            return [Unknown(seq, media_type or "body", None, reason)]
        return [Text(seq, text, kind=media_type if "/" in media_type else "text", raw=text)]

    def _failure(
        self, seq: int, message: str = "", details: Any = None, raw: Any = None
    ) -> Sequence[Event]:
        """Return the failure of an error status, nothing for any other status."""
        if not self._failed:
            return ()
        text = message or f"{self._status_text}."
        return [Failure(seq, f"HTTP {self.status}", text, details, raw or details)]

    @property
    def _status_text(self) -> str:
        phrase = REASON_PHRASES.get(self.status)
        suffix = f" ({phrase})" if phrase else ""
        return f"The server returned HTTP {self.status}{suffix}"
