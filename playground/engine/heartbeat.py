"""Heartbeats of runs and collection runs, and stop requests from other processes.

One task does both for everything that an event loop drives: a query for each model and not for each
run. A stop request is a column of the run; a notification only makes it known sooner. A database
that fails for a moment does not end a heartbeat: a run without one would be taken for a run whose
process has died.

A run may end without its driver: another process has missed its heartbeats, or a user has deleted
it. The next heartbeat finds out and stops the driver.

A server also ends runs without a heartbeat, so that they do not seem to be in progress until a
page of them is opened.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from itertools import islice
from typing import Any, Protocol
from uuid import UUID

from playground.base.executors import run_in_reader, run_in_writer
from playground.base.jobs import PerLoop, SingleTask, log_errors, start_task
from playground.models import CollectionRun, Run
from playground.models.driving import HEARTBEAT_INTERVAL, mark_interrupted, store_heartbeats
from playground.notifications import notifier

#: Seconds between two queries for stop requests of other processes.
STOP_REQUEST_INTERVAL = 1.0
#: The group of the channel layer that is notified of stop requests.
STOP_REQUESTS = "stop-requests"
#: Most keys in one statement.
MAX_KEYS = 500

Model = type[Run] | type[CollectionRun]


class Drivable(Protocol):
    """The driver of a run or collection run."""

    async def drive(self) -> None: ...

    # Neither of these waits; each may be called again.

    def stop(self, *args: Any, **kwargs: Any) -> None:
        """Stop because that was requested."""
        ...

    def give_up(self) -> None:
        """Stop because the run has ended without its driver: nothing more can be stored."""
        ...


@contextlib.contextmanager
def heartbeat(record: Run | CollectionRun, driver: Drivable) -> Iterator[None]:
    """Keep the heartbeat of a record while the block runs; stop the driver if it has to.

    Must be called on the event loop's thread.
    """
    driven = _driven()
    driven.add(record, driver)
    try:
        yield
    finally:
        driven.discard(record)


class DrivenRecords:
    """The runs and collection runs that an event loop drives, with their drivers."""

    def __init__(self) -> None:
        self._drivers: dict[Model, dict[UUID, Drivable]] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, record: Run | CollectionRun, driver: Drivable) -> None:
        """Keep the heartbeat of `record` from now on."""
        self._drivers.setdefault(type(record), {})[record.pk] = driver
        if self._task is None:
            self._task = start_task(self.keep(), "heartbeat")

    def discard(self, record: Run | CollectionRun) -> None:
        drivers = self._drivers[type(record)]
        del drivers[record.pk]
        if not drivers:
            del self._drivers[type(record)]
        if not self._drivers and self._task:
            self._task.cancel()
            self._task = None

    async def keep(self) -> None:
        """Store heartbeats and look for stop requests until cancelled."""
        while True:
            for _ in range(round(HEARTBEAT_INTERVAL / STOP_REQUEST_INTERVAL)):
                await asyncio.sleep(STOP_REQUEST_INTERVAL)
                await self.stop_requested()
            with log_errors("Storing heartbeats"):
                await self._store()

    async def stop_requested(self) -> None:
        with log_errors("Reading stop requests"):
            for model, drivers in tuple(self._drivers.items()):
                requested = model.objects.unfinished().filter(stop_requested=True)
                for key in await run_in_reader(list, requested.values_list("pk", flat=True)):
                    if driver := drivers.get(key):
                        driver.stop()

    async def _store(self) -> None:
        for model, drivers in tuple(self._drivers.items()):
            keys = iter(tuple(drivers))
            while chunk := list(islice(keys, MAX_KEYS)):
                driven = model.objects.unfinished().filter(pk__in=chunk)
                if await run_in_writer(store_heartbeats, driven) < len(chunk):
                    left = await run_in_reader(list, driven.values_list("pk", flat=True))
                    for key in {*chunk} - {*left}:
                        if driver := drivers.get(key):
                            driver.give_up()


_driven = PerLoop(DrivenRecords)


async def request_stop() -> None:
    """Tell the other processes that a stop request was stored."""
    notifier().notify([STOP_REQUESTS])
    await notifier().flush()


async def _check_liveness() -> None:
    def stop(_: object) -> None:
        start_task(_driven().stop_requested(), "stop-requests")

    # Not awaited: the channel layer may be unavailable.
    start_task(notifier().subscribe(STOP_REQUESTS, stop), "stop-requests")
    while True:
        with log_errors("Reading the runs of dead processes"):
            await run_in_reader(mark_interrupted)
        await asyncio.sleep(HEARTBEAT_INTERVAL)


#: Looks for runs of dead processes every few seconds.
liveness_checks = SingleTask(_check_liveness, "liveness")
