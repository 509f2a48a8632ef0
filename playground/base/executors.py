"""Threads for the database: one that writes frames, one that renders what was written, and a few
that read and render.

Django's `sync_to_async` runs all synchronous code of a process in a single thread and closes the
connection after every call. For a stream its writer must not wait for a page that is being
rendered, and opening SQLite takes longer than a write.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from playground.base import metrics
from playground.base.database_timeout import response_timeout

logger = logging.getLogger(__name__)

#: Exceptions of a database that is unavailable: stopped, unreachable, locked, or its disk is full.
UNAVAILABLE = (OperationalError, InterfaceError)
#: Seconds of the first pause between two attempts, and of the longest; each is twice the last.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
#: Seconds for which reading for a viewer, and writing for a request, is retried. The page of a
#: viewer then tries again by itself.
READ_PATIENCE = REQUEST_PATIENCE = 2.0

P = ParamSpec("P")
T = TypeVar("T")

_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="frame-writer")
_renderer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="renderer")
_readers = ThreadPoolExecutor(max_workers=3, thread_name_prefix="frame-reader")


async def _run(executor: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    """Run `call` in a thread; raise `OperationalError` if a request has waited too long for it."""
    loop = asyncio.get_running_loop()
    result = loop.run_in_executor(executor, _run_and_close_on_error, call)
    if (seconds := response_timeout.get()) is not None:
        await asyncio.wait({result}, timeout=seconds)
        if not result.done():
            result.cancel()
            raise OperationalError(f"The database has not responded for {seconds:g} s")
    return await result


def _run_and_close_on_error(call: Callable[[], T]) -> T:
    """Run `call`; after an error of the database the next call gets a new connection.

    The call is not retried here: what it has changed in memory stays changed.
    """
    try:
        return call()
    except UNAVAILABLE:
        connection.close()
        raise


async def run_in_writer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in the one thread that writes frames, in the order of the calls."""
    return await _run(_writer, partial(function, *args, **kwargs))


async def run_in_reader(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a thread that reads and renders."""
    return await _run(_readers, partial(function, *args, **kwargs))


async def run_in_renderer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in the one thread that renders what was just stored, for all viewers."""
    return await _run(_renderer, partial(function, *args, **kwargs))


async def write_when_available(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` as `run_in_writer` does; retry it while the database is unavailable.

    For work in the background: no request waits for it. The function must change nothing but the
    database, in one transaction. Raises the last exception after `settings.DATABASE_PATIENCE`
    seconds.
    """
    attempt = partial(run_in_writer, function, *args, **kwargs)
    return await retry_while_unavailable(attempt, settings.DATABASE_PATIENCE)


async def write_until_stored(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` as `write_when_available` does, however long the database is unavailable.

    For the few columns of an end: what waits for that long must not hold received data.
    """
    attempt = partial(run_in_writer, function, *args, **kwargs)
    return await retry_while_unavailable(attempt, math.inf)


async def read_when_available(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` as `run_in_reader` does, with the retries of `write_when_available`."""
    attempt = partial(run_in_reader, function, *args, **kwargs)
    return await retry_while_unavailable(attempt, settings.DATABASE_PATIENCE)


async def read_for_viewer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` as `run_in_reader` does; retry it for `READ_PATIENCE` seconds."""
    attempt = partial(run_in_reader, function, *args, **kwargs)
    return await retry_while_unavailable(attempt, READ_PATIENCE)


async def write_for_request(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` as `run_in_writer` does; retry it for `REQUEST_PATIENCE` seconds.

    The connection of the thread may have been lost since it was last used. The function must
    change nothing but the database, in one transaction, and do nothing the second time.
    """
    attempt = partial(run_in_writer, function, *args, **kwargs)
    return await retry_while_unavailable(attempt, REQUEST_PATIENCE)


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
