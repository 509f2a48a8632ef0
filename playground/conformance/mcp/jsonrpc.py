"""Rules on messages: streamable HTTP carries them, and JSON-RPC is their form.

JSON-RPC's are those of sections 4 to 6 of its specification, and MCP's restrictions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from playground.conformance.mcp.transcript import (
    LocatedMessage,
    McpTranscript,
    RecordedCall,
    heads,
    inside,
    row,
    rule,
)
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    missing,
    mistyped,
    must,
    should,
    unterminated,
)
from playground.conformance.shape import (
    Place,
    is_given,
    is_integer,
    is_nonempty_text,
    never,
    present,
    those,
)
from playground.protocols import jsonrpc
from playground.protocols.jsonrpc import Deviation, MessageKind
from playground.protocols.mcp.messages import SESSION_HEADER
from playground.protocols.response import Message

_TRANSPORT = "MCP transports"
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_SESSION = SESSION_HEADER.lower()

_FORM = (
    Deviation.NOT_AN_OBJECT,
    Deviation.NO_VERSION,
    Deviation.OTHER_VERSION,
    Deviation.NOTHING,
    Deviation.ODD_METHOD,
    Deviation.ODD_PARAMS,
)
_BATCHES = {Deviation.BATCH, Deviation.EMPTY_BATCH}
_MEMBERS: Mapping[Deviation, str] = {
    Deviation.NO_VERSION: "/jsonrpc",
    Deviation.OTHER_VERSION: "/jsonrpc",
    Deviation.ODD_METHOD: "/method",
    Deviation.ODD_PARAMS: "/params",
    Deviation.METHOD_IN_RESPONSE: "/method",
    Deviation.RESULT_AND_ERROR: "/error",
    Deviation.ODD_ERROR: "/error",
    Deviation.ODD_CODE: "/error/code",
}
#: Codes that JSON-RPC reserves, and those among them for implementations of a server.
_RESERVED = range(-32768, -31999)
_SERVERS = range(-32099, -31999)
#: Codes that MCP 2026-07-28 reserves, those that it defines, and earlier ones that it forbids.
_MODERN = range(-32099, -32019)
_MODERN_DEFINED = (-32020, -32021, -32022)
_MODERN_FORBIDDEN = (-32002, -32042)
#: Versions of MCP in which messages can be batched.
_WITH_BATCHES = ("2024-11-05", "2025-03-26")


# --- HTTP -------------------------------------------------------------------------------------


def _is_success(call: RecordedCall) -> bool:
    return call.http_response.head_seq is not None and call.http_response.status < 300


def _successful_responses(t: McpTranscript) -> Iterator[RecordedCall]:
    """Return the responses with a body to requests, resumed streams included."""
    for call in t.http_calls:
        if (call.expects_response or call.resumed_from) and _is_success(call) and call.payloads:
            yield call


def content_type(t: McpTranscript) -> Iterator[RuleIssue]:
    for call in _successful_responses(t):
        is_stream = call.http_response.streamed or call.resumed_from
        yield from mistyped(call.http_response, is_stream)


def _acknowledgements(t: McpTranscript) -> Iterator[RecordedCall]:
    """Return the successful responses to notifications, and to responses of the client."""
    for call in t.calls:
        if call.http_method == "POST" and not call.expects_response and _is_success(call):
            yield call


def accepted(t: McpTranscript) -> Iterator[RuleIssue]:
    for call in _acknowledgements(t):
        status = call.http_response.status
        if status != 202:
            message = f"The status is HTTP {status}. Answer with 202 Accepted."
            yield Violation(message, call.http_response.head_seq)
        elif call.payloads:
            message = "Do not send a body: the message was not a request."
            yield Violation(message, call.payloads[0].seq)


def stream_closed(t: McpTranscript) -> Iterator[RuleIssue]:
    for call in t.http_calls:
        if call.http_response.streamed and not call.has_ended and not call.resumptions:
            yield Inconclusive("The stream was truncated.")
        if call.http_response.ended:
            yield from unterminated(call.http_response)


def _sessions(t: McpTranscript) -> Iterator[tuple[int, str, str]]:
    """Yield the head of each response with a session ID, its ID, and that of the request."""
    for call in t.http_calls:
        seq, session = call.http_response.head_seq, call.http_response.headers.get(_SESSION)
        if seq is not None and session is not None and call.sent and call.sent.session:
            yield seq, session, call.sent.session


def session_kept(t: McpTranscript) -> Iterator[RuleIssue]:
    for seq, received, sent in _sessions(t):
        if received != sent:
            message = (
                f"{SESSION_HEADER} differs from that of the request. Return the same value or "
                "omit it."
            )
            yield Violation(message, seq)


def _calls_with_event_ids(t: McpTranscript) -> Iterator[RecordedCall]:
    return (call for call in t.http_calls if call.event_ids and not call.is_stateless)


def event_id_unique(t: McpTranscript) -> Iterator[RuleIssue]:
    seen: set[tuple[str, str]] = set()
    for call in _calls_with_event_ids(t):
        session = call.sent.session if call.sent else ""
        earlier = frozenset(seen) if call.resumed_from else frozenset()
        for seq, event_id in call.event_ids:
            key = (session, event_id)
            if key in seen and key not in earlier:
                yield Violation("Another event already has this ID. Use a unique ID.", seq)
            seen.add(key)


# --- JSON-RPC ---------------------------------------------------------------------------------


def _checked_calls(t: McpTranscript) -> Iterator[RecordedCall]:
    return (call for call in t.calls if not call.is_rejected_probe)


def _messages(t: McpTranscript) -> Iterator[LocatedMessage]:
    return (located for call in _checked_calls(t) for located in call.messages)


def _has_response(t: McpTranscript) -> bool:
    return any(call.responses for call in _checked_calls(t))


def _malformed(t: McpTranscript, *kinds: Deviation) -> Iterator[RuleIssue]:
    for located in _messages(t):
        for kind in located.message.problems:
            if kind in kinds:
                location = located.pointer + _MEMBERS.get(kind, "")
                yield Violation(kind.value, located.seq, location)


def _expects_messages(call: RecordedCall) -> bool:
    return call.expects_response and _is_success(call)


def _expected_payloads(call: RecordedCall) -> tuple[Message, ...]:
    return call.payloads if _expects_messages(call) else ()


def json_rpc(t: McpTranscript) -> Iterator[RuleIssue]:
    for call in _checked_calls(t):
        for payload in _expected_payloads(call):
            if not payload.readable and payload.name in (None, "message"):
                yield Violation(f"{payload.reason} Send a single JSON-RPC message.", payload.seq)
    yield from _malformed(t, *_FORM)


def _calls_without_batches(t: McpTranscript) -> Iterator[RecordedCall]:
    return (call for call in _checked_calls(t) if t.version_of(call) not in _WITH_BATCHES)


def _batches(t: McpTranscript) -> Iterator[Place]:
    """Select each frame with a batch where there must be none."""
    messages = (located for call in _calls_without_batches(t) for located in call.messages)
    batched = (each.seq for each in messages if not _BATCHES.isdisjoint(each.message.problems))
    for seq in dict.fromkeys(batched):
        yield seq, "", None


def response_id(t: McpTranscript) -> Iterator[RuleIssue]:
    for call in _checked_calls(t):
        for located in call.responses:
            has_id = located.message.id is not None
            broken = located.message.error is not None and not has_id
            if call.answers(located) or (broken and call.http_response.status >= 400):
                continue
            actual = "a different id than the request" if has_id else "no id"
            yield Violation(
                f"This response has {actual}. Return the id of the request.",
                located.seq,
                f"{located.pointer}/id",
            )


def _calls_of_server(t: McpTranscript) -> Iterator[Place]:
    kinds = (MessageKind.REQUEST, MessageKind.NOTIFICATION)
    return (
        inside(located, "", located.message.raw)
        for located in _messages(t)
        if located.message.kind in kinds
    )


def _is_id(value: object) -> bool:
    return isinstance(value, str) or is_integer(value)


def one_response(t: McpTranscript) -> Iterator[RuleIssue]:
    for call in filter(_expects_messages, _checked_calls(t)):
        for located in call.responses[1:]:
            if located.message.id is not None and call.answers(located):
                message = "This is a second response to the same request. Send only one."
                yield Violation(message, located.seq, located.pointer)
        if not call.responses:
            yield _no_response(t, call)


def _no_response(t: McpTranscript, call: RecordedCall) -> RuleIssue:
    last = call.last_http_call
    if call is t.calls[-1] and not t.is_complete:
        return missing(t, "", None)
    if not last.has_ended or call.is_cut_off:
        return Inconclusive("The response is incomplete, or exceeds a limit of the playground.")
    if call.is_resumable and not call.resumptions:
        return Inconclusive("The server ended the stream after an event ID: it may be resumed.")
    seq = last.payloads[-1].seq if last.payloads else last.http_response.head_seq
    resumed = ", not even after its stream was resumed" if call.resumptions else ""
    return Violation(f"No response to {call.method}{resumed}. Send a result or an error.", seq)


def result_or_error(t: McpTranscript) -> Iterator[RuleIssue]:
    yield from _malformed(t, Deviation.RESULT_AND_ERROR, Deviation.METHOD_IN_RESPONSE)
    for located in _messages(t):
        if (
            located.is_response
            and {"result", "error"} <= located.message.raw.keys()
            and Deviation.RESULT_AND_ERROR not in located.message.problems
        ):
            message = "The response has a result and an error that is null. Omit the error."
            yield Violation(message, located.seq, f"{located.pointer}/error")


def error_object(t: McpTranscript) -> Iterator[RuleIssue]:
    yield from _malformed(t, Deviation.ODD_ERROR, Deviation.ODD_CODE)


def _codes(calls: Iterable[RecordedCall]) -> Iterator[tuple[int, LocatedMessage]]:
    for located in (located for call in calls for located in call.responses):
        if located.message.error and located.message.error.code is not None:
            yield located.message.error.code, located


def error_code(t: McpTranscript) -> Iterator[RuleIssue]:
    for code, located in _codes(_checked_calls(t)):
        is_reserved = code in _RESERVED and code not in _SERVERS
        if is_reserved and jsonrpc.explain_code(code) is None:
            yield Violation(
                f"{code} is reserved but undefined. Use a code defined by JSON-RPC or one from "
                "-32099 to -32000.",
                located.seq,
                f"{located.pointer}/error/code",
            )


def _stateless_calls(t: McpTranscript) -> Iterator[RecordedCall]:
    return (call for call in _checked_calls(t) if call.is_stateless)


def error_code_modern(t: McpTranscript) -> Iterator[RuleIssue]:
    for code, located in _codes(_stateless_calls(t)):
        if (code in _MODERN and code not in _MODERN_DEFINED) or code in _MODERN_FORBIDDEN:
            yield Violation(
                f"MCP 2026-07-28 does not define {code}. Use a code outside of the reserved ones.",
                located.seq,
                f"{located.pointer}/error/code",
            )


def _failure_in_error(t: McpTranscript) -> Iterator[Place]:
    if t.answer is not None and t.answer.message.error is not None:
        yield inside(t.answer, "/error/data", t.found)


# fmt: off
RULES = (
    rule("content-type", "Content-Type matches the body: JSON or an event stream.",
        must(_TRANSPORT), content_type, when=lambda t: any(_successful_responses(t)),
        why="The server chooses one of the two. The response to a GET request is a stream."),
    rule("accepted", "Notifications and responses are answered with 202 and no body.",
        must(_TRANSPORT), accepted, when=lambda t: any(_acknowledgements(t)),
        why="A server that cannot accept the message responds with an HTTP error."),
    rule("stream-closed", "The last event of a stream ends with a blank line.", should(_TRANSPORT),
        stream_closed, when=lambda t: any(call.http_response.streamed for call in t.http_calls),
        why="SSE clients discard an unterminated event.\n\n"
            "A stream that is resumed may break off. Clients close it after the response."),
    row("session-id", "The session ID consists of visible ASCII characters.", must(_TRANSPORT),
        those(heads(_SESSION), is_given), {_VISIBLE.fullmatch:
            f"Use only visible ASCII characters without spaces in {SESSION_HEADER}."},
        why="The initialize response sets it, and clients send it with each request after that."),
    rule("session-kept", "The session ID does not change.", should(_TRANSPORT), session_kept,
        when=lambda t: any(_sessions(t)),
        why="Clients send the ID that they received with the initialize response."),
    rule("event-id-unique", "Event IDs are unique across the streams of a session.",
        must(_TRANSPORT), event_id_unique, when=lambda t: any(_calls_with_event_ids(t)),
        why="Clients resume a stream by its event IDs. The same event may be delivered again."),
    row("session-modern", "Since 2026-07-28, there are no sessions.",
        should("MCP 2026-07-28, transports"),
        those(heads(_SESSION, lambda call: call.is_stateless and _is_success(call)), is_given),
        {never: f"Omit {SESSION_HEADER}: this version has no sessions."},
        when=heads(_SESSION, lambda call: call.is_stateless),
        why="Every request is independent: servers send no session ID."),
    row("login", "401 responses include WWW-Authenticate.", must("RFC 9110, 15.5.2"),
        heads("www-authenticate", lambda call: call.http_response.status == 401),
        {is_nonempty_text: "Add WWW-Authenticate, for example Bearer with resource_metadata."},
        why="HTTP requires the header, and so does MCP 2025-06-18. Later versions have an "
        "alternative."),
    rule("json-rpc", 'Every message is a JSON object with "jsonrpc": "2.0".', must("JSON-RPC 4"),
        json_rpc,
        when=lambda t: any(c.messages or _expected_payloads(c) for c in _checked_calls(t)),
        why="In a stream, the data of each event is one message."),
    row("no-batch", "Messages are not batched.", must("MCP 2025-06-18, base protocol"),
        _batches,
        {never: "These messages are batched in an array. Send each message separately."},
        when=lambda t: any(call.messages for call in _calls_without_batches(t)),
        why="MCP 2025-03-26 has batches, and 2025-06-18 removed them."),
    rule("response-id", "Responses have the id of their request.", must("JSON-RPC 5"), response_id,
        when=_has_response,
        why='The ids 1 and "1" are different. The id of an error may be null.\n\n'
            "That is for requests with an unreadable id."),
    row("request-id", "Requests have a string or an integer as id, notifications have no id.",
        must("MCP base protocol"),
        present(_calls_of_server, "id"), {
            lambda given: given is not None:
                "The id is null. Set it to a string or an integer, or omit it.",
            _is_id: "Set id to a string or an integer.",
        },
        when=_calls_of_server,
        why="Unlike in JSON-RPC, the id of a request is never null."),
    rule("one-response", "Each request gets exactly one response.", must("JSON-RPC 5"),
        one_response, when=lambda t: any(_expects_messages(call) for call in t.calls),
        needs_complete_response=True,
        why="The response is either a result or an error. Clients wait until they receive it."),
    rule("result-or-error", "Responses have either a result or an error, and no method.",
        must("JSON-RPC 5"), result_or_error, when=_has_response,
        why="Clients that check one of them overlook the other. A member that is null is present."),
    rule("error-object", "Errors have an integer code and a message.", must("JSON-RPC 5.1"),
        error_object, when=lambda t: any(located.message.error for located in _messages(t)),
        why="The member data is optional and may have any value."),
    rule("error-code", "Reserved error codes are used as JSON-RPC defines them.",
        should("JSON-RPC 5.1"), error_code,
        when=lambda t: any(code for code, _ in _codes(_checked_calls(t))),
        why="Reserved are -32768 to -32000; servers may define -32099 to -32000."),
    rule("error-code-modern",
        "Since 2026-07-28, codes from -32099 to -32020 are used as MCP defines them.",
        must("MCP 2026-07-28, base protocol"), error_code_modern,
        when=lambda t: any(_codes(_stateless_calls(t))),
        why="MCP 2026-07-28 defines -32020, -32021 and -32022.\n\n"
            "Earlier versions defined -32002 and -32042."),
    row("error-failure", "JSON-RPC errors of tools include an NLWeb failure as data.",
        (info("4.1.4"), info("MCP examples 6")),
        _failure_in_error, {bool: "Put the NLWeb failure (_meta and error) in data of the error."},
        why="The failure tells more than a code of JSON-RPC, as in an example of 0.54."),
)
# fmt: on
