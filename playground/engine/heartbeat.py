"""Heartbeat of runs and collection runs, and stop requests from other processes.

A database that fails for a moment does not end a heartbeat: a run without one would be taken for a
run whose process has died.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime

from django.utils import timezone

from playground.executors import run_in_reader
from playground.models import CollectionRun, Run
from playground.models.liveness import HEARTBEAT_INTERVAL

logger = logging.getLogger(__name__)

#: Seconds between two queries for a stop request of another process.
STOP_REQUEST_INTERVAL = 1.0


@contextlib.contextmanager
def log_database_errors(operation: str) -> Iterator[None]:
    """Log an exception of the block and continue; a cancellation is raised."""
    try:
        yield
    except Exception:
        logger.warning("%s failed and was skipped", operation, exc_info=True)


async def send_heartbeats(
    record: Run | CollectionRun,
    stop: Callable[[], None],
    store_heartbeat: Callable[[datetime], Awaitable[None]],
) -> None:
    """Store the time of each heartbeat, and call `stop` when another process asked for it.

    `store_heartbeat` is awaited every `HEARTBEAT_INTERVAL` seconds with the time; the database is
    queried for a stop request every `STOP_REQUEST_INTERVAL` seconds. Runs until it is cancelled.
    """
    model: type[Run | CollectionRun] = type(record)
    stop_requests = model.objects.filter(pk=record.pk, stop_requested=True)
    while True:
        for _ in range(round(HEARTBEAT_INTERVAL / STOP_REQUEST_INTERVAL)):
            await asyncio.sleep(STOP_REQUEST_INTERVAL)
            with log_database_errors(f"Reading the stop request of {record.pk}"):
                if await run_in_reader(stop_requests.exists):
                    stop()
        with log_database_errors(f"Storing the heartbeat of {record.pk}"):
            await store_heartbeat(timezone.now())
