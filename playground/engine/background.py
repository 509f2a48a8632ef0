"""Background tasks of a server and of a worker, and the metrics of what waits for workers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import close_old_connections, connection

from playground.base import jobs, metrics
from playground.base.executors import run_in_reader
from playground.base.task_registry import SingleTask
from playground.engine import tasks
from playground.engine.collection_runs.runner import drive_job as collection_run_job
from playground.engine.heartbeat import log_database_errors, start_liveness_checks
from playground.engine.mcp_sessions import session_cleanup
from playground.engine.promise_polling import start_promise_poller
from playground.engine.retention import pruning
from playground.engine.runs import refuses_new_runs
from playground.engine.work_queue import waiting_since, waiting_work
from playground.models import CollectionRun, Run

#: The jobs that drive what waits in the queue.
QUEUED_JOBS: Mapping[type[Run] | type[CollectionRun], jobs.Job] = {
    Run: tasks.drive_job,
    CollectionRun: collection_run_job,
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
    while not refuses_new_runs():
        with log_database_errors("Looking for queued runs"):
            for model, job in QUEUED_JOBS.items():
                for key in await run_in_reader(waiting_since, model, MIN_WAITING):
                    await job.defer(key)
        await asyncio.sleep(MIN_WAITING.total_seconds())


_waiting_runs = SingleTask(_drive_waiting_runs, "queued-runs")


def start_background_tasks(*, is_worker: bool = False) -> None:
    """Start what a server or a worker does without a request or a job; once is enough.

    With workers, servers only look for runs of dead processes. Without, they also drive what was
    queued before workers were turned off. Must be called on the event loop's thread.
    """
    start_liveness_checks()
    if is_worker or not settings.WORKERS:
        start_promise_poller()
    if not settings.WORKERS:
        if connection.vendor == "postgresql":  # There may have been workers before.
            _waiting_runs.begin()
        session_cleanup.begin()
        pruning.begin()
