"""Attacks on a hosted playground with large bodies, and requests without a host."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from playground.base.limits import IS_GONE
from playground.server.admission import MAX_BODY, Admission
from playground.server.admission import MAX_BODY_WITHOUT_SESSION as MOST
from tests.support.hosted import Hosted, hosted_playground

PART = 16 * 1024
PARTS = 2_500  # 39 MB.


class Conversation:
    """One request through the middleware: what was read of it, and what was responded."""

    def __init__(self, parts: int, **headers: str) -> None:
        self.left = parts
        self.read = 0
        self.sent: list[Any] = []
        #: What the application behind the middleware received.
        self.passed: list[Any] = []
        self.scope: dict[str, Any] = {}
        self._headers = [
            (name.replace("_", "-").encode(), value.encode())
            for name, value in {"host": "a", **headers}.items()
        ]

    async def receive(self) -> Any:
        if not self.left:
            return {"type": "http.disconnect"}
        self.left -= 1
        self.read += PART
        return {"type": "http.request", "body": b"a" * PART, "more_body": self.left > 0}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        more = True
        while more:
            self.passed.append(await receive())
            more = self.passed[-1].get("more_body", False)

    async def run(self) -> int | None:
        """Return the status that the middleware responded with, None without one."""
        scope = {"type": "http", "headers": self._headers}
        await Admission(self.application)(scope, self.receive, self.send)
        return self.sent[0]["status"] if self.sent else None


@pytest.fixture(autouse=True)
def hosted_mode(settings: Any) -> None:
    settings.HOSTED = True


@sync_to_async
def session(change: str = "") -> str:
    """The cookie of a user who has logged in, after a change."""
    user, client = User.objects.create_user("owner"), Client()
    client.force_login(user)
    key = client.session.session_key
    match change:
        case "log-out":
            client.logout()
        case "deactivation":
            User.objects.update(is_active=False)
        case "password":
            user.set_password("another one")
            user.save()
        case "deletion":
            user.delete()
    return f"a=b; playground_session={key}; c=d"


@pytest.mark.parametrize(
    "cookie", ["", "playground_session=", "playground_session=forged", "x=\x01"]
)
async def test_nothing_of_a_large_body_is_read_without_a_session(cookie: str) -> None:
    declared = Conversation(PARTS, cookie=cookie, content_length=str(PARTS * PART))
    assert await declared.run() == 413
    assert (declared.read, declared.passed) == (0, [])
    chunked = Conversation(PARTS, cookie=cookie)
    assert await chunked.run() == 413
    assert chunked.read == MOST + PART
    assert chunked.passed[-1] == {"type": "http.disconnect"}
    assert sum(len(each.get("body", b"")) for each in chunked.passed) == MOST
    lie = Conversation(PARTS, cookie=cookie, content_length="5")
    assert await lie.run() == 413
    assert lie.read == MOST + PART


@pytest.mark.parametrize("change", ["log-out", "deactivation", "password", "deletion"])
async def test_nor_with_a_session_that_has_ended(change: str) -> None:
    conversation = Conversation(PARTS, cookie=await session(change))
    assert await conversation.run() == 413
    assert conversation.read == MOST + PART


async def test_all_of_it_is_read_with_a_session_and_what_is_small_without(settings: Any) -> None:
    known = Conversation(PARTS, cookie=await session(), content_length=str(PARTS * PART))
    assert await known.run() is None
    assert known.read == PARTS * PART
    small = Conversation(MOST // PART)
    assert await small.run() is None
    assert small.read == MOST
    settings.HOSTED = False
    local = Conversation(PARTS)
    assert await local.run() is None
    assert local.read == PARTS * PART


@pytest.mark.parametrize("hosted", [True, False])
async def test_no_body_exceeds_the_largest_upload(settings: Any, hosted: bool) -> None:
    settings.HOSTED = hosted
    conversation = Conversation(2 * PARTS, cookie=await session())
    assert await conversation.run() == 413
    assert conversation.read == MAX_BODY + PART


@pytest.mark.parametrize("host", [None, ""])
async def test_a_request_without_a_host(settings: Any, host: str | None) -> None:
    conversation = Conversation(1, **({} if host is None else {"host": host}))
    if host is None:
        conversation._headers = []
    assert await conversation.run() == 400
    assert not conversation.passed
    settings.HOSTED = False
    assert await conversation.run() == 400  # Nothing more was sent.
    assert conversation.passed


async def test_a_page_learns_that_its_reader_has_gone() -> None:
    conversation = Conversation(0)
    await conversation.run()
    assert conversation.passed == [{"type": "http.disconnect"}]
    assert conversation.scope["extensions"][IS_GONE]() is True


@pytest.fixture(scope="module", params=["daphne", "uvicorn"])
def hosted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hosted]:
    data: Path = tmp_path_factory.mktemp("hosted")
    options = {"options": ("--server", request.param), "SECURE_SSL_REDIRECT": "true"}
    with hosted_playground(data, **options) as server:
        yield server


class TestServers:
    def respond(self, hosted: Hosted, head: str, part: bytes = b"") -> tuple[bytes, int]:
        """The response to a request, and how many bytes of its body were accepted."""
        sent = 0
        with socket.create_connection(("127.0.0.1", hosted.port), timeout=20) as client:
            client.sendall(head.replace("\n", "\r\n").encode())
            with contextlib.suppress(ConnectionError):
                while part and sent < PARTS * PART:
                    client.sendall(part)
                    sent += len(part)
            with contextlib.suppress(ConnectionError):
                return client.recv(4096), sent
        return b"", sent

    @pytest.mark.parametrize("cookie", ["", "Cookie: playground_session=forged0123456789\n"])
    def test_bodies(self, hosted: Hosted, cookie: str) -> None:
        head = f"POST /login/ HTTP/1.1\nHost: 127.0.0.1\nX-Forwarded-Proto: https\n{cookie}"
        chunk = b"%x\r\n%b\r\n" % (2**16, b"a" * 2**16)
        for more, part in [
            (f"Content-Length: {PARTS * PART}\n\n", b"a" * 2**16),
            ("Transfer-Encoding: chunked\n\n", chunk),
        ]:
            response, sent = self.respond(hosted, head + more, part)
            # What the operating systems of both sides hold, and no more. The client may have no
            # time to read the response.
            assert sent < PARTS * PART // 2
            assert response[:12] in (b"", b"HTTP/1.1 413")
            small, _ = self.respond(hosted, f"{head}Content-Length: 3\n\na=b")
            assert small.startswith(b"HTTP/1.1 403")  # Without a CSRF token.

    @pytest.mark.parametrize(
        ("head", "status", "location"),
        [
            ("GET /login/ HTTP/1.0\n\n", b"400", b""),
            ("GET /login/ HTTP/1.1\n\n", b"400", b""),
            ("GET /login/ HTTP/1.1\nHost:\n\n", b"400", b""),
            ("GET /static/img/badge.svg HTTP/1.0\n\n", b"400", b""),
            ("GET /login/?a=b HTTP/1.1\nHost: 127.0.0.1\n\n", b"301", b"https://127.0.0.1/login/?a=b"),
            ("GET /ready/ HTTP/1.1\nHost: 127.0.0.1\n\n", b"200", b""),
            ("GET /login/ HTTP/1.1\nHost: 127.0.0.1\nX-Forwarded-Proto: https\n\n", b"200", b""),
        ],
    )  # fmt: skip
    def test_hosts_and_schemes(
        self, hosted: Hosted, head: str, status: bytes, location: bytes
    ) -> None:
        response, _ = self.respond(hosted, head)
        assert response.split(b" ", 2)[1] == status
        assert location in response
