"""The HTTP binding: one POST, and a response that is a JSON document or an event stream.

Follows NLWeb 0.55 section 7 (0.54 section 8). The meaning of documents is the reader's part, the
same for every binding. How a response is read depends on what the agent sent, not on what was
requested.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground import __version__
from playground.protocols import error_documents, json_decoder, lenient, sse, unreadable
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Failure, Note, Outcome, Unknown
from playground.protocols.exchange import Exchange, Reader, Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.protocols.response import LiveResponse, is_json

#: The User-Agent of the playground.
USER_AGENT = f"nlweb-playground/{__version__}"
#: The reason phrases of the statuses that the HTTP standard defines.
REASON_PHRASES: Mapping[int, str] = {status.value: status.phrase for status in HTTPStatus}

Headers = Sequence[tuple[str, str]]

_NO_EVENTS: Sequence[Event] = ()
_NOT_JSON = object()


def operation_url(url: str, operation: str) -> str:
    """Return the URL of an operation (`ask`, `await`) of the agent at `url`.

    `url` may be the agent's base URL or its ask URL; the query string is kept. A protocol with one
    URL only has no operations (""), and its URL is returned unchanged, without the fragment.
    """
    parts = urlsplit(url)
    if not operation:
        return urlunsplit(parts._replace(fragment=""))
    path = parts.path.rstrip("/")
    if path.endswith("/ask"):
        if operation == "ask":
            return urlunsplit(parts._replace(fragment=""))
        path = path.removesuffix("/ask")
    return urlunsplit(parts._replace(path=f"{path}/{operation}", fragment=""))


def post(target: Target, operation: str, document: Any, *, streaming: bool) -> HttpCall:
    """Return the call that sends a document; a target's header replaces the default of its name."""
    defaults = (
        ("Content-Type", "application/json"),
        ("Accept", "text/event-stream" if streaming else "application/json"),
        ("User-Agent", USER_AGENT),
    )
    url = operation_url(target.url, operation)
    headers = merge_headers(defaults, target.headers)
    return HttpCall("POST", url, headers, encode(document), streaming)


def merge_headers(defaults: Headers, own: Headers) -> tuple[tuple[str, str], ...]:
    """Return both, the defaults first and without those whose name is also in `own`."""
    names = {name.lower() for name, _ in own}
    return (*(pair for pair in defaults if pair[0].lower() not in names), *own)


def encode(document: Any) -> bytes:
    # Half of a surrogate pair has no UTF-8; its backslash escape is the same string in JSON.
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")


#: Last bytes of a JSON object, array or string, or of nothing but white space.
_LAST_BYTES = frozenset((b"}", b"]", b'"', b""))
#: Bytes of the end of a body that are searched for the last character.
_END_SIZE = 1024


class HttpExchange(Exchange):
    """One call and its response."""

    #: Name of the expected response with its article, for problems.
    response_name = "an NLWeb response"
    #: Whether a response without a body is no problem.
    may_be_empty = False

    def __init__(
        self, call: HttpCall, reader: Reader, *, max_depth: int, response_name: str = ""
    ) -> None:
        """Make `call` and read its response; `response_name` says what that must be."""
        self._call: HttpCall | None = call
        self.response_name = response_name or self.response_name
        self._reader = reader
        self._max_depth = max_depth
        self._problem: Problem | None = None
        #: The error in a document that is no response of the protocol, None without one.
        self.refusal: Failure | None = None
        self._response = LiveResponse()
        #: Whether a stream has a readable event, and has any event.
        self._has_readable_event = self._has_event = False
        #: The data of the first event that cannot be read.
        self._unread: Any = None
        self._receivers: Mapping[FrameKind, Callable[[Frame], Sequence[Event]]] = {
            FrameKind.HEAD: self._head,
            FrameKind.TAIL: self._tail,
            FrameKind.END: self._end,
            FrameKind.ERROR: self._error,
        }

    def next_call(self) -> HttpCall | None:
        call, self._call = self._call, None
        return call

    def receive(self, frame: Frame) -> Sequence[Event]:
        self._response.add(frame)
        if frame.kind is FrameKind.EVENT:
            # Most frames are events, and a table with members of an enumeration is slow.
            return self._event(frame)
        receiver = self._receivers.get(frame.kind)
        return receiver(frame) if receiver else _NO_EVENTS

    @property
    def status(self) -> int:
        """The HTTP status, 0 until it is received."""
        return self._response.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response, names in lower case."""
        return self._response.headers

    @property
    def ended(self) -> bool:
        return self._response.ended

    @property
    def outcome(self) -> Outcome:
        return Outcome.FAILURE if self.refusal else self._reader.outcome

    @property
    def problem(self) -> Problem | None:
        return self._problem

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        return self._reader.session_context

    # Frames by kind

    def _head(self, frame: Frame) -> Sequence[Event]:
        if self.status // 100 != 3:
            return _NO_EVENTS
        location = self.headers.get("location", "")
        return [Note(frame.seq, "redirect", {"status": self.status, "location": location})]

    def _event(self, frame: Frame) -> Sequence[Event]:
        messages = sse.parse_all(frame.data)
        if not messages[0].has_data and messages[0].event is None:
            # Only `id`, `retry` or unknown fields: nothing is dispatched.
            return _NO_EVENTS
        if self._has_event or not sse.is_json_line(frame.data):
            return self._read(frame.seq, *messages)
        note = Note(frame.seq, "framing", {"remark": sse.NOT_FRAMED})
        return [*self._read(frame.seq, *messages), note]

    def _tail(self, frame: Frame) -> Sequence[Event]:
        """Read the bytes after the last blank line, which a standard client would drop."""
        if sse.Block(frame.data).is_comment:
            return _NO_EVENTS
        *complete, message = sse.parse_all(frame.data)
        if message.data.strip() == sse.DONE or is_json(message.data, self._max_depth):
            return self._read(frame.seq, *complete, message)
        events = self._read(frame.seq, *complete)
        self._fail(
            Problem(
                "truncated",
                Stage.BODY,
                "The event stream ended in the middle of an event.",
                "Check the agent’s log: it stopped before its response was complete.",
                frame.data[: unreadable.QUOTED].decode("utf-8", "replace"),
            )
        )
        self._has_event = True
        reason = "The stream ended in the middle of this event."
        return [*events, Unknown(frame.seq, message.event or "message", message.data, reason)]

    def _end(self, frame: Frame) -> Sequence[Event]:
        events: Sequence[Event] = _NO_EVENTS
        if self.may_be_empty and not self._response.has_blocks and not self._response.body:
            return events
        if self._response.streamed:
            self._check_stream()
        else:
            events = self._document(frame.seq)
        if self._problem is None:
            self._reader.end()
        return events

    def _error(self, frame: Frame) -> Sequence[Event]:
        """Read a document that was complete when the transfer failed."""
        # Most bodies that were cut off are recognized by their last character.
        body = self._response.body
        last = bytes(body[-_END_SIZE:].rstrip()[-1:])
        if (
            body
            and last in _LAST_BYTES
            and is_json(body.decode("utf-8", "replace"), self._max_depth)
        ):
            return self._document(frame.seq)
        self._response.body = bytearray()
        return _NO_EVENTS

    # Reading

    def _read(self, seq: int, *messages: sse.ServerSentEvent) -> Sequence[Event]:
        """Return the events of the messages of a frame, which has one in nearly all streams."""
        if len(messages) == 1:
            return self._read_message(seq, messages[0])
        return [event for each in messages for event in self._read_message(seq, each)]

    def _read_message(self, seq: int, message: sse.ServerSentEvent) -> Sequence[Event]:
        self._has_event = True
        if json_decoder.exceeds_depth(message.data, self._max_depth):
            return self._too_deep(seq, message.event or "message", message.data)
        events = self._reader.message(seq, message.event, message.data)
        if not self._has_readable_event:
            self._has_readable_event = any(type(event) is not Unknown for event in events)
        if not self._has_readable_event and events:
            self._unread = self._unread or events[0].data  # type: ignore[attr-defined]
        return events

    def _document(self, seq: int) -> Sequence[Event]:
        if (narrow := json_decoder.without_wide_characters(self._response.body)) is not None:
            text = narrow.decode("utf-8-sig", "replace")
            del narrow
            payload = lenient.decode(text, _NOT_JSON, max_depth=self._max_depth)
            if payload is not _NOT_JSON:
                self._response.body = bytearray()
                return self._payload(seq, payload, text)
            del text  # What cannot be read is shown as it was received.
        text, is_valid = self._response.take_text()
        if json_decoder.exceeds_depth(text, self._max_depth):
            return self._too_deep(seq, "document", text)
        try:
            payload = json_decoder.decode(text)
        except (ValueError, RecursionError) as error:
            description, detail = unreadable.describe_body(text, error, utf8=is_valid)
            self._fail(
                unreadable.unreadable_problem(description, self.status, self.headers, detail)
            )
            if not text.strip():
                return _NO_EVENTS
            return [
                Unknown(
                    seq, self._response.media_type or "body", text, f"The response {description}."
                )
            ]
        return self._payload(seq, payload, text)

    def _payload(self, seq: int, payload: Any, text: str) -> Sequence[Event]:
        events = self._reader.document(seq, payload)
        if all(type(event) is Unknown for event in events):
            # An error of OAuth (RFC 6750) denies the connection.
            is_denial = self.status in unreadable.DENIALS or "www-authenticate" in self.headers
            is_oauth = is_denial and isinstance(payload, dict) and "error" in payload
            if error_documents.is_error(payload, self.status) and not is_oauth:
                self.refusal = error_documents.failure(seq, payload)
                return [self.refusal]
            description = f"is JSON, but not {self.response_name}"
            self._fail(
                unreadable.unreadable_problem(
                    description, self.status, self.headers, text, payload=payload
                )
            )
        return events

    def _check_stream(self) -> None:
        if self._has_readable_event:
            return
        description = "contains no readable event" if self._has_event else "contains no events"
        self._fail(
            unreadable.unreadable_problem(
                description, self.status, self.headers, stream=True, payload=self._unread
            )
        )

    def _too_deep(self, seq: int, name: str, text: str) -> Sequence[Event]:
        self._problem = Problem(
            "refused",
            Stage.LIMIT,
            f"The agent sent JSON that is nested more than {self._max_depth} levels deep.",
            "Reduce the nesting in the agent’s data, or raise PLAYGROUND_MAX_DEPTH.",
            text[: unreadable.QUOTED],
            "max_depth",
        )
        return [Unknown(seq, name, text, "The JSON is nested too deeply.")]

    def _fail(self, problem: Problem) -> None:
        """Store the first problem: later ones follow from it."""
        if self._problem is None:
            self._problem = problem
