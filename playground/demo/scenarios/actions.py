"""Scenarios about actions (section 5): their shapes, URLs, headers and responses."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from playground.demo.http import endpoint, error_document, event_stream, json_response
from playground.demo.scenarios.scenario import (
    ScenarioRequest,
    Scenarios,
    complete,
    dish,
    paced,
    respond,
    result,
    start,
)

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

ROWS = Scenarios()


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


def _item(number: int, name: str, actions: Any) -> dict[str, Any]:
    return {**dish(number), "name": name, "actions": actions}


def _cart(request: ScenarioRequest) -> str:
    return request.http_request.build_absolute_uri(reverse("demo-cart"))


@ROWS.add(
    "actions-shapes",
    "Malformed actions",
    "An object instead of a list, a missing protocol, a method in lower case, strings as"
    " actions, sixty actions on one result.",
    "The valid actions can be run; a note explains why the others cannot.",
    results=9,
)
async def shapes(request: ScenarioRequest) -> HttpResponseBase:
    # Deviations from section 5.
    cart = _cart(request)
    bare = _action("Add to the cart", cart)
    no_protocol = {name: value for name, value in bare.items() if name != "protocol"}
    variants: Mapping[str, Any] = {
        "A single object": bare,
        "Without protocol": [no_protocol],
        "A method in lower case": [{**bare, "method": "post"}],
        "Without method": [{name: value for name, value in bare.items() if name != "method"}],
        "Not objects": ["add_to_cart", 7, None, [bare]],
        "An unknown protocol": [{**bare, "protocol": "SMTP"}],
        "A tool without a server": [{"name": "tool", "description": "Call it", "protocol": "MCP"}],
        "Params as a list": [{**bare, "params": ["salt"]}],
        f"{_ACTION_COUNT} actions": [
            {**bare, "name": f"act_{number}"} for number in range(_ACTION_COUNT)
        ],
    }
    items = (_item(at, name, value) for at, (name, value) in enumerate(variants.items()))
    return await respond(request, *items)


@ROWS.add(
    "actions-endpoints",
    "Actions with unsafe endpoints",
    "Endpoints that are scripts, files, relative, on this machine, or missing.",
    "The target of each action is shown, or the reason why it cannot be run.",
    results=9,
)
async def endpoints(request: ScenarioRequest) -> HttpResponseBase:
    pairs = enumerate(_ENDPOINTS.items())
    return await respond(
        request, *(_item(at, name, [_action(name, to)]) for at, (name, to) in pairs)
    )


@ROWS.add(
    "actions-headers",
    "Actions with invalid headers",
    "Headers such as Host, Cookie and Content-Length, and malformed ones.",
    "A note says why they are not sent.",
    results=8,
)
async def headers(request: ScenarioRequest) -> HttpResponseBase:
    cart = _cart(request)
    items = (
        _item(at, name, [_action(name, cart, headers=value)])
        for at, (name, value) in enumerate(_HEADERS.items())
    )
    return await respond(request, *items)


@ROWS.add(
    "actions-replies",
    "Actions with unusual responses",
    "Endpoints that respond with a 500, a web page, an empty body, a delay, a stream, text or a"
    " redirect.",
    "Each response is shown below its card.",
    results=7,
)
async def responses(request: ScenarioRequest) -> HttpResponseBase:
    items = []
    for at, (kind, name) in enumerate(_RESPONSES.items()):
        to = request.http_request.build_absolute_uri(reverse("demo-action-response", args=[kind]))
        items.append(_item(at, name, [_action(name, to, method="GET")]))
    return await respond(request, *items)


@ROWS.add(
    "actions-nested",
    "Nested actions",
    "Items within items, each with an action.",
    "All three actions are shown.",
    results=1,
)
async def nested(request: ScenarioRequest) -> HttpResponseBase:
    cart = _cart(request)
    inner = _item(2, "A sauce", [_action("Add the sauce", cart)])
    middle = {**_item(1, "A main course", [_action("Add the course", cart)]), "hasPart": [inner]}
    outer = {**_item(0, "A menu", [_action("Add the menu", cart)]), "hasPart": {"main": middle}}
    return await respond(request, outer)


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
