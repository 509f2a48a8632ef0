"""Threads for the database: one that writes frames, one that renders what was written, and a few
that read and render.

Django's `sync_to_async` runs all synchronous code of a process in a single thread and closes the
connection after every call. For a stream its writer must not wait for a page that is being
rendered, and opening SQLite takes longer than a write.

A request ends with an error, and its page says so, when a thread has not responded for too long.
Only requests have this timeout: runs, pruning and polling continue in the background once the
database responds. A statement in PostgreSQL has a timeout of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from playground.base import metrics

logger = logging.getLogger(__name__)

#: Exceptions of a database that is unavailable: stopped, unreachable, locked, or its disk is full.
UNAVAILABLE = (OperationalError, InterfaceError)
#: Seconds of the first pause between two attempts, and of the longest; each is twice the last.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
#: Seconds for which reading for a viewer, and writing for a request, is retried. The page of a
#: viewer then tries again by itself.
REQUEST_PATIENCE = 2.0
#: Seconds that the code of a request waits for a thread of the database; None elsewhere.
response_timeout: ContextVar[float | None] = ContextVar("response_timeout", default=None)

P = ParamSpec("P")
T = TypeVar("T")


@contextlib.contextmanager
def limit_responses() -> Iterator[None]:
    """Have the timeout of a request for the block."""
    token = response_timeout.set(settings.DATABASE_TIMEOUT)
    try:
        yield
    finally:
        response_timeout.reset(token)


class DatabaseThreads:
    """Threads with a connection each; work is begun in the order of the calls.

    What is retried must change nothing but the database, in one transaction, and may be done twice.
    """

    def __init__(self, name: str, maximum: int = 1) -> None:
        self._executor = ThreadPoolExecutor(max_workers=maximum, thread_name_prefix=name)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function`; raise `OperationalError` if a request has waited too long for it."""
        loop = asyncio.get_running_loop()
        call = partial(_run_and_close_on_error, partial(function, *args, **kwargs))
        result = loop.run_in_executor(self._executor, call)
        if (seconds := response_timeout.get()) is not None:
            await asyncio.wait({result}, timeout=seconds)
            if not result.done():
                result.cancel()
                raise OperationalError(f"The database has not responded for {seconds:g} s")
        return await result


@dataclass(frozen=True, slots=True)
class Retrying:
    """Runs a function in these threads; retries it for `patience` seconds."""

    threads: DatabaseThreads
    patience: Callable[[], float]

    async def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        attempt = partial(self.threads.run, function, *args, **kwargs)
        return await retry_while_unavailable(attempt, self.patience())


def _run_and_close_on_error(call: Callable[[], T]) -> T:
    """Run `call`; after an error of the database the next call gets a new connection.

    The call is not retried here: what it has changed in memory stays changed.
    """
    try:
        return call()
    except UNAVAILABLE:
        connection.close()
        raise


async def retry_while_unavailable(attempt: Callable[[], Awaitable[T]], patience: float) -> T:
    """Await an attempt; repeat it while the database is unavailable, for `patience` seconds.

    Raises the exception of the last attempt, and every other one at once.
    """
    loop = asyncio.get_running_loop()
    began = counted = loop.time()
    pause = FIRST_PAUSE
    while True:
        try:
            result = await attempt()
        except UNAVAILABLE as error:
            if loop.time() - began + pause > patience:
                raise
            if pause < LONGEST_PAUSE:  # Later attempts would fill the log, and maybe the disk.
                logger.warning("The database is unavailable, retrying in %g s: %s", pause, error)
            metrics.database_retries.inc()
            await asyncio.sleep(pause)
            now = loop.time()
            metrics.database_wait.inc(now - counted)
            pause, counted = min(2 * pause, LONGEST_PAUSE), now
        else:
            if pause > FIRST_PAUSE:
                metrics.database_wait.inc(loop.time() - counted)
                logger.warning("The database is available after %.1f s", loop.time() - began)
            return result


_writer = DatabaseThreads("frame-writer")
_renderer = DatabaseThreads("renderer")
_readers = DatabaseThreads("frame-reader", 3)

#: The one thread that writes frames.
run_in_writer = _writer.run
#: For work in the background, for which no request waits.
write_when_available = Retrying(_writer, lambda: settings.DATABASE_PATIENCE)
#: For the few columns of an end: what waits for that long must not hold received data.
write_until_stored = Retrying(_writer, lambda: math.inf)
#: The connection of the thread may have been lost since it was last used.
write_for_request = Retrying(_writer, lambda: REQUEST_PATIENCE)
#: The threads that read and render.
run_in_reader = _readers.run
read_when_available = Retrying(_readers, lambda: settings.DATABASE_PATIENCE)
read_for_viewer = Retrying(_readers, lambda: REQUEST_PATIENCE)
#: The one thread that renders what was just stored, for all viewers.
run_in_renderer = _renderer.run
