"""Daphne, configured for the playground; a WebSocket's scope tells how much is not yet sent.

Daphne has no limit for clients that send half a request, send too much, or do not read: see
`playground.client_limits`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from daphne import server
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import WebRequest
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet import tcp
from twisted.python.failure import Failure
from twisted.web import http

from playground.client_limits import (
    CHECK_INTERVAL,
    CONTENT_TOO_LARGE,
    MAX_BODY,
    MAX_BODY_WITHOUT_SESSION,
    REQUEST_TIMEOUT,
    ClientTimeout,
)
from playground.task_registry import start_task

#: Extension of a WebSocket's scope: a function that returns the number of bytes that the
#: connection has buffered and the operating system has not yet accepted. Daphne's `send()`
#: never waits for a slow client, so this is the only way to notice one.
UNSENT_BYTES = "playground.unsent"


class Connection(tcp.Server):
    """A connection that counts the bytes that the operating system has accepted."""

    accepted = 0

    def writeSomeData(self, data: Any) -> Any:  # noqa: N802 (Twisted's name)
        """Write as much as possible; return the number of bytes, or an exception."""
        result = super().writeSomeData(data)
        if isinstance(result, int):
            self.accepted += result
        return result

    @property
    def unsent(self) -> int:
        """The number of bytes in the buffers. Twisted has no public API for it."""
        if not self.connected:
            return 0
        return len(self.dataBuffer) - int(self.offset) + int(self._tempDataLen)

    def free(self) -> None:
        """Free what a client that is gone has not read.

        Twisted keeps it in cycles of references, which Python may find much later.
        """
        self.dataBuffer, self.offset = b"", 0
        self._tempDataBuffer, self._tempDataLen = [], 0


class Request(WebRequest):
    """A request whose body is limited."""

    channel: Channel

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Store a part of the body, unless it exceeds the limit."""
        if self.channel.accepts_body(len(data)):
            super().handleContentChunk(data)


class Channel(http.HTTPChannel):
    """The HTTP protocol of one connection, with the limits of `playground.client_limits`."""

    transport: Any

    def connectionMade(self) -> None:  # noqa: N802 (Twisted's name)
        """Begin to wait for a request."""
        self.requestFactory = Request
        self.timeout = self.factory.server.watch(self.transport)
        self._is_refused = False
        #: Set unless too much waits for the client.
        self.writable = asyncio.Event()
        self.writable.set()
        super().connectionMade()

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Parse what was received."""
        if not self.requests and not self._buffer:
            self.timeout.begin_head(time.monotonic())
        super().dataReceived(data)

    def allHeadersReceived(self) -> None:  # noqa: N802 (Twisted's name)
        """Prepare for the body, unless it exceeds the limit."""
        self.timeout.begin_body(time.monotonic())
        self._has_asked = False
        if (self.length or 0) > MAX_BODY:
            self._refuse_body()
        else:
            super().allHeadersReceived()
            self._ask_if_large(self.length or 0)

    def accepts_body(self, size: int) -> bool:
        """Return whether a part of the body of this size is to be stored."""
        if not self._is_refused and not self.timeout.add_body(size):
            self._refuse_body()
        self._ask_if_large(self.timeout.body_bytes)
        return not self._is_refused

    def _ask_if_large(self, size: int) -> None:
        """Ask the application about a large body, once, and read no more of it until then."""
        server = self.factory.server
        if size <= MAX_BODY_WITHOUT_SESSION or self._has_asked or not server.allows_large_body:
            return
        self._has_asked = True
        self.transport.pauseProducing()
        received = self.requests[-1].requestHeaders.getAllRawHeaders()
        headers = {name.lower(): b"; ".join(values) for name, values in received}
        start_task(self._decide(server.allows_large_body(headers)), "large-body")

    async def _decide(self, is_allowed: Awaitable[bool]) -> None:
        # A body that has arrived in the meantime is the application's.
        if not await is_allowed and self.timeout.is_receiving:
            self._refuse_body()
        elif not self._waitingForTransport:
            self.transport.resumeProducing()

    def _refuse_body(self) -> None:
        self._is_refused = True
        self.transport.write(CONTENT_TOO_LARGE)
        self.loseConnection()

    def allContentReceived(self) -> None:  # noqa: N802 (Twisted's name)
        """Hand the request to the application."""
        if not self._is_refused:
            self.timeout.begin_response()
            super().allContentReceived()

    def requestDone(self, request: Any) -> None:  # noqa: N802 (Twisted's name)
        """Wait for the next request."""
        if self.persistent:
            self.timeout.end_response(time.monotonic())
        super().requestDone(request)

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Let the application wait: too much is unsent."""
        self.writable.clear()
        super().pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Let the application continue."""
        self.writable.set()
        super().resumeProducing()

    def connectionLost(self, reason: Failure) -> None:  # type: ignore[override]  # noqa: N802 (Twisted's name)
        """Let the application continue; it learns that the client has disconnected."""
        self.writable.set()
        super().connectionLost(reason)


class Server(server.Server):
    """Daphne's server with the extension `UNSENT_BYTES` and the limits of clients."""

    def __init__(self, application: Any, *, client_timeout: float, **options: Any) -> None:
        super().__init__(application, **options)
        self._client_timeout = client_timeout
        #: What `playground.admission` offers to servers that buffer bodies, as Daphne does.
        self.allows_large_body = getattr(application, "allows_large_body", None)
        self._timeouts: dict[Connection, ClientTimeout] = {}

    def listen_success(self, port: Any) -> None:
        """Use our classes for the connections that will be accepted."""
        super().listen_success(port)
        port.transport = Connection
        port.factory.protocol = Channel
        # Any byte would restart Twisted's own timeout.
        port.factory.timeOut = None

    def watch(self, connection: Connection) -> ClientTimeout:
        """Close a connection once its client takes too long."""
        if not self._timeouts:
            _call_later(CHECK_INTERVAL, self._close_overdue)
        timeout = self._timeouts[connection] = ClientTimeout(self._client_timeout, time.monotonic())
        return timeout

    def _close_overdue(self) -> None:
        now = time.monotonic()
        for connection, timeout in tuple(self._timeouts.items()):
            if not connection.connected:
                del self._timeouts[connection]
            elif timeout.is_over(now, connection.accepted, connection.unsent):
                if connection.unsent or connection.disconnecting:
                    connection.abortConnection()
                    continue
                if timeout.is_receiving:
                    connection.write(REQUEST_TIMEOUT)
                connection.protocol.loseConnection()
        if self._timeouts:
            _call_later(CHECK_INTERVAL, self._close_overdue)

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Start the application of a connection, and return its queue of messages."""
        if scope["type"] == "websocket":
            extensions = scope.setdefault("extensions", {})
            extensions[UNSENT_BYTES] = partial(_unsent_bytes, protocol)
        return super().create_application(protocol, scope)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a message of the application; for a response, wait for a slow client."""
        # It is None after the end of the response.
        channel = getattr(protocol, "channel", None)
        await super().handle_reply(protocol, message)
        if channel is not None and message.get("more_body"):
            await channel.writable.wait()

    def protocol_disconnected(self, protocol: Any) -> None:
        """Note that a client is gone, and free what it has not read."""
        super().protocol_disconnected(protocol)
        transport = protocol.transport
        if isinstance(protocol, WebSocketProtocol) and not transport.connected:
            transport.free()

    def kill_all_applications(self) -> Any:
        """Cancel the applications; requests that are not complete have none."""
        self.connections = {
            protocol: details
            for protocol, details in self.connections.items()
            if "application_instance" in details
        }
        return super().kill_all_applications()


def run(
    application: Any,
    *,
    host: str,
    port: int,
    started: Callable[[Callable[[], None]], object],
    client_timeout: float,
) -> None:
    """Serve the application until it is stopped.

    `started` is called once the event loop runs, with the function that stops the server.
    `client_timeout` is in seconds: see `playground.client_limits`.
    """
    Server(
        application,
        client_timeout=client_timeout,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        signal_handlers=False,
        # None: the demo agent streams for as long as its client listens.
        http_timeout=None,
        websocket_timeout=-1,
        # Many that connect at once wait for each other.
        websocket_handshake_timeout=30,
        application_close_timeout=5,
        server_name="",
        verbosity=0,
        # The event loop is not running yet when Daphne calls it.
        ready_callable=lambda: _call_later(0, started, _reactor().stop),
    ).run()


def _reactor() -> Any:
    from twisted.internet import reactor

    return reactor


def _call_later(seconds: float, function: Callable[..., object], *args: Any) -> None:
    _reactor().callLater(seconds, function, *args)


def _unsent_bytes(protocol: Any) -> int:
    """Return the number of bytes in the buffers of a protocol's transport."""
    return cast("Connection", protocol.transport).unsent
