"""Headers of every response: pages, fragments, documents, redirects and errors."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncClient, Client

pytestmark = pytest.mark.django_db

#: Method, path and status of a response of each kind.
KINDS = [
    ("GET", "/", 200),
    ("GET", "/history/", 200),
    ("GET", "/runs/", 200),  # A fragment.
    ("GET", "/schemas/nlweb/0.55/item.json", 200),
    ("GET", "/history", 301),
    ("GET", "/nowhere/", 404),
    ("POST", "/runs/", 403),
    ("GET", "/compose/preview/", 405),
    ("GET", "/demo/cart/", 200),
    ("GET", "/demo/replies/redirect", 302),
    ("GET", "/demo/replies/stream", 200),
]
HOSTED = pytest.mark.parametrize(
    ("hosted", "caching"), [(False, "private, no-cache"), (True, "no-store")]
)


def policy_of(response: HttpResponse) -> dict[str, str]:
    directives = response.headers["Permissions-Policy"].split(", ")
    return dict(each.split("=", 1) for each in directives)


@HOSTED
@pytest.mark.parametrize(("method", "path", "status"), KINDS)
def test_every_kind_of_response(
    settings: Any, hosted: bool, caching: str, method: str, path: str, status: int
) -> None:
    settings.HOSTED = hosted
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert response.status_code == status
    if path != "/demo/replies/stream":  # The agent says so itself.
        assert response.headers["Cache-Control"] == caching
    assert policy_of(response)["camera"] == "()"


@HOSTED
def test_errors_before_and_in_a_view(
    settings: Any, monkeypatch: pytest.MonkeyPatch, hosted: bool, caching: str
) -> None:
    settings.HOSTED = hosted
    client = Client(raise_request_exception=False)
    refused = client.get("/", headers={"Host": "evil.example"})
    assert (refused.status_code, refused.headers["Cache-Control"]) == (400, caching)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("playground.agents.views.render", fail)
    failed = client.get("/agents/")
    assert (failed.status_code, failed.headers["Cache-Control"]) == (500, caching)
    assert policy_of(failed)["camera"] == "()"


async def test_with_an_asynchronous_handler() -> None:
    response = await AsyncClient().get("/nowhere/")
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert "Permissions-Policy" in response.headers


def test_a_view_that_says_more_about_caching_is_kept(client: Client) -> None:

    assert "no-store" in client.get("/environments/active/values/").headers["Cache-Control"]


def test_features_that_pages_use_are_allowed_and_others_are_not(client: Client) -> None:
    policy = policy_of(client.get("/"))
    assert policy.pop("clipboard-write") == "(self)"
    assert set(policy.values()) == {"()"}
    assert {"camera", "microphone", "geolocation", "payment", "usb", "serial"} <= set(policy)
