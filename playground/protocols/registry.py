"""Registry of protocols and bindings.

Two tables, because they are two axes: any protocol over any binding. A new protocol is a
package beside `nlweb` and one row in `PROTOCOLS`; a new binding is a module beside `http`
and one row in `BINDINGS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from playground.protocols import actions, agent_api, http, mcp, nlweb, raw
from playground.protocols.agent_api.documents import ResponseAssembler
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import (
    Assembler,
    Exchange,
    Reader,
    RequestProblem,
    Target,
    Version,
)
from playground.protocols.nlweb.documents import AnswerAssembler

#: The protocol of runs that do an action. Not in the tables: an action's request document is
#: a call already, and names its own binding.
ACTION = "action"

_Row = TypeVar("_Row")


def _no_promises(*_: Any, **__: Any) -> dict[str, Any]:
    raise ValueError("This protocol has no promises.")


def _unchanged(document: Mapping[str, Any], _: Any) -> dict[str, Any]:
    return dict(document)


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """One row of the protocols: everything that is protocol-specific."""

    label: str
    #: Oldest first.
    versions: tuple[Version, ...]
    #: (version, text, streaming) to a request document.
    new_request: Callable[[str, str, bool], dict[str, Any]]
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
    # What a protocol need not have.
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
    #: (bytes of a response: a block, a document or a piece) to the same without leaked keys.
    #: None if no agent is known to leak any.
    mask: Callable[[bytes], bytes] | None = None
    #: (target, document) to its call over HTTP, if that depends on more than the operation;
    #: None for a POST of the document.
    http_call: Callable[[Target, Mapping[str, Any]], HttpCall] | None = None
    #: () to an assembler of the events of one response.
    assembler: Callable[[], Assembler] = AnswerAssembler
    #: Name of a response with its article.
    response_name: str = "an NLWeb response"


PROTOCOLS: Mapping[str, ProtocolSpec] = {
    "nlweb": ProtocolSpec(
        label="NLWeb",
        versions=nlweb.SUPPORTED_VERSIONS,
        new_request=lambda version, text, streaming: nlweb.new_request(
            version, text, streaming=streaming
        ),
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
    ),
    "agent-api": ProtocolSpec(
        label="Agent API",
        versions=agent_api.VERSIONS,
        new_request=lambda version, text, streaming: agent_api.new_request(
            version, text, streaming=streaming
        ),
        validate_request=agent_api.validate_request,
        reader=agent_api.AgentAPIReader,
        operation=agent_api.operation,
        follow_up_document=agent_api.follow_up_document,
        request_text=agent_api.text_of_request,
        query_text=agent_api.text_of_request,
        session_context=agent_api.session_context,
        with_session_context=agent_api.with_session_context,
        wants_stream=agent_api.wants_stream,
        assembler=ResponseAssembler,
        response_name="an Agent API response",
    ),
}


def _over_http(
    spec: ProtocolSpec, target: Target, request: Mapping[str, Any], max_depth: int
) -> Exchange:
    if spec.http_call is not None:
        call = spec.http_call(target, request)
    else:
        streaming = spec.wants_stream(request)
        call = http.post(target, spec.operation(request), request, streaming=streaming)
    reader = spec.reader(target.version)
    return http.HttpExchange(call, reader, max_depth=max_depth, response_name=spec.response_name)


def _over_mcp(
    spec: ProtocolSpec, target: Target, request: Mapping[str, Any], max_depth: int
) -> Exchange:
    return mcp.exchange(
        target,
        spec.operation(request),
        request,
        lambda: spec.reader(target.version),
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
    spec = _row(PROTOCOLS, target.protocol, "protocol")
    binding = _row(BINDINGS, target.binding, "binding")
    if not raw.raw_of(request):
        return binding(spec, target, raw.document_of(request), max_depth)
    operation = spec.operation(request) if target.binding == "http" else ""
    call, reader = raw.http_call(target, request, operation), spec.reader(target.version)
    found = http.HttpExchange(call, reader, max_depth=max_depth, response_name=spec.response_name)
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
    return _row(PROTOCOLS, target.protocol, "protocol").validate_request(request, target.version)


def masker(protocol: str) -> Callable[[bytes], bytes] | None:
    """Return the function that masks leaked keys in the bytes of a response before they are stored.

    None if nothing is known to be masked, as in the response to an action. Raises `ValueError`
    for an unknown protocol.
    """
    if protocol == ACTION:
        return None
    return _row(PROTOCOLS, protocol, "protocol").mask


def assembler(protocol: str) -> Assembler:
    """Return a new assembler of the events of one response; NLWeb's for an unknown protocol."""
    return PROTOCOLS.get(protocol, PROTOCOLS["nlweb"]).assembler()


def versions(protocol: str) -> tuple[Version, ...]:
    """Oldest first. Raises `ValueError` for an unknown protocol."""
    return _row(PROTOCOLS, protocol, "protocol").versions


def known_version(protocol: str, *wanted: str | None) -> str:
    """Return the first of these versions that the protocol has; its newest without any."""
    known = [each.name for each in versions(protocol)]
    return next((name for name in wanted if name and name in known), known[-1])


def version(protocol: str, name: str) -> Version | None:
    """Return a version of a protocol by its name; None if there is none."""
    found = PROTOCOLS.get(protocol)
    return next((each for each in found.versions if each.name == name), None) if found else None


def new_request(
    protocol: str, version: str, text: str, *, streaming: bool = True
) -> dict[str, Any]:
    """Raises `ValueError` for an unknown name."""
    return _row(PROTOCOLS, protocol, "protocol").new_request(version, text, streaming)


def await_request(
    protocol: str,
    version: str,
    request: Mapping[str, Any],
    *,
    token: Any,
    action: str,
    session_context: Mapping[str, Any] | None = None,
    request_id: str = "",
) -> dict[str, Any]:
    """Return the request that polls a promise (`checkin`) or cancels it (`cancel`).

    `request` is the one whose response was the promise; `request_id` replaces the id that it had.
    Raises `ValueError` for an unknown name.
    """
    spec = _row(PROTOCOLS, protocol, "protocol")
    return spec.await_request(
        version,
        request,
        token=token,
        action=action,
        session_context=session_context,
        request_id=request_id,
    )


def follow_up_document(
    protocol: str,
    request: Mapping[str, Any],
    *,
    prev: Sequence[str],
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the document of the turn after `request`, with a new text. Raises like `exchange`.

    `prev` are the queries so far, oldest first; `session_context` is what the agent returned.
    """
    spec = _row(PROTOCOLS, protocol, "protocol")
    return spec.follow_up_document(request, prev=prev, session_context=session_context, text=text)


def omitted_previous(protocol: str, document: Any, prev: Sequence[str]) -> str:
    """Return a sentence about previous queries that a follow-up to `document` omits.

    "" if it omits none, and for an unknown protocol.
    """
    spec = PROTOCOLS.get(protocol)
    return spec.omitted_previous(document, prev) if spec else ""


def with_request_id(protocol: str, document: Mapping[str, Any], request_id: str) -> dict[str, Any]:
    """Return a document with another id of the request, if it has one. Raises like `exchange`."""
    return _row(PROTOCOLS, protocol, "protocol").with_request_id(document, request_id)


def with_version(protocol: str, document: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Raises `ValueError` for an unknown name."""
    return _row(PROTOCOLS, protocol, "protocol").with_version(document, version)


def request_text(protocol: str, request: Mapping[str, Any]) -> str:
    """Return the text of a request, "" if it has none or the protocol is unknown."""
    spec = PROTOCOLS.get(protocol)
    if replaced := raw.raw_of(request):
        return raw.title_of(replaced)
    return spec.request_text(request) if spec else ""


def operation(protocol: str, request: Mapping[str, Any]) -> str:
    """Return the name of a request's operation; an unknown protocol's own name."""
    spec = PROTOCOLS.get(protocol)
    return spec.operation(request) if spec else protocol


def response_name(protocol: str) -> str:
    """Return the name of a response with its article; NLWeb's for an unknown protocol."""
    return PROTOCOLS.get(protocol, PROTOCOLS["nlweb"]).response_name


def query_text(protocol: str, request: Any) -> str:
    """Return the query of a request as later ones repeat it, "" for none or an unknown protocol."""
    spec = PROTOCOLS.get(protocol)
    return spec.query_text(request) if spec and not raw.raw_of(request) else ""


def session_context(protocol: str, request: Any, returned: Mapping[str, Any] | None) -> Any:
    """Return the session context that a following request sends.

    It comes from what was sent and what was returned for it. None for none, and for an unknown
    protocol.
    """
    spec = PROTOCOLS.get(protocol)
    return spec.session_context(request, returned) if spec else None


def with_session_context(
    protocol: str, request: Mapping[str, Any], session_context: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a request with this session context. Raises `ValueError` like `exchange`."""
    return _row(PROTOCOLS, protocol, "protocol").with_session_context(request, session_context)


def _row(table: Mapping[str, _Row], name: str, axis: str) -> _Row:
    if name not in table:
        known = ", ".join(table)
        raise ValueError(f"Unknown {axis} {name!r}. Supported: {known}.")
    return table[name]
