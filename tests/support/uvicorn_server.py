"""Serve ASGI applications of other packages, in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp

_SECONDS = 20


class _Server(uvicorn.Server):
    """A server that stops when it is told to, instead of at its next look, a tenth later."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.serving = threading.Event()
        self.closed = threading.Event()
        self._stop: Any = None

    async def main_loop(self) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stop.set)
        await self.on_tick(0)
        self.serving.set()
        await stop.wait()
        for server in self.servers:
            server.close()
        self.closed.set()

    def stop(self) -> None:
        """Listen no more; connections are given up in the thread, and nobody waits for that."""
        self._stop()
        self.closed.wait(_SECONDS)


@contextlib.contextmanager
def serving_asgi(app: ASGIApp, port: int) -> Iterator[None]:
    """Serve an application on this port of the loopback while the block runs."""
    config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
    server = _Server(config)
    threading.Thread(target=server.run, daemon=True).start()
    assert server.serving.wait(_SECONDS), "the server did not start"
    try:
        yield
    finally:
        server.stop()
