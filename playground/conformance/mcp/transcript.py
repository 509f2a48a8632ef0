"""A run over MCP as its rules see it, and the NLWeb reply in it as those of NLWeb do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from playground.conformance import transcript
from playground.conformance.http_response import BROKEN_OFF
from playground.conformance.mcp.calls import LocatedMessage, RecordedCall, recorded_calls
from playground.conformance.mcp.response_shapes import NestedResponse, find_response
from playground.conformance.response_parts import DecodedPayload, cut
from playground.conformance.transcript import ResponseLocation, Transcript
from playground.protocols.frames import Frame
from playground.protocols.mcp.messages import CALL


@dataclass(frozen=True, slots=True)
class McpTranscript:
    """Every call of one run, and the one of the tool."""

    #: NLWeb's, which asks for the shape of replies.
    version: str
    request: Mapping[str, Any]
    operation: str
    hops: tuple[RecordedCall, ...]
    #: The last call of a tool, None where it did not come to that.
    call: RecordedCall | None
    is_complete: bool
    overflowed: bool
    #: The NLWeb reply in the answer to the call, None without one.
    found: NestedResponse | None
    by_frame: Mapping[int | None, DecodedPayload]

    @property
    def messages(self) -> tuple[LocatedMessage, ...]:
        """Every message that the server sent."""
        return tuple(chain.from_iterable(hop.messages for hop in self.hops))

    @property
    def answer(self) -> LocatedMessage | None:
        """The response to the call of the tool."""
        return self.call.answer if self.call else None

    @property
    def result(self) -> LocatedMessage | None:
        """The same, where it is a result that is an object."""
        return self.answer if self.answer and self.answer.result else None

    def asked(self, method: str) -> tuple[RecordedCall, ...]:
        """The calls of a method."""
        return tuple(hop for hop in self.hops if hop.method == method)

    def pointed(self, seq: int | None, pointer: str) -> str:
        """`pointer`, or what of it leads to something in frame `seq` and one step beyond.

        Into JSON in a text only what leads to the text is looked at.
        """
        message = self.by_frame.get(seq)
        outer, mark, inner = pointer.partition("#")
        if message is None or not pointer:
            return ""
        return cut(message.payload, outer) + mark + inner


def read(
    frames: tuple[Frame, ...],
    request: Any,
    version: str,
    *,
    operation: str = "ask",
    state: str = "completed",
) -> McpTranscript:
    """The calls among the frames. Never raises on what an agent sent."""
    hops = tuple(recorded_calls(frames))
    calls = [hop for hop in hops if hop.method == CALL]
    call = calls[-1] if calls else None
    last = hops[-1] if hops else None
    return McpTranscript(
        version=version,
        request=request if isinstance(request, Mapping) else {},
        operation=operation,
        hops=hops,
        call=call,
        is_complete=last is not None
        and last.transfer.ended
        and not last.cut
        and state not in BROKEN_OFF,
        overflowed=any(hop.overflowed for hop in hops),
        found=find_response(call.answer) if call and call.answer else None,
        by_frame={each.seq: each for hop in hops for each in hop.payloads},
    )


def inner(
    t: McpTranscript, operation: str, earlier_progress: tuple[float, ...]
) -> Transcript | None:
    """The NLWeb reply that the call was answered with, as NLWeb's rules see it; None without."""
    if t.call is None or t.answer is None or t.found is None:
        return None
    pieces = [_piece(t.answer, t.found)]
    # Some servers go on where they answered with metadata alone, in responses without an id.
    if set(t.found.payload) == {"_meta"}:
        pieces += [
            _piece(rpc, found)
            for rpc in t.call.responses
            if rpc.seq > t.answer.seq and rpc.message.id is None and (found := find_response(rpc))
        ]
    return transcript.read_inner(
        t.call.transfer,
        pieces,
        t.request,
        t.version,
        operation=operation,
        earlier_progress=earlier_progress,
    )


def _piece(rpc: LocatedMessage, found: NestedResponse) -> tuple[DecodedPayload, ResponseLocation]:
    return DecodedPayload(rpc.seq, None, found.payload), found.nest
