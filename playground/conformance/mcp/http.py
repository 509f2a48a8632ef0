"""MCP's streamable HTTP: content types, statuses, sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playground.conformance.mcp.calls import RecordedCall
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, must, should
from playground.protocols.frames import FrameKind
from playground.protocols.mcp.messages import SESSION_HEADER

_TRANSPORT = "MCP transports"
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_SESSION = SESSION_HEADER.lower()


def _answered(t: McpTranscript) -> Iterator[RecordedCall]:
    """Replies to requests that say yes."""
    for hop in t.hops:
        if hop.expects_response and hop.transfer.head_seq is not None and hop.transfer.status < 300:
            yield hop


@rule(
    "content-type",
    "The Content-Type is that of what came: JSON or an event stream.",
    must(_TRANSPORT),
    when=lambda t: any(hop.payloads for hop in _answered(t)),
)
def content_type(t: McpTranscript) -> Iterator[RuleIssue]:
    """The server chooses between the two, and clients read by it."""
    for hop in _answered(t):
        wanted = "text/event-stream" if hop.transfer.streamed else "application/json"
        if hop.payloads and hop.transfer.media_type != wanted:
            said = hop.transfer.media_type[:60]
            came = f"is {said}" if said else "is missing"
            yield Violation(f"Content-Type {came}. Set it to {wanted}.", hop.transfer.head_seq)


def _taken(t: McpTranscript) -> list[RecordedCall]:
    """Replies to what wants no answer."""
    return [h for h in t.hops if not h.expects_response and h.transfer.head_seq is not None]


@rule(
    "accepted",
    "A notification or a response is taken with 202 and nothing else.",
    must(_TRANSPORT),
    when=lambda t: any(hop.transfer.status < 300 for hop in _taken(t)),
)
def accepted(t: McpTranscript) -> Iterator[RuleIssue]:
    """A server that cannot take it answers with an error of HTTP."""
    for hop in _taken(t):
        status = hop.transfer.status
        if status < 300 and status != 202:
            message = f"This was taken with HTTP {status}. Answer with 202 Accepted."
            yield Violation(message, hop.transfer.head_seq)
        elif status == 202 and hop.payloads:
            yield Violation("Nothing was asked here: send no body.", hop.payloads[0].seq)


@rule(
    "stream-closed",
    "The last event of a stream ends with a blank line.",
    should(_TRANSPORT),
    when=lambda t: any(hop.transfer.streamed for hop in t.hops),
)
def stream_closed(t: McpTranscript) -> Iterator[RuleIssue]:
    """Standard clients drop an event that does not."""
    for hop in t.hops:
        if hop.transfer.streamed and not hop.transfer.ended:
            yield Inconclusive("The stream broke off before its end.")
        for frame in hop.transfer.frames if hop.transfer.ended else ():
            if frame.kind is FrameKind.TAIL:
                message = "The stream ended within an event: clients drop it."
                yield Violation(message, frame.seq)


def _sessions(t: McpTranscript) -> list[RecordedCall]:
    return [hop for hop in t.hops if _SESSION in hop.transfer.headers]


@rule(
    "session-id",
    "A session's id is made of visible ASCII, and stays the same.",
    must(_TRANSPORT),
    when=lambda t: bool(_sessions(t)),
)
def session_id(t: McpTranscript) -> Iterator[RuleIssue]:
    """It is given with the reply to initialize, and sent with every call from then on."""
    for hop in _sessions(t):
        given, sent = hop.transfer.headers[_SESSION], hop.sent.session if hop.sent else ""
        if not _VISIBLE.fullmatch(given):
            message = f"Write {SESSION_HEADER} in visible ASCII, without spaces."
            yield Violation(message, hop.transfer.head_seq)
        elif sent and given != sent:
            message = f"{SESSION_HEADER} is another than the call's. Keep it, or leave it out."
            yield Violation(message, hop.transfer.head_seq)


@rule(
    "session-modern",
    "From 2026-07-28 on there are no sessions.",
    should("MCP 2026-07-28, transports"),
    when=lambda t: any(hop.is_modern and hop.transfer.head_seq is not None for hop in t.hops),
)
def session_modern(t: McpTranscript) -> Iterator[RuleIssue]:
    """Every request stands by itself."""
    for hop in _sessions(t):
        if hop.is_modern and hop.transfer.status < 300:
            message = f"Leave {SESSION_HEADER} out: this version has no sessions."
            yield Violation(message, hop.transfer.head_seq)


@rule(
    "login",
    "A reply with the status 401 says in WWW-Authenticate how to log in.",
    must("MCP authorization"),
    when=lambda t: any(hop.transfer.status == 401 for hop in t.hops),
)
def login(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients find the server that gives out tokens by it."""
    for hop in t.hops:
        if hop.transfer.status == 401 and not hop.transfer.headers.get("www-authenticate"):
            message = "Add WWW-Authenticate, for instance Bearer with resource_metadata."
            yield Violation(message, hop.transfer.head_seq)


RULES = (content_type, accepted, stream_closed, session_id, session_modern, login)
