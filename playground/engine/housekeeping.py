"""Lets runs go that are kept no longer: when somebody asks for it, at the start, and every hour.

In the thread that writes frames, one small transaction at a time with a pause between: whoever
sends meanwhile waits for one of them at most.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from playground.engine import retention
from playground.engine.background import Single
from playground.engine.retention import RetentionLimits
from playground.executors import run_in_reader, run_in_writer

logger = logging.getLogger(__name__)

#: Seconds between two times that the limits are applied, and between two transactions.
EVERY, PAUSE = 3600.0, 0.02

#: What is being deleted, by owner; its task has how many runs are gone.
_prunings: dict[int | None, Single[int]] = {}


def start_pruning() -> asyncio.Task[None]:
    """Apply everybody's limits from now on, in this process; once is enough.

    Must be called on the event loop's thread.
    """
    return _keeper.begin()


async def _keep() -> None:
    while True:
        try:
            for owner in await run_in_reader(retention.owners_with_limits):
                await _pruned(owner)
        except Exception:
            logger.exception("the limits on the history could not be read")
        await asyncio.sleep(EVERY)


async def _pruned(owner: int | None) -> None:
    """Apply an owner's limits; that it fails is nothing to those who come after."""
    try:
        await prune(owner)
    except Exception:
        logger.exception("runs that are kept no longer could not be deleted")


_keeper = Single(_keep, "retention")


def prune(owner: int | None) -> asyncio.Task[int]:
    """Delete what goes by an owner's limits, in the background; the task has how many that were.

    One that is under way is not begun again. Must be called on the event loop's thread.
    """
    if owner not in _prunings:
        _prunings[owner] = Single(partial(_prune, owner), "prune")
    return _prunings[owner].begin()


async def _prune(owner: int | None) -> int:
    gone = 0
    applied: RetentionLimits | None = None
    while (limits := await run_in_reader(RetentionLimits.of, owner)) != applied:
        applied = limits
        for batch in retention.deletion_batches(
            await run_in_reader(retention.runs_to_delete, owner, limits)
        ):
            if await run_in_reader(RetentionLimits.of, owner) != limits:
                break  # What was decided is not what its owner wants by now.
            gone += await run_in_writer(retention.delete, batch)
            await asyncio.sleep(PAUSE)
    if gone:
        logger.info("%d runs were deleted by the limits on the history", gone)
    return gone
