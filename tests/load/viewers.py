"""The viewers: many websockets in one process, which measure and check what they receive."""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.bench import clients
from tests.bench.clients import Started

SENT = re.compile(clients.SENT.pattern.encode())
CURSOR = re.compile(clients.CURSOR.pattern.encode())
#: Websockets that are opened at once.
OPENING = 32
#: Seconds without a message after which all viewers have caught up.
QUIET = 0.5
#: Seconds without a message after which what is missing counts as lost.
PATIENCE = 20.0
#: Different messages whose content is remembered: the viewers of one run receive equal ones.
REMEMBERED = 512


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a message: frames, whether it is the last one, moments of its results."""

    first: int
    last: int
    final: bool
    sent: tuple[int, ...]


def parse(message: bytes) -> Content:
    """Read a message. Raises `ValueError` if there is no cursor in it."""
    cursor = CURSOR.search(message, max(0, message.rfind(b'id="run-cursor"')))
    if not cursor:
        raise ValueError(f"no cursor in {message.decode()}")
    # A card may show a text twice.
    sent = tuple(int(moment) for moment in dict.fromkeys(SENT.findall(message)))
    return Content(int(cursor[1]), int(cursor[2]), b"data-final" in cursor[3], sent)


class Viewer:
    """One websocket: its position in the run, and what was wrong with what it received."""

    def __init__(self, last: int, results: int) -> None:
        """Expect frames after `last`, and `results` results."""
        self._last = last
        self._newest = 0
        self._missing = results
        self.frames_lost = 0
        self.repeated = 0

    @property
    def lost(self) -> int:
        """Results and frames that did not arrive, or not yet."""
        return max(self._missing, self.frames_lost)

    def receive(self, content: Content) -> None:
        """Compare a message with those before it."""
        if content.first > self._last + 1:
            self.frames_lost += content.first - self._last - 1
        elif content.first <= self._last:
            self.repeated += self._last - content.first + 1
        self._last = max(self._last, content.last)
        for moment in content.sent:
            if moment > self._newest:
                self._newest = moment
                self._missing -= 1
            else:
                self.repeated += 1


@dataclass
class Audience:
    """All viewers of a measurement."""

    compression: bool = False
    #: Milliseconds from the agent's write to a websocket.
    latencies: list[float] = field(default_factory=list)
    messages: int = 0
    viewers: list[Viewer] = field(default_factory=list)
    #: The loop's time of the last message.
    _heard: float = 0
    _known: dict[bytes, Content] = field(default_factory=dict)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Events that some viewer did not receive."""
        return sum(viewer.lost for viewer in self.viewers)

    @property
    def repeated(self) -> int:
        """Events that some viewer received twice, or too late."""
        return sum(viewer.repeated for viewer in self.viewers)

    async def open(self, runs: Iterable[Started], results: int) -> None:
        """Open one websocket for each of `runs`, and wait until all have caught up."""
        slots = asyncio.Semaphore(OPENING)
        opening = [self._open(run, results, slots) for run in runs]
        for viewer, socket in await asyncio.gather(*opening):
            self.viewers.append(viewer)
            self._tasks.append(asyncio.create_task(self._follow(viewer, socket)))
        loop = asyncio.get_running_loop()
        self._heard = loop.time()
        while (rest := self._heard + QUIET - loop.time()) > 0:
            await asyncio.sleep(rest)
        # The measurement shall not measure the garbage collector of its own process.
        gc.collect()
        gc.freeze()

    async def finish(self) -> None:
        """Wait until all have received the end of their run, or nothing more arrives."""
        loop = asyncio.get_running_loop()
        self._heard = loop.time()
        waiting: set[asyncio.Task[None]] = set(self._tasks)
        while waiting and (rest := self._heard + PATIENCE - loop.time()) > 0:
            _, waiting = await asyncio.wait(waiting, timeout=rest)

    async def close(self) -> None:
        """Close what is still open."""
        for task in self._tasks:
            task.cancel()
        ended = await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def _open(
        self, run: Started, results: int, slots: asyncio.Semaphore
    ) -> tuple[Viewer, ClientConnection]:
        origin: Any = run.origin
        async with slots:
            socket = await connect(
                run.address,
                origin=origin,
                compression="deflate" if self.compression else None,
                proxy=None,
                max_size=None,
                ping_interval=None,
                open_timeout=60,
            )
        return Viewer(run.last, results), socket

    async def _follow(self, viewer: Viewer, socket: ClientConnection) -> None:
        clock, known, latencies = time.monotonic_ns, self._known, self.latencies
        loop = asyncio.get_running_loop()
        try:
            while True:
                message = await socket.recv(decode=False)
                now = clock()
                self._heard = loop.time()
                self.messages += 1
                if (content := known.get(message)) is None:
                    if len(known) >= REMEMBERED:
                        known.clear()
                    content = known[message] = parse(message)
                viewer.receive(content)
                latencies.extend([(now - moment) / 1e6 for moment in content.sent])
                if content.final:
                    return
        except ConnectionClosed:
            return
        finally:
            socket.transport.abort()
