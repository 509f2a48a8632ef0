"""Rules on streamable HTTP: content types, statuses, sessions."""

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


def _successful_responses(t: McpTranscript) -> Iterator[RecordedCall]:
    """Return the successful responses to requests, resumed streams included."""
    for call in t.http_calls:
        if (
            (call.expects_response or call.resumed_from)
            and call.http_response.head_seq is not None
            and call.http_response.status < 300
        ):
            yield call


@rule(
    "content-type",
    "Content-Type matches the body: JSON or an event stream.",
    must(_TRANSPORT),
    when=lambda t: any(call.payloads for call in _successful_responses(t)),
)
def content_type(t: McpTranscript) -> Iterator[RuleIssue]:
    """The server chooses one of the two. The response to a GET request is a stream."""
    for call in _successful_responses(t):
        is_stream = call.http_response.streamed or call.resumed_from
        wanted = "text/event-stream" if is_stream else "application/json"
        if call.payloads and call.http_response.media_type != wanted:
            actual = call.http_response.media_type[:60]
            received = f"is {actual}" if actual else "is missing"
            yield Violation(
                f"Content-Type {received}. Set it to {wanted}.", call.http_response.head_seq
            )


def _calls_without_response(t: McpTranscript) -> list[RecordedCall]:
    return [
        call
        for call in t.calls
        if call.http_method == "POST"
        and not call.expects_response
        and call.http_response.head_seq is not None
    ]


@rule(
    "accepted",
    "Notifications and responses are answered with 202 and no body.",
    must(_TRANSPORT),
    when=lambda t: any(call.http_response.status < 300 for call in _calls_without_response(t)),
)
def accepted(t: McpTranscript) -> Iterator[RuleIssue]:
    """A server that cannot accept the message responds with an HTTP error."""
    for call in _calls_without_response(t):
        status = call.http_response.status
        if status < 300 and status != 202:
            message = f"The status is HTTP {status}. Answer with 202 Accepted."
            yield Violation(message, call.http_response.head_seq)
        elif status == 202 and call.payloads:
            yield Violation(
                "Do not send a body: the message was not a request.", call.payloads[0].seq
            )


@rule(
    "stream-closed",
    "The last event of a stream ends with a blank line.",
    should(_TRANSPORT),
    when=lambda t: any(call.http_response.streamed for call in t.http_calls),
)
def stream_closed(t: McpTranscript) -> Iterator[RuleIssue]:
    """SSE clients discard an unterminated event.

    A stream that is resumed may break off. Clients close it after the response.
    """
    for call in t.http_calls:
        if call.http_response.streamed and not call.has_ended and not call.resumptions:
            yield Inconclusive("The stream was truncated.")
        for frame in call.http_response.frames if call.http_response.ended else ():
            if frame.kind is FrameKind.TAIL:
                message = (
                    "The last event is incomplete and clients discard it. End it with a blank line."
                )
                yield Violation(message, frame.seq)


def _sessions(t: McpTranscript) -> list[RecordedCall]:
    return [call for call in t.http_calls if _SESSION in call.http_response.headers]


@rule(
    "session-id",
    "The session ID consists of visible ASCII characters.",
    must(_TRANSPORT),
    when=lambda t: bool(_sessions(t)),
)
def session_id(t: McpTranscript) -> Iterator[RuleIssue]:
    """The initialize response sets it, and clients send it with each request after that."""
    for call in _sessions(t):
        if not _VISIBLE.fullmatch(call.http_response.headers[_SESSION]):
            message = f"Use only visible ASCII characters without spaces in {SESSION_HEADER}."
            yield Violation(message, call.http_response.head_seq)


@rule(
    "session-kept",
    "The session ID does not change.",
    should(_TRANSPORT),
    when=lambda t: any(call.sent and call.sent.session for call in _sessions(t)),
)
def session_kept(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients send the ID that they received with the initialize response."""
    for call in _sessions(t):
        sent = call.sent.session if call.sent else ""
        if sent and call.http_response.headers[_SESSION] != sent:
            message = (
                f"{SESSION_HEADER} differs from that of the request. Return the same value or "
                "omit it."
            )
            yield Violation(message, call.http_response.head_seq)


def _calls_with_event_ids(t: McpTranscript) -> list[RecordedCall]:
    return [call for call in t.http_calls if call.event_ids and not call.is_stateless]


@rule(
    "event-id-unique",
    "Event IDs are unique across the streams of a session.",
    must(_TRANSPORT),
    when=lambda t: bool(_calls_with_event_ids(t)),
)
def event_id_unique(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients resume a stream by its event IDs. The same event may be delivered again."""
    seen: set[tuple[str, str]] = set()
    for call in _calls_with_event_ids(t):
        session = call.sent.session if call.sent else ""
        earlier = frozenset(seen) if call.resumed_from else frozenset()
        for seq, event_id in call.event_ids:
            key = (session, event_id)
            if key in seen and key not in earlier:
                yield Violation("Another event already has this ID. Use a unique ID.", seq)
            seen.add(key)


@rule(
    "session-modern",
    "Since 2026-07-28, there are no sessions.",
    should("MCP 2026-07-28, transports"),
    when=lambda t: any(
        call.is_stateless and call.http_response.head_seq is not None for call in t.calls
    ),
)
def session_modern(t: McpTranscript) -> Iterator[RuleIssue]:
    """Every request is independent: servers send no session ID."""
    for call in _sessions(t):
        if call.is_stateless and call.http_response.status < 300:
            message = f"Omit {SESSION_HEADER}: this version has no sessions."
            yield Violation(message, call.http_response.head_seq)


@rule(
    "login",
    "401 responses include WWW-Authenticate.",
    must("RFC 9110, 15.5.2"),
    when=lambda t: any(call.http_response.status == 401 for call in t.http_calls),
)
def login(t: McpTranscript) -> Iterator[RuleIssue]:
    """HTTP requires the header, and so does MCP 2025-06-18. Later versions have an alternative."""
    for call in t.http_calls:
        if call.http_response.status == 401 and not call.http_response.headers.get(
            "www-authenticate"
        ):
            message = "Add WWW-Authenticate, for example Bearer with resource_metadata."
            yield Violation(message, call.http_response.head_seq)


RULES = (
    content_type,
    accepted,
    stream_closed,
    session_id,
    session_kept,
    event_id_unique,
    session_modern,
    login,
)
