"""uvicorn, configured to behave like Daphne in `playground.daphne_server`.

Its `send()` waits for a slow client, so that a WebSocket's scope needs no extension. Import this
module only where the extra `uvicorn` is installed.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

#: Extension of the scope of a request or WebSocket: a function that closes its connection at once.
#: With `reset=True` the client gets an RST.
HANG_UP = "playground.hang_up"


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's default protocol; a client that does not respond to a ping is disconnected."""

    def keepalive_timeout(self) -> None:
        """Close the connection, also where the client reads nothing."""
        super().keepalive_timeout()
        # Closing alone would wait until the client has read everything.
        self.transport.abort()


class Server(uvicorn.Server):
    """A server with the extension `HANG_UP` that stops without waiting for responses to end."""

    def __init__(self, application: Any, started: Callable[[], object], **options: Any) -> None:
        # The interface of a bound method is not detected.
        config = uvicorn.Config(self._serve_connection, interface="asgi3", **options)
        super().__init__(config)
        self._application = application
        self._on_start = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report the start."""
        await super().startup(sockets)
        self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close idle connections and WebSockets; `run` then cancels all tasks at once.

        If the responses were closed first, a run against the demo agent of this process would
        end as truncated, and not as interrupted.
        """
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        # The event loop sends the close frames of the WebSockets.
        await asyncio.sleep(0)

    async def _serve_connection(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] in {"http", "websocket"}:
            scope.setdefault("extensions", {})[HANG_UP] = partial(self._hang_up, scope["client"])
        await self._application(scope, receive, send)

    def _hang_up(self, client: tuple[str, int], *, reset: bool) -> None:
        for connection in self.server_state.connections:
            if get_remote_addr(connection.transport) == client:
                if reset:
                    peer = connection.transport.get_extra_info("socket")
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    connection.transport.abort()
                else:
                    connection.transport.close()
                return


def run(application: Any, *, host: str, port: int, started: Callable[[], object]) -> None:
    """Serve the application until a signal arrives; call `started` once the event loop runs."""
    server = Server(
        application,
        started,
        host=host,
        port=port,
        workers=1,
        lifespan="off",
        ws=WebSocketProtocol,
        # Compressing a message takes twice the processor time of sending it.
        ws_per_message_deflate=False,
        # The values of Daphne.
        ws_max_size=1024 * 1024,
        ws_ping_timeout=30,
        timeout_keep_alive=60,
        # The loggers are Django's.
        log_config=None,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # Requests of one connection share no context variables.
        reset_contextvars=True,
    )
    # A socket that uvicorn opens for "::" itself would accept no IPv4.
    listener = server.config.bind_socket()
    # asyncio sets it only on connections of sockets that it has opened itself.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for number in (signal.SIGINT, signal.SIGTERM):
        # After its end uvicorn raises the signal that stopped it again: no exit status of 0.
        signal.signal(number, lambda *_: None)
    logging.getLogger("uvicorn.error").addFilter(_is_no_cancellation)
    server.run(sockets=[listener])


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    """Return whether a log record is not about an application that was cancelled."""
    return not (record.exc_info and record.exc_info[0] is asyncio.CancelledError)
