"""uvicorn, configured to behave like Daphne in `playground.server.daphne`.

Its `send()` waits for a client that does not read. Import this module only where the extra
`uvicorn` is installed.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from playground.server import close_unread


def run(
    application: Any,
    *,
    host: str,
    port: int,
    started: Callable[[Callable[[], None]], object],
    client_timeout: int,
) -> None:
    """Serve the application until it is stopped.

    `started` is called once the event loop runs, with the function that stops the server. A
    connection without a further request for `client_timeout` seconds is closed.
    """

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await application(scope, receive, send)
            return
        # uvicorn has set its handlers of signals by now, so that `started` can replace them.
        started(lambda: setattr(server, "should_exit", True))
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})

    config = uvicorn.Config(
        serve,
        interface="asgi3",
        lifespan="on",
        # Compressing a message takes twice the processor time of sending it.
        ws_per_message_deflate=False,
        # The values of Daphne.
        ws_max_size=1024 * 1024,
        ws_ping_timeout=30,
        timeout_keep_alive=client_timeout,
        # The runs and their viewers have ended: see `playground.server.graceful_stop`.
        timeout_graceful_shutdown=1,
        # The loggers are Django's.
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # Requests of one connection share no context variables.
        reset_contextvars=True,
    )
    server = uvicorn.Server(config)
    is_ipv6 = ":" in host
    # A socket that uvicorn opens for "::" itself would accept no IPv4.
    listener = socket.create_server(
        (host, port),
        family=socket.AF_INET6 if is_ipv6 else socket.AF_INET,
        backlog=config.backlog,
        dualstack_ipv6=is_ipv6 and socket.has_dualstack_ipv6(),
    )
    # asyncio sets it only on connections of sockets that it has opened itself.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    close_unread(listener, client_timeout)
    logging.getLogger("uvicorn.error").addFilter(_is_failure)
    server.run(sockets=[listener])


def _is_failure(record: logging.LogRecord) -> bool:
    """Return whether a record is not of an application that was cancelled, or has hung up."""
    expected = (asyncio.CancelledError, ConnectionResetError)
    return not (record.exc_info and record.exc_info[0] in expected)
