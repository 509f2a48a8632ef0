"""Requests to scenarios over a socket, and their responses byte for byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.demo.client import read_events
from tests.support.playground_server import PlaygroundServer

BODY = {"query": {"text": "x"}, "prefer": {"streaming": True}}


@dataclass
class Raw:
    """A reply as it crossed the wire, read until the connection closed."""

    head: str
    #: The payload of the chunks, complete or not.
    body: bytes
    #: Whether the body ended as its framing says.
    whole: bool
    #: Whether the connection was reset.
    reset: bool = False

    @property
    def status(self) -> int:
        return int(self.head.split()[1])

    @property
    def headers(self) -> dict[str, str]:
        pairs = (line.partition(": ") for line in self.head.split("\r\n")[1:])
        return {name.lower(): value for name, _, value in pairs}

    @property
    def events(self) -> list[tuple[str, Any]]:
        return read_events(self.body)


def request(path: str, body: Any = BODY, **headers: str) -> bytes:
    data = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(data)}"]
    lines += ["Connection: close", "Content-Type: application/json"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


@asynccontextmanager
async def calling(
    server: PlaygroundServer, path: str, **options: Any
) -> AsyncIterator[asyncio.StreamReader]:
    """Send a request; the connection is closed on the way out."""
    port = urlsplit(server.url).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    writer.write(request(path, **options))
    try:
        yield reader
    finally:
        writer.transport.abort()


async def play(server: PlaygroundServer, slug: str, query: str = "", **options: Any) -> Raw:
    """Play a scenario to its end."""
    async with calling(server, f"/demo/scenarios/{slug}/ask{query}", **options) as reader:
        data, reset = bytearray(), False
        try:
            while piece := await reader.read(2**16):
                data += piece
        except ConnectionResetError:
            reset = True
    head, _, rest = bytes(data).partition(b"\r\n\r\n")
    raw = Raw(head.decode("latin-1"), rest, True, reset)
    if raw.headers.get("transfer-encoding") == "chunked":
        raw.body, raw.whole = unchunk(rest)
    else:
        raw.whole = len(rest) == int(raw.headers["content-length"])
    return raw


def unchunk(data: bytes) -> tuple[bytes, bool]:
    """The payload of a chunked body, and whether its last chunk is there."""
    body = b""
    while data:
        size, _, rest = data.partition(b"\r\n")
        if int(size, 16) == 0:
            return body, rest == b"\r\n"
        body, data = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body, False
