"""Registry of protocols and bindings.

Two tables, because they are two axes: any protocol over any binding. A new protocol is a
package beside `nlweb` and one row in `PROTOCOLS`; a new binding is a module beside `http`
and one row in `BINDINGS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from playground.protocols import actions, agent_api, http, mcp, nlweb, raw
from playground.protocols.calls import HttpCall
from playground.protocols.chat_completions import requests as chat
from playground.protocols.chat_completions.documents import (
    ResponseAssembler as CompletionAssembler,
)
from playground.protocols.chat_completions.reader import ChatCompletionsReader
from playground.protocols.chat_completions.reader import is_message as is_completion
from playground.protocols.exchange import Exchange, RequestProblem, Target, Version
from playground.protocols.spec import Operation, ProtocolSpec

#: The protocol of runs that do an action. Not in the tables: an action's request document is
#: a call already, and names its own binding.
ACTION = "action"

_Row = TypeVar("_Row")

PROTOCOLS: Mapping[str, ProtocolSpec] = {
    "nlweb": ProtocolSpec(
        label="NLWeb",
        versions=nlweb.SUPPORTED_VERSIONS,
        bindings=("http", "mcp"),
        operations=(
            Operation(
                name="ask",
                schema="ask-request",
                text="/query/text",
                missing="Enter a query: query.text is required.",
                hint="Send a query",
            ),
            Operation(
                name="await",
                schema="await-request",
                text="/promise_token",
                missing="Enter a promise token: promise_token is required.",
                title="/action",
                hint="Check on a promise, or cancel it",
                new_request=nlweb.new_checkin,
            ),
        ),
        new_request=nlweb.new_request,
        validate_request=nlweb.validate_request,
        reader=nlweb.NLWebReader,
        operation=nlweb.operation,
        await_request=nlweb.new_await,
        follow_up_document=nlweb.follow_up_document,
        omitted_previous=nlweb.omitted_previous,
        with_request_id=nlweb.with_request_id,
        with_version=nlweb.with_version,
        request_text=nlweb.text_of_request,
        query_text=nlweb.query_text,
        session_context=nlweb.session_context,
        with_session_context=nlweb.with_session_context,
        wants_stream=nlweb.wants_stream,
        mask=nlweb.mask_block,
        http_call=nlweb.http_call,
        response_name="an NLWeb response",
        agent_name="an NLWeb agent",
        about="Questions in natural language. The response is one document or a stream of events: "
        "results, questions to the user, a promise or a failure.",
        form=lambda: nlweb.FORM,
        url_help={
            "http": "Base URL, or full URL ending in /ask.",
            "mcp": "URL of the MCP endpoint, often ending in /mcp.",
        },
        has_results=True,
        last_event="complete",
        defines_errors=True,
        explained={
            "error": "failure#/error",
            "code": "failure#/error/code",
            "sent": "request-meta#/session_context",
            "returned": "response-meta#/session_context",
            "query": "ask-request#/query/text",
            "previous": "ask-request#/context/prev",
        },
        carried=("/context/prev", "/meta/session_context"),
        previous="/context/prev",
        session_name="session context",
        session_note="An agent can return a session context, which the next request sends back "
        "so that the agent knows the conversation so far. No turn of this conversation has "
        "returned one.",
        demo_agents={"0.54": "demo", "0.55": "demo"},
        starts=("ask-request", "answer", "event-result", "elicitation", "promise", "action"),
    ),
    "agent-api": ProtocolSpec(
        label="Agent API",
        versions=agent_api.VERSIONS,
        operations=(
            Operation(
                name="process",
                schema="request",
                text="/input",
                missing="Enter a message: a request needs one.",
            ),
        ),
        new_request=agent_api.new_request,
        validate_request=agent_api.validate_request,
        reader=agent_api.AgentAPIReader,
        assembler=agent_api.ResponseAssembler,
        operation=agent_api.operation,
        follow_up_document=agent_api.follow_up_document,
        request_text=agent_api.text_of_request,
        query_text=agent_api.text_of_request,
        session_context=agent_api.session_context,
        with_session_context=agent_api.with_session_context,
        output_message=agent_api.output_message,
        with_messages=agent_api.with_input,
        with_own_ids=agent_api.with_own_ids,
        wants_stream=agent_api.wants_stream,
        is_request=lambda document: "input" in document and "query" not in document,
        response_name="an Agent API response",
        agent_name="an Agent API agent",
        about="Messages to an agent. The response consists of messages, whose contents grow "
        "while it is streamed.",
        form=agent_api.form,
        url_help={"http": "Full URL that requests are posted to, often ending in /process."},
        explained={"error": "error#", "code": "error#/code"},
        carried=("/session_id", "/response_id"),
        previous_note="Not sent: the agent keeps them in its session.",
        session_name="session",
        session_note="An agent can return a session id and a response id, which the next request "
        "refers to. No turn of this conversation has returned one.",
        demo_agents={"1": "demo-agent-api"},
    ),
    "chat-completions": ProtocolSpec(
        label="Chat Completions",
        versions=chat.VERSIONS,
        operations=(
            Operation(
                name="completions",
                schema="request",
                text="/messages",
                missing="Enter a message: a request needs one.",
            ),
        ),
        new_request=chat.new_request,
        validate_request=chat.validate_request,
        reader=ChatCompletionsReader,
        assembler=CompletionAssembler,
        operation=lambda document: "",
        follow_up_document=chat.follow_up_document,
        request_text=chat.text_of_request,
        query_text=chat.query_text,
        session_context=chat.session_context,
        with_session_context=chat.with_session_context,
        output_message=chat.output_message,
        with_messages=chat.with_messages,
        wants_stream=chat.wants_stream,
        is_request=chat.is_request,
        is_message=is_completion,
        response_name="a chat completion",
        agent_name="a Chat Completions server",
        about="Messages to a language model, with the whole conversation in each request. The "
        "response is the next message, whose text grows while it is streamed.",
        url_help={"http": "Full URL, often ending in /v1/chat/completions."},
        last_event="[DONE]",
        explained={"error": "error#/error", "code": "error#/error/code"},
        carried=("/messages",),
        previous_note="Sent as messages: the server keeps none.",
        session_name="conversation",
        session_note="A server keeps no conversation, so each request repeats the messages so "
        "far. No turn of this conversation has returned one.",
        demo_agents={"1": "demo-chat-completions"},
    ),
}
#: The protocol of what names none.
DEFAULT = next(iter(PROTOCOLS))
#: The row of protocols that are not in the table, and of actions: the words of the default, but
#: nothing is read in their documents or masked in their responses.
UNKNOWN = replace(
    PROTOCOLS[DEFAULT],
    omitted_previous=lambda document, prev: "",
    with_request_id=lambda document, request_id: dict(document),
    session_context=lambda document, returned: None,
    mask=None,
)


def _over_http(
    row: ProtocolSpec, target: Target, request: Mapping[str, Any], max_depth: int
) -> Exchange:
    if row.http_call is not None:
        call = row.http_call(target, request)
    else:
        streaming = row.wants_stream(request)
        call = http.post(target, row.operation(request), request, streaming=streaming)
    reader = row.reader(target.version)
    return http.HttpExchange(call, reader, max_depth=max_depth, response_name=row.response_name)


def _over_mcp(
    row: ProtocolSpec, target: Target, request: Mapping[str, Any], max_depth: int
) -> Exchange:
    return mcp.exchange(
        target,
        row.operation(request),
        request,
        lambda: row.reader(target.version),
        max_depth=max_depth,
    )


Binding = Callable[[ProtocolSpec, Target, Mapping[str, Any], int], Exchange]

BINDINGS: Mapping[str, Binding] = {"http": _over_http, "mcp": _over_mcp}


def exchange(target: Target, request: Mapping[str, Any], *, max_depth: int = 100) -> Exchange:
    """Return the exchange that sends `request` to `target` and reads the response.

    `max_depth` is the deepest nesting of JSON that is read. Raises `ValueError` for a protocol,
    binding or version that is not in the tables, and for an action that cannot be sent.
    """
    if target.protocol == ACTION:
        return actions.exchange(target, request, max_depth)
    row = of(target.protocol)
    binding = _row(BINDINGS, target.binding, "binding")
    if not raw.raw_of(request):
        return binding(row, target, raw.document_of(request), max_depth)
    operation = row.operation(request) if target.binding == "http" else ""
    call, reader = raw.http_call(target, request, operation), row.reader(target.version)
    found = http.HttpExchange(call, reader, max_depth=max_depth, response_name=row.response_name)
    found.may_be_empty = True
    return found


def preview(target: Target, request: Mapping[str, Any]) -> HttpCall | None:
    """Return the call with `request`, without the handshake that a binding may make before it.

    Raises like `exchange`. None if there is nothing to send.
    """
    return first_calls(target, request)[1]


def first_calls(
    target: Target, request: Mapping[str, Any]
) -> tuple[HttpCall | None, HttpCall | None]:
    """Return the first call, and the call with `request`: see `preview`.

    Both are the same if the binding has no handshake.
    """
    found = exchange(target, request)
    first = found.next_call()
    return first, found.tool_call() if isinstance(found, mcp.McpExchange) else first


def validate_request(target: Target, request: Any) -> list[RequestProblem]:
    """Return the validation problems of `request` for this target, errors first.

    Raises like `exchange`. An action's request has none: its plan has the errors.
    """
    if target.protocol == ACTION:
        return []
    if raw.raw_of(request) is not None:
        return raw.problems_of(request)
    return of(target.protocol).validate_request(request, target.version)


def of(protocol: str) -> ProtocolSpec:
    """Return the row of a protocol. Raises `ValueError` for an unknown one, and for actions."""
    return _row(PROTOCOLS, protocol, "protocol")


def spec(protocol: str) -> ProtocolSpec:
    """Return the row of a protocol; for an unknown one, and for actions, `UNKNOWN`."""
    return PROTOCOLS.get(protocol, UNKNOWN)


def known(protocol: Any) -> str:
    """Return the name of a protocol; the default for an unknown one."""
    return protocol if protocol in [*PROTOCOLS] else DEFAULT


def has_binding(protocol: str, binding: str) -> bool:
    """Return whether requests of a protocol can be sent over a binding; no for an unknown one."""
    row = PROTOCOLS.get(protocol)
    return row is not None and binding in row.bindings


def choices() -> list[tuple[str, str]]:
    """Return the names of the protocols with their labels, for the columns of models."""
    return [(name, row.label) for name, row in PROTOCOLS.items()]


def known_version(protocol: str, *wanted: str | None) -> str:
    """Return the first of these versions that the protocol has; its newest without any.

    An unknown protocol has those of the default.
    """
    known = [each.name for each in spec(protocol).versions]
    return next((name for name in wanted if name and name in known), known[-1])


def version(protocol: str, name: str) -> Version | None:
    """Return a version of a protocol by its name; None if there is none."""
    found = PROTOCOLS.get(protocol)
    return next((each for each in found.versions if each.name == name), None) if found else None


def request_text(protocol: str, request: Mapping[str, Any]) -> str:
    """Return the text of a request, "" if it has none or the protocol is unknown."""
    row = PROTOCOLS.get(protocol)
    if replaced := raw.raw_of(request):
        return raw.title_of(replaced)
    return row.request_text(request) if row else ""


def schema_of_request(protocol: str, document: Any) -> str:
    """Return the name of the schema of a request."""
    row = PROTOCOLS.get(protocol)
    return row.operation_of(document).schema if row else "request"


def query_text(protocol: str, request: Any) -> str:
    """Return the query of a request as later ones repeat it, "" for none or an unknown protocol."""
    row = PROTOCOLS.get(protocol)
    return row.query_text(request) if row and not raw.raw_of(request) else ""


def _row(table: Mapping[str, _Row], name: str, axis: str) -> _Row:
    if name not in table:
        known = ", ".join(table)
        raise ValueError(f"Unknown {axis} {name!r}. Supported: {known}.")
    return table[name]
