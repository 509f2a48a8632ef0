"""Messages of JSON-RPC: sections 4 to 6 of its specification, and what MCP makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from playground.conformance.mcp.calls import LocatedMessage, RecordedCall
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, should
from playground.protocols import rpc_codes
from playground.protocols.jsonrpc import SENTENCES, Deviation

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
#: Codes that JSON-RPC keeps for itself, and those among them that a server may define.
_RESERVED = range(-32768, -31999)
_SERVERS = range(-32099, -31999)


def _judged(t: McpTranscript) -> Iterator[RecordedCall]:
    return (hop for hop in t.hops if not hop.is_rejected_probe)


def _messages(t: McpTranscript) -> Iterator[LocatedMessage]:
    return (rpc for hop in _judged(t) for rpc in hop.messages)


def _has_messages(t: McpTranscript) -> bool:
    return next(_messages(t), None) is not None


def _deviating(t: McpTranscript, *kinds: Deviation) -> Iterator[RuleIssue]:
    for rpc in _messages(t):
        for kind in rpc.message.problems:
            if kind in kinds:
                place = rpc.pointer + _MEMBERS.get(kind, "")
                yield Violation(SENTENCES[kind], rpc.seq, place)


def _spoke(hop: RecordedCall) -> bool:
    """Whether a reply is one that messages can be expected of."""
    return hop.transfer.status < 300 and hop.expects_response and hop.transfer.head_seq is not None


@rule(
    "json-rpc",
    'Every message is a JSON object with "jsonrpc": "2.0".',
    must("JSON-RPC 4"),
    when=lambda t: any(hop.payloads for hop in _judged(t) if _spoke(hop)) or _has_messages(t),
)
def json_rpc(t: McpTranscript) -> Iterator[RuleIssue]:
    """Also of a stream: the data of each event are one message."""
    for hop in _judged(t):
        for payload in hop.payloads if _spoke(hop) else ():
            if not payload.readable and (payload.name is None or payload.name == "message"):
                yield Violation(f"{payload.why} Send one message of JSON-RPC.", payload.seq)
    yield from _deviating(t, *_FORM)


@rule(
    "no-batch",
    "Messages come one by one.",
    must("MCP 2025-06-18, base protocol"),
    when=_has_messages,
)
def no_batch(t: McpTranscript) -> Iterator[RuleIssue]:
    """Arrays of messages were dropped from MCP with version 2025-06-18."""
    told: set[int] = set()
    for rpc in _messages(t):
        if set(rpc.message.problems) & set(_BATCHES) and rpc.seq not in told:
            told.add(rpc.seq)
            message = "These messages come in an array: send each by itself."
            yield Violation(message, rpc.seq)


@rule(
    "response-id",
    "A response has the id of the call that it answers.",
    must("JSON-RPC 5"),
    when=lambda t: any(hop.responses for hop in _judged(t)),
)
def response_id(t: McpTranscript) -> Iterator[RuleIssue]:
    """1 and "1" are not the same. An error may have null, where no id could be read."""
    for hop in _judged(t):
        for rpc in hop.responses:
            broken = rpc.message.error is not None and rpc.message.id is None
            if hop.answers(rpc) or (broken and hop.transfer.status >= 400):
                continue
            said = "another id than the call has" if rpc.message.id is not None else "no id"
            yield Violation(
                f"This response has {said}. Send the call's.", rpc.seq, f"{rpc.pointer}/id"
            )


@rule(
    "one-response",
    "A call is answered once.",
    must("JSON-RPC 5"),
    when=lambda t: any(_spoke(hop) for hop in t.hops),
    needs_complete_response=True,
)
def one_response(t: McpTranscript) -> Iterator[RuleIssue]:
    """With a result or with an error."""
    for hop in _judged(t):
        if not _spoke(hop):
            continue
        for rpc in hop.responses[1:]:
            if rpc.message.id is not None and hop.answers(rpc):
                message = "The call was answered before: send one response."
                yield Violation(message, rpc.seq, rpc.pointer)
        if not hop.responses and (hop is not t.hops[-1] or t.is_complete):
            seq = hop.payloads[-1].seq if hop.payloads else hop.transfer.head_seq
            message = f"No response to {hop.method} came. Send a result or an error."
            yield Violation(message, seq)
        elif not hop.responses:
            yield missing(t, "", None)


@rule(
    "result-or-error",
    "A response has a result or an error, never both, and no method.",
    must("JSON-RPC 5"),
    when=lambda t: any(hop.responses for hop in _judged(t)),
)
def result_or_error(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients that look at one of them do not see the other."""
    yield from _deviating(t, Deviation.RESULT_AND_ERROR, Deviation.METHOD_IN_RESPONSE)


def _errors(t: McpTranscript) -> list[LocatedMessage]:
    return [rpc for rpc in _messages(t) if rpc.message.error is not None]


@rule(
    "error-object",
    "An error has a code, a whole number, and a message, a string.",
    must("JSON-RPC 5.1"),
    when=lambda t: bool(_errors(t)),
)
def error_object(t: McpTranscript) -> Iterator[RuleIssue]:
    """Data beside them are for the server to choose."""
    yield from _deviating(t, Deviation.ODD_ERROR, Deviation.ODD_CODE)


@rule(
    "error-code",
    "The codes that JSON-RPC reserves mean what they are reserved for.",
    should("JSON-RPC 5.1"),
    when=lambda t: any(rpc.message.error and rpc.message.error.code for rpc in _errors(t)),
)
def error_code(t: McpTranscript) -> Iterator[RuleIssue]:
    """-32768 to -32000; of those a server defines -32099 to -32000 as it likes."""
    for rpc in _errors(t):
        code = rpc.message.error.code if rpc.message.error else None
        if code is None or code not in _RESERVED or code in _SERVERS:
            continue
        if rpc_codes.explain_code(code) is None:
            yield Violation(
                f"{code} is reserved and means nothing. Use one of the standard's codes, or one "
                "from -32099 to -32000.",
                rpc.seq,
                f"{rpc.pointer}/error/code",
            )


@rule(
    "error-failure",
    "The error that a tool answers with has an NLWeb failure as its data.",
    info("4.1.4"),
    v54=info("MCP examples 6"),
    when=lambda t: t.answer is not None and t.answer.message.error is not None,
)
def error_failure(t: McpTranscript) -> Iterator[RuleIssue]:
    """Shown in an example of 0.54: callers learn more from it than from a code of JSON-RPC."""
    if t.answer and t.found is None:
        message = "Put _meta and error, the NLWeb failure, into the error's data."
        yield Violation(message, t.answer.seq, f"{t.answer.pointer}/error/data")


RULES = (
    json_rpc,
    no_batch,
    response_id,
    one_response,
    result_or_error,
    error_object,
    error_code,
    error_failure,
)
