"""Room for runs: who finds none waits in a queue of their owner's, and the first looks for all.

As many waiters as there may be then cost one small question now and then, and not one each; and
nobody begins a run between somebody else's look and the run that was begun upon it.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from django.contrib.auth.models import User

from playground.engine.runs import is_at_run_limit
from playground.executors import run_in_reader
from playground.models.liveness import mark_interrupted

#: Seconds between two looks for room, where no run of this process has ended.
CHECK_INTERVAL = 0.25
#: Seconds between two looks for runs that take up room although their process has died.
CLEANUP_INTERVAL = 1.0
#: Seconds of waiting after which somebody may like to know.
WAIT_NOTICE_SECONDS = 3.0


class ConcurrencyLimit:
    """The places of one owner's runs, for those of this process that wait for one."""

    def __init__(self, owner: User | None) -> None:
        self.users = 0
        self._owner = owner
        self._turn = asyncio.Lock()
        self._ended = asyncio.Event()
        self._tidied_at = -math.inf

    def note_end(self) -> None:
        """A run of the owner has ended: there may be room."""
        self._ended.set()

    @contextlib.asynccontextmanager
    async def slot(self, stopped: asyncio.Event) -> AsyncIterator[None]:
        """Be the only one that begins a run; entered without a turn once `stopped` is set."""
        acquiring = asyncio.ensure_future(self._turn.acquire())
        try:
            # Whoever is cancelled here must leave the queue, too: the turn would stay theirs.
            await _first_of(acquiring, stopped, None)
            yield
        finally:
            if not acquiring.cancel():
                self._turn.release()

    async def wait(self, stopped: asyncio.Event, on_wait: Callable[[], None]) -> None:
        """Wait until there is room, or until `stopped`; call `on_wait` once that takes long."""
        began = time.monotonic()
        while not stopped.is_set():
            ended = asyncio.ensure_future(self._ended.wait())
            await _first_of(ended, stopped, CHECK_INTERVAL)
            ended.cancel()
            self._ended.clear()
            if not await run_in_reader(self._is_full):
                return
            if time.monotonic() - began > WAIT_NOTICE_SECONDS:
                on_wait()

    def _is_full(self) -> bool:
        if not is_at_run_limit(self._owner):
            return False
        if time.monotonic() - self._tidied_at <= CLEANUP_INTERVAL:
            return True
        self._tidied_at = time.monotonic()
        mark_interrupted()
        return is_at_run_limit(self._owner)


async def _first_of(future: asyncio.Future[Any], event: asyncio.Event, most: float | None) -> None:
    """Wait for either, at most for `most` seconds."""
    other: asyncio.Future[Any] = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({future, other}, timeout=most, return_when=asyncio.FIRST_COMPLETED)
    finally:
        other.cancel()


#: By the owner's key. Only those that somebody uses.
_rooms: dict[int | None, ConcurrencyLimit] = {}


@contextlib.contextmanager
def concurrency_limit(owner: User | None) -> Iterator[ConcurrencyLimit]:
    """The one room of an owner in this process, for as long as it is used."""
    key = owner.pk if owner else None
    room = _rooms.setdefault(key, ConcurrencyLimit(owner))
    room.users += 1
    try:
        yield room
    finally:
        room.users -= 1
        if not room.users and _rooms.get(key) is room:
            del _rooms[key]


def release(owner: int | None) -> None:
    """A run of the owner with this key has ended."""
    if room := _rooms.get(owner):
        room.note_end()
