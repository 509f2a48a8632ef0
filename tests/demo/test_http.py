"""Requests that web pages of other origins send to the demo: every route, in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from playground.demo import urls, wellknown
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


def is_detail(document: Document) -> bool:
    return list(document) == ["detail"]


def is_error(document: Document) -> bool:
    return list(document) == ["error"]


@pytest.fixture(autouse=True)
def _static_files(settings: Any) -> None:
    """Pages need no collected files."""
    backend = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": backend}


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
    "agent-api": ("/demo/agent-api", is_detail),
    "replies/<slug:kind>": ("/demo/replies/text", is_error),
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
    response: Any = client.generic(method, path, b"{}", content_type, headers=headers)
    return response  # type: ignore[no-any-return]


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
