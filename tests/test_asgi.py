"""The check of the origin of WebSockets, and the timeout for the login."""

from __future__ import annotations

from typing import Any

import pytest

from playground.base.executors import response_timeout

pytestmark = pytest.mark.django_db

HOST = "127.0.0.1:8000"


def is_same_origin(scope: dict[str, Any]) -> bool:
    from playground import asgi  # Importing it needs the database.

    return asgi.is_same_origin(scope)


def scope(scheme: str = "ws", **headers: str | None) -> dict[str, Any]:
    sent = {"host": HOST, "origin": f"http://{HOST}", **headers}
    pairs = [
        (name.replace("_", "-").encode(), value.encode("latin-1"))
        for name, value in sent.items()
        if value is not None
    ]
    return {"type": "websocket", "scheme": scheme, "headers": pairs}


def test_the_page_itself_may() -> None:
    assert is_same_origin(scope())
    assert is_same_origin(scope(origin=f"HTTP://{HOST}"))
    assert is_same_origin(scope(host="localhost:8000", origin="http://localhost:8000"))
    assert is_same_origin(scope(host="[::1]:8000", origin="http://[::1]:8000"))
    assert is_same_origin(scope("wss", origin=f"https://{HOST}"))


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        f"https://{HOST}",
        "http://127.0.0.1",
        "http://127.0.0.1:8001",
        "http://127.0.0.1:80000",
        "http://localhost:8000",
        "http://evil.example",
        f"http://{HOST}.evil.example",
        f"http://evil.example/?{HOST}",
        f"http://{HOST}/",
        f"http://a@{HOST}",
        f"ws://{HOST}",
        HOST,
        f"file://{HOST}",
    ],
)
def test_nobody_else_may(origin: str | None) -> None:
    assert not is_same_origin(scope(origin=origin))


@pytest.mark.parametrize("host", [None, "", "evil.example", "127.0.0.1:8000@evil.example", "a b"])
def test_a_host_that_is_not_ours(host: str | None) -> None:
    """As after DNS was made to point a foreign name at this machine."""
    assert not is_same_origin(scope(host=host, origin=f"http://{host}"))
    assert not is_same_origin(scope(host=host))


def test_behind_a_proxy_the_scheme_is_what_the_proxy_says(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["play.example"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    names = {"host": "play.example", "origin": "https://play.example"}
    assert is_same_origin(scope(**names, x_forwarded_proto="https"))
    assert not is_same_origin(scope(**names, x_forwarded_proto="http"))
    assert not is_same_origin(scope(**names))
    http = {**names, "origin": "http://play.example"}
    assert not is_same_origin(scope(**http, x_forwarded_proto="https"))


def test_a_trusted_origin_may(settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example"]
    assert is_same_origin(scope(origin="https://front.example"))
    assert not is_same_origin(scope(origin="http://front.example"))
    assert not is_same_origin(scope(origin="https://front.example", host="evil.example"))


async def test_a_login_waits_for_the_database_as_long_as_a_page(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    from playground import asgi

    found: list[float | None] = []

    async def get_user(_: dict[str, Any]) -> None:
        found.append(response_timeout.get())

    async def application(*_: Any) -> None:
        found.append(response_timeout.get())

    settings.DATABASE_TIMEOUT = 7
    monkeypatch.setattr("channels.auth.get_user", get_user)
    await asgi.LimitedAuthMiddleware(application)({**scope(), "session": None}, None, None)
    assert found == [7, None]
