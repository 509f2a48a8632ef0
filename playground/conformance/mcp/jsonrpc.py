"""Rules on JSON-RPC messages: sections 4 to 6 of its specification, and MCP's restrictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from playground.conformance.mcp.calls import LocatedMessage, RecordedCall
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    should,
)
from playground.conformance.values import is_integer
from playground.protocols import jsonrpc
from playground.protocols.jsonrpc import SENTENCES, Deviation, MessageKind

_FORM = (
    Deviation.NOT_AN_OBJECT,
    Deviation.NO_VERSION,
    Deviation.OTHER_VERSION,
    Deviation.NOTHING,
    Deviation.ODD_METHOD,
    Deviation.ODD_PARAMS,
)
_BATCHES = (Deviation.BATCH, Deviation.EMPTY_BATCH)
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


def _checked_calls(t: McpTranscript) -> Iterator[RecordedCall]:
    return (call for call in t.calls if not call.is_rejected_probe)


def _messages(t: McpTranscript) -> Iterator[LocatedMessage]:
    return (located for call in _checked_calls(t) for located in call.messages)


def _has_messages(t: McpTranscript) -> bool:
    return next(_messages(t), None) is not None


def _malformed(t: McpTranscript, *kinds: Deviation) -> Iterator[RuleIssue]:
    for located in _messages(t):
        for kind in located.message.problems:
            if kind in kinds:
                location = located.pointer + _MEMBERS.get(kind, "")
                yield Violation(SENTENCES[kind], located.seq, location)


def _expects_messages(call: RecordedCall) -> bool:
    return (
        call.http_response.status < 300
        and call.expects_response
        and call.http_response.head_seq is not None
    )


@rule(
    "json-rpc",
    'Every message is a JSON object with "jsonrpc": "2.0".',
    must("JSON-RPC 4"),
    when=lambda t: (
        any(call.payloads for call in _checked_calls(t) if _expects_messages(call))
        or _has_messages(t)
    ),
)
def json_rpc(t: McpTranscript) -> Iterator[RuleIssue]:
    """In a stream, the data of each event is one message."""
    for call in _checked_calls(t):
        for payload in call.payloads if _expects_messages(call) else ():
            if not payload.readable and (payload.name is None or payload.name == "message"):
                yield Violation(f"{payload.reason} Send a single JSON-RPC message.", payload.seq)
    yield from _malformed(t, *_FORM)


@rule(
    "no-batch",
    "Messages are not batched.",
    must("MCP 2025-06-18, base protocol"),
    when=lambda t: any(call.messages for call in _calls_without_batches(t)),
)
def no_batch(t: McpTranscript) -> Iterator[RuleIssue]:
    """MCP 2025-03-26 has batches, and 2025-06-18 removed them."""
    reported: set[int] = set()
    for call in _calls_without_batches(t):
        for located in call.messages:
            if set(located.message.problems) & set(_BATCHES) and located.seq not in reported:
                reported.add(located.seq)
                message = "These messages are batched in an array. Send each message separately."
                yield Violation(message, located.seq)


def _calls_without_batches(t: McpTranscript) -> Iterator[RecordedCall]:
    return (call for call in _checked_calls(t) if t.version_of(call) not in _WITH_BATCHES)


@rule(
    "response-id",
    "Responses have the id of their request.",
    must("JSON-RPC 5"),
    when=lambda t: any(call.responses for call in _checked_calls(t)),
)
def response_id(t: McpTranscript) -> Iterator[RuleIssue]:
    """The ids 1 and "1" are different. The id of an error may be null.

    That is for requests with an unreadable id.
    """
    for call in _checked_calls(t):
        for located in call.responses:
            broken = located.message.error is not None and located.message.id is None
            if call.answers(located) or (broken and call.http_response.status >= 400):
                continue
            actual = (
                "a different id than the request" if located.message.id is not None else "no id"
            )
            yield Violation(
                f"This response has {actual}. Return the id of the request.",
                located.seq,
                f"{located.pointer}/id",
            )


def _calls_of_server(t: McpTranscript) -> list[LocatedMessage]:
    """Return the requests and notifications of the server."""
    kinds = (MessageKind.REQUEST, MessageKind.NOTIFICATION)
    return [located for located in _messages(t) if located.message.kind in kinds]


@rule(
    "request-id",
    "Requests have a string or an integer as id, notifications have no id.",
    must("MCP base protocol"),
    when=lambda t: bool(_calls_of_server(t)),
)
def request_id(t: McpTranscript) -> Iterator[RuleIssue]:
    """Unlike in JSON-RPC, the id of a request is never null."""
    for located in _calls_of_server(t):
        given = located.message.id
        if located.message.kind is MessageKind.REQUEST:
            if not isinstance(given, str) and not is_integer(given):
                message = "Set id to a string or an integer."
                yield Violation(message, located.seq, f"{located.pointer}/id")
        elif "id" in located.message.raw:
            message = "The id is null. Set it to a string or an integer, or omit it."
            yield Violation(message, located.seq, f"{located.pointer}/id")


@rule(
    "one-response",
    "Each request gets exactly one response.",
    must("JSON-RPC 5"),
    when=lambda t: any(_expects_messages(call) for call in t.calls),
    needs_complete_response=True,
)
def one_response(t: McpTranscript) -> Iterator[RuleIssue]:
    """The response is either a result or an error. Clients wait until they receive it."""
    for call in _checked_calls(t):
        if not _expects_messages(call):
            continue
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
    seq = call.payloads[-1].seq if call.payloads else call.http_response.head_seq
    if call.resumptions:
        seq = last.payloads[-1].seq if last.payloads else last.http_response.head_seq
    resumed = ", not even after its stream was resumed" if call.resumptions else ""
    return Violation(f"No response to {call.method}{resumed}. Send a result or an error.", seq)


@rule(
    "result-or-error",
    "Responses have either a result or an error, and no method.",
    must("JSON-RPC 5"),
    when=lambda t: any(call.responses for call in _checked_calls(t)),
)
def result_or_error(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients that check one of them overlook the other. A member that is null is present."""
    yield from _malformed(t, Deviation.RESULT_AND_ERROR, Deviation.METHOD_IN_RESPONSE)
    for located in _messages(t):
        if (
            located.is_response
            and {"result", "error"} <= located.message.raw.keys()
            and Deviation.RESULT_AND_ERROR not in located.message.problems
        ):
            message = "The response has a result and an error that is null. Omit the error."
            yield Violation(message, located.seq, f"{located.pointer}/error")


def _errors(t: McpTranscript) -> list[LocatedMessage]:
    return [located for located in _messages(t) if located.message.error is not None]


@rule(
    "error-object",
    "Errors have an integer code and a message.",
    must("JSON-RPC 5.1"),
    when=lambda t: bool(_errors(t)),
)
def error_object(t: McpTranscript) -> Iterator[RuleIssue]:
    """The member data is optional and may have any value."""
    yield from _malformed(t, Deviation.ODD_ERROR, Deviation.ODD_CODE)


@rule(
    "error-code",
    "Reserved error codes are used as JSON-RPC defines them.",
    should("JSON-RPC 5.1"),
    when=lambda t: any(
        located.message.error and located.message.error.code for located in _errors(t)
    ),
)
def error_code(t: McpTranscript) -> Iterator[RuleIssue]:
    """Reserved are -32768 to -32000; servers may define -32099 to -32000."""
    for located in _errors(t):
        code = located.message.error.code if located.message.error else None
        if code is None or code not in _RESERVED or code in _SERVERS:
            continue
        if jsonrpc.explain_code(code) is None:
            yield Violation(
                f"{code} is reserved but undefined. Use a code defined by JSON-RPC or one from "
                "-32099 to -32000.",
                located.seq,
                f"{located.pointer}/error/code",
            )


def _stateless_errors(t: McpTranscript) -> list[tuple[LocatedMessage, int]]:
    return [
        (located, located.message.error.code)
        for call in _checked_calls(t)
        for located in call.responses
        if call.is_stateless and located.message.error and located.message.error.code is not None
    ]


@rule(
    "error-code-modern",
    "Since 2026-07-28, codes from -32099 to -32020 are used as MCP defines them.",
    must("MCP 2026-07-28, base protocol"),
    when=lambda t: bool(_stateless_errors(t)),
)
def error_code_modern(t: McpTranscript) -> Iterator[RuleIssue]:
    """MCP 2026-07-28 defines -32020, -32021 and -32022.

    Earlier versions defined -32002 and -32042.
    """
    for located, code in _stateless_errors(t):
        if (code in _MODERN and code not in _MODERN_DEFINED) or code in _MODERN_FORBIDDEN:
            yield Violation(
                f"MCP 2026-07-28 does not define {code}. Use a code outside of the reserved ones.",
                located.seq,
                f"{located.pointer}/error/code",
            )


@rule(
    "error-failure",
    "JSON-RPC errors of tools include an NLWeb failure as data.",
    info("4.1.4"),
    v54=info("MCP examples 6"),
    when=lambda t: t.answer is not None and t.answer.message.error is not None,
)
def error_failure(t: McpTranscript) -> Iterator[RuleIssue]:
    """The failure tells more than a code of JSON-RPC, as in an example of 0.54."""
    if t.answer and t.found is None:
        message = "Put the NLWeb failure (_meta and error) in data of the error."
        yield Violation(message, t.answer.seq, f"{t.answer.pointer}/error/data")


RULES = (
    json_rpc,
    no_batch,
    response_id,
    request_id,
    one_response,
    result_or_error,
    error_object,
    error_code,
    error_code_modern,
    error_failure,
)
