"""Actions over HTTP: the call of an action (NLWeb 0.55 section 5).

The specification has `params` and does not say how they are sent. Here they are sent in the query
string for methods without a body (GET, HEAD, DELETE), and as the JSON body otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from playground.protocols import headers as rules
from playground.protocols.actions import endpoints
from playground.protocols.actions.extract import HTTP, Action, attribute
from playground.protocols.actions.plans import UNSET, ActionPlan, Headers, ServerInfo, Unset
from playground.protocols.actions.response import ActionExchange
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.http import USER_AGENT, encode, merge_headers

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
    endpoint = endpoints.resolve(attribute(action, "endpoint"), agent_url)
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
        or endpoints.url_error(request["url"])
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


def _with_query(endpoint: endpoints.Endpoint, params: Any) -> tuple[str, str | None]:
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
    return url, endpoints.url_error(url)


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
