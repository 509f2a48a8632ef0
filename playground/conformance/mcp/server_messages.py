"""What a server sends besides its answer: MCP's own questions, progress, log lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.conformance.mcp.calls import LocatedMessage, RecordedCall
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.values import is_nonempty_text, is_number, type_with_article
from playground.protocols.json_pointer import escape
from playground.protocols.jsonrpc import MessageKind
from playground.protocols.mcp.elicitation import CREATE

_ELICITATION = "MCP elicitation"
_PROGRESS, _LOGGING = "notifications/progress", "notifications/message"
#: Severities, as in syslog.
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_TYPES = frozenset({"string", "number", "integer", "boolean"})
#: Properties and requests that are looked at.
_MAX_FIELDS = 1_000
#: What servers tell their clients.
_TOLD = frozenset(
    {
        *(_PROGRESS, _LOGGING, "notifications/cancelled", "notifications/initialized"),
        *("notifications/tools/list_changed", "notifications/prompts/list_changed"),
        *("notifications/resources/list_changed", "notifications/resources/updated"),
        *("notifications/elicitation/complete", "notifications/tasks/status"),
    }
)


def _requests(t: McpTranscript) -> list[LocatedMessage]:
    return [rpc for rpc in t.messages if rpc.message.kind is MessageKind.REQUEST]


def _asked(t: McpTranscript) -> list[Location]:
    """The params of every question, in mid-call or in a result."""
    found = [
        Location(rpc.seq, f"{rpc.pointer}/params", rpc.message.params)
        for rpc in _requests(t)
        if rpc.message.method == CREATE
    ]
    for place in _inputs(t):
        listed = place.value.get("inputRequests")
        for key, value in list(listed.items())[:_MAX_FIELDS] if isinstance(listed, dict) else ():
            if isinstance(value, dict) and value.get("method") == CREATE:
                at = f"{place.pointer}/inputRequests/{escape(key)}/params"
                found.append(Location(place.seq, at, value.get("params")))
    return found


def _inputs(t: McpTranscript) -> list[Location]:
    """Results that ask for input."""
    return [
        Location(rpc.seq, f"{rpc.pointer}/result", rpc.result)
        for hop in t.hops
        for rpc in hop.responses
        if rpc.result.get("resultType") == "input_required" or "inputRequests" in rpc.result
    ]


@rule(
    "elicitation",
    "A question has a message, and a schema of an object or an address to visit.",
    must(_ELICITATION),
    when=lambda t: bool(_asked(t)),
)
def elicitation(t: McpTranscript) -> Iterator[RuleIssue]:
    """A form has requestedSchema, mode url has a url."""
    for seq, pointer, params in _asked(t):
        if not isinstance(params, dict):
            yield Violation(
                f"params is {type_with_article(params)}. Make it an object.", seq, pointer
            )
            continue
        if not is_nonempty_text(params.get("message")):
            message = "Set message to a string that says what is asked."
            yield Violation(message, seq, f"{pointer}/message")
        schema = params.get("requestedSchema")
        if params.get("mode") == "url":
            if not is_nonempty_text(params.get("url")):
                yield Violation("Set url to the address to visit.", seq, f"{pointer}/url")
        elif not isinstance(schema, dict) or schema.get("type") != "object":
            message = 'Set requestedSchema to a JSON Schema of "type": "object".'
            yield Violation(message, seq, f"{pointer}/requestedSchema")
        elif not isinstance(schema.get("properties"), dict):
            message = "List what is asked for in properties, an object."
            yield Violation(message, seq, f"{pointer}/requestedSchema/properties")


def _fields(t: McpTranscript) -> Iterator[Location]:
    """The properties of every question's schema."""
    for seq, pointer, params in _asked(t):
        schema = params.get("requestedSchema") if isinstance(params, dict) else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if isinstance(properties, dict):
            for name, field in list(properties.items())[:_MAX_FIELDS]:
                at = f"{pointer}/requestedSchema/properties/{escape(name)}"
                yield Location(seq, at, field)


@rule(
    "elicitation-flat",
    "What is asked for are values: strings, numbers, booleans, or choices of strings.",
    must(_ELICITATION),
    when=lambda t: next(_fields(t), None) is not None,
)
def elicitation_flat(t: McpTranscript) -> Iterator[RuleIssue]:
    """No objects, and no arrays but those of choices (since 2025-11-25)."""
    for seq, pointer, field in _fields(t):
        if not isinstance(field, dict) or not _is_flat(field):
            message = "This is no simple value. Ask for strings, numbers or booleans, one by one."
            yield Violation(message, seq, pointer)


def _is_flat(field: Mapping[str, Any]) -> bool:
    kind, items = field.get("type"), field.get("items")
    if kind == "array":
        return isinstance(items, dict) and any(name in items for name in ("enum", "anyOf", "oneOf"))
    if kind is None:
        return "enum" in field or "oneOf" in field
    return isinstance(kind, str) and kind in _TYPES


@rule(
    "input-required",
    "A result that asks for input has requests, each with a method, or a state to come back with.",
    must("MCP 2026-07-28, elicitation"),
    when=lambda t: bool(_inputs(t)),
)
def input_required(t: McpTranscript) -> Iterator[RuleIssue]:
    """inputRequests, an object of requests; requestState, a string."""
    for seq, pointer, result in _inputs(t):
        asked, state = result.get("inputRequests"), result.get("requestState")
        if state is not None and not isinstance(state, str):
            message = f"requestState is {type_with_article(state)}. Make it a string."
            yield Violation(message, seq, f"{pointer}/requestState")
        if result.get("resultType") != "input_required":
            message = 'Set resultType to "input_required".'
            yield Violation(message, seq, f"{pointer}/resultType")
        if asked is not None and not isinstance(asked, dict):
            message = f"inputRequests is {type_with_article(asked)}. Make it an object of requests."
            yield Violation(message, seq, f"{pointer}/inputRequests")
        elif not asked and state is None:
            message = "Nothing is asked here: add inputRequests, or requestState."
            yield Violation(message, seq, f"{pointer}/inputRequests")
        for key, value in list(asked.items())[:_MAX_FIELDS] if isinstance(asked, dict) else ():
            if not isinstance(value, dict) or not is_nonempty_text(value.get("method")):
                place = f"{pointer}/inputRequests/{escape(key)}"
                yield Violation("Name what is wanted in method, a string.", seq, place)


# Notifications


def _told(t: McpTranscript, method: str = "") -> list[LocatedMessage]:
    return [
        rpc
        for rpc in t.messages
        if rpc.message.kind is MessageKind.NOTIFICATION and method in ("", rpc.message.method)
    ]


@rule(
    "progress",
    "Progress has the token that was sent with the call, and a number.",
    must("MCP progress"),
    when=lambda t: bool(_told(t, _PROGRESS)),
)
def progress(t: McpTranscript) -> Iterator[RuleIssue]:
    """progressToken, progress; total and message may be there."""
    for hop in t.hops:
        for rpc in hop.messages:
            if rpc.message.kind is MessageKind.NOTIFICATION and rpc.message.method == _PROGRESS:
                yield from _odd_progress(rpc, hop)


def _odd_progress(rpc: LocatedMessage, hop: RecordedCall) -> Iterator[RuleIssue]:
    params = rpc.message.params if isinstance(rpc.message.params, dict) else {}
    at = f"{rpc.pointer}/params"
    if not is_number(params.get("progress")):
        yield Violation("Set progress to a number.", rpc.seq, f"{at}/progress")
    if params.get("total") is not None and not is_number(params["total"]):
        yield Violation("Set total to a number, or leave it out.", rpc.seq, f"{at}/total")
    meta = hop.sent.params.get("_meta") if hop.sent else None
    wanted = meta.get("progressToken") if isinstance(meta, Mapping) else None
    given = params.get("progressToken")
    if hop.sent is not None and (given is None or given != wanted):
        said = "No progress was asked for" if wanted is None else "This is not the call's token"
        yield Violation(f"{said}. Send the call's.", rpc.seq, f"{at}/progressToken")


@rule(
    "progress-increasing",
    "Progress only grows.",
    must("MCP progress"),
    when=lambda t: len(_told(t, _PROGRESS)) > 1,
    needs_complete_response=True,
)
def progress_increasing(t: McpTranscript) -> Iterator[RuleIssue]:
    """With each notification of a token."""
    highest: dict[str, float] = {}
    for rpc in _told(t, _PROGRESS):
        params = rpc.message.params if isinstance(rpc.message.params, dict) else {}
        token, value = repr(params.get("progressToken")), params.get("progress")
        if value is None or not is_number(value):
            continue
        if token in highest and value <= highest[token]:
            message = "This is not more than before. Let progress grow, or send nothing."
            yield Violation(message, rpc.seq, f"{rpc.pointer}/params/progress")
        highest[token] = max(value, highest.get(token, value))


@rule(
    "log",
    "A line of the log has a level that is one of syslog's, and data.",
    must("MCP logging"),
    when=lambda t: bool(_told(t, _LOGGING)),
)
def log(t: McpTranscript) -> Iterator[RuleIssue]:
    """From debug to emergency."""
    for rpc in _told(t, _LOGGING):
        params = rpc.message.params if isinstance(rpc.message.params, dict) else {}
        if params.get("level") not in LEVELS:
            message = f"Set level to one of {', '.join(LEVELS)}."
            yield Violation(message, rpc.seq, f"{rpc.pointer}/params/level")
        if "data" not in params:
            message = "Put what is logged into data."
            yield Violation(message, rpc.seq, f"{rpc.pointer}/params/data")


@rule(
    "notification-known",
    "Notifications are those that MCP defines.",
    info("MCP base protocol"),
    when=lambda t: bool(_told(t)),
)
def notification_known(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients pass over others."""
    for rpc in _told(t):
        if rpc.message.method not in _TOLD:
            said = rpc.message.method[:60]
            message = f'MCP defines no "{said}": clients pass over it.'
            yield Violation(message, rpc.seq, f"{rpc.pointer}/method")


@rule(
    "request-modern",
    "From 2026-07-28 on a server asks in its result, and sends no requests.",
    should("MCP 2026-07-28, base protocol"),
    when=lambda t: any(hop.is_modern for hop in t.hops),
)
def request_modern(t: McpTranscript) -> Iterator[RuleIssue]:
    """There is no stream that an answer could come back to."""
    for hop in t.hops:
        for rpc in hop.messages if hop.is_modern else ():
            if rpc.message.kind is MessageKind.REQUEST:
                message = "Answer with resultType input_required instead."
                yield Violation(message, rpc.seq, f"{rpc.pointer}/method")


RULES = (
    elicitation,
    elicitation_flat,
    input_required,
    progress,
    progress_increasing,
    log,
    notification_known,
    request_modern,
)
