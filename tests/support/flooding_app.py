"""ASGI application that floods a WebSocket and reports over HTTP how far it has come.

Run as a module, it is served by Daphne on a free port, which is printed:
`python -m tests.support.flooding_app`.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

MESSAGES = 200
#: Bytes of a message; all together they exceed the buffers of the operating system.
SIZE = 100_000
#: Options of a client that reads nothing between two calls of `recv()`.
UNREAD: dict[str, Any] = {
    "compression": None,
    "max_size": None,
    "max_queue": 1,
    # The response to a close frame comes after everything that is not read.
    "close_timeout": 0.1,
}


class FloodingApp:
    """The application; `unsent` is None without the extension `UNSENT_BYTES`."""

    def __init__(self) -> None:
        self.sent = 0
        self.unsent: Callable[[], int] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self._flood(scope, receive, send)
            return
        state = {"sent": self.sent, "unsent": self.unsent and self.unsent()}
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": json.dumps(state).encode()})

    async def _flood(self, scope: Any, receive: Any, send: Any) -> None:
        self.unsent = scope.get("extensions", {}).get("playground.unsent")
        await receive()
        await send({"type": "websocket.accept"})
        for _ in range(MESSAGES):
            await send({"type": "websocket.send", "text": "x" * SIZE})
            self.sent += 1
        while (await receive())["type"] != "websocket.disconnect":
            pass


def slow_connection(port: int) -> socket.socket:
    """Connect with a small receive buffer, so that little is in transit."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    return connection


if __name__ == "__main__":
    from playground import daphne_server
    from tests.support.servers import free_port

    port = free_port()
    daphne_server.run(
        FloodingApp(),
        host="127.0.0.1",
        port=port,
        started=lambda _: print(port, flush=True),
        client_timeout=60,
    )
