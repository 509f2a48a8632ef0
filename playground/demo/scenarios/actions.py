"""Scenarios about actions (section 5): their shapes, URLs, headers and responses."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from playground.demo.http import endpoint, error_document, event_stream, json_response
from playground.demo.scenarios.parts import (
    ScenarioRequest,
    complete,
    dish,
    paced,
    respond,
    result,
    start,
)
from playground.demo.scenarios.scenario import script

_ACTION_COUNT = 60
_SLOW_SECONDS = 3.0
#: Names of actions, with the endpoint: a URL, an object, or None for no endpoint.
_ENDPOINTS: Mapping[str, Any] = {
    "A script as the endpoint": "javascript:alert(1)",
    "A relative endpoint": "../cart/",
    "An endpoint on this machine": "http://localhost:9/cart",
    "An endpoint in a private network": "http://10.0.0.1/cart",
    "A file": "file:///etc/passwd",
    "No endpoint": None,
    "An empty endpoint": "",
    "An object as the endpoint": {"url": "https://example.com/cart"},
    "A password in the endpoint": "https://user:secret@example.com/cart",
}
_HEADERS: Mapping[str, Any] = {
    "Another host": {"Host": "internal.example"},
    "A cookie": {"Cookie": "session=stolen"},
    "Connection headers": {"Connection": "close", "Transfer-Encoding": "chunked"},
    "Content-Length": {"Content-Length": "0"},
    "A line break in a value": {"X-Note": "a\r\nX-Injected: b"},
    "A number as a value": {"X-Count": 7},
    "A list of headers": ["X-Note: a"],
    "A credential": {"Authorization": "Bearer of-someone-else"},
}
_RESPONSES: Mapping[str, str] = {
    "error": "500 with JSON",
    "html": "A web page",
    "empty": "204 without content",
    "slow": "An answer after three seconds",
    "stream": "A stream of events",
    "text": "Plain text",
    "redirect": "A redirect to another host",
}


def _action(name: str, target: Any, **more: Any) -> dict[str, Any]:
    """Return an HTTP action; without an endpoint if `target` is None."""
    action = {
        "@type": "AddToCartAction",
        "name": "act",
        "description": name,
        "protocol": "HTTP",
        "method": "POST",
        "params": {"items": ["salt"]},
        **more,
    }
    return action if target is None else {**action, "endpoint": target}


def _without(action: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {member: value for member, value in action.items() if member != name}


def _cart(request: ScenarioRequest) -> str:
    return request.http_request.build_absolute_uri(reverse("demo-cart"))


def _answer(request: ScenarioRequest, actions: Mapping[str, Any]) -> HttpResponseBase:
    """Return a dish for each name, with its actions."""
    items = (dish(at, name=name, actions=value) for at, (name, value) in enumerate(actions.items()))
    return respond(request, *items)


@script("actions-shapes")
async def shapes(request: ScenarioRequest) -> HttpResponseBase:
    # Deviations from section 5.
    bare = _action("Add to the cart", _cart(request))
    many = [{**bare, "name": f"act_{number}"} for number in range(_ACTION_COUNT)]
    variants: Mapping[str, Any] = {
        "A single object": bare,
        "Without protocol": [_without(bare, "protocol")],
        "A method in lower case": [{**bare, "method": "post"}],
        "Without method": [_without(bare, "method")],
        "Not objects": ["add_to_cart", 7, None, [bare]],
        "An unknown protocol": [{**bare, "protocol": "SMTP"}],
        "A tool without a server": [{"name": "tool", "description": "Call it", "protocol": "MCP"}],
        "Params as a list": [{**bare, "params": ["salt"]}],
        f"{_ACTION_COUNT} actions": many,
    }
    return _answer(request, variants)


@script("actions-endpoints")
async def endpoints(request: ScenarioRequest) -> HttpResponseBase:
    return _answer(request, {name: [_action(name, to)] for name, to in _ENDPOINTS.items()})


@script("actions-headers")
async def headers(request: ScenarioRequest) -> HttpResponseBase:
    cart = _cart(request)
    actions = {name: [_action(name, cart, headers=value)] for name, value in _HEADERS.items()}
    return _answer(request, actions)


@script("actions-replies")
async def responses(request: ScenarioRequest) -> HttpResponseBase:
    actions = {}
    for kind, name in _RESPONSES.items():
        to = request.http_request.build_absolute_uri(reverse("demo-action-response", args=[kind]))
        actions[name] = [_action(name, to, method="GET")]
    return _answer(request, actions)


@script("actions-nested")
async def nested(request: ScenarioRequest) -> HttpResponseBase:
    def item(number: int, name: str, action: str, **parts: Any) -> dict[str, Any]:
        return dish(number, name=name, actions=[_action(action, cart)], **parts)

    cart = _cart(request)
    sauce = item(2, "A sauce", "Add the sauce")
    main = item(1, "A main course", "Add the course", hasPart=[sauce])
    return respond(request, item(0, "A menu", "Add the menu", hasPart={"main": main}))


@endpoint(error_document, "GET", "POST")
async def response(request: HttpRequest, kind: str) -> HttpResponseBase:
    """Respond to an action of the scenario `actions-replies`."""
    if kind == "error":
        return json_response({"detail": "The cart has lost a wheel."}, 500)
    if kind == "html":
        return HttpResponse("<!doctype html><title>Cart</title><h1>Added</h1>", "text/html")
    if kind == "empty":
        return HttpResponse(status=204)
    if kind == "text":
        return HttpResponse("Added. Thank you.", "text/plain; charset=utf-8")
    if kind == "redirect":
        return HttpResponse(status=302, headers={"Location": "https://agent.example/cart"})
    if kind == "stream":
        return event_stream(paced((start(), result(0), complete()), 0.1))
    if kind == "slow":
        await asyncio.sleep(_SLOW_SECONDS)
        return json_response({"saved": True})
    return json_response(error_document("Unknown response."), 404)
