"""Daphne, configured for the playground; a WebSocket's scope tells how much is not yet sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from daphne import server
from daphne.endpoints import build_endpoint_description_strings
from daphne.ws_protocol import WebSocketProtocol

#: Extension of a WebSocket's scope: a function that returns the number of bytes that the
#: connection has buffered and the operating system has not yet accepted. Daphne's `send()`
#: never waits for a slow client, so this is the only way to notice one.
UNSENT_BYTES = "playground.unsent"


class Server(server.Server):
    """Daphne's server with the extension `UNSENT_BYTES`."""

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Start the application of a connection, and return its queue of messages."""
        if scope["type"] == "websocket":
            extensions = scope.setdefault("extensions", {})
            extensions[UNSENT_BYTES] = partial(_unsent_bytes, protocol)
        return super().create_application(protocol, scope)

    def protocol_disconnected(self, protocol: Any) -> None:
        """Note that a client is gone, and free what it has not read."""
        super().protocol_disconnected(protocol)
        transport = protocol.transport
        if isinstance(protocol, WebSocketProtocol) and not transport.connected:
            # Twisted keeps it in cycles of references, which Python may find much later.
            transport.dataBuffer, transport.offset = b"", 0
            transport._tempDataBuffer, transport._tempDataLen = [], 0


def run(application: Any, *, host: str, port: int, started: Callable[[], object]) -> None:
    """Serve the application until a signal arrives; call `started` once the event loop runs."""
    from twisted.internet import reactor
    from twisted.internet.base import ReactorBase

    Server(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        # None: the demo agent streams for as long as its client listens.
        http_timeout=None,
        websocket_timeout=-1,
        # Many that connect at once wait for each other.
        websocket_handshake_timeout=30,
        application_close_timeout=5,
        verbosity=0,
        # The event loop is not running yet when Daphne calls it.
        ready_callable=lambda: cast("ReactorBase", reactor).callLater(0, started),
    ).run()


def _unsent_bytes(protocol: Any) -> int:
    """Return the number of bytes in the buffers of a protocol's transport.

    Twisted has no public API for it. A TLS connection forwards these attributes to the TCP
    connection below it; bytes that are not encrypted yet are not counted.
    """
    transport = protocol.transport
    if not transport.connected:
        return 0
    return len(transport.dataBuffer) - int(transport.offset) + int(transport._tempDataLen)
