"""Threads for the database: one that writes frames, one that renders what was written, and a few
that read and render.

Django's `sync_to_async` runs all synchronous code of a process in a single thread and closes the
connection after every call. For a stream its writer must not wait for a page that is being
rendered, and opening SQLite takes longer than a write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

P = ParamSpec("P")
T = TypeVar("T")

_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="frame-writer")
_renderer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="renderer")
_readers = ThreadPoolExecutor(max_workers=3, thread_name_prefix="frame-reader")


def _run_and_close_on_error(call: Callable[[], T]) -> T:
    """Run `call`; after an error of the database the next call gets a new connection.

    The call is not retried here: a reader has moved its cursor, and a writer has its own retries.
    """
    try:
        return call()
    except (OperationalError, InterfaceError):
        connection.close()
        raise


async def run_in_writer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in the one thread that writes frames, in the order of the calls."""
    loop = asyncio.get_running_loop()
    call = partial(function, *args, **kwargs)
    return await loop.run_in_executor(_writer, _run_and_close_on_error, call)


async def run_in_reader(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a thread that reads and renders."""
    loop = asyncio.get_running_loop()
    call = partial(function, *args, **kwargs)
    return await loop.run_in_executor(_readers, _run_and_close_on_error, call)


async def run_in_renderer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in the one thread that renders what was just stored, for all viewers."""
    loop = asyncio.get_running_loop()
    call = partial(function, *args, **kwargs)
    return await loop.run_in_executor(_renderer, _run_and_close_on_error, call)
