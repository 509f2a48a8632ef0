"""Response to one call of an MCP server: JSON or a stream of messages, one of them the answer.

Servers respond in various ways: with a document or a stream, with an id or without, with several
messages in an array. The JSON-RPC response whose id is that of the call is the answer; one with
another id counts only if the call has no better one. A response without an answer is a problem,
with its cause and fix.

A server may close a stream after an event with an id, and expects GET with `Last-Event-ID` after
the milliseconds of `retry` (up to 2025-11-25). It may do so for ever, so there are limits. The
HTTP+SSE transport of MCP 2024-11-05 is recognized and named, not supported: its server answers GET
with an event stream whose first event, `endpoint`, names the URL for messages. Streamable HTTP has
replaced it (2025-03-26); that version says how a client finds out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from playground.protocols import error_documents, json_decoder, jsonrpc, lenient, sse, unreadable
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Log, Note, Progress, Unknown
from playground.protocols.exchange import Reader
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.headers import header_error
from playground.protocols.http import HttpExchange
from playground.protocols.jsonrpc import Deviation, JsonRpcMessage, MessageKind
from playground.protocols.mcp.messages import LAST_EVENT_ID, SESSION_HEADER, SentMessage
from playground.protocols.mcp.versions import VERSIONS, is_stateless
from playground.protocols.problems import Problem, Stage

#: JSON-RPC responses with another id that are stored until the end of the HTTP response.
_MAX_STRAYS = 10
#: Characters of each of them but the first, which may become the answer.
_MAX_STRAY_SIZE = 4096
#: Bytes of a body that are quoted.
_SHOWN = 4096
#: Name of events without a message, by which some servers keep the connection open.
_PING = "ping"

#: Resumptions of one stream in a row that bring no message, and resumptions of one stream.
MAX_WITHOUT_MESSAGE, MAX_RESUMPTIONS = 10, 100
#: Milliseconds to wait if the server names none, and the most that are waited.
DEFAULT_RETRY, MAX_RETRY = 1_000, 60_000
#: Characters of an id that is sent back.
MAX_ID = 4_096

#: Statuses after which another generation of the protocol would fare no better.
FINAL_STATUSES = frozenset({401, 402, 403, 407, 421, 429, 502, 503, 504})
#: Statuses of the response to `initialize` after which the specification wants GET to be tried.
OLD_TRANSPORT_STATUSES = (400, 404, 405)
#: The problem of a server with the transport before streamable HTTP, and its first event.
OLD_TRANSPORT = Problem(
    "failed",
    Stage.DECODE,
    "The server uses the HTTP+SSE transport of MCP 2024-11-05, which the playground does not "
    "support.",
    "Use the server’s URL for streamable HTTP, often ending in /mcp; a server that has none needs "
    "an update.",
)
OLD_TRANSPORT_EVENT = "endpoint"

_FIXES: Mapping[int, str] = {
    403: "Check the credentials and headers: MCP servers also refuse an unknown Origin header.",
    404: "Check the URL: over MCP, requests are sent to exactly this URL, often ending in /mcp.",
    405: "Check the URL: an MCP server accepts POST requests at its URL.",
    406: "Remove Accept from the agent’s headers: MCP needs both application/json and"
    " text/event-stream in it.",
    421: "Check the host in the URL: this server serves other hosts only. A local one may require"
    " localhost or 127.0.0.1.",
}

#: (number of the frame, answer, whether it was received in a stream) to its events.
OnAnswer = Callable[[int, JsonRpcMessage, bool], Sequence[Event]]
#: (number of the frame, request of the server) to its events.
OnRequest = Callable[[int, JsonRpcMessage], Sequence[Event]]
#: (number of the frame, name and data of a stream message that is no JSON-RPC) to its events.
OnRawMessage = Callable[[int, str | None, str], Sequence[Event]]


class StreamPosition:
    """The position in the event stream of one call, over all resumptions of it."""

    def __init__(self) -> None:
        #: The id of the last event that has one, "" for none.
        self.last_event_id = ""
        #: Milliseconds to wait before the next resumption.
        self.retry = DEFAULT_RETRY
        self.resumption_count = 0
        #: Resumptions since the last message.
        self._count_without_message = 0

    def read(self, event: sse.ServerSentEvent, *, is_message: bool) -> None:
        """Read the id and the waiting time of an event, which may be all that it has."""
        if event.id is not None:
            self.last_event_id = event.id
        if event.retry is not None:
            self.retry = event.retry
        if is_message:
            self._count_without_message = 0

    def resume(self) -> None:
        self.resumption_count += 1
        self._count_without_message += 1

    @property
    def refusal(self) -> str:
        """Return why the stream is not resumed although it has an id, a sentence; else ""."""
        if self._count_without_message >= MAX_WITHOUT_MESSAGE:
            return f"{MAX_WITHOUT_MESSAGE} resumptions in a row brought no message."
        if self.resumption_count >= MAX_RESUMPTIONS:
            return f"The stream was resumed {MAX_RESUMPTIONS} times."
        if self.retry > MAX_RETRY:
            return (
                f"The server asks to wait {self.retry / 1_000:,.0f} seconds; "
                f"the limit is {MAX_RETRY // 1_000}."
            )
        if len(self.last_event_id) > MAX_ID:
            return f"The event id is longer than {MAX_ID:,} characters."
        return header_error(LAST_EVENT_ID, self.last_event_id) or ""


class McpResponse(HttpExchange):
    """Reader of one HTTP response to a message of the client."""

    response_name = "an MCP response"

    def __init__(
        self,
        sent: SentMessage,
        on_answer: OnAnswer,
        on_request: OnRequest,
        *,
        max_depth: int,
        on_raw_message: OnRawMessage | None = None,
        resumes: McpResponse | None = None,
    ) -> None:
        """`on_raw_message` reads stream messages that are no JSON-RPC and follow an answer.

        `resumes` is the response whose stream this one resumes.
        """
        self._messages = _MessageReader(
            sent, on_answer, on_request, on_raw_message, is_resumption=resumes is not None
        )
        # The exchange makes the calls; this class reads only what is received.
        super().__init__(HttpCall("", ""), self._messages, max_depth=max_depth)
        self.sent = sent
        self._resumes = resumes
        self.position: StreamPosition = resumes.position if resumes else StreamPosition()
        #: Whether the first event of a stream is that of the older transport; None before it.
        self.is_old_transport: bool | None = None
        #: The beginning of a body that was no stream.
        self.text = ""

    @property
    def answer(self) -> JsonRpcMessage | None:
        return self._messages.answer

    @property
    def is_resumption(self) -> bool:
        return self._resumes is not None

    @property
    def session(self) -> str:
        """The session id in the headers of the first response that has one, "" for none."""
        own = self.headers.get(SESSION_HEADER.lower(), "")
        return (self._resumes.session if self._resumes else "") or own

    @property
    def is_stream(self) -> bool:
        """Return whether the headers announce a stream."""
        return self.status // 100 == 2 and self._response.announces_stream

    @property
    def is_resumable(self) -> bool:
        """Return whether a stream without its answer can be resumed, limits aside.

        Stateless MCP has no resumption.
        """
        return (
            self.sent.wants_answer
            and self.answer is None
            and self._response.streamed
            and self.status // 100 == 2
            and bool(self.position.last_event_id)
            and not is_stateless(self.sent.version)
        )

    def no_answer_problem(self) -> Problem:
        """Return the problem of a response that ended without the answer to its call."""
        found, status = self.problem, self.status
        if found is not None and found.state == "refused":
            return found
        if self.is_resumable:
            return _cut_short(self.position.refusal)
        if self.is_resumption and status and not self._response.has_blocks:
            return _cut_short(f"Resuming it failed: HTTP {status}.", self.text)
        if found is not None and found.state != "failed":
            return found
        is_silent = found is None or not self._has_event
        if is_silent and self._response.has_blocks and status // 100 == 2:
            return _cut_short()
        if found is None:
            what = "contains no response to the call" if self.text.strip() else "is empty"
            found = unreadable.unreadable_problem(what, status, self.headers, self.text)
        return replace(found, fix=fix_for(status, self.headers))

    def not_nlweb_problem(self) -> Problem:
        """Return the problem of an answer to an NLWeb tool that holds nothing of NLWeb."""
        what = "is the result of a tool, but not an NLWeb response"
        found = unreadable.unreadable_problem(what, self.status, self.headers, self.text)
        fix = (
            "Check which tool accepts queries, and set it as the tool for ask in the agent’s form."
        )
        return replace(found, fix=fix)

    def receive(self, frame: Frame) -> Sequence[Event]:
        """Never raises on an agent's data."""
        if frame.kind in (FrameKind.EVENT, FrameKind.TAIL):
            self._messages.in_stream = True
        events = super().receive(frame)
        if frame.kind is FrameKind.HEAD:
            self._messages.is_http_error = self.status >= 400
        return events

    def _event(self, frame: Frame) -> Sequence[Event]:
        """Read an event; one without data, such as the priming event, carries no message."""
        messages: list[sse.ServerSentEvent] = []
        for event in sse.parse_all(frame.data):
            if self.is_old_transport is None:
                self.is_old_transport = event.event == OLD_TRANSPORT_EVENT
            data = event.data.strip()
            is_message = data.startswith("{") if event.event == _PING else bool(data)
            self.position.read(event, is_message=is_message)
            messages += [event] if is_message else []
        return self._read(frame.seq, *messages)

    def _tail(self, frame: Frame) -> Sequence[Event]:
        return super()._tail(frame) if sse.parse(frame.data).data.strip() else ()

    def _end(self, frame: Frame) -> Sequence[Event]:
        self._messages.in_stream = False
        self.text = self._response.body[:_SHOWN].decode("utf-8", "replace")
        if not self.sent.wants_answer and not self.text.strip() and self.status // 100 == 2:
            return ()
        return [*super()._end(frame), *self._messages.settle(frame.seq)]

    def _error(self, frame: Frame) -> Sequence[Event]:
        self._messages.in_stream = False
        return [*super()._error(frame), *self._messages.settle(frame.seq)]


class _MessageReader(Reader):
    """Reader of the messages in one response. The exchange derives the outcome from the answer."""

    def __init__(
        self,
        sent: SentMessage,
        on_answer: OnAnswer,
        on_request: OnRequest,
        on_raw_message: OnRawMessage | None,
        *,
        is_resumption: bool,
    ) -> None:
        self._sent = sent
        self._is_resumption = is_resumption
        self._on_answer = on_answer
        self._on_request = on_request
        self._on_raw_message = on_raw_message
        #: Return the stored responses: decoded they can take many times as much memory.
        self._strays: list[Callable[[], JsonRpcMessage]] = []
        #: The data of the stream message that is being read, "" for a body; and which of its
        #: messages.
        self._data, self._index = "", 0
        self.answer: JsonRpcMessage | None = None
        self.in_stream = False
        #: Whether the HTTP status is that of an error.
        self.is_http_error = False

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a complete body: one message, or an array of them."""
        messages = jsonrpc.read_all(payload)
        # The answer with the right id takes precedence at any place in the array.
        own = [each for each in messages if each.is_response_to(self._sent.message.id)]
        alone = (
            sum(each.kind in (MessageKind.RESULT, MessageKind.ERROR) for each in messages) == 1
            and not own
        )
        return [event for each in messages for event in self._read(seq, each, alone)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return the events of one stream message; MCP names them all `message`."""
        try:
            payload = json_decoder.decode_event(data)
        except (ValueError, RecursionError) as error:
            if self._on_raw_message and name in error_documents.EVENTS:
                return list(self._on_raw_message(seq, name, data))
            return [Unknown(seq, name or "message", data, f"The data is not JSON: {error}.")]
        messages = jsonrpc.read_all(payload)
        is_raw = len(messages) == 1 and messages[0].kind is MessageKind.OTHER
        if self._on_raw_message and is_raw:
            return list(self._on_raw_message(seq, name, data))
        self._data = data
        events: list[Event] = []
        for self._index, each in enumerate(messages):
            events += self._read(seq, each, False)
        self._data = ""
        return events

    def settle(self, seq: int) -> list[Event]:
        """Return the events of stored responses at the end; without an answer the first is it."""
        strays, self._strays = self._strays, []
        events: list[Event] = []
        if self.answer is None and strays:
            events = self._accept(seq, jsonrpc.with_problems(strays.pop(0)(), Deviation.WRONG_ID))
        return [*events, *(_stray(seq, each()) for each in strays)]

    def _read(self, seq: int, message: JsonRpcMessage, alone: bool) -> list[Event]:
        is_response = message.kind in (MessageKind.RESULT, MessageKind.ERROR)
        # A gateway before the server made an error without a code: OAuth's, for one.
        is_foreign = self.is_http_error and message.error and message.error.code is None
        if is_response and not is_foreign:
            return self._response(seq, message, alone)
        found: list[Event]
        if message.kind is MessageKind.REQUEST:
            found = list(self._on_request(seq, message))
        elif message.kind is MessageKind.NOTIFICATION:
            found = [_notification(seq, message)]
        else:
            reason = " ".join(message.problems)
            return [Unknown(seq, "message", message.raw, reason)]
        return [*found, *_remarks(seq, message)]

    def _response(self, seq: int, message: JsonRpcMessage, alone: bool) -> list[Event]:
        if self._is_resumption and self.is_http_error:
            return [Note(seq, "response", message.raw)]  # It refuses the GET request.
        if message.is_response_to(self._sent.message.id):
            if self.answer is None:
                return self._accept(seq, message)
            return [Unknown(seq, "response", message.raw, "The request was already answered.")]
        if not self._sent.wants_answer:
            return self._accept(seq, message)
        if message.id is None or _is_same_id(message.id, self._sent.message.id):
            wrong = () if message.id is None else (Deviation.WRONG_ID,)
            return self._accept(seq, jsonrpc.with_problems(message, *wrong))
        if alone and not self.in_stream and self.answer is None:
            return self._accept(seq, jsonrpc.with_problems(message, Deviation.WRONG_ID))
        is_large = bool(self._strays) and len(self._data) > _MAX_STRAY_SIZE
        if is_large or len(self._strays) == _MAX_STRAYS:
            return [_stray(seq, message)]
        self._strays.append(
            partial(_decode_again, self._data, self._index) if self._data else lambda: message
        )
        return [Note(seq, "response")]

    def _accept(self, seq: int, message: JsonRpcMessage) -> list[Event]:
        """Return the events of the answer, or of a message without an id that follows it."""
        events = list(self._on_answer(seq, message, self.in_stream))
        self.answer = self.answer or message
        if message.kind is MessageKind.RESULT and message.error is not None:
            reason = Deviation.RESULT_AND_ERROR.value
            events.append(Unknown(seq, "error", message.error.raw, reason))
        return [*events, *_remarks(seq, message)]


def _decode_again(data: str, index: int) -> JsonRpcMessage:
    """Return one of the messages in the data of a stream message."""
    return jsonrpc.read_all(json_decoder.decode_event(data))[index]


def _stray(seq: int, message: JsonRpcMessage) -> Event:
    return Unknown(seq, "response", message.raw, Deviation.WRONG_ID.value)


def _is_same_id(given: Any, expected: Any) -> bool:
    """Return whether two ids are the same except for their type."""
    return isinstance(given, str | int | float) and str(given) == str(expected)


def _remarks(seq: int, message: JsonRpcMessage) -> list[Event]:
    return [Note(seq, "json-rpc", {"remark": each.value}) for each in message.problems]


def _notification(seq: int, message: JsonRpcMessage) -> Event:
    params = lenient.members(message.params)
    if message.method == "notifications/progress":
        progress, total = (_number(params.get(name)) for name in ("progress", "total"))
        return Progress(seq, progress, total, lenient.text(params.get("message")), params)
    if message.method == "notifications/message":
        level, logger = (lenient.text(params.get(name)) for name in ("level", "logger"))
        return Log(seq, level, params.get("data"), logger)
    return Note(seq, message.method, message.params)


def _number(value: Any) -> float | None:
    number = lenient.number(value)
    return None if number is None else float(number)


# --- problems ---------------------------------------------------------------------------------


def fix_for(status: int, headers: Mapping[str, str]) -> str:
    """Return what to do about an HTTP status, as `unreadable.fix_for_status` does for NLWeb."""
    if status // 100 == 2:
        return "Check that this is the URL of an MCP server; the response is in the Wire tab."
    if status in unreadable.DENIALS and headers.get("www-authenticate"):
        return unreadable.fix_for_status(status, headers)
    return _FIXES.get(status) or unreadable.fix_for_status(status, headers)


def no_common_version(versions: Sequence[str]) -> Problem:
    listed = ", ".join(each[:40] for each in versions[:10])
    oldest, *_, newest = VERSIONS
    return Problem(
        "failed",
        Stage.DECODE,
        f"The server supports only other versions of MCP: {listed}.",
        f"The server must support a version from {oldest} to {newest}.",
    )


def not_stateless(version: str) -> Problem:
    return Problem(
        "failed",
        Stage.DECODE,
        f"The server does not support MCP {version}, which is set as the version to use.",
        "Set the MCP version to Automatic, or to a version with sessions.",
    )


def _cut_short(reason: str = "", detail: str = "") -> Problem:
    cause = "The event stream ended before the response to the call."
    return Problem(
        "truncated",
        Stage.BODY,
        f"{cause} {reason}".rstrip(),
        "Check the server’s log: it stopped before its response was complete.",
        detail,
    )
