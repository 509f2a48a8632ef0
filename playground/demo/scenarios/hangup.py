"""Closing of the connection of a request, in the middle of its response.

ASGI has no message for that, and an exception in the middle of a response does not help:
Daphne then sends an error page into the response that has begun, which fails inside its
clean-up loop, and the connection stays open forever. So the connection is looked up in
Daphne's reactor and closed there. uvicorn closes the connection after an exception.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Never

from django.http import HttpRequest


async def hang_up(request: HttpRequest, *, reset: bool) -> Never:
    """Close the connection of a request immediately; with `reset`, the client gets an RST.

    Without `reset`, pending data is still sent. Never return: wait until the server notices that
    the connection is gone and cancels the request. Raise `ConnectionResetError` if the connection
    cannot be found: other servers close it on an exception.
    """
    transport = _transport(request)
    if transport is None:
        raise ConnectionResetError("This connection was to be broken on purpose.")
    if reset:
        transport.abortConnection()
    else:
        transport.loseConnection()
    await asyncio.Event().wait()
    raise AssertionError("this event is never set")


def _transport(request: HttpRequest) -> Any | None:
    """Return the Twisted transport with the two ends of the request."""
    # Importing the reactor would install one; Daphne's process has imported it already.
    reactor: Any = sys.modules.get("twisted.internet.reactor")
    scope = getattr(request, "scope", {})
    ends = [tuple(scope.get(name) or ()) for name in ("client", "server")]
    for reader in reactor.getReaders() if reactor else ():
        if all(hasattr(reader, name) for name in ("getPeer", "getHost", "abortConnection")):
            found = [(end.host, end.port) for end in (reader.getPeer(), reader.getHost())]
            if found == ends:
                return reader
    return None
