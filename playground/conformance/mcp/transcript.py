"""Transcript of MCP: the calls of a run as rules read them, and the NLWeb response in them."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from playground.conformance import transcript
from playground.conformance.mcp.calls import LocatedMessage, RecordedCall, recorded_calls
from playground.conformance.rule_input import MAX_DEPTH, RuleInput, resolve_prefix
from playground.conformance.transcript import ResponseLocation, Transcript
from playground.protocols.mcp.messages import CALL, INITIALIZE, nlweb_meta
from playground.protocols.mcp.results import EmbeddedResponse, ToolResult, is_nlweb_response
from playground.protocols.response import Message

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
    request: Mapping[str, Any]
    operation: str
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
    def messages(self) -> tuple[LocatedMessage, ...]:
        return tuple(chain.from_iterable(call.messages for call in self.calls))

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
        request=rule_input.members,
        operation=rule_input.operation,
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
