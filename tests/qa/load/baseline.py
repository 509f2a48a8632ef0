"""The bare server beside which rows are measured: what every server of such streams has to do.

It reads the agent with httpx and httpx-sse and sends each event as one small message to the
websockets of its run. It has no database, limits or templates. It takes the requests of the
client that measures the playground and ends messages with the same cursor, so that one client
measures both. `python -m tests.qa.load.baseline` prints its port.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

import httpx
import uvicorn
from httpx_sse import EventSource

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CURSOR = '<run-cursor id="run-cursor" data-first="{}" data-last="{}"{}></run-cursor>'


class Run:
    """A run: what the agent has sent, as messages, and the websockets that have all of them."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.has_ended = False
        self.sockets: set[Send] = set()

    async def drive(self, client: httpx.AsyncClient, url: str, document: Any) -> None:
        """Send the request, and each event of the response to the websockets."""
        async with client.stream("POST", url, json=document) as response:
            async for event in EventSource(response).aiter_sse():
                number = len(self.messages) + 1
                await self._add(
                    f'<article id="entry-{number}-0">{html.escape(event.data)}</article>'
                )
        self.has_ended = True
        await self._add("")

    async def _add(self, content: str) -> None:
        number = len(self.messages) + 1
        final = " data-final" * self.has_ended
        message = content + CURSOR.format(number, number, final)
        self.messages.append(message)
        for send in tuple(self.sockets):
            with contextlib.suppress(OSError):  # The client has disconnected.
                await send({"type": "websocket.send", "text": message})

    async def follow(self, send: Send, position: int) -> None:
        """Send what is after a position, and then what follows."""
        while position < len(self.messages):
            await send({"type": "websocket.send", "text": self.messages[position]})
            position += 1
        self.sockets.add(send)


class Server:
    """The ASGI application."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._agents: dict[str, str] = {}
        self._driving: set[asyncio.Task[None]] = set()
        # Made with the first run, in the event loop.
        self._client: httpx.AsyncClient | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request or a websocket."""
        if scope["type"] == "websocket":
            await self._show(scope, receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        content = self._respond(scope["path"], parse_qs(body.decode()))
        headers = [
            (b"set-cookie", b"playground_csrf=none; Path=/"),
            (b"content-type", b"text/html"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content.encode()})

    def _respond(self, path: str, form: dict[str, list[str]]) -> str:
        if path == "/agents/":
            self._agents[form["name"][0].lower()] = form["url"][0]
        elif path == "/runs/":
            url = f"{self._agents[form['agent'][0]]}/ask"
            return self._start(url, json.loads(form["document"][0]))
        return ""

    def _start(self, url: str, document: Any) -> str:
        if self._client is None:
            limits = httpx.Limits(max_connections=None)
            self._client = httpx.AsyncClient(timeout=None, trust_env=False, limits=limits)
        key, run = str(uuid4()), Run()
        self._runs[key] = run
        task = asyncio.create_task(run.drive(self._client, url, document))
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)
        return f'<main data-run="{key}">{CURSOR.format(1, 0, "")}</main>'

    async def _show(self, scope: Message, receive: Receive, send: Send) -> None:
        run = self._runs[scope["path"].strip("/").split("/")[-1]]
        position = int(parse_qs(scope["query_string"].decode())["after"][0])
        await receive()
        await send({"type": "websocket.accept"})
        await run.follow(send, position)
        while (await receive())["type"] != "websocket.disconnect":
            pass
        run.sockets.discard(send)


def main() -> None:
    """Print the port and serve until ended, with the playground's settings of uvicorn."""
    config = uvicorn.Config(
        Server(), lifespan="off", ws_per_message_deflate=False, timeout_graceful_shutdown=1,
        log_level="error", access_log=False, server_header=False,
    )  # fmt: skip
    listener = socket.create_server(("127.0.0.1", 0), backlog=config.backlog)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
