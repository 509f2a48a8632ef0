"""ASGI application that floods its clients, and reports over HTTP how far it has come.

Run as a module, it is served on a free port, which is printed:
`python -m tests.support.flooding_app daphne`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import socket
import sys
from typing import Any

import django

#: Seconds of the timeout of clients, and of the pause of a response that is slow and must not be
#: cut.
TIMEOUT, PAUSE = 1, 1.5
#: Messages on a WebSocket, and their bytes; together they exceed the operating system's buffers.
MESSAGES, SIZE = 200, 100_000


class FloodingApp:
    """The application: floods a WebSocket and the path /flood, and responds slowly on /slow."""

    def __init__(self) -> None:
        #: Messages and chunks that were sent, and floods whose end was noticed.
        self.sent = self.ended = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await self._flood_websocket(receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        match scope["path"]:
            case "/flood":
                await self._flood(receive, send)
                return
            case "/slow":
                await send({"type": "http.response.body", "body": b"begin ", "more_body": True})
                await asyncio.sleep(PAUSE)
        state = json.dumps({"sent": self.sent, "ended": self.ended})
        await send({"type": "http.response.body", "body": state.encode()})

    async def _flood(self, receive: Any, send: Any) -> None:
        await receive()
        disconnect = asyncio.ensure_future(receive())
        while not disconnect.done():
            await send({"type": "http.response.body", "body": b"x" * SIZE, "more_body": True})
            self.sent += 1
            await asyncio.sleep(0)
        await send({"type": "http.response.body"})  # As if it had not noticed.
        self.ended += 1

    async def _flood_websocket(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        try:
            for number in range(MESSAGES):
                await send({"type": "websocket.send", "text": f"{number} ".ljust(SIZE, "x")})
                self.sent += 1
            while (await receive())["type"] != "websocket.disconnect":
                pass
        finally:
            self.ended += 1


def slow_connection(port: int) -> socket.socket:
    """Connect with a small receive buffer, so that little is in transit."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", port))
    return connection


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "playground.settings"
    django.setup()
    from tests.support.servers import free_port

    server = importlib.import_module(f"playground.server.{sys.argv[1]}")
    port = free_port()
    server.run(
        FloodingApp(),
        host="127.0.0.1",
        port=port,
        started=lambda _: print(port, flush=True),
        client_timeout=TIMEOUT,
    )
