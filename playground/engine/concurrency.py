"""Concurrency limit per owner, with a FIFO queue of the tasks that wait for a slot.

Only the first task of the queue queries the database, so waiting costs one small query now and then
however long the queue is, and no other task of this process starts a run between the query and the
run that it allows.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from django.contrib.auth.models import User

from playground.base.executors import read_when_available
from playground.engine.runs import is_at_run_limit
from playground.models.driving import mark_interrupted

#: Seconds between two queries for a free slot, unless a run of this process ends.
CHECK_INTERVAL = 0.25
#: Seconds between two searches for unfinished runs whose process has died.
CLEANUP_INTERVAL = 1.0
#: Seconds of waiting after which the caller is notified.
WAIT_NOTICE_SECONDS = 3.0


class ConcurrencyLimit:
    """The slots for runs of one owner, and the queue of this process for them."""

    def __init__(self, owner: User | None) -> None:
        self.users = 0
        self._owner = owner
        self._lock = asyncio.Lock()
        #: Set when a run of the owner has ended.
        self.ended = asyncio.Event()
        self._cleaned_up_at = -math.inf

    @contextlib.asynccontextmanager
    async def slot(self, stopped: asyncio.Event) -> AsyncIterator[None]:
        """Wait for the head of the queue and hold it; entered without it once `stopped` is set."""
        acquiring = asyncio.ensure_future(self._lock.acquire())
        try:
            # A task that is cancelled here must leave the queue, too, or it would block it.
            await _first_of(acquiring, stopped, None)
            yield
        finally:
            if not acquiring.cancel():
                self._lock.release()

    async def wait(self, stopped: asyncio.Event, on_wait: Callable[[], None]) -> None:
        """Wait until a slot is free, or until `stopped`; call `on_wait` once that takes long."""
        started = time.monotonic()
        while not stopped.is_set():
            ended = asyncio.ensure_future(self.ended.wait())
            await _first_of(ended, stopped, CHECK_INTERVAL)
            ended.cancel()
            self.ended.clear()
            if not await read_when_available(self._is_full):
                return
            if time.monotonic() - started > WAIT_NOTICE_SECONDS:
                on_wait()

    def _is_full(self) -> bool:
        if not is_at_run_limit(self._owner):
            return False
        if time.monotonic() - self._cleaned_up_at <= CLEANUP_INTERVAL:
            return True
        self._cleaned_up_at = time.monotonic()
        mark_interrupted()
        return is_at_run_limit(self._owner)


async def _first_of(
    future: asyncio.Future[Any], event: asyncio.Event, seconds: float | None
) -> None:
    other: asyncio.Future[Any] = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({future, other}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        other.cancel()


#: Limits in use, by the owner's key.
_limits: dict[int | None, ConcurrencyLimit] = {}


@contextlib.contextmanager
def concurrency_limit(owner: User | None) -> Iterator[ConcurrencyLimit]:
    """Share one limit per owner in this process, for as long as it is used."""
    key = owner.pk if owner else None
    limit = _limits.setdefault(key, ConcurrencyLimit(owner))
    limit.users += 1
    try:
        yield limit
    finally:
        limit.users -= 1
        if not limit.users and _limits.get(key) is limit:
            del _limits[key]


def release(owner: int | None) -> None:
    """Note that a run of the owner with this key has ended."""
    if limit := _limits.get(owner):
        limit.ended.set()
