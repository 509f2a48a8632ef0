"""Heartbeats of runs and collection runs, and stop requests from other processes.

One task does both for everything that an event loop drives: a query for each model and not for each
run. A database that fails for a moment does not end a heartbeat: a run without one would be taken
for a run whose process has died.

A server also ends runs without a heartbeat, so that they do not seem to be in progress until a
page of them is opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from itertools import islice
from uuid import UUID

from playground.executors import run_in_reader, run_in_writer
from playground.models import CollectionRun, Run
from playground.models.liveness import HEARTBEAT_INTERVAL, mark_interrupted, store_heartbeats
from playground.task_registry import PerLoop, SingleTask, start_task

logger = logging.getLogger(__name__)

#: Seconds between two queries for stop requests of other processes.
STOP_REQUEST_INTERVAL = 1.0
#: Most keys in one statement.
MAX_KEYS = 500

Model = type[Run] | type[CollectionRun]


@contextlib.contextmanager
def log_database_errors(operation: str) -> Iterator[None]:
    """Log an exception of the block and continue; a cancellation is raised."""
    try:
        yield
    except Exception:
        logger.warning("%s failed and was skipped", operation, exc_info=True)


@contextlib.contextmanager
def heartbeat(record: Run | CollectionRun, stop: Callable[[], None]) -> Iterator[None]:
    """Keep the heartbeat of a record while the block runs; call `stop` when that was requested.

    Must be called on the event loop's thread.
    """
    driven = _driven()
    driven.add(record, stop)
    try:
        yield
    finally:
        driven.discard(record)


class DrivenRecords:
    """The runs and collection runs that an event loop drives, with what stops each."""

    def __init__(self) -> None:
        self._stops: dict[Model, dict[UUID, Callable[[], None]]] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, record: Run | CollectionRun, stop: Callable[[], None]) -> None:
        """Keep the heartbeat of `record` from now on."""
        self._stops.setdefault(type(record), {})[record.pk] = stop
        if self._task is None:
            self._task = start_task(self.keep(), "heartbeat")

    def discard(self, record: Run | CollectionRun) -> None:
        """Stop keeping the heartbeat of `record`."""
        stops = self._stops[type(record)]
        del stops[record.pk]
        if not stops:
            del self._stops[type(record)]
        if not self._stops and self._task:
            self._task.cancel()
            self._task = None

    async def keep(self) -> None:
        """Store heartbeats and look for stop requests until cancelled."""
        while True:
            for _ in range(round(HEARTBEAT_INTERVAL / STOP_REQUEST_INTERVAL)):
                await asyncio.sleep(STOP_REQUEST_INTERVAL)
                with log_database_errors("Reading stop requests"):
                    await self._stop_requested()
            with log_database_errors("Storing heartbeats"):
                await self._store()

    async def _stop_requested(self) -> None:
        for model, stops in tuple(self._stops.items()):
            requested = model.objects.unfinished().filter(stop_requested=True)
            for key in await run_in_reader(list, requested.values_list("pk", flat=True)):
                if stop := stops.get(key):
                    stop()

    async def _store(self) -> None:
        for model, stops in tuple(self._stops.items()):
            keys = iter(tuple(stops))
            while chunk := list(islice(keys, MAX_KEYS)):
                driven = model.objects.unfinished().filter(pk__in=chunk)
                await run_in_writer(store_heartbeats, driven)


_driven = PerLoop(DrivenRecords)


def start_liveness_checks() -> asyncio.Task[None]:
    """Look for runs of dead processes every few seconds; calling it once is enough.

    Must be called on the event loop's thread.
    """
    return _liveness_checks.begin()


async def _check_liveness() -> None:
    while True:
        with log_database_errors("Reading the runs of dead processes"):
            await run_in_reader(mark_interrupted)
        await asyncio.sleep(HEARTBEAT_INTERVAL)


_liveness_checks = SingleTask(_check_liveness, "liveness")
