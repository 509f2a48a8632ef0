"""Actions over HTTP: which call an action is (NLWeb 0.55 section 5).

The specification has `params` and does not say where they go. Here they go into the query
string for methods that have no body (GET, HEAD, DELETE), and are the JSON body otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from playground.protocols import headers as rules
from playground.protocols.actions import endpoints
from playground.protocols.actions.extract import HTTP, Action
from playground.protocols.actions.plans import UNSET, ActionPlan, Headers, ServerInfo, Unset
from playground.protocols.calls import HttpCall
from playground.protocols.http import USER_AGENT, encode, merge_headers

_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE"})
#: Methods that are about the connection, not about what is at an address.
_REFUSED_METHODS = frozenset({"CONNECT", "TRACE"})
#: JSON is what an action most likely answers with, and anything else is shown as well.
_ACCEPT = "application/json, text/event-stream;q=0.9, */*;q=0.5"


def plan(
    action: Action, agent_url: str, params: Any | Unset, headers: Headers, _peer: ServerInfo
) -> ActionPlan:
    """The call of an HTTP action. See `playground.protocols.actions.planning.plan`."""
    raw: Mapping[str, Any] = action.raw
    params = raw.get("params") if params is UNSET else params
    method, method_refusal = _method(raw.get("method"), params)
    address = endpoints.resolve(raw.get("endpoint"), agent_url)
    placement = _placement(method, params)
    url, params_refusal = _with_query(address, params if placement == "query" else None)
    own, header_refusals = _headers(raw.get("headers"))
    request: dict[str, Any] = {
        "action": action.name,
        "protocol": HTTP,
        "method": method,
        "url": url,
        "headers": [list(pair) for pair in own],
    }
    if placement == "body":
        request["body"] = params
    found = (method_refusal, address.refusal, params_refusal, *header_refusals)
    refusals = (*filter(None, found), *_refused(headers))
    inferred = {"method": _is_missing(raw.get("method")), "url": address.is_relative}
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
        errors=refusals,
        credentials=tuple(name for name, _ in own if rules.is_credential(name)),
        params_in=placement,
        sendable=not refusals,
    )


def call_of(request: Mapping[str, Any], headers: Headers) -> HttpCall:
    """The call that a request document is, with the user's own headers.

    They take the place of the action's of the same name, and both that of the defaults.
    """
    body = encode(request["body"]) if "body" in request else b""
    defaults = [("Accept", _ACCEPT), ("User-Agent", USER_AGENT)]
    if "body" in request:
        defaults.insert(0, ("Content-Type", "application/json"))
    own = merge_headers([(name, value) for name, value in request["headers"]], headers)
    return HttpCall(request["method"], request["url"], merge_headers(defaults, own), body)


def validate_action(request: Any) -> str | None:
    """Why a document is not the request of an action that can be sent; None if it is."""
    if not _is_complete(request):
        return "This is not the request of an action over HTTP."
    if refusal := _method_refusal(request["method"]) or endpoints.url_error(request["url"]):
        return refusal
    return next(_refused(request["headers"]), None)


def _is_complete(request: Any) -> bool:
    if not isinstance(request, Mapping) or request.get("protocol") != HTTP:
        return False
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
    """The method in capitals, inferred where there is none, and why it is refused."""
    if _is_missing(value):
        return ("GET" if params is None or params == {} else "POST"), None
    method: str = value.strip().upper()
    return method, _method_refusal(method)


def _method_refusal(method: str) -> str | None:
    if not rules.is_token(method):
        return f"“{method[:60]}” is not an HTTP method."
    if method in _REFUSED_METHODS:
        return f"{method} is about the connection itself, so an action cannot use it."
    return None


def _placement(method: str, params: Any) -> str:
    if params is None:
        return ""
    return "query" if method in _WITHOUT_BODY else "body"


def _with_query(address: endpoints.Endpoint, params: Any) -> tuple[str, str | None]:
    """The address with the parameters behind what it asks for already."""
    if params is None or address.refusal:
        return address.url, None
    if not isinstance(params, Mapping):
        refusal = "The parameters go into the query string, so they must be a JSON object."
        return address.url, refusal
    parts = urlsplit(address.url)
    added = urlencode(list(_pairs(params)), errors="replace")
    query = "&".join(filter(None, (parts.query, added)))
    url = urlunsplit(parts._replace(query=query))
    return url, endpoints.url_error(url)


def _pairs(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Parameters of a query string: lists repeat their name, what is null is left out."""
    for name, value in params.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                yield name, one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)


def _headers(value: Any) -> tuple[list[tuple[str, str]], list[str]]:
    """The action's headers that can be sent, and why the others cannot."""
    if value is None:
        return [], []
    if not isinstance(value, Mapping):
        return [], ["The action's headers are not an object."]
    found: list[tuple[str, str]] = []
    refusals: list[str] = []
    for name, text in value.items():
        if not isinstance(text, str):
            refusals.append(f"The value of the header {name[:60]} is not a string.")
        elif refusal := rules.header_error(name.strip(), text.strip()):
            refusals.append(refusal)
        else:
            found.append((name.strip(), text.strip()))
    return found, refusals


def _refused(headers: Headers) -> Iterator[str]:
    for name, value in headers:
        if refusal := rules.header_error(name, value):
            yield refusal
