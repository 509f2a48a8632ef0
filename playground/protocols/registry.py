"""Which protocols and bindings there are.

Two tables, because they are two axes: any protocol over any binding. A new protocol is a
package beside `nlweb` and one row in `PROTOCOLS`; a new binding is a module beside `http`
and one row in `BINDINGS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from playground.protocols import actions, agent_api, http, mcp, nlweb
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

#: The protocol of runs that do an action. Beside the tables: an action's request document is
#: a call already, and says itself what it travels over.
ACTION = "action"

_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class ProtocolSpec:
    """One row of the protocols: all that a binding and the pages need to know of one."""

    label: str
    #: Oldest first.
    versions: tuple[Version, ...]
    #: (version, text, streaming) to a request document.
    new_request: Callable[[str, str, bool], dict[str, Any]]
    #: (document, version) to what is wrong with it.
    check: Callable[[Any, str], list[RequestProblem]]
    #: (version) to a reader of one reply.
    reader: Callable[[str], Reader]
    #: (document) to the name of what it asks for: the last part of an HTTP address.
    operation: Callable[[Mapping[str, Any]], str]
    #: (version, request, token, action, session_context by name) to a request that asks after
    #: a promise or cancels it.
    await_request: Callable[..., dict[str, Any]]
    #: (document, prev, session_context, text by name) to the document of the turn after it.
    continuation: Callable[..., dict[str, Any]]
    #: (document) to what the user asks in it, in words: for titles and for the search.
    text: Callable[[Mapping[str, Any]], str]
    #: (document) to the question that later requests of the conversation are told of; "" for none.
    query: Callable[[Any], str]
    #: (document, what came back for it or None) to what the conversation goes on with: what is
    #: to be echoed, None for nothing.
    session: Callable[[Any, Mapping[str, Any] | None], Any]
    #: (document, what the conversation goes on with) to the document that gives that back.
    with_session: Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
    #: (document) to whether the reply is wanted as a stream.
    wants_stream: Callable[[Mapping[str, Any]], bool]
    #: (bytes of a reply: a block, a document or a piece) to the same without leaked keys.
    #: None where nobody is known to leak any.
    mask: Callable[[bytes], bytes] | None
    #: (target, document) to the call that carries it over HTTP, where that depends on more
    #: than the operation; None for a POST of the document as it is.
    http_call: Callable[[Target, Mapping[str, Any]], HttpCall] | None = None
    #: () to what puts the events of one reply together into one document.
    assembler: Callable[[], Assembler] = AnswerAssembler
    #: What a reply is called, with its article.
    response_name: str = "an NLWeb reply"


def _no_promises(*_: Any, **__: Any) -> dict[str, Any]:
    raise ValueError("This protocol knows no promises.")


PROTOCOLS: Mapping[str, ProtocolSpec] = {
    "nlweb": ProtocolSpec(
        label="NLWeb",
        versions=nlweb.SPOKEN,
        new_request=lambda version, text, streaming: nlweb.new_request(
            version, text, streaming=streaming
        ),
        check=nlweb.validate_request,
        reader=nlweb.NLWebReader,
        operation=nlweb.operation,
        await_request=nlweb.new_await,
        continuation=nlweb.follow_up_document,
        text=nlweb.text_of_request,
        query=nlweb.query_text,
        session=nlweb.session_context,
        with_session=nlweb.with_session_context,
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
        check=agent_api.validate_request,
        reader=agent_api.AgentAPIReader,
        operation=agent_api.operation,
        await_request=_no_promises,
        continuation=agent_api.follow_up_document,
        text=agent_api.text_of_request,
        query=agent_api.text_of_request,
        session=agent_api.session_context,
        with_session=agent_api.with_session_context,
        wants_stream=agent_api.wants_stream,
        mask=None,
        assembler=ResponseAssembler,
        response_name="an Agent API response",
    ),
}


def _over_http(
    language: ProtocolSpec, target: Target, request: Mapping[str, Any], max_depth: int
) -> Exchange:
    if language.http_call is not None:
        call = language.http_call(target, request)
    else:
        streaming = language.wants_stream(request)
        call = http.post(target, language.operation(request), request, streaming=streaming)
    reader = language.reader(target.version)
    return http.HttpExchange(
        call, reader, max_depth=max_depth, response_name=language.response_name
    )


def _over_mcp(
    language: ProtocolSpec, target: Target, request: Mapping[str, Any], max_depth: int
) -> Exchange:
    return mcp.exchange(
        target,
        language.operation(request),
        request,
        lambda: language.reader(target.version),
        max_depth=max_depth,
    )


Binding = Callable[[ProtocolSpec, Target, Mapping[str, Any], int], Exchange]

BINDINGS: Mapping[str, Binding] = {"http": _over_http, "mcp": _over_mcp}


def exchange(target: Target, request: Mapping[str, Any], *, max_depth: int = 100) -> Exchange:
    """The exchange that sends `request` to `target` and reads the reply.

    `max_depth` is the nesting of JSON that is still read. Raises `ValueError` for a protocol,
    binding or version that is not in the tables, and for an action that cannot be sent.
    """
    if target.protocol == ACTION:
        return actions.exchange(target, request, max_depth)
    language = _row(PROTOCOLS, target.protocol, "protocol")
    return _row(BINDINGS, target.binding, "binding")(language, target, request, max_depth)


def preview(target: Target, request: Mapping[str, Any]) -> HttpCall | None:
    """The call that carries `request`, without what a binding may have to say before it.

    Raises as `exchange`. None where there is nothing to send.
    """
    return first_calls(target, request)[1]


def first_calls(
    target: Target, request: Mapping[str, Any]
) -> tuple[HttpCall | None, HttpCall | None]:
    """The call that is made first, and the one that carries `request`: see `preview`.

    Both are the same where a binding has nothing to say before it.
    """
    found = exchange(target, request)
    first = found.next_call()
    return first, found.tool_call() if isinstance(found, mcp.McpExchange) else first


def validate_request(target: Target, request: Any) -> list[RequestProblem]:
    """What is wrong with `request` for this target, errors first. Raises as `exchange`.

    Of an action's request nothing is: what speaks against it, its plan has said.
    """
    if target.protocol == ACTION:
        return []
    return _row(PROTOCOLS, target.protocol, "protocol").check(request, target.version)


def masker(protocol: str) -> Callable[[bytes], bytes] | None:
    """What makes the bytes of a reply fit to be stored: keys sent by mistake are masked.

    None where nothing is known to be masked: the reply to an action is nobody's protocol.
    Raises `ValueError` for an unknown protocol.
    """
    if protocol == ACTION:
        return None
    return _row(PROTOCOLS, protocol, "protocol").mask


def assembler(protocol: str) -> Assembler:
    """What puts the events of one reply together; of an unknown protocol, as NLWeb's."""
    return PROTOCOLS.get(protocol, PROTOCOLS["nlweb"]).assembler()


def versions(protocol: str) -> tuple[Version, ...]:
    """The versions of a protocol, oldest first. Raises `ValueError` for an unknown one."""
    return _row(PROTOCOLS, protocol, "protocol").versions


def new_request(
    protocol: str, version: str, text: str, *, streaming: bool = True
) -> dict[str, Any]:
    """A request document with this text. Raises `ValueError` for an unknown name."""
    return _row(PROTOCOLS, protocol, "protocol").new_request(version, text, streaming)


def await_request(
    protocol: str,
    version: str,
    request: Mapping[str, Any],
    *,
    token: Any,
    action: str,
    session_context: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The request that asks after a promise (`checkin`) or calls it off (`cancel`).

    `request` is the one that was answered with the promise. Raises `ValueError` for an
    unknown name.
    """
    language = _row(PROTOCOLS, protocol, "protocol")
    return language.await_request(
        version, request, token=token, action=action, session_context=session_context
    )


def follow_up_document(
    protocol: str,
    request: Mapping[str, Any],
    *,
    prev: Sequence[str],
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """The document of the turn after `request`, with a new text. Raises as `exchange`.

    `prev` is what was asked so far, oldest first; `session_context` is what goes back to the
    agent of what it returned.
    """
    language = _row(PROTOCOLS, protocol, "protocol")
    return language.continuation(request, prev=prev, session_context=session_context, text=text)


def request_text(protocol: str, request: Mapping[str, Any]) -> str:
    """What the user asks in a request, "" where it has no words or the protocol is unknown."""
    language = PROTOCOLS.get(protocol)
    return language.text(request) if language else ""


def operation(protocol: str, request: Mapping[str, Any]) -> str:
    """The name of what a request asks for, as rules know it; an unknown protocol's own name."""
    language = PROTOCOLS.get(protocol)
    return language.operation(request) if language else protocol


def response_name(protocol: str) -> str:
    """What a reply of this protocol is called, with its article; an unknown one's is NLWeb's."""
    return PROTOCOLS.get(protocol, PROTOCOLS["nlweb"]).response_name


def query_text(protocol: str, request: Any) -> str:
    """The question of a request as later ones repeat it, "" for none or an unknown protocol."""
    language = PROTOCOLS.get(protocol)
    return language.query(request) if language else ""


def session_context(protocol: str, request: Any, returned: Mapping[str, Any] | None) -> Any:
    """What a request that follows echoes: of what was sent, and of what came back for it.

    None for nothing, and for an unknown protocol.
    """
    language = PROTOCOLS.get(protocol)
    return language.session(request, returned) if language else None


def with_session_context(
    protocol: str, request: Mapping[str, Any], session_context: Mapping[str, Any]
) -> dict[str, Any]:
    """A request as it is, and with what `session_of` gave. Raises `ValueError` as `exchange`."""
    return _row(PROTOCOLS, protocol, "protocol").with_session(request, session_context)


def _row(table: Mapping[str, _Row], name: str, axis: str) -> _Row:
    if name not in table:
        known = ", ".join(table)
        raise ValueError(f"There is no {axis} {name!r}; known are {known}.")
    return table[name]
