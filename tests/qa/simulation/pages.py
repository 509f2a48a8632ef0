"""Simulated browsers: a page of a run and its websocket, as the page's scripts treat them."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator
from typing import Any, Protocol
from uuid import UUID

from playground.live.consumers import RunConsumer, SharedRunConsumer
from playground.models import RunState
from tests.qa.simulation.loop import SimulatedLoop

_CURSOR = re.compile(r'<run-cursor id="run-cursor" data-first="(\d+)" data-last="(\d+)"([^>]*)>')
_ENTRY = re.compile(r' id="entry-(\d+)-(\d+)"')
_STATE = re.compile(r'id="run-badge"[^>]*?data-state="(\w+)"', re.DOTALL)
#: Close codes after which a page connects again (static/live/run-connection.js).
_RECONNECT = (4408, 4500, 4503)
#: What stands for a connection that is lost.
LOST = 1006
_FINAL = frozenset(state.value for state in RunState if state.is_final)


class Web(Protocol):
    """The web process, as browsers see it."""

    draw: random.Random

    @property
    def web(self) -> SimulatedLoop: ...

    async def respond(self, run: UUID) -> tuple[str, int, bool] | None: ...

    def has_frame(self, run: UUID, seq: int) -> bool: ...

    def is_in_progress(self, conversation_of: UUID) -> bool: ...

    def note(self, text: str) -> None: ...


class Connection:
    """A websocket: messages in both directions, and how it was closed."""

    def __init__(self, page: Page, loop: SimulatedLoop) -> None:
        self.page, self.loop = page, loop
        self.to_server: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.closed = asyncio.Event()
        self.code = LOST

    async def send(self, message: dict[str, Any]) -> None:
        """Take a message of the server, as an ASGI server does; a slow browser takes long."""
        if message["type"] == "websocket.send":
            if not self.closed.is_set():
                self.page.apply(message["text"])
            await asyncio.sleep(self.page.slowness)
        elif message["type"] == "websocket.close":
            self.close(message["code"])

    def close(self, code: int = LOST) -> None:
        if self.closed.is_set():
            return
        self.code = code
        self.closed.set()
        if not self.loop.is_killed:
            with self.loop.entered():
                self.to_server.put_nowait({"type": "websocket.disconnect", "code": code})


class Page:
    """A page of one run, from its loading until somebody closes it."""

    def __init__(self, world: Web, name: str, run: UUID, token: str) -> None:
        """Show a run; with the `token` of a share to its readers."""
        self._world = world
        self.name = name
        self.run = run
        self._token = token
        #: Seconds that its browser takes for a message.
        self.slowness = 0.0
        self.cursor = 0
        self.entries: list[tuple[int, int]] = []
        self.state = ""
        self.is_final = self.is_settled = False
        #: Whether it was told that there is no such run.
        self.is_gone = False
        self._is_open = True
        self.connection: Connection | None = None
        #: What was wrong with a message.
        self.errors: list[str] = []

    def __str__(self) -> str:
        return self.name

    @property
    def is_done(self) -> bool:
        """Whether it waits for nothing more."""
        return self.is_settled or self.is_gone or not self._is_open or bool(self.errors)

    async def live(self) -> None:
        """Load the page, follow its run, and connect again whenever the connection is lost."""
        found = await self._world.respond(self.run)
        if found is None:
            self.is_gone = True
            return
        html, self.cursor, is_live = found
        self._show(html)
        self.is_settled = not is_live
        retries = 0
        while not self.is_done:
            code = await self._follow()
            self._world.note(f"{self.name}: closed with {code} at {self.cursor}")
            if code in (1000, 4404):
                self.is_gone = not self.is_settled
            elif code in (*_RECONNECT, LOST):
                longest = min(4.0, 0.5 * 2**retries)
                retries += 1
                await asyncio.sleep(longest * (0.5 + self._world.draw.random() / 2))
            elif self._is_open:
                self.errors.append(f"is closed with {code}")

    async def _follow(self) -> int:
        loop = self._world.web
        connection = self.connection = Connection(self, loop)
        await connection.to_server.put({"type": "websocket.connect"})
        final = int(self.is_final)
        kwargs: dict[str, Any] = {"token": self._token} if self._token else {"pk": self.run}
        scope = {
            "type": "websocket",
            "path": f"/ws/runs/{self.run}/",
            "query_string": f"after={self.cursor}&final={final}".encode(),
            "url_route": {"kwargs": kwargs},
            "user": None,
        }
        consumer = (SharedRunConsumer if self._token else RunConsumer)()
        loop.start(consumer(scope, connection.to_server.get, connection.send), "socket")
        await connection.closed.wait()
        return connection.code

    def lose(self) -> None:
        """Lose the connection."""
        if self.connection:
            self.connection.close(LOST)

    def close(self) -> None:
        """Leave the page."""
        self._is_open = False
        if self.connection:
            self.connection.close(1001)

    def apply(self, html: str) -> None:
        """Change the page as a message says."""
        found = _CURSOR.search(html)
        assert found, html
        first, last, flags = int(found[1]), int(found[2]), found[3]
        self._world.note(f"{self.name}: {first}–{last} {' '.join(flags.split())}")
        self.errors += self._wrong(html, first, last, flags)
        self.cursor = last
        self.is_final = "data-final" in flags
        self.is_settled = "data-settled" in flags
        self._show(html)

    def _wrong(self, html: str, first: int, last: int, flags: str) -> Iterator[str]:
        """Yield what must not come after what the page shows."""
        if first != self.cursor + 1:
            yield f"is told of frames {first}–{last} after {self.cursor}"
        if not self._world.has_frame(self.run, last):
            yield f"shows frame {last}, which is not stored"
        if self.is_settled:
            yield "gets a message after the last one"
        is_final, state = "data-final" in flags, _STATE.search(html)
        if self.is_final and not is_final:
            yield "is told that the run goes on after its end"
        if state and (state[1] in _FINAL) != is_final:
            yield f"is told of {state[1]} in a message that is {'' if is_final else 'not '}final"
        if is_final and not self.is_final and "run-ending" not in html:
            yield "is told of the end without what stands there"
        is_settled = "data-settled" in flags and not self._token
        if is_settled and self._world.is_in_progress(self.run):
            yield "is told that nothing more comes while a turn is in progress"

    def _show(self, html: str) -> None:
        if state := _STATE.search(html):
            self.state = state[1]
        for seq, part in _ENTRY.findall(html):
            entry = int(seq), int(part)
            if entry in self.entries:
                self.errors.append(f"shows entry {entry} twice")
            self.entries.append(entry)
