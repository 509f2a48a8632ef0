"""Breaks the connection that a request came on.

ASGI has no message for that. An exception in the middle of a response is no way out either:
Daphne then tries to send an error page into the response that has begun, which fails inside
its clean-up loop, and the connection stays open for good. So the connection is looked up
among those of Daphne's reactor and closed beneath it.
"""

from __future__ import annotations

import sys
from typing import Any

from django.http import HttpRequest


def hang_up(request: HttpRequest, *, reset: bool) -> None:
    """Close the request's connection at once; with `reset`, so that the client gets an RST.

    Without, what was written before is still sent. Raises `ConnectionResetError` where the
    connection cannot be found: other servers than Daphne close it on an exception.
    """
    transport = _transport(request)
    if transport is None:
        raise ConnectionResetError("This connection was to be broken on purpose.")
    if reset:
        transport.abortConnection()
    else:
        transport.loseConnection()


def _transport(request: HttpRequest) -> Any | None:
    """The Twisted transport whose two ends are those of the request."""
    # Importing the reactor would install one; in a process of Daphne's it is there already.
    reactor: Any = sys.modules.get("twisted.internet.reactor")
    scope = getattr(request, "scope", {})
    ends = [tuple(scope.get(name) or ()) for name in ("client", "server")]
    for reader in reactor.getReaders() if reactor else ():
        if all(hasattr(reader, name) for name in ("getPeer", "getHost", "abortConnection")):
            found = [(end.host, end.port) for end in (reader.getPeer(), reader.getHost())]
            if found == ends:
                return reader
    return None
