"""Admission of requests, before anything reads their bodies; and whether their readers are there.

A hosted playground refuses requests without a host, and large bodies without a session. The time
that a body takes is limited by the proxy (deploy/nginx/playground.conf).
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import parse_cookie

from playground.base.executors import limit_responses, run_in_reader
from playground.base.limits import IS_GONE
from playground.models.rows import valid_sessions

#: Most bytes of a request body; the largest upload is 32 MiB.
MAX_BODY = 40 * 1024 * 1024
#: Most bytes of the body of a request without a session, in hosted mode: that of the log-in.
MAX_BODY_WITHOUT_SESSION = 64 * 1024

_NO_HOST = 400, "The request has no Host header."
_TOO_LARGE = 413, f"The request is larger than {MAX_BODY:,} bytes."
_NEEDS_SESSION = (
    413,
    f"A request of more than {MAX_BODY_WITHOUT_SESSION:,} bytes needs a session. Log in first.",
)


async def allows_large_body(headers: Mapping[bytes, bytes]) -> bool:
    """Return whether a request with these headers, in lower case, may have a large body."""
    cookies = parse_cookie(headers.get(b"cookie", b"").decode("latin-1"))
    key = cookies.get(settings.SESSION_COOKIE_NAME)
    if not settings.HOSTED or not key:
        return not settings.HOSTED
    # Without the database, neither the session is known nor can the request be served.
    with contextlib.suppress(Error), limit_responses():
        return bool(await run_in_reader(valid_sessions, {key}))
    return False


class Admission:
    """ASGI middleware that admits requests."""

    def __init__(self, application: Callable[..., Awaitable[Any]]) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a connection on, or refuse the request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        most = MAX_BODY_WITHOUT_SESSION
        received, is_gone = 0, False

        async def admits(size: int) -> bool:
            nonlocal most
            if most < size <= MAX_BODY and await allows_large_body(headers):
                most = MAX_BODY
            if size > most:
                await _refuse(send, *(_TOO_LARGE if size > MAX_BODY else _NEEDS_SESSION))
            return size <= most

        async def receive_part() -> dict[str, Any]:
            nonlocal received, is_gone
            message: dict[str, Any] = await receive()
            received += len(message.get("body", b""))
            if message["type"] == "http.request" and not await admits(received):
                message = {"type": "http.disconnect"}
            is_gone = is_gone or message["type"] == "http.disconnect"
            return message

        if settings.HOSTED and not headers.get(b"host"):
            await _refuse(send, *_NO_HOST)
        elif await admits(int(headers.get(b"content-length") or 0)):
            extensions = {**(scope.get("extensions") or {}), IS_GONE: lambda: is_gone}
            await self._application({**scope, "extensions": extensions}, receive_part, send)


async def _refuse(send: Any, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
