"""Transcript of MCP: the calls of a run and their messages, and the NLWeb response in them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any, NamedTuple

from playground.conformance.nlweb import transcript
from playground.conformance.nlweb.transcript import ResponseLocation, Transcript
from playground.conformance.rule_input import MAX_DEPTH, MAX_PARTS, RuleInput, resolve_prefix
from playground.conformance.shape import MISSING, Place, RuleFactory, Selector
from playground.protocols import jsonrpc, sse
from playground.protocols.frames import LAST_KINDS, Frame, FrameKind
from playground.protocols.jsonrpc import MessageKind
from playground.protocols.mcp.messages import (
    CALL,
    DISCOVER,
    INITIALIZE,
    SentMessage,
    nlweb_meta,
    read_call,
)
from playground.protocols.mcp.results import EmbeddedResponse, ToolResult, is_nlweb_response
from playground.protocols.mcp.versions import is_stateless
from playground.protocols.response import Message, Response, read_head


class LocatedMessage(NamedTuple):
    """A JSON-RPC message with its frame and JSON pointer."""

    seq: int
    #: "" if it is the whole JSON of the frame, its position in the array for one of a batch.
    pointer: str
    message: jsonrpc.JsonRpcMessage

    @property
    def is_response(self) -> bool:
        return self.message.kind in (MessageKind.RESULT, MessageKind.ERROR)

    @property
    def result(self) -> Mapping[str, Any]:
        """Return its result, empty if that is not an object."""
        result = self.message.result
        return result if isinstance(result, dict) else {}


@dataclass(frozen=True)
class RecordedCall:
    """One call and the response to it."""

    #: The sent message; None if the frames do not contain it.
    sent: SentMessage | None
    http_response: Response
    #: The JSON of the response, including unreadable data, except undecided messages.
    payloads: tuple[Message, ...]
    messages: tuple[LocatedMessage, ...]
    #: Whether a message is undecided, or there is more than is read; and whether there is.
    is_cut_off: bool
    overflowed: bool
    http_method: str = "POST"
    #: The `Last-Event-ID` header of the request, "" without one.
    resumed_from: str = ""
    #: The GET requests that resumed its stream, in order. `payloads` and `messages` include theirs.
    resumptions: tuple[RecordedCall, ...] = ()
    #: Whether it is a GET request whose response the client closed: it had what it needed.
    is_closed_by_client: bool = False

    @property
    def method(self) -> str:
        """Return the method of the request, "" for a client response."""
        return self.sent.method if self.sent else CALL

    @property
    def expects_response(self) -> bool:
        """Return whether it is a request, and not a notification or a response."""
        return self.sent is None or self.sent.wants_answer

    @property
    def http_calls(self) -> tuple[RecordedCall, ...]:
        """Return the call and the GET requests that resumed its stream."""
        return (self, *self.resumptions)

    @property
    def last_http_call(self) -> RecordedCall:
        """Return the last GET request that resumed its stream, or else the call."""
        return self.resumptions[-1] if self.resumptions else self

    @property
    def has_ended(self) -> bool:
        """Return whether the response ended as its framing requires, or the client closed it."""
        return self.http_response.ended or self.is_closed_by_client

    @cached_property
    def event_ids(self) -> tuple[tuple[int, str], ...]:
        """Return (frame, id) of the events of its own stream that have an id."""
        events = (
            (frame.seq, sse.parse(frame.data).id)
            for frame in self.http_response.frames
            if frame.kind is FrameKind.EVENT
        )
        return tuple((seq, event_id) for seq, event_id in events if event_id)

    @property
    def is_resumable(self) -> bool:
        """Return whether an event had an id, so that a client can resume the stream."""
        return not self.is_stateless and any(call.event_ids for call in self.http_calls)

    @property
    def is_stateless(self) -> bool:
        return bool(self.sent and self.sent.version and is_stateless(self.sent.version))

    @property
    def is_rejected_probe(self) -> bool:
        """Return whether a server without `server/discover` rejected it with an HTTP error."""
        return self.method == DISCOVER and self.http_response.status >= 400

    @cached_property
    def responses(self) -> tuple[LocatedMessage, ...]:
        """Return every response, with any id."""
        return tuple(each for each in self.messages if each.is_response)

    @cached_property
    def answer(self) -> LocatedMessage | None:
        """Return the response with the id of the call, or else the first response."""
        own = (each for each in self.responses if self.answers(each))
        return next(own, next(iter(self.responses), None))

    def answers(self, located: LocatedMessage) -> bool:
        return self.sent is None or located.message.is_response_to(self.sent.message.id)


def recorded_calls(frames: tuple[Frame, ...]) -> tuple[RecordedCall, ...]:
    """Return the calls of a run in order; frames before the first call are one as well.

    A GET request with `Last-Event-ID` is part of the call whose stream it resumes. A DELETE
    request ends the session and is no call.
    """
    calls: list[RecordedCall] = []
    for call in _http_calls(frames):
        if call.resumed_from and calls:
            at = _resumed_position(calls, call.resumed_from)
            calls[at] = _resumed(calls[at], call)
        elif call.http_method != "DELETE":
            calls.append(call)
    return tuple(calls)


def _resumed_position(calls: list[RecordedCall], event_id: str) -> int:
    """Return the position of the last call with this event ID, or that of the last call."""
    for at in range(len(calls) - 1, -1, -1):
        if any(each == event_id for call in calls[at].http_calls for _, each in call.event_ids):
            return at
    return len(calls) - 1


def _http_calls(frames: tuple[Frame, ...]) -> Iterator[RecordedCall]:
    starts = [at for at, frame in enumerate(frames) if frame.kind is FrameKind.CALL]
    for at, end in zip([0, *starts], [*starts, len(frames)], strict=True):
        if at == end:
            continue
        if frames[at].kind is not FrameKind.CALL:
            yield _recorded_call(None, frames[at:end])
            continue
        data = frames[at].data
        call = _recorded_call(read_call(data), frames[at + 1 : end])
        http_method = data.partition(b" ")[0].decode("latin-1")
        headers = read_head(data.partition(b"\r\n\r\n")[0])[1]
        resumed_from = headers.get("last-event-id", "") if http_method == "GET" else ""
        is_get = http_method == "GET" and not resumed_from
        yield replace(
            call,
            http_method=http_method,
            resumed_from=resumed_from,
            is_closed_by_client=is_get and _has_shown_transport(call.http_response),
        )


def _has_shown_transport(http_response: Response) -> bool:
    """Return whether a response to GET shows if it is the stream of the older transport.

    Its first event does, or a response that is no stream; the client closes it then.
    """
    kinds = http_response.kinds
    is_open = FrameKind.HEAD in kinds and kinds.isdisjoint(LAST_KINDS)
    return is_open and (FrameKind.EVENT in kinds or not http_response.streamed)


def _resumed(call: RecordedCall, resumption: RecordedCall) -> RecordedCall:
    is_open = resumption.http_response.kinds.isdisjoint(LAST_KINDS)
    has_answer = any(_is_accepted(call, each) for each in resumption.responses)
    resumption = replace(resumption, is_closed_by_client=is_open and has_answer)
    return replace(
        call,
        payloads=(*call.payloads, *resumption.payloads),
        messages=(*call.messages, *resumption.messages),
        is_cut_off=resumption.is_cut_off,
        overflowed=call.overflowed or resumption.overflowed,
        resumptions=(*call.resumptions, resumption),
    )


def _is_accepted(call: RecordedCall, located: LocatedMessage) -> bool:
    """Return whether a client takes a response for that to the call."""
    given = located.message.id
    wanted = call.sent.message.id if call.sent else None
    return given is None or call.answers(located) or str(given) == str(wanted)


def _recorded_call(sent: SentMessage | None, frames: tuple[Frame, ...]) -> RecordedCall:
    http_response = Response(frames, MAX_DEPTH)
    received = list(islice(_payloads(http_response), MAX_PARTS + 1))
    readable = tuple(each for each in received[:MAX_PARTS] if not each.undecided)
    messages = tuple(
        LocatedMessage(payload.seq, f"/{at}" if isinstance(payload.payload, list) else "", message)
        for payload in readable
        if payload.readable
        for at, message in enumerate(jsonrpc.read_all(payload.payload))
    )
    return RecordedCall(
        sent,
        http_response,
        readable,
        messages,
        len(readable) < len(received),
        len(received) > MAX_PARTS,
    )


def _payloads(http_response: Response) -> Iterator[Message]:
    """Yield the JSON of a response, without events that carry no message.

    These are events without data (the priming event of 2025-11-25, heartbeats), and events with
    another name than `message` whose data is not JSON-RPC: clients ignore both.
    """
    for payload in http_response.messages:
        if not payload.document:
            if not payload.readable and not payload.text:
                continue
            if payload.name not in (None, "message") and not _has_messages(payload):
                continue
        yield payload


def _has_messages(payload: Message) -> bool:
    found = jsonrpc.read_all(payload.payload) if payload.readable else []
    return any(message.kind is not MessageKind.OTHER for message in found)


#: States of a run that may make further calls.
_RUNNING = frozenset({"queued", "connecting", "streaming"})


class ResponseShape(enum.Enum):
    """Shape of an embedded response, as text."""

    #: 0.55 appendix C: the recommendation.
    TEXT = "JSON in a text content block"
    #: 0.54 MCP examples.
    RESULT = "results and _meta at the top level of the result"
    #: 0.55 A.3.
    CONTENT = "text in content, with _meta at the top level"
    #: 0.54 MCP examples, section 6.
    ERROR = "error data"
    STRUCTURED = "structuredContent"


class NestedResponse(NamedTuple):
    """A response, its location and its shape."""

    shape: ResponseShape
    response_location: ResponseLocation
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class McpTranscript:
    """Every call of one run, and the tool call."""

    #: The version of NLWeb, which defines the shape of responses.
    version: str
    calls: tuple[RecordedCall, ...]
    #: The last tool call, None without one.
    call: RecordedCall | None
    #: Whether the last response ended, see `RecordedCall.has_ended`, in a run that ended by itself.
    is_complete: bool
    overflowed: bool
    #: The NLWeb response in the response to the call, None without one.
    found: NestedResponse | None
    by_frame: Mapping[int | None, Message]

    @property
    def http_calls(self) -> tuple[RecordedCall, ...]:
        """Return every HTTP request: calls, and GET requests that resumed their streams."""
        return tuple(chain.from_iterable(call.http_calls for call in self.calls))

    @property
    def answer(self) -> LocatedMessage | None:
        """Return the response to the tool call."""
        return self.call.answer if self.call else None

    @property
    def result(self) -> LocatedMessage | None:
        """Return the response to the tool call if its result is an object."""
        return self.answer if self.answer and self.answer.result else None

    def version_of(self, call: RecordedCall) -> str:
        """Return the version of MCP that a call is made in, "" if it is unknown.

        Versions before 2025-06-18 have no header for it: a call with a session and without the
        header is of 2025-03-26.
        """
        if call.sent is None:
            return ""
        if call.sent.version:
            return call.sent.version
        for opening in self.calls_of(INITIALIZE):
            version = opening.answer.result.get("protocolVersion") if opening.answer else None
            if isinstance(version, str):
                return version
        return "2025-03-26" if call.sent.session else ""

    def calls_of(self, method: str) -> tuple[RecordedCall, ...]:
        return tuple(call for call in self.calls if call.method == method)

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step.

        A pointer into JSON within a string is checked up to the string only.
        """
        message = self.by_frame.get(seq)
        outer, mark, inner = pointer.partition("#")
        if message is None or not pointer:
            return ""
        return resolve_prefix(message.payload, outer) + mark + inner


def read(rule_input: RuleInput) -> McpTranscript:
    """Return the transcript of the calls. Never raise, whatever an agent sent."""
    calls = recorded_calls(rule_input.frames)
    tool_calls = [call for call in calls if call.method == CALL]
    call = tool_calls[-1] if tool_calls else None
    last = calls[-1] if calls else None
    return McpTranscript(
        version=rule_input.version,
        calls=calls,
        call=call,
        is_complete=last is not None
        and last.last_http_call.has_ended
        and not last.is_cut_off
        and not rule_input.was_stopped
        and rule_input.state not in _RUNNING,
        overflowed=any(call.overflowed for call in calls),
        found=find_response(call.answer) if call and call.answer else None,
        by_frame={each.seq: each for call in calls for each in call.payloads},
    )


def inner(t: McpTranscript, rule_input: RuleInput) -> Transcript | None:
    """Return NLWeb's transcript of the response in the tool call; None without one."""
    if t.call is None or t.answer is None or t.found is None:
        return None
    pieces = [_piece(t.answer, t.found)]
    # After a response with metadata alone, some servers continue in responses without an id.
    if is_continued := set(t.found.payload) == {"_meta"}:
        pieces += [
            _piece(located, found)
            for located in t.call.responses
            if located.seq > t.answer.seq
            and located.message.id is None
            and (found := find_response(located))
        ]
    return transcript.read_inner(
        t.call.http_response,
        pieces,
        rule_input,
        is_complete=t.is_complete or not is_continued,
    )


def _piece(located: LocatedMessage, found: NestedResponse) -> tuple[Message, ResponseLocation]:
    return Message(located.seq, None, found.payload), found.response_location


def find_response(located: LocatedMessage) -> NestedResponse | None:
    return next(find_responses(located), None)


def find_responses(located: LocatedMessage) -> Iterator[NestedResponse]:
    """Yield every embedded NLWeb response, first the one that the reader takes."""
    if located.message.error is not None and not located.result:
        data = located.message.error.data
        if is_nlweb_response(data):
            location = f"{located.pointer}/error/data"
            yield NestedResponse(
                ResponseShape.ERROR, ResponseLocation(location, location), dict(data)
            )
        return
    top, outer = f"{located.pointer}/result", nlweb_meta(located.result.get("_meta"))
    for found in ToolResult(located.result, MAX_DEPTH).responses():
        location, items = top + found.pointer, tuple(top + each for each in found.items)
        if outer and "_meta" not in found.response:
            where, payload = ResponseLocation(location, top, items), {"_meta": outer}
        else:
            where, payload = ResponseLocation(location, location, items), {}
        yield NestedResponse(_shape(found), where, {**payload, **found.response})


def _shape(found: EmbeddedResponse) -> ResponseShape:
    if found.pointer.startswith("/content"):
        return ResponseShape.TEXT
    if found.pointer:
        return ResponseShape.STRUCTURED
    is_result = is_nlweb_response({**found.response, "_meta": None})
    return ResponseShape.RESULT if is_result else ResponseShape.CONTENT


_FACTORY = RuleFactory[McpTranscript]("mcp.", ("0.55", "0.54"))
rule, row = _FACTORY.rule, _FACTORY.row

McpSelector = Selector[McpTranscript]


def inside(located: LocatedMessage, pointer: str, value: Any) -> Place:
    """Return the place of a value in a message."""
    return located.seq, located.pointer + pointer, value


def results_where(matches: Callable[[RecordedCall], bool]) -> McpSelector:
    """Select the results of calls: objects, empty for results of another type."""
    return lambda t: (
        inside(answer, "/result", answer.result)
        for call in t.calls
        if matches(call)
        if (answer := call.answer) is not None and answer.message.error is None
    )


def results_of(method: str) -> McpSelector:
    return results_where(lambda call: call.method == method)


def heads(header: str, matches: Callable[[RecordedCall], bool] = lambda _: True) -> McpSelector:
    """Select a header in the heads of responses; its value is `MISSING` where there is none."""
    return lambda t: (
        (call.http_response.head_seq, "", call.http_response.headers.get(header, MISSING))
        for call in t.http_calls
        if call.http_response.head_seq is not None and matches(call)
    )
