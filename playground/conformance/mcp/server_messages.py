"""Rules on server requests and notifications: elicitation, progress, log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from playground.conformance.mcp.transcript import (
    LocatedMessage,
    McpSelector,
    McpTranscript,
    RecordedCall,
    inside,
    row,
    rule,
)
from playground.conformance.rule import RuleIssue, Violation, info, must
from playground.conformance.shape import (
    MISSING,
    Place,
    Test,
    is_given,
    is_nonempty_text,
    is_number,
    is_object,
    is_string,
    members,
    never,
    one_of,
    present,
    those,
    type_with_article,
)
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


def _received(
    t: McpTranscript, kind: MessageKind, method: str = ""
) -> Iterator[tuple[RecordedCall, LocatedMessage]]:
    """Yield the messages of a kind and a method, "" for any, each with its call."""
    for call in t.calls:
        for located in call.messages:
            if located.message.kind is kind and method in ("", located.message.method):
                yield call, located


# --- elicitation ------------------------------------------------------------------------------


def _entries(select: McpSelector) -> McpSelector:
    """Select the values of the objects among the locations."""
    return lambda t: (
        (seq, f"{pointer}/{escape(key)}", inner)
        for seq, pointer, value in select(t)
        if isinstance(value, dict)
        for key, inner in islice(value.items(), _MAX_FIELDS)
    )


def _input_results(t: McpTranscript) -> Iterator[Place]:
    for located in (located for call in t.calls for located in call.responses):
        result = located.result
        if result.get("resultType") == "input_required" or "inputRequests" in result:
            yield inside(located, "/result", result)


_inputs = _entries(present(_input_results, "inputRequests"))


def _input_methods(t: McpTranscript) -> Iterator[Place]:
    """Select the methods of inputRequests, and the requests themselves that are no objects."""
    for seq, pointer, value in _inputs(t):
        if isinstance(value, dict):
            yield seq, f"{pointer}/method", value.get("method")
        else:
            yield seq, pointer, MISSING


def _elicitations(t: McpTranscript) -> Iterator[Place]:
    """Select the params of every elicitation, in mid-call or in a result."""
    for _, located in _received(t, MessageKind.REQUEST, CREATE):
        yield inside(located, "/params", located.message.params)
    for seq, pointer, value in _inputs(t):
        if isinstance(value, dict) and value.get("method") == CREATE:
            yield seq, f"{pointer}/params", value.get("params")


def elicitation(t: McpTranscript) -> Iterator[RuleIssue]:
    for seq, pointer, params in _elicitations(t):
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


_fields = _entries(present(present(_elicitations, "requestedSchema"), "properties"))


def _is_flat(field: Any) -> bool:
    if not isinstance(field, dict):
        return False
    kind, items = field.get("type"), field.get("items")
    if kind == "array":
        return isinstance(items, dict) and any(name in items for name in ("enum", "anyOf", "oneOf"))
    if kind is None:
        return "enum" in field or "oneOf" in field
    return isinstance(kind, str) and kind in _TYPES


def _requests_nothing(result: Mapping[str, Any]) -> bool:
    return result.get("inputRequests") in (None, {}) and result.get("requestState") is None


def _or_none(test: Test) -> Test:
    return lambda value: value is None or test(value)


# --- notifications ----------------------------------------------------------------------------


def _progress(t: McpTranscript) -> Iterator[tuple[RecordedCall, LocatedMessage, Any]]:
    """Yield the progress notifications, each with its call and its params, empty if no object."""
    for call, located in _received(t, MessageKind.NOTIFICATION, _PROGRESS):
        params = located.message.params
        yield call, located, params if isinstance(params, dict) else {}


def progress(t: McpTranscript) -> Iterator[RuleIssue]:
    for call, located, params in _progress(t):
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
        if call.answer is not None and located.seq > call.answer.seq:
            message = "The call already has its response. Send progress before it."
            yield Violation(message, located.seq, f"{located.pointer}/method")


def progress_increasing(t: McpTranscript) -> Iterator[RuleIssue]:
    highest: dict[str, float] = {}
    for _, located, params in _progress(t):
        token, value = repr(params.get("progressToken")), params.get("progress")
        if not is_number(value):
            continue
        if token in highest and value <= highest[token]:
            message = "progress did not increase. Send a notification only when it does."
            yield Violation(message, located.seq, f"{located.pointer}/params/progress")
        highest[token] = max(value, highest.get(token, value))


def _logs(t: McpTranscript) -> Iterator[tuple[RecordedCall, LocatedMessage]]:
    return _received(t, MessageKind.NOTIFICATION, _LOGGING)


def _log_params(t: McpTranscript) -> Iterator[Place]:
    for _, located in _logs(t):
        params = located.message.params
        yield inside(located, "/params", params if isinstance(params, dict) else {})


def _stateless_logs(t: McpTranscript) -> Iterator[Place]:
    """Select the method of log messages; the value is `_meta` of the request."""
    for call, located in _logs(t):
        if call.is_stateless:
            yield inside(located, "/method", call.sent.params.get("_meta") if call.sent else None)


def _methods(t: McpTranscript) -> Iterator[Place]:
    for _, located in _received(t, MessageKind.NOTIFICATION):
        yield inside(located, "/method", located.message.method)


def _has_log_level(meta: Any) -> bool:
    return isinstance(meta, Mapping) and _LOG_LEVEL in meta


def _stateless_requests(t: McpTranscript) -> Iterator[Place]:
    for call, located in _received(t, MessageKind.REQUEST):
        if call.is_stateless:
            yield inside(located, "/method", located.message.method)


# fmt: off
RULES = (
    rule("elicitation", "Elicitation requests have a message, and an object schema or a URL.",
        must(_ELICITATION), elicitation, when=_elicitations,
        why="A form has requestedSchema. The mode url has url, and elicitationId in a request."),
    row("elicitation-flat", "Requested fields are strings, numbers, booleans or enums.",
        must(_ELICITATION),
        _fields, {_is_flat: "This field is not a primitive type. Use a string, a number, a boolean "
                  "or an enum."},
        why="Objects are not allowed, nor arrays except multiple choices (since 2025-11-25)."),
    row("input-required",
        "input_required results have inputRequests, each of a defined method, or requestState.",
        must("MCP 2026-07-28, elicitation"),
        present(_input_results, "requestState"),
        {_or_none(is_string): "requestState is {actual}; expected a string."},
        (members(_input_results, "resultType"),
         {one_of("input_required"): 'Set resultType to "input_required".'}),
        (present(_input_results, "inputRequests"),
         {_or_none(is_object): "inputRequests is {actual}; expected an object of requests."}),
        (members(those(_input_results, _requests_nothing), "inputRequests"),
         {never: "No input is requested. Add inputRequests or requestState."}),
        (_input_methods,
         {one_of(*_INPUT_METHODS): f"Set method to one of {', '.join(_INPUT_METHODS)}."}),
        when=_input_results,
        why="inputRequests is an object of requests, and requestState a string.\n\n"
        "Only results of tools/call have them."),
    rule("progress", "Progress notifications have the progressToken of the request and a number.",
        must("MCP progress"), progress, when=lambda t: any(_progress(t)),
        why="The members total and message are optional. No progress follows the response."),
    rule("progress-increasing", "Progress increases with every notification.", must("MCP progress"),
        progress_increasing, when=lambda t: len(list(_progress(t))) > 1,
        needs_complete_response=True,
        why="Compared are the notifications with the same progressToken."),
    row("log", "Log messages have a syslog level and data.", must("MCP logging"),
        members(_log_params, "level"),
        {one_of(*LEVELS): f"Set level to one of {', '.join(LEVELS)}."},
        (members(_log_params, "data"), {is_given: "Set data to the logged value."}),
        why="Levels range from debug to emergency."),
    row("log-requested",
        "Since 2026-07-28, log messages are sent only if the request has a log level.",
        must("MCP 2026-07-28, logging"),
        _stateless_logs, {_has_log_level: "The request has no log level. Send no log messages."},
        why=f"The level is in `_meta` of the request, as `{_LOG_LEVEL}`."),
    row("notification-known", "Notifications are defined by MCP.", info("MCP base protocol"),
        _methods, {lambda method: method in _NOTIFICATIONS:
            'MCP does not define "{value}", so clients ignore it.'},
        why="Clients ignore other notifications."),
    row("request-modern",
        "Since 2026-07-28, servers send no requests; they return input_required instead.",
        must("MCP 2026-07-28, patterns"),
        _stateless_requests, {never: "Return a result with resultType input_required."},
        when=lambda t: any(call.is_stateless for call in t.calls),
        why="Without sessions there is no stream for the client's response."),
)
# fmt: on
