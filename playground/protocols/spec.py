"""Description of a protocol: one row of `playground.protocols.registry`.

Everything that code outside of a protocol's package needs to know of it. Members with a default
are what a protocol need not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.protocols.calls import HttpCall
from playground.protocols.events import ToolCall
from playground.protocols.exchange import Assembler, Reader, RequestProblem, Target, Version
from playground.protocols.nlweb.documents import AnswerAssembler
from playground.protocols.request_form import FormSection


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
