"""The viewers: many websockets in one process, which measure and check what they receive."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from socket import IPPROTO_TCP, SO_RCVBUF, SOL_SOCKET, TCP_MAXSEG
from socket import socket as new_socket
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidMessage
from websockets.frames import Frame, Opcode
from websockets.protocol import Event

from tests.qa.bench import clients
from tests.qa.bench.clients import Started

#: The id of an entry, or the moment in one.
RESULT = re.compile(rb' id="entry-(\d+-\d+)"|' + clients.SENT.pattern.encode())
CURSOR = re.compile(clients.CURSOR.pattern.encode())
#: Websockets that are opened at once.
OPENING = 32
#: Seconds until a dropped connection is opened again.
RECONNECT = 0.5
#: Seconds without a message after which all viewers have caught up.
QUIET = 0.5
#: Seconds without a message after which what is missing counts as lost.
PATIENCE = 20.0
#: Bytes of a small socket's receive buffer, and of a segment.
RECEIVED, SEGMENT = 16 * 1024, 1400
#: Different messages whose content is remembered: the viewers of one run receive equal ones.
REMEMBERED = 512


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a message: its frames, whether it is the last one, and its results."""

    first: int
    last: int
    final: bool
    #: The ids of their entries, and the moments at which the agent wrote them.
    results: tuple[tuple[bytes, int], ...]


def parse(message: bytes) -> Content:
    """Read a message. Raises `ValueError` if there is no cursor in it."""
    cursor = CURSOR.search(message, max(0, message.rfind(b'id="run-cursor"')))
    if not cursor:
        raise ValueError(f"no cursor in {message.decode()}")
    found, entry = [], b""
    for match in RESULT.finditer(message):
        if match[1]:
            entry = match[1]
        elif entry:
            found.append((entry, int(match[2])))
            entry = b""  # A card may show a text twice.
    return Content(int(cursor[1]), int(cursor[2]), b"data-final" in cursor[3], tuple(found))


class Viewer:
    """One viewer: its position in the run, and what was wrong with what it received."""

    def __init__(self, run: Started, results: int) -> None:
        """Expect frames after the last one of the page, and `results` results."""
        self.run = run
        self._last = run.last
        self._newest = 0
        self._entries: set[bytes] = set()
        self._missing = results
        self.frames_lost = 0
        self.repeated = 0

    @property
    def position(self) -> Started:
        """The run from the last frame that has arrived."""
        return replace(self.run, last=self._last)

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
        for entry, moment in content.results:
            if entry in self._entries or moment <= self._newest:
                self.repeated += 1
            else:
                self._missing -= 1
            self._entries.add(entry)
            self._newest = max(self._newest, moment)


@dataclass
class Audience:
    """All viewers of a measurement."""

    compression: bool = False
    #: Whether the system holds little of what a viewer has not read, as between two machines.
    has_small_buffers: bool = False
    #: Milliseconds from the agent's write to a websocket.
    latencies: list[float] = field(default_factory=list)
    viewers: list[Viewer] = field(default_factory=list)
    #: Connections that the server dropped before the end of their run.
    dropped: int = 0
    messages: int = 0
    _sockets: dict[Viewer, Socket] = field(default_factory=dict)
    _opening: set[asyncio.Task[None]] = field(default_factory=set)
    #: Those whose run has not ended.
    _following: set[Viewer] = field(default_factory=set)
    #: The loop's time of the last message.
    _heard: float = 0
    _known: dict[bytes, Content] = field(default_factory=dict)

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

        async def connect_one(viewer: Viewer) -> None:
            async with slots:
                await self.connect(viewer)

        viewers = [Viewer(run, results) for run in runs]
        self.viewers += viewers
        await asyncio.gather(*map(connect_one, viewers))
        while self._opening:
            await asyncio.wait(self._opening)
        await self._wait_until_quiet(QUIET)
        # The measurement shall not measure the garbage collector of its own process.
        gc.collect()
        gc.freeze()

    async def finish(self, patience: float = PATIENCE) -> None:
        """Wait until all have received the end of their run, or nothing more arrives."""
        await self._wait_until_quiet(patience)

    async def close(self) -> None:
        """Close what is still open."""
        self._following.clear()
        for task in self._opening:
            task.cancel()
        for socket in self._sockets.values():
            socket.transport.abort()
        await asyncio.gather(*(socket.wait_closed() for socket in self._sockets.values()))
        self._sockets.clear()

    def is_following(self, viewer: Viewer) -> bool:
        """Return whether a viewer is connected and has not received the end of its run."""
        return viewer in self._following

    async def disconnect(self, viewer: Viewer, *, abort: bool) -> None:
        """Close the socket of a viewer, with the closing handshake or without."""
        self._following.discard(viewer)
        if socket := self._sockets.pop(viewer, None):
            if abort:
                socket.transport.abort()
            else:
                await socket.close()
            await socket.wait_closed()

    async def stop_reading(self, viewer: Viewer, seconds: float) -> None:
        """Read nothing of a viewer's socket for some seconds."""
        if socket := self._sockets.get(viewer):
            socket.transport.pause_reading()
            await asyncio.sleep(seconds)
            socket.transport.resume_reading()

    def pause_reading(self) -> None:
        """Read nothing of any socket that is open."""
        for socket in self._sockets.values():
            socket.transport.pause_reading()

    def resume_reading(self) -> None:
        """Read on."""
        for socket in self._sockets.values():
            socket.transport.resume_reading()

    async def _reconnect(self, viewer: Viewer) -> None:
        await asyncio.sleep(RECONNECT)
        while viewer in self._following:
            try:
                await self.connect(viewer)
            except (InvalidHandshake, TimeoutError):
                return  # The lost connection has begun the next attempt.
            except ConnectionRefusedError:
                await asyncio.sleep(RECONNECT)
            else:
                return

    async def follow(self, viewer: Viewer) -> None:
        """Add a viewer, whose websocket is opened again until that succeeds."""
        self.viewers.append(viewer)
        self._following.add(viewer)
        # The lost connection has begun the next attempt.
        with contextlib.suppress(InvalidHandshake, TimeoutError):
            await self.connect(viewer)

    async def connect(self, viewer: Viewer) -> None:
        """Open the websocket of a viewer, from its cursor."""
        origin: Any = viewer.run.origin
        connection: Any = partial(Socket, self, viewer)
        # A connection that is dropped during its handshake is opened again like all others.
        with contextlib.suppress(InvalidMessage):
            await connect(
                viewer.position.address,
                origin=origin,
                compression="deflate" if self.compression else None,
                proxy=None,
                max_size=None,
                ping_interval=None,
                open_timeout=60,
                create_connection=connection,
                sock=_small_socket(viewer.run.url) if self.has_small_buffers else None,
            )

    async def _wait_until_quiet(self, seconds: float) -> None:
        """Wait until no run is followed, or no message has arrived for so long."""
        loop = asyncio.get_running_loop()
        self._heard = loop.time()
        while self._following and (rest := self._heard + seconds - loop.time()) > 0:
            await asyncio.sleep(min(rest, 0.1))

    def join(self, socket: Socket) -> None:
        """Note a new websocket."""
        self._sockets[socket.viewer] = socket
        self._following.add(socket.viewer)

    def leave(self, socket: Socket) -> None:
        """Note a lost connection, and connect again from the cursor, as a page does."""
        if socket.viewer not in self._following:
            return
        self.dropped += 1
        task = asyncio.create_task(self._reconnect(socket.viewer))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def receive(self, socket: Socket, message: bytes) -> None:
        """Note a message to a viewer."""
        now = time.monotonic_ns()
        self.messages += 1
        self._heard = socket.loop.time()
        if (content := self._known.get(message)) is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            content = self._known[message] = parse(message)
        socket.viewer.receive(content)
        self.latencies.extend([(now - moment) / 1e6 for _, moment in content.results])
        if content.final:
            self._following.discard(socket.viewer)


def _small_socket(url: str) -> new_socket:
    """Connect a socket with the segments of an Ethernet: the loopback's make buffers large."""
    parts = urlsplit(url)
    connected = new_socket()
    connected.setsockopt(SOL_SOCKET, SO_RCVBUF, RECEIVED)
    connected.setsockopt(IPPROTO_TCP, TCP_MAXSEG, SEGMENT)
    connected.connect((parts.hostname, parts.port))
    connected.setblocking(False)
    return connected


class Socket(ClientConnection):
    """A websocket whose messages are noted as they are read.

    In a queue they would wait for those of all other websockets, and that is not what is measured.
    """

    def __init__(self, audience: Audience, viewer: Viewer, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.viewer = viewer
        self._audience = audience

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Join the audience."""
        super().connection_made(transport)
        self._audience.join(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the audience."""
        super().connection_lost(exc)
        self._audience.leave(self)

    def process_event(self, event: Event) -> None:
        """Note a message, and leave everything else to the library."""
        if isinstance(event, Frame) and event.opcode is Opcode.TEXT:
            assert event.fin, "the message is fragmented"
            self._audience.receive(self, bytes(event.data))
        else:
            super().process_event(event)
