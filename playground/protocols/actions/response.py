"""The reply to an action over HTTP. Nothing says what it must be, so all of it is welcome.

A JSON document is a result and so is each JSON message of a stream; anything else is text.
Whether it worked is for the status to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from playground.protocols import json_decoder, sse, unreadable
from playground.protocols.actions import http
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Failure, Note, Outcome, Result, Text, Unknown
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from playground.protocols.http import HttpExchange, is_utf8
from playground.protocols.origins import same_origin

_PHRASES: Mapping[int, str] = {status.value: status.phrase for status in HTTPStatus}
#: Members of a JSON error in which servers say what is wrong.
_MESSAGES = ("message", "detail", "title", "error_description", "error", "reason")


def exchange(target: Target, request: Mapping[str, Any], max_depth: int) -> ActionExchange:
    """The exchange that makes the call of an action's request document.

    The headers of `target` go along, so its address must be of the document's origin. Raises
    `ValueError` where it is not, and for what is not the request of an action over HTTP.
    """
    if refusal := http.validate_action(request):
        raise ValueError(refusal)
    if not same_origin(target.url, request["url"]):
        raise ValueError("The target is not where the action goes.")
    return ActionExchange(http.call_of(request, target.headers), max_depth=max_depth)


class ActionReader:
    """Reads JSON as results and everything else as text. See `protocols.exchange.Reader`."""

    def __init__(self) -> None:
        self._outcome = Outcome.NONE

    def document(self, seq: int, payload: Any) -> list[Event]:
        """The one result that a whole JSON reply is."""
        self._outcome = Outcome.ANSWER
        return [Result(seq, payload)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """A stream message as a result or as text."""
        if not data or data.isspace():
            return [Note(seq, name or "message")]
        self._outcome = Outcome.ANSWER
        try:
            return [Result(seq, json_decoder.decode(data))]
        except (ValueError, RecursionError):
            return [Text(seq, data, raw=data)]

    def end(self) -> None:
        """The reply is whole: even an empty one is an answer."""
        self._outcome = Outcome.ANSWER

    @property
    def outcome(self) -> Outcome:
        """An answer as soon as something has come."""
        return self._outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """Actions have none."""
        return None


class ActionExchange(HttpExchange):
    """One call of an action and its reply, whatever that is."""

    def __init__(self, call: HttpCall, *, max_depth: int) -> None:
        super().__init__(call, ActionReader(), max_depth=max_depth)

    @property
    def outcome(self) -> Outcome:
        """Failure or answer by the status; none for a redirect, which is neither."""
        if self._failed:
            return Outcome.FAILURE
        return Outcome.NONE if self._status // 100 == 3 else super().outcome

    @property
    def _failed(self) -> bool:
        return self._status >= 400

    def _tail(self, frame: Frame) -> Sequence[Event]:
        """What stood after the last blank line: taken as it is, for text may end anywhere."""
        self._streamed = True
        if sse.Block(frame.data).is_comment:
            return ()
        return self._event(frame)

    def _end(self, frame: Frame) -> Sequence[Event]:
        events = self._document(frame.seq) if not self._streamed else self._failure(frame.seq)
        if self._problem is None:
            self._reader.end()
        return events

    def _error(self, frame: Frame) -> Sequence[Event]:
        return super()._error(frame) or self._failure(frame.seq)

    def _document(self, seq: int) -> Sequence[Event]:
        body = b"".join(self._body).removeprefix(b"\xef\xbb\xbf")
        self._body = []
        if not body.strip():
            return self._empty(seq)
        text = body.decode("utf-8", "replace")
        if json_decoder.exceeds_depth(text, self._max_depth):
            return [*self._too_deep(seq, "document", text), *self._failure(seq)]
        try:
            payload = json_decoder.decode(text)
        except (ValueError, RecursionError) as error:
            return self._other(seq, body, text, error)
        if self._failed:
            return self._failure(seq, _said(payload), payload)
        return self._reader.document(seq, payload)

    def _empty(self, seq: int) -> Sequence[Event]:
        """A reply without a body, which says all there is to say with its status."""
        if self._failed:
            return self._failure(seq)
        return () if self._status // 100 == 3 else [Note(seq, "empty", {"status": self._status})]

    def _other(
        self, seq: int, body: bytes, text: str, error: ValueError | RecursionError
    ) -> Sequence[Event]:
        """A body that is not JSON."""
        readable = is_utf8(body)
        if self._failed:
            came, _ = unreadable.describe_body(text, error, utf8=readable)
            return self._failure(seq, f"{self._status_words}. The reply {came}.", raw=text)
        media_type = self._headers.get("content-type", "").partition(";")[0].strip().lower()
        if not readable:
            reason = f"The reply is {len(body):,} bytes that are not text in UTF-8."
            return [Unknown(seq, media_type or "body", None, reason)]
        return [Text(seq, text, kind=media_type if "/" in media_type else "text", raw=text)]

    def _failure(
        self, seq: int, message: str = "", details: Any = None, raw: Any = None
    ) -> Sequence[Event]:
        """The failure that a status of an error is, nothing for any other status."""
        if not self._failed:
            return ()
        words = message or f"{self._status_words}."
        return [Failure(seq, f"HTTP {self._status}", words, details, raw or details)]

    @property
    def _status_words(self) -> str:
        phrase = _PHRASES.get(self._status)
        known = f" ({phrase})" if phrase else ""
        return f"The server answered with HTTP {self._status}{known}"


def _said(payload: Any) -> str:
    """What a JSON error says in words, "" where it says nothing."""
    if not isinstance(payload, Mapping):
        return payload if isinstance(payload, str) else ""
    for source in (payload.get("error"), payload):
        if isinstance(source, Mapping):
            for name in _MESSAGES:
                if isinstance(words := source.get(name), str) and words.strip():
                    return words
    return ""
