"""ASGI application behind one of the servers, with a short timeout for clients.

Run as a module, it is served on a free port, which is printed:
`python -m tests.support.client_limits_app daphne`.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from typing import Any

#: Seconds of the timeout, and of the pause of a response that is slow and must not be cut.
TIMEOUT, PAUSE = 1, 1.5
CHUNK = b"x" * 65536

#: Chunks of floods that were sent.
flooded = 0


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Respond with a flood, slowly, or with numbers; echo on a WebSocket.

    The numbers are the bytes of the request's body, and the chunks of all floods.
    """
    global flooded
    if scope["type"] == "websocket":
        await _echo(receive, send)
        return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/flood":
        disconnect = asyncio.ensure_future(receive())
        while not disconnect.done():
            await send({"type": "http.response.body", "body": CHUNK, "more_body": True})
            flooded += 1
            await asyncio.sleep(0)
        return
    if scope["path"] == "/slow":
        await send({"type": "http.response.body", "body": b"begin ", "more_body": True})
        await asyncio.sleep(PAUSE)
    await send({"type": "http.response.body", "body": b"%d %d" % (size, flooded)})


async def _echo(receive: Any, send: Any) -> None:
    while (message := await receive())["type"] != "websocket.disconnect":
        if message["type"] == "websocket.connect":
            await send({"type": "websocket.accept"})
        else:
            await send({"type": "websocket.send", "text": message["text"]})


if __name__ == "__main__":
    from tests.support.servers import free_port

    server = importlib.import_module(f"playground.{sys.argv[1]}_server")
    server.CHECK_INTERVAL = 0.1
    port = free_port()
    server.run(
        application,
        host="127.0.0.1",
        port=port,
        started=lambda _: print(port, flush=True),
        client_timeout=TIMEOUT,
    )
