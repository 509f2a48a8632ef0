"""Background work of a process: tasks, loops and jobs.

The event loop itself keeps only weak references to its tasks. Tasks are started in a request or
when a server starts, and outlive both, so they get an empty context: that of a view would bind them
to a request that has ended.

A job is a function and the key of a row: `defer` has it done once, soon; a periodic job is done now
and then. Without workers a job is a task of this process. With workers it is a row of procrastinate
in PostgreSQL, which a worker of any host takes; the row is stored in the transaction of the caller.

Every job can be delivered twice, because procrastinate delivers a job again whose worker has died.
So a job first acquires what it works on: the row of `QueuedWork`, or the lease of a promise.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.db import transaction

from playground.base import metrics
from playground.base.executors import write_for_request

logger = logging.getLogger(__name__)

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: Queues: jobs that last as long as a response, and short ones, which must not wait for those.
RUNS, SHORT = "runs", "short"

#: All background tasks of this process, of every registry.
_running: set[asyncio.Task[Any]] = set()
metrics.register_gauge(
    "playground_background_tasks", "Background tasks in progress", lambda: len(_running)
)


@contextlib.contextmanager
def log_errors(operation: str, level: int = logging.WARNING) -> Iterator[None]:
    """Log an exception of the block and continue; a cancellation is raised."""
    try:
        yield
    except Exception:
        logger.log(level, "%s failed", operation, exc_info=True)


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
        _log_error(task, "was left unfinished")


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


class Loop(SingleTask[None]):
    """Work that this process repeats every so many seconds while `goes_on`; errors are logged."""

    def __init__(
        self,
        name: str,
        seconds: float,
        work: Callable[[], Awaitable[None]],
        *,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        super().__init__(self._repeat, name)
        self.seconds, self._once, self._goes_on = seconds, work, goes_on

    async def do(self) -> None:
        with log_errors(self._name, logging.ERROR):
            await self._once()

    async def _repeat(self) -> None:
        while self._goes_on():
            await self.do()
            await asyncio.sleep(self.seconds)


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of job: its function is called with the key of a row."""

    name: str
    queue: str
    function: Callable[[str], Coroutine[Any, Any, None]]

    def lock(self, key: object) -> str:
        """Return what identifies a job that waits."""
        return f"{self.name} {key}"

    async def defer(self, key: object, before: Callable[[], None] | None = None) -> None:
        """Have the job done soon; one that waits for the same key already is not added again.

        `before` is called first, in the thread that writes, and again if the database did not
        respond. With workers both are one transaction. Must be called on the event loop's thread.
        """
        if settings.WORKERS:
            await write_for_request(self._store, str(key), before)
        else:
            if before:
                await write_for_request(before)
            start_task(self._do(str(key)), f"{self.name} {key}")

    async def _do(self, key: str) -> None:
        with log_errors(f"Job {self.name} {key}", logging.ERROR):
            await self.function(key)

    def _store(self, key: str, before: Callable[[], None] | None) -> None:
        from procrastinate.contrib.django import app
        from procrastinate.exceptions import AlreadyEnqueued

        task = app.configure_task(self.name, queueing_lock=self.lock(key))
        with transaction.atomic():
            if before:
                before()
            try:
                with transaction.atomic():
                    task.defer(key=key)
            except AlreadyEnqueued:
                logger.debug("Job %s %s waits already", self.name, key)


def job(
    name: str, queue: str = SHORT
) -> Callable[[Callable[[str], Coroutine[Any, Any, None]]], Job]:
    def register(function: Callable[[str], Coroutine[Any, Any, None]]) -> Job:
        if settings.WORKERS:
            from procrastinate import RetryStrategy
            from procrastinate.contrib.django import app

            async def do(key: str) -> None:
                await _finish(start_task(function(key), f"{name} {key}"))

            # Without limit: a job fails if the database does, or this worker is stopped.
            app.task(name=name, queue=queue, retry=RetryStrategy(wait=1))(do)
        return Job(name, queue, function)

    return register


async def _finish(task: asyncio.Task[None]) -> None:
    """Wait for the task of a job. It continues if the job is given up.

    That happens when the database is unavailable, between any two steps: a run that was taken from
    the queue must be driven.
    """
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_log_error)
        raise


def _log_error(task: asyncio.Task[None], verdict: str = "failed") -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("%s %s", task.get_name(), verdict, exc_info=error)


class PeriodicJob(Loop):
    """Work that is done at the start and then every minute or hour, by one process at a time.

    Without workers every server does it in a loop. With workers procrastinate does it.
    """

    def __init__(self, name: str, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        super().__init__(f"Periodic job {name}", seconds, work)
        if settings.WORKERS:
            from procrastinate.contrib.django import app

            async def do(timestamp: int) -> None:
                await self.do()

            cron = "* * * * *" if seconds == 60 else "0 * * * *"
            task: Any = app.task(name=name, queue=SHORT, queueing_lock=name)(do)
            app.periodic(cron=cron)(task)
