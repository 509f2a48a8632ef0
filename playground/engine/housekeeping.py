"""Lets runs go that are kept no longer: when somebody asks for it, at the start, and every hour.

In the thread that writes frames, one small transaction at a time with a pause between: whoever
sends meanwhile waits for one of them at most.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging

from playground.engine import retention
from playground.threads import in_reader, in_writer

logger = logging.getLogger(__name__)

#: Seconds between two times that the limits are applied, and between two transactions.
EVERY, PAUSE = 3600.0, 0.02

#: What is being deleted now, by owner, and how many runs are gone so far.
_under_way: dict[int | None, asyncio.Task[int]] = {}
_keeper: asyncio.Task[None] | None = None


def keep_house() -> asyncio.Task[None]:
    """Apply everybody's limits from now on, in this process; once is enough.

    Must be called on the event loop's thread.
    """
    global _keeper
    loop = asyncio.get_running_loop()
    if _keeper is None or _keeper.done() or _keeper.get_loop() is not loop:
        _keeper = loop.create_task(_keep(), name="retention", context=contextvars.Context())
    return _keeper


async def _keep() -> None:
    while True:
        try:
            for owner in await in_reader(retention.owners):
                await prune(owner)
        except Exception:
            logger.exception("runs that are kept no longer could not be deleted")
        await asyncio.sleep(EVERY)


def prune(owner: int | None) -> asyncio.Task[int]:
    """Delete what goes by an owner's limits, in the background; the task has how many that were.

    One that is under way is not begun again. Must be called on the event loop's thread.
    """
    task = _under_way.get(owner)
    if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
        loop = asyncio.get_running_loop()
        task = loop.create_task(_prune(owner), name="prune", context=contextvars.Context())
        _under_way[owner] = task
    return task


async def _prune(owner: int | None) -> int:
    gone = 0
    families = await in_reader(retention.going, owner)
    for batch in retention.batches(families):
        gone += await in_writer(retention.delete, batch)
        await asyncio.sleep(PAUSE)
    if gone:
        logger.info("%d runs were deleted by the limits on the history", gone)
    return gone
