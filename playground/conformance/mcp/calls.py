"""A run over MCP as the calls that it is made of, each with its messages of JSON-RPC."""

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
from playground.protocols.mcp.messages import CALL, DISCOVER, is_stateless
from playground.protocols.mcp.sent_messages import SentMessage, read_call


class LocatedMessage(NamedTuple):
    """A message of JSON-RPC, and where it stands."""

    seq: int
    #: "" for one that is all of its frame, its place in the array for one of a batch.
    pointer: str
    message: jsonrpc.JsonRpcMessage

    @property
    def is_response(self) -> bool:
        """Whether it answers something."""
        return self.message.kind in (MessageKind.RESULT, MessageKind.ERROR)

    @property
    def result(self) -> Mapping[str, Any]:
        """Its result, empty where that is no object."""
        result = self.message.result
        return result if isinstance(result, dict) else {}


@dataclass(frozen=True)
class RecordedCall:
    """One call and the reply to it."""

    #: What was sent; None where the frames do not tell.
    sent: SentMessage | None
    transfer: RecordedResponse
    #: The JSON of the reply, what cannot be read included, but for an event that was cut off.
    payloads: tuple[DecodedPayload, ...]
    messages: tuple[LocatedMessage, ...]
    #: Whether an event was cut off, or more came than is looked at.
    cut: bool
    overflowed: bool

    @property
    def method(self) -> str:
        """What was asked for, "" for a response of ours."""
        return self.sent.method if self.sent else CALL

    @property
    def expects_response(self) -> bool:
        """Whether a request was sent, and not a notification or a response."""
        return self.sent is None or self.sent.wants_answer

    @property
    def is_modern(self) -> bool:
        """Whether it speaks the generation without sessions."""
        return bool(self.sent and self.sent.version and is_stateless(self.sent.version))

    @property
    def is_rejected_probe(self) -> bool:
        """Whether a server that knows no `server/discover` said so in a way of its own."""
        return self.method == DISCOVER and self.transfer.status >= 400

    @cached_property
    def responses(self) -> tuple[LocatedMessage, ...]:
        """Every response, whatever it answers."""
        return tuple(each for each in self.messages if each.is_response)

    @cached_property
    def answer(self) -> LocatedMessage | None:
        """The response to the call: the one with its id, or else the first there is."""
        own = (each for each in self.responses if self.answers(each))
        return next(own, next(iter(self.responses), None))

    def answers(self, rpc: LocatedMessage) -> bool:
        """Whether a response has the id of the call."""
        return self.sent is None or rpc.message.is_response_to(self.sent.message.id)


def recorded_calls(frames: tuple[Frame, ...]) -> Iterator[RecordedCall]:
    """The calls of a run in their order; frames before the first call are one, too."""
    starts = [at for at, frame in enumerate(frames) if frame.kind is FrameKind.CALL]
    for at, end in zip([0, *starts], [*starts, len(frames)], strict=True):
        if at == end:
            continue
        is_call = frames[at].kind is FrameKind.CALL
        sent = read_call(frames[at].data) if is_call else None
        yield _hop(sent, frames[at + is_call : end])


def _hop(sent: SentMessage | None, frames: tuple[Frame, ...]) -> RecordedCall:
    transfer = recorded_response(frames)
    came = list(islice(messages_of(transfer), MAX_PARTS + 1))
    kept = tuple(each for each in came[:MAX_PARTS] if each.readable or not each.unfinished)
    messages = tuple(
        LocatedMessage(payload.seq, f"/{at}" if isinstance(payload.payload, list) else "", message)
        for payload in kept
        if payload.readable
        for at, message in enumerate(jsonrpc.read_all(payload.payload))
    )
    return RecordedCall(
        sent, transfer, kept, messages, len(kept) < len(came), len(came) > MAX_PARTS
    )
