"""Engine of a process: its background tasks, the metrics of what waits for workers, and its end.

At the end there are no new runs; those in progress get time, then end as interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import close_old_connections, connection

from playground.base import jobs, metrics
from playground.base.executors import run_in_reader, run_in_writer
from playground.base.processes import this_process
from playground.engine import promise_polling, runs, tasks
from playground.engine.collection_runs.runner import COLLECTION_RUNS
from playground.engine.collection_runs.runner import drive_job as drive_collection_run
from playground.engine.heartbeat import liveness_checks
from playground.engine.mcp_sessions import session_cleanup
from playground.engine.retention import pruning
from playground.engine.work_queue import waiting_since, waiting_work
from playground.models import CollectionRun, Run, RunState
from playground.models.collection_runs import end_interrupted

#: The jobs that drive what waits in the queue.
QUEUED_JOBS: Mapping[type[Run] | type[CollectionRun], jobs.Job] = {
    Run: tasks.drive_job,
    CollectionRun: drive_collection_run,
}
#: For how long a run must have waited before it is looked for: its job may have been lost.
MIN_WAITING = timedelta(seconds=10)


def _waiting(index: int) -> float:
    """Return the number of runs that wait for a worker (0), or the seconds of the first (1)."""
    close_old_connections()  # The thread that reads the metrics may do so once an hour.
    try:
        return waiting_work()[index]
    finally:
        close_old_connections()


if settings.WORKERS:
    metrics.register_gauge(
        "playground_queued_runs",
        "Runs and collection runs that wait for a worker; the same in all processes",
        partial(_waiting, 0),
    )
    metrics.register_gauge(
        "playground_queued_seconds",
        "Time for which the first of them has waited; the same in all processes",
        partial(_waiting, 1),
    )


async def _drive_waiting_runs() -> None:
    """Drive runs that were queued for workers, in a server without them."""
    for model, job in QUEUED_JOBS.items():
        for key in await run_in_reader(waiting_since, model, MIN_WAITING):
            await job.defer(key)


waiting_runs = jobs.Loop(
    "Looking for queued runs",
    MIN_WAITING.total_seconds(),
    _drive_waiting_runs,
    goes_on=lambda: not runs.refuses_new_runs(),
)


def start_background_tasks(*, is_worker: bool = False) -> None:
    """Start what a server or a worker does without a request or a job; once is enough.

    With workers, servers only look for runs of dead processes. Without, they also drive what was
    queued before workers were turned off. Must be called on the event loop's thread.
    """
    liveness_checks.begin()
    if is_worker or not settings.WORKERS:
        promise_polling.poller.begin()
    if not settings.WORKERS:
        if connection.vendor == "postgresql":  # There may have been workers before.
            waiting_runs.begin()
        session_cleanup.begin()
        pruning.begin()


# The end

#: Seconds for the ends of interrupted runs to be stored. The database may be unavailable: then
#: the next process marks the runs.
STORING_SECONDS = 5.0
#: Seconds after which runs that began meanwhile are interrupted as well.
_ROUND = 0.2

Work = Iterable[asyncio.Future[Any]]

#: HTTP requests that may start runs, and have no response yet.
_requests: set[asyncio.Future[None]] = set()


@dataclass(frozen=True, slots=True)
class ShutdownResult:
    """The work that was in progress when the shutdown began, or began during it."""

    #: Keys of the runs and collection runs.
    keys: frozenset[UUID]
    #: Number of runs that ended by themselves, and of those that were interrupted.
    ended: int
    interrupted: int


@contextlib.contextmanager
def request_in_progress() -> Iterator[None]:
    """Let a shutdown wait for the block, which may record a run and start it."""
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    _requests.add(ended)
    try:
        yield
    finally:
        _requests.discard(ended)
        ended.set_result(None)


def begin_shutdown() -> int:
    """Refuse new runs, and the next steps of collection runs; return the number of runs."""
    runs.refuse_new_runs()
    for collection_run in COLLECTION_RUNS.values():
        collection_run.interrupt()
    return len(tasks.RUNS.tasks())


async def finish_shutdown(seconds: float) -> ShutdownResult:
    """Give the runs `seconds` to end by themselves; then end them as interrupted.

    Requests that were about to start runs are waited for, and their runs are interrupted. Returns
    within eight seconds after that time, also where the database is unavailable. Must be called on
    the event loop's thread, after `begin_shutdown`.
    """
    run_keys: set[UUID] = set()
    collection_run_keys: set[UUID] = set()

    def in_progress() -> Work:
        driven, collections = tasks.RUNS.tasks(), COLLECTION_RUNS.tasks()
        run_keys.update(driven)
        collection_run_keys.update(collections)
        return (*driven.values(), *collections.values(), *promise_polling.sending)

    def stopping() -> Work:
        tasks.stop_all(RunState.INTERRUPTED)
        return (*in_progress(), *_requests)

    await _wait(in_progress, seconds)
    interrupted = len(tasks.RUNS.tasks())
    await _wait(stopping, STORING_SECONDS)
    with jobs.log_errors("Marking the runs of this process as interrupted"):
        async with asyncio.timeout(STORING_SECONDS / 2):
            await run_in_writer(_mark_interrupted)
    keys = frozenset(run_keys | collection_run_keys)
    return ShutdownResult(keys, len(run_keys) - interrupted, interrupted)


async def _wait(work: Callable[[], Work], seconds: float) -> None:
    """Wait until `work` returns nothing, at most for `seconds`."""
    deadline = time.monotonic() + seconds
    while (waited := set(work())) and (left := deadline - time.monotonic()) > 0:
        await asyncio.wait(waited, timeout=min(left, _ROUND))


def _mark_interrupted() -> None:
    """Mark what this process has not ended: runs that were not started, or could not be stored."""
    driver = this_process()
    end_interrupted(CollectionRun.objects.unfinished().filter(driver=driver))
    Run.objects.unfinished().filter(driver=driver).update(state=RunState.INTERRUPTED)
