"""Registry of background tasks: strong references, an empty context, errors logged once.

The event loop itself keeps only weak references to its tasks. Tasks are started in a request or
when a server starts, and outlive both, so they get an empty context: that of a view would bind them
to a request that has ended.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from playground.base import metrics

logger = logging.getLogger(__name__)

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: All background tasks of this process, of every registry.
_running: set[asyncio.Task[Any]] = set()
metrics.register_gauge(
    "playground_background_tasks", "Background tasks in progress", lambda: len(_running)
)


def start_task(work: Coroutine[Any, Any, T], name: str | None = None) -> asyncio.Task[T]:
    """Start a task with an empty context and keep a reference until it is done.

    Must be called on the event loop's thread. The caller handles exceptions.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name=name, context=contextvars.Context())
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


def running_tasks() -> list[asyncio.Task[Any]]:
    """Return the background tasks of the running event loop, of every registry."""
    loop = asyncio.get_running_loop()
    return [task for task in _running if task.get_loop() is loop]


class PerLoop(Generic[T]):
    """One object for each event loop, created when it is first needed.

    A server has one loop; tests, and commands that are called by other code, have one after
    another. Objects of closed loops are dropped with the next new one.
    """

    def __init__(self, create: Callable[[], T]) -> None:
        self._create = create
        self._objects: dict[asyncio.AbstractEventLoop, T] = {}

    def __call__(self) -> T:
        """Return the object of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._objects:
            self._objects = {
                each: found for each, found in self._objects.items() if not each.is_closed()
            }
            self._objects[loop] = self._create()
        return self._objects[loop]

    def all(self) -> list[T]:
        """Return the objects of all event loops; from any thread."""
        return list(self._objects.values())


class TaskRegistry(Generic[K, V]):
    """Background tasks by key, each with a value that describes it.

    `what` names a task in the log. `on_end` is called with the key and the value when a task has
    ended, for whatever reason.
    """

    def __init__(self, what: str, on_end: Callable[[K, V], None] = lambda key, value: None) -> None:
        self._what = what
        self._on_end = on_end
        self._entries: dict[K, tuple[V, asyncio.Task[None]]] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def begin(self, key: K, value: V, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start the task of a key that has no task in progress.

        Must be called on the event loop's thread.
        """
        assert key not in self._entries, key
        task = start_task(work, f"{self._what} {key}")
        self._entries[key] = (value, task)
        task.add_done_callback(lambda task: self._end(key, task))
        return task

    def get(self, key: K) -> tuple[V, asyncio.Task[None]] | None:
        """Return the value and the task of a key, None without a task in progress."""
        return self._entries.get(key)

    def values(self) -> list[V]:
        return [value for value, _ in self._entries.values()]

    def tasks(self) -> dict[K, asyncio.Task[None]]:
        return {key: task for key, (_, task) in self._entries.items()}

    def _end(self, key: K, task: asyncio.Task[None]) -> None:
        value, _ = self._entries.pop(key)
        self._on_end(key, value)
        if not task.cancelled() and (error := task.exception()):
            logger.error("%s %s was left unfinished", self._what, key, exc_info=error)


class SingleTask(Generic[T]):
    """Work that at most one task of this process does at a time."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], name: str) -> None:
        self._work = work
        self._name = name
        self._task: asyncio.Task[T] | None = None

    def begin(self) -> asyncio.Task[T]:
        """Return the task; start a new one if it has ended or belongs to another event loop.

        Must be called on the event loop's thread.
        """
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            task = self._task = start_task(self._work(), self._name)
        return task
