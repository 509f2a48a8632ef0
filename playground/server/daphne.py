"""Daphne, configured for the playground: it buffers neither what is not read nor large bodies.

By itself, Daphne receives a body as a whole before it starts the application, and buffers what the
application sends to a client that does not read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from daphne import server
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import WebRequest

from playground.base.jobs import start_task
from playground.server import close_unread
from playground.server.admission import MAX_BODY, MAX_BODY_WITHOUT_SESSION, allows_large_body

#: Messages of the application after which it continues only when the client has read enough.
_WAITING = {"websocket.send", "http.response.body"}


class Flow:
    """Producer of Twisted's that lets an application wait while a connection's buffer is full."""

    def __init__(self) -> None:
        self.writable = asyncio.Event()
        self.writable.set()

    def pauseProducing(self) -> None:  # noqa: N802 (Twisted's name)
        """Let the application wait: too much is unsent."""
        self.writable.clear()

    def resumeProducing(self) -> None:  # noqa: N802 (Twisted's name)
        self.writable.set()

    #: The connection has ended, which the application learns from a message.
    stopProducing = resumeProducing  # noqa: N815 (Twisted's name)


class Request(WebRequest):
    """A request that is refused as soon as its body is too large."""

    channel: Any
    content: Any
    _is_asked = _is_refused = False

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Store a part of the body; read no more of a large one until it is allowed."""
        if self._is_refused:
            return
        super().handleContentChunk(data)
        size = self.content.tell()
        if size > MAX_BODY:
            self._refuse()
        elif size > MAX_BODY_WITHOUT_SESSION and not self._is_asked:
            self._is_asked = True
            self.channel.transport.pauseProducing()
            start_task(self._ask(), "large-body")

    async def _ask(self) -> None:
        received = self.requestHeaders.getAllRawHeaders()
        headers = {name.lower(): b"; ".join(values) for name, values in received}
        is_allowed = await allows_large_body(headers)
        if self.application_queue is not None or self.channel is None:
            return  # It is the application's, or the client has gone.
        if is_allowed:
            self.channel.transport.resumeProducing()
        else:
            self._refuse()

    def _refuse(self) -> None:
        self._is_refused = True
        head = b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        self.channel.transport.write(head)
        self.channel.transport.loseConnection()

    def process(self) -> Any:
        """Start the application, unless the request was refused."""
        return None if self._is_refused else super().process()


class Server(server.Server):
    """Daphne's server, with a `send()` that waits, and a timeout of connections in seconds."""

    def __init__(self, application: Any, *, client_timeout: int, **options: Any) -> None:
        super().__init__(application, **options)
        self._client_timeout = client_timeout

    def listen_success(self, port: Any) -> None:
        """Configure the connections that will be accepted."""
        super().listen_success(port)
        self.http_factory.timeOut = self._client_timeout
        build_channel = self.http_factory.buildProtocol

        def build(address: Any) -> Any:
            channel = build_channel(address)
            channel.requestFactory = Request
            return channel

        self.http_factory.buildProtocol = build  # type: ignore[method-assign]
        close_unread(port.socket, self._client_timeout)

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Send a message of the application; wait while the client does not read."""
        details = self.connections.get(protocol)
        if not details or "disconnected" in details:
            return
        is_last = message["type"] == "http.response.body" and not message.get("more_body")
        waits = message["type"] in _WAITING and not is_last
        if waits and "flow" not in details:
            details["flow"] = Flow()
            # In place of the HTTP protocol, which has handed the connection over to a WebSocket.
            protocol.unregisterProducer()
            protocol.registerProducer(details["flow"], True)
        elif is_last and details.pop("flow", None):
            protocol.unregisterProducer()
        await super().handle_reply(protocol, message)
        if waits:
            await details["flow"].writable.wait()


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
    connection on which nothing of a request arrives for `client_timeout` seconds is closed.
    """
    from twisted.internet import reactor as installed

    reactor: Any = installed
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
        ready_callable=lambda: reactor.callLater(0, started, reactor.stop),
    ).run()
