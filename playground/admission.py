"""Admission of requests, before anything reads their bodies; and whether their readers are there.

A hosted playground refuses requests without a host, and large bodies without a session. Locally
there are no sessions, and the servers' own limit applies (`playground.client_limits`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import parse_cookie

from playground.client_limits import MAX_BODY_WITHOUT_SESSION
from playground.database_timeout import limit_responses
from playground.executors import run_in_reader
from playground.models.sessions import valid_sessions
from playground.page_budget import IS_GONE

logger = logging.getLogger(__name__)

Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_NO_HOST = (400, "The request has no Host header.")
_TOO_LARGE = (
    413,
    f"A request of more than {MAX_BODY_WITHOUT_SESSION:,} bytes needs a session. Log in first.",
)


class Admission:
    """ASGI middleware that admits requests."""

    def __init__(self, application: Callable[[Scope, Receive, Send], Awaitable[Any]]) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a connection on, or refuse the request."""
        if scope["type"] == "http":
            await _Request(self, scope, receive, send).respond(self._application)
        else:
            await self._application(scope, receive, send)

    async def allows_large_body(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether a request with these headers may have a large body.

        For servers that buffer bodies, too. Names are in lower case.
        """
        if not settings.HOSTED:
            return True
        cookies = b"; ".join(value for name, value in headers if name == b"cookie")
        key = parse_cookie(cookies.decode("latin-1")).get(settings.SESSION_COOKIE_NAME)
        if not key:
            return False
        try:
            with limit_responses():
                return bool(await run_in_reader(valid_sessions, {key}))
        except Error:
            logger.warning("A large request is refused: its session cannot be read", exc_info=True)
            return False


class _Request:
    """A request while its body is received."""

    def __init__(self, admission: Admission, scope: Scope, receive: Receive, send: Send) -> None:
        self._received = 0
        self._is_admitted = self._is_gone = False
        self._admission = admission
        self._receive, self._send = receive, send
        self._headers = list(scope["headers"])
        self._scope = {
            **scope,
            "extensions": {**(scope.get("extensions") or {}), IS_GONE: lambda: self._is_gone},
        }

    async def respond(self, application: Callable[[Scope, Receive, Send], Awaitable[Any]]) -> None:
        """Pass the request on, or refuse it."""
        values = dict(self._headers)
        if settings.HOSTED and not values.get(b"host"):
            await self._refuse(*_NO_HOST)
        elif await self._admits(int(values.get(b"content-length") or 0)):
            await application(self._scope, self._receive_part, self._send)

    async def _admits(self, size: int) -> bool:
        """Return whether the body may have this size, and refuse it otherwise."""
        if size <= MAX_BODY_WITHOUT_SESSION or self._is_admitted:
            return True
        self._is_admitted = await self._admission.allows_large_body(self._headers)
        if not self._is_admitted:
            await self._refuse(*_TOO_LARGE)
        return self._is_admitted

    async def _receive_part(self) -> Message:
        """Return the next message; a client whose body was refused is disconnected."""
        message = await self._receive()
        self._received += len(message.get("body", b""))
        if message["type"] == "http.request" and not await self._admits(self._received):
            message = {"type": "http.disconnect"}
        self._is_gone = self._is_gone or message["type"] == "http.disconnect"
        return message

    async def _refuse(self, status: int, text: str) -> None:
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": text.encode()})
