"""Jobs: work in the background, done by this process or, with PLAYGROUND_WORKERS, by workers.

A job is a function and the key of a row: `defer` has it done once, soon; a periodic job is done now
and then. Without workers a job is a task of this process. With workers it is a row of procrastinate
in PostgreSQL, which a worker of any host takes; the row is stored in the transaction of the caller.

Every job can be delivered twice, because procrastinate delivers a job again whose worker has died.
So a job first acquires what it works on: the row of `QueuedWork`, or the lease of a promise.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from playground.base.executors import write_for_request
from playground.base.task_registry import SingleTask, start_task

logger = logging.getLogger(__name__)

#: Queues: jobs that last as long as a response, and short ones, which must not wait for those.
RUNS, SHORT = "runs", "short"


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
        try:
            await self.function(key)
        except Exception:
            logger.exception("Job %s %s failed", self.name, key)

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


def _log_error(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("%s failed", task.get_name(), exc_info=error)


class PeriodicJob:
    """Work that is done at the start and then every few seconds, by one process at a time.

    Without workers every server does it. An error is logged, and does not end it.
    """

    def __init__(self, name: str, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work` every so many seconds, a minute or an hour."""
        self._name = name
        self.seconds = seconds
        self._work = work
        self._loop = SingleTask(self._repeat, name)
        if settings.WORKERS:
            from procrastinate.contrib.django import app

            async def do(timestamp: int) -> None:
                await self.do()

            cron = "* * * * *" if seconds == 60 else "0 * * * *"
            task: Any = app.task(name=name, queue=SHORT, queueing_lock=name)(do)
            app.periodic(cron=cron)(task)

    async def do(self) -> None:
        """Do the work once; log an error."""
        try:
            await self._work()
        except Exception:
            logger.exception("Periodic job %s failed", self._name)

    def begin(self) -> asyncio.Task[None]:
        """Repeat the work in this process; calling it once is enough.

        With workers procrastinate repeats it instead. Must be called on the event loop's thread.
        """
        return self._loop.begin()

    async def _repeat(self) -> None:
        while True:
            await self.do()
            await asyncio.sleep(self.seconds)
