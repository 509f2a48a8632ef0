"""Simulated agents: what they send and when, and the connections to them, for httpcore."""

from __future__ import annotations

import asyncio
import json
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import httpcore

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
START = b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
COMPLETE = b'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
BEAT = b": beat\n\n"
#: Seconds between two pieces of a response: at once, within a flush, slow.
PAUSES = (0.0, 0.0, 0.001, 0.004, 0.01, 0.03, 0.12)
#: How a response ends: as it should, without its last chunk, by a reset, or not in time.
ENDINGS = ("whole", "whole", "whole", "whole", "cut", "reset")


def result(number: int) -> bytes:
    item = {"@type": "Recipe", "name": f"Dish {number}"}
    return b"event: result\ndata: %s\n\n" % json.dumps({"index": number, "item": item}).encode()


@dataclass
class Script:
    """One response: bytes, each after a pause; and what came of it."""

    pieces: list[tuple[float, bytes]]
    ending: str
    #: The body of the response, without the framing.
    body: bytes
    #: How often the request was sent.
    requests: int = 0
    #: Bytes of the body that were read from the connection.
    read: bytearray = field(default_factory=bytearray)


def draw_script(draw: random.Random) -> Script:
    """Draw a response: a few results, or a flood; each event in a piece, or many in one."""
    count = draw.choice((0, 1, 3, 5, 8, 12, draw.randrange(20, 90)))
    blocks = [START, *map(result, range(count))]
    for _ in range(draw.choice((0, 0, 1, 3))):
        blocks.insert(draw.randrange(1, len(blocks) + 1), BEAT)
    if draw.random() < 0.8:
        blocks.append(COMPLETE)
    pieces: list[tuple[float, bytes]] = []
    body = b"".join(blocks)
    rest = body
    pace = draw.choice(PAUSES)
    size = draw.choice((1, 1, 1, 2, 5, 40)) * max(map(len, blocks))
    while rest:
        length = min(len(rest), draw.choice((size, size, draw.randrange(1, size + 1))))
        pieces.append((draw.choice((pace, pace, draw.choice(PAUSES))), rest[:length]))
        rest = rest[length:]
    return Script(pieces, draw.choice(ENDINGS), body)


class Agents(httpcore.AsyncNetworkBackend):
    """All agents; the port of a URL is the number of its script."""

    def __init__(self) -> None:
        self.scripts: list[Script] = []

    async def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> _Stream:
        await asyncio.sleep(0.001)
        return _Stream(self.scripts[port - 1])

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    """A connection to an agent."""

    def __init__(self, script: Script) -> None:
        self._script = script
        #: What was not read yet: when it is due after the piece before, and its bytes.
        self._pieces = deque([(0.002, HEAD), *script.pieces])
        self._last = asyncio.get_running_loop().time()
        self._has_ended = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return everything that has arrived; wait for the next piece if nothing has."""
        loop = asyncio.get_running_loop()
        if not self._pieces:
            return await self._end()
        await asyncio.sleep(max(0.0, self._last + self._pieces[0][0] - loop.time()))
        found = b""
        while self._pieces and self._last + self._pieces[0][0] <= loop.time() + 1e-9:
            pause, data = self._pieces.popleft()
            self._last += pause
            if data is HEAD:
                found += data
            else:
                found += b"%x\r\n%b\r\n" % (len(data), data)
                self._script.read += data
        return found

    async def _end(self) -> bytes:
        if self._has_ended:
            return b""
        self._has_ended = True
        if self._script.ending == "reset":
            raise httpcore.ReadError("reset")
        return b"0\r\n\r\n" if self._script.ending == "whole" else b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Count requests."""
        self._script.requests += buffer.startswith(b"POST ")

    async def aclose(self) -> None: ...

    def get_extra_info(self, info: str) -> Any:
        return None
