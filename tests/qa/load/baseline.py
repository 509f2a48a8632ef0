"""A bare ASGI application that sends one text to all websockets, as a baseline.

`python -m tests.qa.load.baseline daphne` prints its port. A websocket receives a message when it
opens; `POST /go?ticks=N&rate=R` begins N messages of 2 KB to all, R a second.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from typing import Any
from urllib.parse import parse_qs

CURSOR = '<i id="run-cursor" data-first="{}" data-last="{}"{}></i>'
TEXT = "A plain dish of eggs and greens, with nothing else to it. " * 35


class Broadcast:
    """The application."""

    def __init__(self) -> None:
        self._sends: list[Any] = []
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve a websocket until it closes, or begin."""
        if scope["type"] == "lifespan":
            return
        if scope["type"] == "http":
            fields = parse_qs(scope["query_string"].decode())
            ticks, rate = int(fields["ticks"][0]), float(fields["rate"][0])
            self._task = asyncio.create_task(self._broadcast(ticks, rate))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"0"})
            return
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": CURSOR.format(1, 0, "")})
        self._sends.append(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass

    async def _broadcast(self, ticks: int, rate: float) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for tick in range(1, ticks + 1):
            await asyncio.sleep(began + tick / rate - loop.time())
            cursor = CURSOR.format(tick, tick, " data-final" if tick == ticks else "")
            text = f"sent@{time.monotonic_ns()}@ {TEXT}{cursor}"
            for send in self._sends:
                await send({"type": "websocket.send", "text": text})


def serve_with_daphne(listening: socket.socket) -> None:
    """Serve as `manage.py serve` does."""
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server

    Server(
        Broadcast(),
        endpoints=build_endpoint_description_strings(file_descriptor=listening.fileno()),
        http_timeout=None,
        websocket_timeout=-1,
        verbosity=0,
    ).run()


def serve_with_uvicorn(listening: socket.socket) -> None:
    """Serve with uvloop and httptools."""
    import uvicorn

    config = uvicorn.Config(
        Broadcast(),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        log_level="error",
        ws_per_message_deflate=False,
        ws_ping_interval=None,
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        print(listening.getsockname()[1], flush=True)
        {"daphne": serve_with_daphne, "uvicorn": serve_with_uvicorn}[sys.argv[1]](listening)
