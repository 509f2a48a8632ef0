"""Threads for the database: one that writes frames, a few that read and render.

Django's own bridge runs all synchronous code of a process in a single thread and closes the
connection after every call. A stream needs neither: its writer must not wait behind a page
that is being rendered, and opening SQLite costs more than a write.
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
_readers = ThreadPoolExecutor(max_workers=3, thread_name_prefix="frame-reader")


def _dropping_broken_connections(call: Callable[[], T]) -> T:
    """Run `call`; when the database is at fault, the next call gets a new connection.

    It is not run again here: a reader has moved its cursor by then, and a writer knows better
    how long to wait.
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
    return await loop.run_in_executor(_writer, _dropping_broken_connections, call)


async def run_in_reader(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in a thread that reads and renders."""
    loop = asyncio.get_running_loop()
    call = partial(function, *args, **kwargs)
    return await loop.run_in_executor(_readers, _dropping_broken_connections, call)
