"""Actions over HTTP: the call of an action (NLWeb 0.55 section 5).

The specification has `params` and does not say how they are sent. Here they are sent in the query
string for methods without a body (GET, HEAD, DELETE), and as the JSON body otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

from playground.protocols import error_documents, json_decoder, sse, unreadable
from playground.protocols import headers as rules
from playground.protocols.actions.extract import HTTP, Action, attribute
from playground.protocols.actions.plans import (
    FORBIDDEN_IN_URL,
    UNSET,
    ActionPlan,
    Headers,
    ServerInfo,
    Unset,
    url_error,
)
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Failure, Note, Outcome, Result, Text, Unknown
from playground.protocols.exchange import Reader, Target
from playground.protocols.frames import Frame
from playground.protocols.http import (
    REASON_PHRASES,
    USER_AGENT,
    HttpExchange,
    encode,
    merge_headers,
    operation_url,
)

_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})
#: Methods that concern the connection, not a resource.
_REFUSED_METHODS = frozenset({"CONNECT", "TRACE"})
#: An action most likely responds with JSON; any other type is read as well.
_ACCEPT = "application/json, text/event-stream;q=0.9, */*;q=0.5"


def plan(
    action: Action, agent_url: str, params: Any | Unset, headers: Headers, _server: ServerInfo
) -> ActionPlan:
    """See `playground.protocols.actions.bindings.plan`."""
    raw: Mapping[str, Any] = action.raw
    params = raw.get("params") if params is UNSET else params
    method, method_error = _method(raw.get("method"), params)
    endpoint = _resolve(attribute(action, "endpoint"), agent_url)
    in_query = method in _WITHOUT_BODY
    params_in = "" if params is None else "query" if in_query else "body"
    url, params_error = _with_query(endpoint, params if params_in == "query" else None)
    own, header_errors = _headers(raw.get("headers"))
    request: dict[str, Any] = {
        "action": action.name,
        "protocol": HTTP,
        "method": method,
        "url": url,
        "headers": [list(pair) for pair in own],
    }
    if params_in == "body":
        request["body"] = params
    found = (method_error, endpoint.error, params_error, *header_errors)
    errors = (*filter(None, found), *_header_errors(headers))
    inferred = {"method": _is_missing(raw.get("method")), "url": endpoint.is_relative}
    call = call_of(request, headers)
    return ActionPlan(
        protocol=HTTP,
        method=method,
        url=url,
        headers=call.headers,
        params=params,
        body=call.body,
        request=request,
        inferred=action.inferred | {part for part, is_inferred in inferred.items() if is_inferred},
        errors=errors,
        credentials=tuple(name for name, _ in own if rules.is_credential(name)),
        params_in=params_in,
        sendable=not errors,
    )


def exchange(target: Target, request: Mapping[str, Any], max_depth: int) -> ActionExchange:
    """Return the exchange that makes the call of a request document."""
    return ActionExchange(call_of(request, target.headers), max_depth=max_depth)


def call_of(request: Mapping[str, Any], headers: Headers) -> HttpCall:
    """Return the call of a request document, with the user's own headers.

    They replace the action's of the same name, and both replace the defaults.
    """
    body = encode(request["body"]) if "body" in request else b""
    defaults = [("Accept", _ACCEPT), ("User-Agent", USER_AGENT)]
    if "body" in request:
        defaults.insert(0, ("Content-Type", "application/json"))
    own = merge_headers([(name, value) for name, value in request["headers"]], headers)
    return HttpCall(request["method"], request["url"], merge_headers(defaults, own), body)


def error(request: Mapping[str, Any]) -> str | None:
    """Return why a document is not the request of an action that can be sent; None if it is."""
    if not _is_complete(request):
        return "This is not a request of an HTTP action."
    return (
        _method_error(request["method"])
        or url_error(request["url"])
        or next(_header_errors(request["headers"]), None)
    )


def _is_complete(request: Mapping[str, Any]) -> bool:
    headers = request.get("headers")
    return (
        isinstance(request.get("method"), str)
        and isinstance(request.get("url"), str)
        and isinstance(headers, list)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in headers)
        and all(isinstance(part, str) for pair in headers for part in pair)
    )


class _Endpoint(NamedTuple):
    """An endpoint, resolved."""

    #: The URL without its fragment; the agent's text if it cannot be called.
    url: str
    #: Whether the agent gave a relative reference.
    is_relative: bool = False
    #: Why it cannot be called, as a sentence.
    error: str | None = None


def _resolve(endpoint: Any, agent_url: str) -> _Endpoint:
    """Return the URL of an endpoint; a relative one is resolved against the agent's `ask` URL."""
    if endpoint is None:
        return _Endpoint("", error="The action has no endpoint.")
    if not isinstance(endpoint, str):
        return _Endpoint("", error="The endpoint of the action is not a string.")
    endpoint = endpoint.strip()
    if not endpoint:
        return _Endpoint("", error="The endpoint of the action is empty.")
    if FORBIDDEN_IN_URL.search(endpoint):
        return _Endpoint(endpoint, error=url_error(endpoint))
    try:
        is_relative = not urlsplit(endpoint).scheme
        url = urljoin(operation_url(agent_url, "ask"), endpoint) if is_relative else endpoint
        if error := url_error(url):
            return _Endpoint(endpoint, is_relative, error)
        return _Endpoint(urlunsplit(urlsplit(url)._replace(fragment="")), is_relative)
    except ValueError:
        return _Endpoint(endpoint, error="The endpoint is not a valid URL.")


def _is_missing(method: Any) -> bool:
    return not isinstance(method, str) or not method.strip()


def _method(value: Any, params: Any) -> tuple[str, str | None]:
    """Return the method in capitals, inferred if missing, and why it cannot be sent."""
    if _is_missing(value):
        return ("GET" if params is None or params == {} else "POST"), None
    method: str = value.strip().upper()
    return method, _method_error(method)


def _method_error(method: str) -> str | None:
    if not rules.is_token(method):
        return f"“{method[:60]}” is not a valid HTTP method."
    if method in _REFUSED_METHODS:
        return f"{method} applies to the connection and is not allowed for actions."
    return None


def _with_query(endpoint: _Endpoint, params: Any) -> tuple[str, str | None]:
    """Return the URL with the parameters appended to its query, and why it cannot be called."""
    if params is None or endpoint.error:
        return endpoint.url, None
    if not isinstance(params, Mapping):
        error = "Parameters in a query string must be a JSON object."
        return endpoint.url, error
    parts = urlsplit(endpoint.url)
    added = urlencode(list(_pairs(params)), errors="replace")
    query = "&".join(filter(None, (parts.query, added)))
    url = urlunsplit(parts._replace(query=query))
    return url, url_error(url)


def _pairs(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield parameters for a query string: lists repeat the name, null is omitted."""
    for name, value in params.items():
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                yield name, each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)


def _headers(value: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the action's headers that can be sent, and why the others cannot."""
    if value is None:
        return [], []
    if not isinstance(value, Mapping):
        return [], ["The headers of the action are not an object."]
    found: list[tuple[str, str]] = []
    errors: list[str] = []
    for name, text in value.items():
        if not isinstance(text, str):
            errors.append(f"The value of header {name[:60]} is not a string.")
        elif error := rules.header_error(name.strip(), text.strip()):
            errors.append(error)
        else:
            found.append((name.strip(), text.strip()))
    return found, errors


def _header_errors(headers: Headers) -> Iterator[str]:
    for name, value in headers:
        if error := rules.header_error(name, value):
            yield error


# --- the response -----------------------------------------------------------------------------
#
# No specification says what it must be, so any is read. A JSON document is a result, and so is each
# JSON message of a stream; anything else is text. The status says whether the action failed.


class ActionReader(Reader):
    """Reader of JSON as results and of everything else as text."""

    def __init__(self) -> None:
        self._outcome = Outcome.NONE

    def document(self, seq: int, payload: Any) -> list[Event]:
        self._outcome = Outcome.ANSWER
        return [Result(seq, payload)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return a stream message as a result or as text."""
        if not data or data.isspace():
            return [Note(seq, name or "message")]
        if failure := error_documents.of_event(seq, name, data):
            self._outcome = Outcome.FAILURE
            return [failure]
        self._outcome = Outcome.ANSWER
        try:
            return [Result(seq, json_decoder.decode(data))]
        except (ValueError, RecursionError):
            return [Text(seq, data, raw=data)]

    def end(self) -> None:
        """Set the outcome: a complete response is an answer, even an empty one."""
        if self._outcome is Outcome.NONE:
            self._outcome = Outcome.ANSWER

    @property
    def outcome(self) -> Outcome:
        """An answer as soon as anything is received."""
        return self._outcome


class ActionExchange(HttpExchange):
    """Exchange of one call of an action and its response."""

    def __init__(self, call: HttpCall, *, max_depth: int) -> None:
        super().__init__(call, ActionReader(), max_depth=max_depth)

    @property
    def outcome(self) -> Outcome:
        """Failure or answer by the status; none for a redirect."""
        if self._failed:
            return Outcome.FAILURE
        return Outcome.NONE if self.status // 100 == 3 else super().outcome

    @property
    def _failed(self) -> bool:
        return self.status >= 400

    def _tail(self, frame: Frame) -> Sequence[Event]:
        """Return the event of data after the last blank line, which text may end with."""
        return () if sse.Block(frame.data).is_comment else self._event(frame)

    def _end(self, frame: Frame) -> Sequence[Event]:
        events = (
            self._document(frame.seq) if not self._response.has_blocks else self._failure(frame.seq)
        )
        if self._problem is None:
            self._reader.end()
        return events

    def _error(self, frame: Frame) -> Sequence[Event]:
        return super()._error(frame) or self._failure(frame.seq)

    def _document(self, seq: int) -> Sequence[Event]:
        size = len(self._response.body)
        text, is_valid = self._response.take_text()
        if not text.strip():
            return self._empty(seq)
        if json_decoder.exceeds_depth(text, self._max_depth):
            return [*self._too_deep(seq, "document", text), *self._failure(seq)]
        try:
            payload = json_decoder.decode(text)
        except (ValueError, RecursionError) as error:
            return self._no_json(seq, text, error, None if is_valid else size)
        if self._failed:
            return self._failure(seq, error_documents.describe(payload).message, payload)
        return self._reader.document(seq, payload)

    def _empty(self, seq: int) -> Sequence[Event]:
        """Return the event of a response without a body: its status."""
        if self._failed:
            return self._failure(seq)
        return () if self.status // 100 == 3 else [Note(seq, "empty", {"status": self.status})]

    def _no_json(
        self, seq: int, text: str, error: ValueError | RecursionError, binary: int | None
    ) -> Sequence[Event]:
        """Return the event of a body that is not JSON; `binary` is its size if it is no text."""
        if self._failed:
            what, _ = unreadable.describe_body(text, error, utf8=binary is None)
            is_prose = what == unreadable.PROSE
            said = text.strip() if is_prose else f"{self._status_text}. The response body {what}."
            return self._failure(seq, said, raw=text)
        media_type = self._response.media_type
        if binary is not None:
            reason = f"The response body is {binary:,} bytes of binary data."
            return [Unknown(seq, media_type or "body", None, reason)]
        return [Text(seq, text, kind=media_type if "/" in media_type else "text", raw=text)]

    def _failure(
        self, seq: int, message: str = "", details: Any = None, raw: Any = None
    ) -> Sequence[Event]:
        """Return the failure of an error status, nothing for any other status."""
        if not self._failed:
            return ()
        text = message or f"{self._status_text}."
        return [Failure(seq, f"HTTP {self.status}", text, details, raw or details)]

    @property
    def _status_text(self) -> str:
        phrase = REASON_PHRASES.get(self.status)
        suffix = f" ({phrase})" if phrase else ""
        return f"The server returned HTTP {self.status}{suffix}"
