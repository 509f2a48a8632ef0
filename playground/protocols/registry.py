"""Registry of protocols and bindings.

Two tables, because they are two axes: any protocol over any binding. A new protocol is a
package beside `nlweb` and one row in `PROTOCOLS`; a new binding is a module beside `http`
and one row in `BINDINGS`. A row is everything that code outside of a protocol's package needs to
know of it; its members with a default are what a protocol need not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from playground.protocols import http, mcp, raw
from playground.protocols.agent_api import form as agent_api_form
from playground.protocols.agent_api import requests as agent_api
from playground.protocols.agent_api.reader import AgentAPIReader, ResponseAssembler
from playground.protocols.calls import HttpCall
from playground.protocols.chat_completions import reader as chat_reader
from playground.protocols.chat_completions import requests as chat
from playground.protocols.events import ToolCall
from playground.protocols.exchange import (
    Assembler,
    Exchange,
    Reader,
    RequestProblem,
    Target,
    Version,
)
from playground.protocols.nlweb import form as nlweb_form
from playground.protocols.nlweb import requests as nlweb
from playground.protocols.nlweb.legacy import mask_block
from playground.protocols.nlweb.reader import AnswerAssembler, NLWebReader
from playground.protocols.nlweb.versions import SUPPORTED_VERSIONS
from playground.protocols.request_form import FormSection

#: The protocol of runs that do an action. Not in the tables: an action's request document is
#: a call already, and names its own binding.
ACTION = "action"

_Row = TypeVar("_Row")


def _no_tools(*_: Any) -> dict[str, Any]:
    raise ValueError("This protocol has no calls of functions.")


def _no_promises(*_: Any, **__: Any) -> dict[str, Any]:
    raise ValueError("This protocol has no promises.")


def _unchanged(document: Mapping[str, Any], _: Any) -> dict[str, Any]:
    return dict(document)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a protocol, as the composer shows it."""

    #: The label of its button, if there is more than one.
    name: str
    #: The name of the JSON Schema of its requests.
    schema: str
    #: JSON Pointer to what a request must have: a text, or a list of messages.
    text: str
    #: A sentence that says so.
    missing: str
    #: JSON Pointer to the member that names the request; "" for its text.
    title: str = ""
    #: The tooltip of its button.
    hint: str = ""
    #: (version) to a first request; None for `ProtocolSpec.new_request`.
    new_request: Callable[[str], dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """One row of the protocols: everything that is protocol-specific."""

    label: str
    #: Oldest first.
    versions: tuple[Version, ...]
    #: The first one is that of a document of which nothing else is known.
    operations: tuple[Operation, ...]
    #: (version, text, streaming by name) to a request document.
    new_request: Callable[..., dict[str, Any]]
    #: (document, version) to validation problems.
    validate_request: Callable[[Any, str], list[RequestProblem]]
    #: (version) to a reader of one response.
    reader: Callable[[str], Reader]
    #: (document) to the name of its operation: the last part of an HTTP URL.
    operation: Callable[[Mapping[str, Any]], str]
    #: (document, prev, session_context, text by name) to the document of the next turn.
    follow_up_document: Callable[..., dict[str, Any]]
    #: (document) to its text: for titles and for the search.
    request_text: Callable[[Mapping[str, Any]], str]
    #: (document) to the query that later requests of the conversation repeat, "" for none.
    query_text: Callable[[Any], str]
    #: (document) to whether the response is requested as a stream.
    wants_stream: Callable[[Mapping[str, Any]], bool]
    #: Name of a response with its article.
    response_name: str
    #: Name of an agent with its article.
    agent_name: str

    # What a protocol need not have.

    #: () to an assembler of the events of one response.
    assembler: Callable[[], Assembler] = AnswerAssembler
    #: The bindings that requests can be sent over, the default first.
    bindings: tuple[str, ...] = ("http",)
    #: (version, request, token, action, session_context, request_id by name) to a request that
    #: polls a promise or cancels it.
    await_request: Callable[..., dict[str, Any]] = _no_promises
    #: (document, prev) to a sentence about previous queries that a follow-up to the document
    #: omits, "" for none.
    omitted_previous: Callable[[Any, Sequence[str]], str] = lambda document, prev: ""
    #: (document, id) to the document with another id of the request, if it has one.
    with_request_id: Callable[[Mapping[str, Any], str], dict[str, Any]] = _unchanged
    #: (document, version) to the document in that version.
    with_version: Callable[[Mapping[str, Any], str], dict[str, Any]] = _unchanged
    #: (document, session context returned for it or None) to the session context that the next
    #: request sends, None for none.
    session_context: Callable[[Any, Mapping[str, Any] | None], Any] = lambda document, context: None
    #: (document, session context) to the document with that session context.
    with_session_context: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]] = (
        _unchanged
    )
    #: (call of a function, its output) to the message with the output.
    output_message: Callable[[ToolCall, str], dict[str, Any]] = _no_tools
    #: (document, messages, session context or None) to the document of the next turn with these
    #: messages: the outputs of all calls of a turn.
    with_messages: Callable[..., dict[str, Any]] = _no_tools
    #: (document, id, whether a user id as well by name `with_user`) to a first request with ids of
    #: its own; None if requests have none.
    with_own_ids: Callable[..., dict[str, Any]] | None = None
    #: (bytes of a response: a block, a document or a piece) to the same without leaked keys.
    #: None if no agent is known to leak any.
    mask: Callable[[bytes], bytes] | None = None
    #: (target, document) to its call over HTTP, if that depends on more than the operation;
    #: None for a POST of the document.
    http_call: Callable[[Target, Mapping[str, Any]], HttpCall] | None = None
    #: (document) to whether a body of an unknown protocol is a request of this one.
    is_request: Callable[[Mapping[str, Any]], bool] = lambda document: False
    #: (event name or None, payload, whether it was streamed) to whether a message is one of this
    #: protocol: with it, the doctor looks for its agents. None for a protocol of which the doctor
    #: has its own kind.
    is_message: Callable[[str | None, Any, bool], bool] | None = None

    # Pages

    #: What its agents are, on the pages of the reference.
    about: str = ""
    #: () to the sections of the composer's form; None for those of the schema of its requests.
    form: Callable[[], tuple[FormSection, ...]] | None = None
    #: What an agent's form says about its URL, by binding.
    url_help: Mapping[str, str] = field(default_factory=dict)
    #: Whether a response has results. Otherwise its messages are counted.
    has_results: bool = False
    #: The event that ends a stream, so that one without that may be incomplete; "" for none.
    last_event: str = ""
    #: Whether the protocol defines the codes of errors.
    defines_errors: bool = False
    #: The places of the reference that explain parts of pages: `error` and `code` of a failure,
    #: `sent` and `returned` session context, the `query` and `previous` ones.
    explained: Mapping[str, str] = field(default_factory=dict)
    #: JSON Pointers to what a follow-up adds to a request, which a new conversation removes.
    carried: tuple[str, ...] = ()
    #: JSON Pointer to the previous queries in a request, "" if they are not sent.
    previous: str = ""
    #: Why they are not sent, or how instead, as a sentence.
    previous_note: str = "Not sent."
    #: The name of what an agent returns for the next request, and a text for a conversation in
    #: which none did.
    session_name: str = "session"
    session_note: str = "The protocol has no sessions."
    #: Version to the slug of the agent of the playground that a request can be tried with.
    demo_agents: Mapping[str, str] = field(default_factory=dict)
    #: The schemas to begin with, on the pages of the reference.
    starts: tuple[str, ...] = ()

    @property
    def has_versions(self) -> bool:
        """Return whether there are versions to choose from; the only one is not named on pages."""
        return len(self.versions) > 1

    @property
    def previous_member(self) -> str:
        """Return the path of the previous queries in a request: `context.prev`."""
        return self.previous.strip("/").replace("/", ".")

    def operation_of(self, document: Any) -> Operation:
        """Return the operation of a request: the first one whose member the document has."""
        members = document if isinstance(document, Mapping) else {}
        found = (each for each in self.operations if each.text.split("/")[1] in members)
        return next(found, self.operations[0])


PROTOCOLS: Mapping[str, ProtocolSpec] = {
    "nlweb": ProtocolSpec(
        label="NLWeb",
        versions=SUPPORTED_VERSIONS,
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
        reader=NLWebReader,
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
        mask=mask_block,
        http_call=nlweb.http_call,
        response_name="an NLWeb response",
        agent_name="an NLWeb agent",
        about="Questions in natural language. The response is one document or a stream of events: "
        "results, questions to the user, a promise or a failure.",
        form=lambda: nlweb_form.FORM,
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
        reader=AgentAPIReader,
        assembler=ResponseAssembler,
        operation=lambda document: "",
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
        form=agent_api_form.form,
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
        reader=chat_reader.ChatCompletionsReader,
        assembler=chat_reader.ResponseAssembler,
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
        is_message=chat_reader.is_message,
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
#: The row of protocols that are not in the table, and of actions: that of the default, but without
#: its session context, request ids, note on previous queries, and masking.
UNKNOWN = replace(
    PROTOCOLS[DEFAULT],
    omitted_previous=lambda document, prev: "",
    with_request_id=_unchanged,
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
        from playground.protocols.actions import bindings  # Few runs are actions.

        return bindings.exchange(target, request, max_depth)
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
