"""Rules on server requests and notifications: elicitation, progress, log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from playground.conformance.mcp.calls import LocatedMessage, RecordedCall
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must
from playground.conformance.values import is_nonempty_text, is_number, type_with_article
from playground.protocols.json_pointer import escape
from playground.protocols.jsonrpc import MessageKind
from playground.protocols.mcp.elicitation import CREATE

_ELICITATION = "MCP elicitation"
_PROGRESS, _LOGGING = "notifications/progress", "notifications/message"
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
#: Severities, as in syslog.
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_TYPES = frozenset({"string", "number", "integer", "boolean"})
#: Methods of the requests in inputRequests.
_INPUT_METHODS = (CREATE, "sampling/createMessage", "roots/list")
#: The most properties and requests that are checked.
_MAX_FIELDS = 1_000
#: Notifications from servers to clients.
_NOTIFICATIONS = frozenset(
    {
        *(_PROGRESS, _LOGGING, "notifications/cancelled", "notifications/initialized"),
        *("notifications/tools/list_changed", "notifications/prompts/list_changed"),
        *("notifications/resources/list_changed", "notifications/resources/updated"),
        *("notifications/elicitation/complete", "notifications/tasks/status"),
        "notifications/subscriptions/acknowledged",
    }
)


def _requests(t: McpTranscript) -> list[LocatedMessage]:
    return [located for located in t.messages if located.message.kind is MessageKind.REQUEST]


def _elicitation_params(t: McpTranscript) -> list[Location]:
    """Return the params of every elicitation, in mid-call or in a result."""
    found = [
        Location(located.seq, f"{located.pointer}/params", located.message.params)
        for located in _requests(t)
        if located.message.method == CREATE
    ]
    for location in _input_requests(t):
        listed = location.value.get("inputRequests")
        for key, value in list(listed.items())[:_MAX_FIELDS] if isinstance(listed, dict) else ():
            if isinstance(value, dict) and value.get("method") == CREATE:
                at = f"{location.pointer}/inputRequests/{escape(key)}/params"
                found.append(Location(location.seq, at, value.get("params")))
    return found


def _input_requests(t: McpTranscript) -> list[Location]:
    return [
        Location(located.seq, f"{located.pointer}/result", located.result)
        for call in t.calls
        for located in call.responses
        if located.result.get("resultType") == "input_required" or "inputRequests" in located.result
    ]


@rule(
    "elicitation",
    "Elicitation requests have a message, and an object schema or a URL.",
    must(_ELICITATION),
    when=lambda t: bool(_elicitation_params(t)),
)
def elicitation(t: McpTranscript) -> Iterator[RuleIssue]:
    """A form has requestedSchema. The mode url has url, and elicitationId in a request."""
    for seq, pointer, params in _elicitation_params(t):
        if not isinstance(params, dict):
            yield Violation(
                f"params is {type_with_article(params)}; expected an object.", seq, pointer
            )
            continue
        if not is_nonempty_text(params.get("message")):
            message = "Set message to the text of the question."
            yield Violation(message, seq, f"{pointer}/message")
        schema = params.get("requestedSchema")
        if params.get("mode") == "url":
            if not _is_url(params.get("url")):
                yield Violation("Set url to the URL to open.", seq, f"{pointer}/url")
            is_request = "/inputRequests/" not in pointer
            if is_request and not isinstance(params.get("elicitationId"), str):
                message = "Set elicitationId to a string."
                yield Violation(message, seq, f"{pointer}/elicitationId")
        elif not isinstance(schema, dict) or schema.get("type") != "object":
            message = 'Set requestedSchema to a JSON Schema of "type": "object".'
            yield Violation(message, seq, f"{pointer}/requestedSchema")
        elif not isinstance(schema.get("properties"), dict):
            message = "Add the requested fields to properties, an object."
            yield Violation(message, seq, f"{pointer}/requestedSchema/properties")


def _is_url(value: Any) -> bool:
    """Return whether a value is an absolute URL."""
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
    except ValueError:
        return False
    return parts is not None and bool(parts.scheme and (parts.netloc or parts.path))


def _fields(t: McpTranscript) -> Iterator[Location]:
    """Yield the properties of every elicitation's schema."""
    for seq, pointer, params in _elicitation_params(t):
        schema = params.get("requestedSchema") if isinstance(params, dict) else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        if isinstance(properties, dict):
            for name, field in list(properties.items())[:_MAX_FIELDS]:
                at = f"{pointer}/requestedSchema/properties/{escape(name)}"
                yield Location(seq, at, field)


@rule(
    "elicitation-flat",
    "Requested fields are strings, numbers, booleans or enums.",
    must(_ELICITATION),
    when=lambda t: next(_fields(t), None) is not None,
)
def elicitation_flat(t: McpTranscript) -> Iterator[RuleIssue]:
    """Objects are not allowed, nor arrays except multiple choices (since 2025-11-25)."""
    for seq, pointer, field in _fields(t):
        if not isinstance(field, dict) or not _is_flat(field):
            message = (
                "This field is not a primitive type. Use a string, a number, a boolean or an enum."
            )
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
    "input_required results have inputRequests, each of a defined method, or requestState.",
    must("MCP 2026-07-28, elicitation"),
    when=lambda t: bool(_input_requests(t)),
)
def input_required(t: McpTranscript) -> Iterator[RuleIssue]:
    """inputRequests is an object of requests, and requestState a string.

    Only results of tools/call have them.
    """
    for seq, pointer, result in _input_requests(t):
        requests, state = result.get("inputRequests"), result.get("requestState")
        if state is not None and not isinstance(state, str):
            message = f"requestState is {type_with_article(state)}; expected a string."
            yield Violation(message, seq, f"{pointer}/requestState")
        if result.get("resultType") != "input_required":
            message = 'Set resultType to "input_required".'
            yield Violation(message, seq, f"{pointer}/resultType")
        if requests is not None and not isinstance(requests, dict):
            message = (
                f"inputRequests is {type_with_article(requests)}; expected an object of requests."
            )
            yield Violation(message, seq, f"{pointer}/inputRequests")
        elif not requests and state is None:
            message = "No input is requested. Add inputRequests or requestState."
            yield Violation(message, seq, f"{pointer}/inputRequests")
        for key, value in (
            list(requests.items())[:_MAX_FIELDS] if isinstance(requests, dict) else ()
        ):
            method = value.get("method") if isinstance(value, dict) else None
            if method not in _INPUT_METHODS:
                location = f"{pointer}/inputRequests/{escape(key)}"
                location += "/method" if isinstance(value, dict) else ""
                message = f"Set method to one of {', '.join(_INPUT_METHODS)}."
                yield Violation(message, seq, location)


# Notifications


def _notifications(t: McpTranscript, method: str = "") -> list[LocatedMessage]:
    return [
        located
        for located in t.messages
        if located.message.kind is MessageKind.NOTIFICATION
        and method in ("", located.message.method)
    ]


@rule(
    "progress",
    "Progress notifications have the progressToken of the request and a number.",
    must("MCP progress"),
    when=lambda t: bool(_notifications(t, _PROGRESS)),
)
def progress(t: McpTranscript) -> Iterator[RuleIssue]:
    """The members total and message are optional. No progress follows the response."""
    for call in t.calls:
        for located in call.messages:
            if (
                located.message.kind is MessageKind.NOTIFICATION
                and located.message.method == _PROGRESS
            ):
                yield from _odd_progress(located, call)
                if call.answer is not None and located.seq > call.answer.seq:
                    message = "The call already has its response. Send progress before it."
                    yield Violation(message, located.seq, f"{located.pointer}/method")


def _odd_progress(located: LocatedMessage, call: RecordedCall) -> Iterator[RuleIssue]:
    params = located.message.params if isinstance(located.message.params, dict) else {}
    at = f"{located.pointer}/params"
    if not is_number(params.get("progress")):
        yield Violation("Set progress to a number.", located.seq, f"{at}/progress")
    if params.get("total") is not None and not is_number(params["total"]):
        yield Violation("Set total to a number or omit it.", located.seq, f"{at}/total")
    if params.get("message") is not None and not isinstance(params["message"], str):
        yield Violation("Set message to a string or omit it.", located.seq, f"{at}/message")
    meta = call.sent.params.get("_meta") if call.sent else None
    wanted = meta.get("progressToken") if isinstance(meta, Mapping) else None
    given = params.get("progressToken")
    if call.sent is not None and (given is None or given != wanted):
        message = "The progressToken differs from that of the request. Return the same value."
        if wanted is None:
            message = "The request has no progressToken. Send no progress notifications."
        yield Violation(message, located.seq, f"{at}/progressToken")


@rule(
    "progress-increasing",
    "Progress increases with every notification.",
    must("MCP progress"),
    when=lambda t: len(_notifications(t, _PROGRESS)) > 1,
    needs_complete_response=True,
)
def progress_increasing(t: McpTranscript) -> Iterator[RuleIssue]:
    """Compared are the notifications with the same progressToken."""
    highest: dict[str, float] = {}
    for located in _notifications(t, _PROGRESS):
        params = located.message.params if isinstance(located.message.params, dict) else {}
        token, value = repr(params.get("progressToken")), params.get("progress")
        if value is None or not is_number(value):
            continue
        if token in highest and value <= highest[token]:
            message = "progress did not increase. Send a notification only when it does."
            yield Violation(message, located.seq, f"{located.pointer}/params/progress")
        highest[token] = max(value, highest.get(token, value))


@rule(
    "log",
    "Log messages have a syslog level and data.",
    must("MCP logging"),
    when=lambda t: bool(_notifications(t, _LOGGING)),
)
def log(t: McpTranscript) -> Iterator[RuleIssue]:
    """Levels range from debug to emergency."""
    for located in _notifications(t, _LOGGING):
        params = located.message.params if isinstance(located.message.params, dict) else {}
        if params.get("level") not in LEVELS:
            message = f"Set level to one of {', '.join(LEVELS)}."
            yield Violation(message, located.seq, f"{located.pointer}/params/level")
        if "data" not in params:
            message = "Set data to the logged value."
            yield Violation(message, located.seq, f"{located.pointer}/params/data")


@rule(
    "log-requested",
    "Since 2026-07-28, log messages are sent only if the request has a log level.",
    must("MCP 2026-07-28, logging"),
    when=lambda t: bool(_stateless_logs(t)),
)
def log_requested(t: McpTranscript) -> Iterator[RuleIssue]:
    """The level is in `_meta` of the request, as `io.modelcontextprotocol/logLevel`."""
    for located, call in _stateless_logs(t):
        meta = call.sent.params.get("_meta") if call.sent else None
        if not isinstance(meta, Mapping) or _LOG_LEVEL not in meta:
            message = "The request has no log level. Send no log messages."
            yield Violation(message, located.seq, f"{located.pointer}/method")


def _stateless_logs(t: McpTranscript) -> list[tuple[LocatedMessage, RecordedCall]]:
    return [
        (located, call)
        for call in t.calls
        for located in call.messages
        if call.is_stateless
        and located.message.kind is MessageKind.NOTIFICATION
        and located.message.method == _LOGGING
    ]


@rule(
    "notification-known",
    "Notifications are defined by MCP.",
    info("MCP base protocol"),
    when=lambda t: bool(_notifications(t)),
)
def notification_known(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients ignore other notifications."""
    for located in _notifications(t):
        if located.message.method not in _NOTIFICATIONS:
            actual = located.message.method[:60]
            message = f'MCP does not define "{actual}", so clients ignore it.'
            yield Violation(message, located.seq, f"{located.pointer}/method")


@rule(
    "request-modern",
    "Since 2026-07-28, servers send no requests; they return input_required instead.",
    must("MCP 2026-07-28, patterns"),
    when=lambda t: any(call.is_stateless for call in t.calls),
)
def request_modern(t: McpTranscript) -> Iterator[RuleIssue]:
    """Without sessions there is no stream for the client's response."""
    for call in t.calls:
        for located in call.messages if call.is_stateless else ():
            if located.message.kind is MessageKind.REQUEST:
                message = "Return a result with resultType input_required."
                yield Violation(message, located.seq, f"{located.pointer}/method")


RULES = (
    elicitation,
    elicitation_flat,
    input_required,
    progress,
    progress_increasing,
    log,
    log_requested,
    notification_known,
    request_modern,
)
