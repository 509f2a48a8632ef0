"""Shutdown of the engine: no new runs; those in progress get time, then end as interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from playground.base.executors import run_in_writer
from playground.base.processes import this_process
from playground.engine import promise_polling, runs, tasks
from playground.engine.collection_runs import runner
from playground.models import CollectionRun, Run, RunState
from playground.models.collection_runs import end_interrupted

logger = logging.getLogger(__name__)

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
    runner.interrupt_all()
    return len(tasks.runs_in_progress())


async def finish_shutdown(seconds: float) -> ShutdownResult:
    """Give the runs `seconds` to end by themselves; then end them as interrupted.

    Requests that were about to start runs are waited for, and their runs are interrupted. Returns
    within eight seconds after that time, also where the database is unavailable. Must be called on
    the event loop's thread, after `begin_shutdown`.
    """
    run_keys: set[UUID] = set()
    collection_run_keys: set[UUID] = set()

    def in_progress() -> Work:
        driven, collections = tasks.runs_in_progress(), runner.runs_in_progress()
        run_keys.update(driven)
        collection_run_keys.update(collections)
        return (*driven.values(), *collections.values(), *promise_polling.sending)

    def stopping() -> Work:
        tasks.stop_all(RunState.INTERRUPTED)
        return (*in_progress(), *_requests)

    await _wait(in_progress, seconds)
    interrupted = len(tasks.runs_in_progress())
    await _wait(stopping, STORING_SECONDS)
    try:
        async with asyncio.timeout(STORING_SECONDS / 2):
            await run_in_writer(_mark_interrupted)
    except Exception:
        logger.warning("Marking the runs of this process as interrupted failed", exc_info=True)
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
