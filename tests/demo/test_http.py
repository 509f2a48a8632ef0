"""Requests that web pages of other origins send to the demo: every route, in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from playground.demo import requests, urls, wellknown
from playground.demo.models import ListItem, StoredState
from tests.demo.conftest import check

pytestmark = pytest.mark.django_db

Document = dict[str, Any]


def is_failure(document: Document) -> bool:
    """A failure of NLWeb (section 4.1.4)."""
    check("0.55", "failure", document)
    return True


def is_rpc_error(document: Document) -> bool:
    return document["id"] is None and document["error"]["code"] == -32600


def is_agent_api_error(document: Document) -> bool:
    """An error of the Agent API (section 7)."""
    return list(document) == ["error"] and set(document["error"]) == {"code", "message"}


def is_chat_error(document: Document) -> bool:
    """An error of Chat Completions."""
    return list(document) == ["error"] and set(document["error"]) == {
        "message",
        "type",
        "param",
        "code",
    }


def is_error(document: Document) -> bool:
    return list(document) == ["error"] and isinstance(document["error"], str)


#: Every route with the form of its refusal; None for pages, where CSRF tokens protect.
ROUTES: Mapping[str, tuple[str, Callable[[Document], bool] | None]] = {
    "": ("/demo/", None),
    "scenarios/": ("/demo/scenarios/", None),
    "ask": ("/demo/ask", is_failure),
    "await": ("/demo/await", is_failure),
    "scenarios/<slug:slug>/ask": ("/demo/scenarios/empty/ask", is_failure),
    "scenarios/<slug:slug>/await": ("/demo/scenarios/empty/await", is_failure),
    "cookbook/": ("/demo/cookbook/", is_error),
    "cookbook/<int:pk>": ("/demo/cookbook/1", is_error),
    "cart/": ("/demo/cart/", is_error),
    "cart/<int:pk>": ("/demo/cart/1", is_error),
    "mcp": ("/demo/mcp", is_rpc_error),
    "mcp/older": ("/demo/mcp/older", is_rpc_error),
    "mcp/newer": ("/demo/mcp/newer", is_rpc_error),
    "a2a": ("/demo/a2a", is_rpc_error),
    "a2a/.well-known/agent-card.json": ("/demo/a2a/.well-known/agent-card.json", is_error),
    "agent-api": ("/demo/agent-api", is_agent_api_error),
    "v1/chat/completions": ("/demo/v1/chat/completions", is_chat_error),
    "replies/<slug:kind>": ("/demo/replies/text", is_error),
    "cookbook": ("/demo/cookbook", is_error),
    "cart": ("/demo/cart", is_error),
    "scenarios": ("/demo/scenarios", None),
    "^(?P<path>(?:mcp|a2a)/.*)$": ("/demo/mcp/eldest", is_rpc_error),
    "^(?P<path>agent-api/.*)$": ("/demo/agent-api/process", is_agent_api_error),
    "^(?P<path>v1/.*)$": ("/demo/v1/models", is_chat_error),
    "<path:path>": ("/demo/answer", is_failure),
    ".well-known/agent-card.json": ("/.well-known/agent-card.json", is_error),
}
#: Headers that a browser adds for a page of another origin.
FOREIGN: list[dict[str, str]] = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://["},
    {"Origin": "http://testserver:8001"},
    {"Origin": "https://testserver"},
    {"Origin": "http://testserver.evil.example"},
    {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]
#: Headers of the playground's own pages and of clients that are no browsers.
OWN: list[dict[str, str]] = [
    {},
    {"Origin": ""},
    {"Origin": "http://testserver"},
    {"Origin": "HTTP://testserver", "Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "https://front.example", "Sec-Fetch-Site": "cross-site"},
]
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
READS = ("GET", "HEAD", "OPTIONS")


def send(method: str, path: str, headers: Mapping[str, str]) -> HttpResponse:
    client = Client(enforce_csrf_checks=True)
    content_type = "text/plain"  # What a page can send without a preflight.
    return client.generic(method, path, b"{}", content_type, headers=headers)


def test_every_route_is_in_the_table() -> None:
    found = {str(each.pattern) for each in (*urls.urlpatterns, *wellknown.urlpatterns)}
    assert set(ROUTES) == found


@pytest.mark.parametrize("route", ROUTES)
def test_pages_of_other_origins_cannot_write(route: str) -> None:
    path, is_refusal = ROUTES[route]
    attempts = [("POST", headers) for headers in FOREIGN]
    attempts += [(method, FOREIGN[0]) for method in UNSAFE]
    for method, headers in attempts:
        response = send(method, path, headers)
        assert response.status_code == 403, (method, headers)
        assert is_refusal is None or is_refusal(response.json())
    assert not ListItem.objects.exists()
    assert not StoredState.objects.exists()


@pytest.mark.parametrize("route", [route for route, row in ROUTES.items() if row[1]])
def test_clients_of_agents_are_not_refused(route: str, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example"]
    for headers in OWN:
        assert send("POST", ROUTES[route][0], headers).status_code != 403, headers


@pytest.mark.parametrize("route", ROUTES)
def test_pages_of_other_origins_can_read_nothing(route: str) -> None:
    """No response allows another origin to read it, a preflight's neither."""
    preflight = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    for method in (*READS, *UNSAFE):
        response = send(method, ROUTES[route][0], preflight)
        allowed = [name for name in response.headers if name.startswith("Access-Control-")]
        assert not allowed
        if ROUTES[route][1]:
            assert response.status_code == 403


def test_a_link_from_another_site_can_be_followed() -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert send("GET", "/demo/cart/", headers).status_code == 200
    assert send("GET", "/demo/", headers).status_code == 200


def test_behind_a_proxy_the_origin_has_the_scheme_that_the_proxy_names(settings: Any) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    headers = {"Host": "testserver", "Origin": "https://testserver"}
    assert send("DELETE", "/demo/cart/", headers).status_code == 403
    headers["X-Forwarded-Proto"] = "https"
    assert send("DELETE", "/demo/cart/", headers).status_code == 200


def test_the_name_of_a_host_that_is_not_the_playgrounds_is_refused() -> None:
    """As after DNS was made to point a foreign name at this machine."""
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert send("DELETE", "/demo/cart/", headers).status_code == 400


#: The methods of each endpoint; POST takes JSON.
METHODS: Mapping[str, str] = {
    "ask": "POST",
    "await": "POST",
    "scenarios/<slug:slug>/ask": "POST",
    "scenarios/<slug:slug>/await": "POST",
    "cookbook/": "GET, POST, DELETE, HEAD",
    "cart/": "GET, POST, DELETE, HEAD",
    "cookbook/<int:pk>": "GET, DELETE, HEAD",
    "cart/<int:pk>": "GET, DELETE, HEAD",
    "mcp": "POST, DELETE",
    "mcp/older": "POST, DELETE",
    "mcp/newer": "POST, DELETE",
    "a2a": "POST",
    "a2a/.well-known/agent-card.json": "GET, HEAD",
    "agent-api": "POST",
    "v1/chat/completions": "POST",
    "replies/<slug:kind>": "GET, POST, HEAD",
    ".well-known/agent-card.json": "GET, HEAD",
}
POSTED = [route for route, methods in METHODS.items() if "POST" in methods]
BOTH = {"Accept": "application/json, text/event-stream"}


def test_every_endpoint_has_its_methods() -> None:
    found = {name for name, row in ROUTES.items() if row[1]} - {"cookbook", "cart"}
    assert set(METHODS) == {name for name in found if "path>" not in name}


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
@pytest.mark.parametrize("route", METHODS)
def test_other_methods(route: str, method: str) -> None:
    path, is_refusal = ROUTES[route]
    if method in METHODS[route].split(", "):
        return
    response = send(method, path, BOTH)
    assert response.status_code == 405
    assert response.headers["Allow"] == f"{METHODS[route]}, OPTIONS"
    if method != "HEAD":
        assert is_refusal
        assert is_refusal(response.json())


@pytest.mark.parametrize("route", METHODS)
def test_options(route: str) -> None:
    response = send("OPTIONS", ROUTES[route][0], {})
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Allow"] == f"{METHODS[route]}, OPTIONS"


@pytest.mark.parametrize("route", [name for name, methods in METHODS.items() if "HEAD" in methods])
def test_head_is_get_without_a_body(route: str) -> None:
    path = ROUTES[route][0]
    get, head = (send(method, path, {}) for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]


@pytest.mark.parametrize("route", POSTED)
def test_other_content_types(route: str) -> None:
    path, is_refusal = ROUTES[route]
    response = send("POST", path, BOTH)
    assert response.status_code == 415
    assert is_refusal
    assert is_refusal(response.json())


@pytest.mark.parametrize("size", [requests.MAX_BODY, 9_000_000])
@pytest.mark.parametrize("route", POSTED)
def test_too_large_a_body(route: str, size: int) -> None:
    path, is_refusal = ROUTES[route]
    body = b'{"x": "' + b"x" * size + b'"}'
    response: Any = Client().post(path, body, content_type="application/json", headers=BOTH)
    assert response.status_code == 413
    assert is_refusal
    assert is_refusal(response.json())


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe\x00", b"[" * 10_000, b'{"x": NaN}',
        b'{"x": 1e999}', b'{"x": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("route", [name for name in POSTED if name != "replies/<slug:kind>"])
def test_malformed_json(route: str, body: bytes) -> None:
    path, is_refusal = ROUTES[route]
    headers = BOTH
    if route == "mcp/newer":
        headers = {**BOTH, "MCP-Protocol-Version": "2026-07-28"}
    response: Any = Client().post(path, body, content_type="application/json", headers=headers)
    # JSON-RPC has codes of its own, and agents in use answer all calls of A2A with 200.
    assert response.status_code == (200 if route == "a2a" else 400)
    document = response.json()
    if is_refusal is is_rpc_error:
        assert document["id"] is None
        is_json = body in (b"null", b"[]", b'"x"')
        assert document["error"]["code"] == (-32600 if is_json else -32700)
    else:
        assert is_refusal
        assert is_refusal(document)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("path", "is_refusal"),
    [
        ("ask/", is_failure),
        ("await/more", is_failure),
        ("nothing", is_failure),
        ("scenarios/slow", is_failure),
        ("scenarios/slow/wait", is_failure),
        ("mcp/", is_rpc_error),
        ("mcp/eldest/sse", is_rpc_error),
        ("a2a/", is_rpc_error),
        ("a2a/v1/message:send", is_rpc_error),
        ("agent-api/", is_agent_api_error),
        ("agent-api/process", is_agent_api_error),
        ("v1/chat", is_chat_error),
    ],
)
def test_unknown_paths(method: str, path: str, is_refusal: Callable[[Document], bool]) -> None:
    response = send(method, f"/demo/{path}", {})
    assert response.status_code == 404
    assert is_refusal(response.json())


def test_an_unknown_scenario() -> None:
    response: Any = Client().post(
        "/demo/scenarios/nothing/ask", b"{}", content_type="application/json"
    )
    assert response.status_code == 404
    assert is_failure(response.json())


def test_a_browser_that_follows_a_bad_link_gets_a_page() -> None:
    response = send("GET", "/demo/nothing", {"Accept": "text/html,*/*;q=0.8"})
    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")
