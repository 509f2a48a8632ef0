"""Heartbeat of runs and collection runs, and the Stop that another process asks for.

A database that fails for a moment does not end a heartbeat: a run without one is taken for one
whose process died, although it goes on.
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

#: Seconds between two looks for a Stop that came in by another process.
LOOK = 1.0


@contextlib.contextmanager
def forgiving(what: str) -> Iterator[None]:
    """Log what goes wrong inside, and go on; a cancellation is no such thing."""
    try:
        yield
    except Exception:
        logger.warning("%s was left out this time", what, exc_info=True)


async def beat(
    record: Run | CollectionRun,
    stop: Callable[[], None],
    note_alive: Callable[[datetime], Awaitable[None]],
) -> None:
    """Store when a record was last alive, and call `stop` when another process asked for it.

    `note_alive` is awaited every `HEARTBEAT` seconds with the time; the database is asked for a
    request to stop every `LOOK` seconds. Goes on until it is cancelled.
    """
    model: type[Run | CollectionRun] = type(record)
    stop_requests = model.objects.filter(pk=record.pk, stop_requested=True)
    while True:
        for _ in range(round(HEARTBEAT_INTERVAL / LOOK)):
            await asyncio.sleep(LOOK)
            with forgiving("a look for Stop"):
                if await run_in_reader(stop_requests.exists):
                    stop()
        with forgiving("a sign of life"):
            await note_alive(timezone.now())
