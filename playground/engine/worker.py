"""Worker: takes jobs from procrastinate, as many at once as it is allowed to.

A worker of procrastinate stops when one of its queries fails. Ours starts it again until the
database is available; the runs in progress are tasks of this process and continue meanwhile.

`QueuedWork` decides which runs wait, and `playground.models.driving` which are driven. A job can
be lost: its worker has died before it took the work, or is of a version that does not know the
job. It is deferred again.

Imported by the command `worker` only: it needs procrastinate.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection
from procrastinate import App
from procrastinate.contrib.django import app as django_app
from procrastinate.contrib.django.models import ProcrastinateJob
from procrastinate.contrib.django.utils import connector_params
from procrastinate.psycopg_connector import PsycopgConnector
from procrastinate.worker import Worker as QueueWorker

from playground.base import jobs
from playground.base.executors import run_in_reader, run_in_writer
from playground.base.jobs import log_errors
from playground.engine.process import MIN_WAITING, QUEUED_JOBS
from playground.engine.work_queue import waiting_since
from playground.models import CollectionRun, Run

logger = logging.getLogger(__name__)

#: Short jobs in progress at once.
SHORT_CONCURRENCY = 50
#: Seconds between two heartbeats of a worker in the tables of procrastinate, and after which its
#: jobs are taken for lost. Runs have heartbeats of their own.
HEARTBEAT, LOST_AFTER = 3.0, 15.0
#: Seconds between two queries for jobs of which no notification was received.
POLLING_INTERVAL = 2.0
#: Seconds between two searches for lost jobs.
SEARCH_INTERVAL = 5.0
#: Seconds between two attempts to reach the database, and for which one connection is waited for.
RETRY, CONNECTION_TIMEOUT = 0.5, 2.0


class Worker:
    """The worker of this process: one of procrastinate's for each queue."""

    def __init__(self, concurrency: int) -> None:
        """Drive at most so many runs at once."""
        self._concurrency = {jobs.RUNS: concurrency, jobs.SHORT: SHORT_CONCURRENCY}
        self._workers: set[QueueWorker] = set()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Take jobs until `stop` is called, and return once those in progress have ended."""
        async with asyncio.TaskGroup() as group:
            for queue in self._concurrency:
                group.create_task(self._serve(queue))
            group.create_task(self._defer_lost_jobs())

    def stop(self) -> None:
        self._stopping.set()
        for worker in self._workers:
            worker.shutdown_graceful_timeout = None  # The runs in progress get their time.
            worker.stop()  # type: ignore[no-untyped-call]

    async def _serve(self, queue: str) -> None:
        while not self._stopping.is_set():
            try:
                await self._take_jobs(queue)
            except Exception as error:
                logger.warning("Taking jobs of the queue %s failed: %s", queue, error)
            # Periodic jobs are deferred by a connection of Django, which does not reconnect.
            await sync_to_async(close_old_connections)()
            await self._pause(RETRY)

    async def _take_jobs(self, queue: str) -> None:
        connector = PsycopgConnector(
            kwargs=connector_params(), min_size=1, max_size=4, timeout=CONNECTION_TIMEOUT
        )
        app = App(connector=connector)
        app.tasks, app.periodic_registry = django_app.tasks, django_app.periodic_registry
        async with app.open_async():
            worker = QueueWorker(
                app,
                [queue],
                queue,
                self._concurrency[queue],
                fetch_job_polling_interval=POLLING_INTERVAL,
                # Until `stop`: its jobs are given up, and their runs continue.
                shutdown_graceful_timeout=0,
                delete_jobs="always",
                install_signal_handlers=False,
                update_heartbeat_interval=HEARTBEAT,
            )
            if self._stopping.is_set():
                return  # Meanwhile: `stop` has not known this one.
            self._workers.add(worker)
            try:
                await worker.run()  # type: ignore[no-untyped-call]
            finally:
                self._workers.discard(worker)

    async def _pause(self, seconds: float) -> None:
        """Wait for so long, or until `stop`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    async def _defer_lost_jobs(self) -> None:
        while not self._stopping.is_set():
            with log_errors("Looking for lost jobs"):
                await run_in_writer(_delete_jobs_of_dead_workers)
                for model, job in QUEUED_JOBS.items():
                    for key in await run_in_reader(_lost, model, job):
                        await job.defer(key)
            await self._pause(SEARCH_INTERVAL)


def _delete_jobs_of_dead_workers() -> None:
    with connection.cursor() as cursor:
        # The manager of procrastinate can only do it one by one, on the event loop.
        cursor.execute(_DELETE_JOBS, [LOST_AFTER])


_DELETE_JOBS = """
    DELETE FROM procrastinate_jobs WHERE status = 'doing' AND (
        worker_id IS NULL OR worker_id IN (
            SELECT id FROM procrastinate_workers WHERE last_heartbeat < now() - %s * interval '1 s'
        )
    )
"""


def _lost(model: type[Run] | type[CollectionRun], job: jobs.Job) -> list[UUID]:
    """Return the keys of the runs that wait and have no job."""
    keys = waiting_since(model, MIN_WAITING)
    locks = [job.lock(key) for key in keys]
    known = ProcrastinateJob.objects.filter(queueing_lock__in=locks, status__in=("todo", "doing"))
    deferred = set(known.values_list("queueing_lock", flat=True))
    return [key for key, lock in zip(keys, locks, strict=True) if lock not in deferred]
