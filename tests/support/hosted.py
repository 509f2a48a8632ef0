"""A hosted playground as a process of its own, and people who are logged in to it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.support.playground_server import PlaygroundServer

PASSWORD = "correct horse"


class TlsProxy(httpx.HTTPTransport):
    """Ends TLS, as it were: https to the browser, http and a header to the server."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass a request on."""
        headers = [*request.headers.raw, (b"X-Forwarded-Proto", b"https")]
        inner = httpx.Request(
            request.method,
            request.url.copy_with(scheme="http"),
            headers=headers,
            stream=request.stream,
        )
        return super().handle_request(inner)


class Hosted(PlaygroundServer):
    """The server behind a proxy that ends TLS."""

    def __init__(self, data: Path, **options: Any) -> None:
        super().__init__(
            data,
            PLAYGROUND_MODE="hosted",
            SECRET_KEY="a key for tests",
            ALLOWED_HOSTS="127.0.0.1",
            **options,
        )

    @property
    def origin(self) -> str:
        """The site as browsers see it."""
        return self.url.replace("http:", "https:")

    def client(self) -> httpx.Client:
        """Somebody's browser."""
        return httpx.Client(
            base_url=self.origin,
            transport=TlsProxy(retries=10),
            timeout=20,
            headers={"Referer": f"{self.origin}/"},
        )

    def shell(self, code: str) -> str:
        """Run Python on the server's data; what it prints."""
        done = self.manage("shell", "-v", "0", "-c", code)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def _wait_until_listening(self) -> None:
        self.client().get("/login/").raise_for_status()


@contextlib.contextmanager
def hosted_playground(data: Path, **options: Any) -> Iterator[Hosted]:
    """A hosted playground, stopped at the end."""
    with Hosted(data, **options) as server:
        yield server


def log_in(hosted: Hosted, name: str) -> httpx.Client:
    """A user with `PASSWORD`, logged in through the page as people do."""
    client = hosted.client()
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/login/").text)
    assert found
    fields = {"username": name, "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
    answer = client.post("/login/", data=fields)
    assert answer.status_code == 302, answer.text
    return client
