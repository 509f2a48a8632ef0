"""Tasks of the event loop that nobody waits for, begun in a request or when a server starts."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")

#: Strong references: the event loop itself keeps only weak ones.
_running: set[asyncio.Task[Any]] = set()


def begin(work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
    """A task that knows nothing of the request it was begun in, kept until it is done.

    Must be called on the event loop's thread.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name=name, context=contextvars.Context())
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


class Single(Generic[T]):
    """Work that is done by one task at a time in this process."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], name: str) -> None:
        self._work = work
        self._name = name
        self._task: asyncio.Task[T] | None = None

    def begin(self) -> asyncio.Task[T]:
        """The task that is at it, begun anew where it has ended or its event loop is another one.

        Must be called on the event loop's thread.
        """
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            task = self._task = begin(self._work(), self._name)
        return task
