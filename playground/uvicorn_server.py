"""uvicorn, configured to behave like Daphne in `playground.daphne_server`.

Its `send()` waits for a slow client, so that a WebSocket's scope needs no extension. Like Daphne,
it has no limits for clients that send half a request, send too much, or do not read: see
`playground.client_limits`. Import this module only where the extra `uvicorn` is installed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from playground.client_limits import (
    CHECK_INTERVAL,
    CONTENT_TOO_LARGE,
    MAX_BODY,
    REQUEST_TIMEOUT,
    ClientTimeout,
)

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


class Connection:
    """The transport of a connection, which counts what is written to it."""

    def __init__(self, transport: Any, timeout: ClientTimeout) -> None:
        self._transport = transport
        self._written = 0
        self.timeout = timeout

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write all of `data`, sooner or later."""
        self._written += len(data)
        self._transport.write(data)

    def reset(self) -> None:
        """Close the connection at once, with an RST; the system forgets what is unsent."""
        peer = self._transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def close_if_overdue(self, now: float) -> None:
        """Close the connection if its client takes too long."""
        unsent = self._transport.get_write_buffer_size()
        if not self.timeout.is_over(now, self._written - unsent, unsent):
            return
        if unsent or self._transport.is_closing():
            self.reset()
            return
        if self.timeout.is_receiving:
            self.write(REQUEST_TIMEOUT)
        self._transport.close()


class HttpProtocol(HttpToolsProtocol):
    """The HTTP protocol of one connection, with the limits of `playground.client_limits`."""

    transport: Any
    _is_refused = False

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        timeout = ClientTimeout(self.timeout_keep_alive, time.monotonic())
        super().connection_made(Connection(transport, timeout))  # type: ignore[arg-type]

    @property
    def _timeout(self) -> ClientTimeout | None:
        """The timeout of the request that is received; None while another one is responded to."""
        if self.cycle is not None and not self.cycle.response_complete:
            return None
        found: ClientTimeout = self.transport.timeout
        return found

    def on_message_begin(self) -> None:
        """Note the first byte of a request."""
        super().on_message_begin()
        if timeout := self._timeout:
            timeout.begin_head(time.monotonic())

    def on_headers_complete(self) -> None:
        """Start the application, unless the body exceeds the limit."""
        if timeout := self._timeout:
            timeout.begin_body(time.monotonic())
        lengths = [value for name, value in self.headers if name == b"content-length"]
        if any(int(value) > MAX_BODY for value in lengths):
            self._refuse_body()
        else:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Hand a part of the body to the application, unless it exceeds the limit."""
        if not self._is_refused and not self.transport.timeout.add_body(len(body)):
            self._refuse_body()
        if not self._is_refused:
            super().on_body(body)

    def _refuse_body(self) -> None:
        self._is_refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.write(CONTENT_TOO_LARGE)
        self.transport.close()

    def on_message_complete(self) -> None:
        """Note the end of the request."""
        if self._is_refused:
            return
        super().on_message_complete()
        if self._timeout:  # The response was sent before.
            self._timeout.end_response(time.monotonic())
        else:
            self.transport.timeout.begin_response()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        now = time.monotonic()
        if timeout := self._timeout:
            timeout.end_response(now)
        elif self.cycle.more_body and not self.pipeline:
            # The request that is responded to from now on was pipelined, and is not complete.
            self.transport.timeout.begin_head(now)

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the protocol of WebSockets."""
        self.transport.timeout.begin_response()
        super().handle_websocket_upgrade()


class Server(uvicorn.Server):
    """A server with the extension `HANG_UP` and the limits of clients.

    It does not handle signals, and stops without waiting for responses to end.
    """

    def __init__(
        self,
        application: Any,
        started: Callable[[Callable[[], None]], object],
        **options: Any,
    ) -> None:
        # The interface of a bound method is not detected.
        config = uvicorn.Config(self._serve_connection, interface="asgi3", **options)
        super().__init__(config)
        self._application = application
        self._on_start = started
        self._checked_at = 0.0

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle no signals: the caller does."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report the start."""
        await super().startup(sockets)
        self._on_start(self.stop)

    def stop(self) -> None:
        """Stop soon."""
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Close the connections of clients that take too long; return whether to stop."""
        now = time.monotonic()
        if now - self._checked_at >= CHECK_INTERVAL:
            self._checked_at = now
            for protocol in tuple(self.server_state.connections):
                if isinstance(protocol.transport, Connection):
                    protocol.transport.close_if_overdue(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close idle connections and WebSockets; `run` then cancels all tasks at once.

        The runs against the demo agent of this process have ended: see `playground.graceful_stop`.
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
        for protocol in self.server_state.connections:
            connection: Any = protocol.transport
            if get_remote_addr(connection) == client:
                if reset:
                    connection.reset()
                else:
                    connection.close()
                return


def run(
    application: Any,
    *,
    host: str,
    port: int,
    started: Callable[[Callable[[], None]], object],
    client_timeout: int,
) -> None:
    """Serve the application until it is stopped.

    `started` is called once the event loop runs, with the function that stops the server.
    `client_timeout` is in seconds: see `playground.client_limits`.
    """
    server = Server(
        application,
        started,
        host=host,
        port=port,
        workers=1,
        lifespan="off",
        http=HttpProtocol,
        ws=WebSocketProtocol,
        # Compressing a message takes twice the processor time of sending it.
        ws_per_message_deflate=False,
        # The values of Daphne.
        ws_max_size=1024 * 1024,
        ws_ping_timeout=30,
        timeout_keep_alive=client_timeout,
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
    logging.getLogger("uvicorn.error").addFilter(_is_no_cancellation)
    server.run(sockets=[listener])


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    """Return whether a log record is not about an application that was cancelled."""
    return not (record.exc_info and record.exc_info[0] is asyncio.CancelledError)
