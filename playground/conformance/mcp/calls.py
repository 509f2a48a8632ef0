"""Recorded calls of a run over MCP, each with its JSON-RPC messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from playground.conformance.http_response import RecordedResponse, messages_of, recorded_response
from playground.conformance.response_parts import MAX_PARTS, DecodedPayload
from playground.protocols import jsonrpc
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.jsonrpc import MessageKind
from playground.protocols.mcp.messages import CALL, DISCOVER, SentMessage, read_call
from playground.protocols.mcp.versions import is_stateless


class LocatedMessage(NamedTuple):
    """A JSON-RPC message with its frame and JSON pointer."""

    seq: int
    #: "" if it is the whole JSON of the frame, its position in the array for one of a batch.
    pointer: str
    message: jsonrpc.JsonRpcMessage

    @property
    def is_response(self) -> bool:
        """Return whether it is a response."""
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
    http_response: RecordedResponse
    #: The JSON of the response, including unreadable data, except an event that was cut off.
    payloads: tuple[DecodedPayload, ...]
    messages: tuple[LocatedMessage, ...]
    #: Whether an event was cut off, or there is more than is read; and whether there is.
    is_cut_off: bool
    overflowed: bool

    @property
    def method(self) -> str:
        """Return the method of the request, "" for a client response."""
        return self.sent.method if self.sent else CALL

    @property
    def expects_response(self) -> bool:
        """Return whether it is a request, and not a notification or a response."""
        return self.sent is None or self.sent.wants_answer

    @property
    def is_stateless(self) -> bool:
        """Return whether it is a call of stateless MCP."""
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
        """Return whether a response has the id of the call."""
        return self.sent is None or located.message.is_response_to(self.sent.message.id)


def recorded_calls(frames: tuple[Frame, ...]) -> Iterator[RecordedCall]:
    """Yield the calls of a run in order; frames before the first call are one as well."""
    starts = [at for at, frame in enumerate(frames) if frame.kind is FrameKind.CALL]
    for at, end in zip([0, *starts], [*starts, len(frames)], strict=True):
        if at == end:
            continue
        is_call = frames[at].kind is FrameKind.CALL
        sent = read_call(frames[at].data) if is_call else None
        yield _recorded_call(sent, frames[at + is_call : end])


def _recorded_call(sent: SentMessage | None, frames: tuple[Frame, ...]) -> RecordedCall:
    http_response = recorded_response(frames)
    received = list(islice(messages_of(http_response), MAX_PARTS + 1))
    readable = tuple(each for each in received[:MAX_PARTS] if each.readable or not each.unfinished)
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
