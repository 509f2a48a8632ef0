"""The background tasks: one per run, owned here and nowhere else."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any
from uuid import UUID

from playground.engine.driver import Driver
from playground.models import Run
from playground.protocols.exchange import Target

#: Strong references: the event loop itself keeps only weak ones.
_running: dict[UUID, tuple[Driver, asyncio.Task[None]]] = {}


def start(run: Run, target: Target, **options: Any) -> asyncio.Task[None]:
    """Drive `run` in the background; it outlives the request and every viewer.

    `options` are those of `Driver`. Must be called on the event loop's thread. The task gets
    an empty context: a view's would bind it to a request that is over long before the run is.
    """
    driver = Driver(run, target, **options)
    task = asyncio.get_running_loop().create_task(
        driver.drive(), name=f"run-{run.pk}", context=contextvars.Context()
    )
    _running[run.pk] = (driver, task)
    task.add_done_callback(lambda _: _running.pop(run.pk, None))
    return task


def stop(run: Run) -> asyncio.Task[None] | None:
    """Tell the run to stop, as its user asked; None if this process does not drive it."""
    if not (entry := _running.get(run.pk)):
        return None
    driver, task = entry
    driver.stop_requested = True
    # A run that ends by itself at this moment must not lose its final state.
    if not driver.finishing:
        task.cancel()
    return task


async def cancel(run: Run) -> bool:
    """Stop the run and wait until its state is stored. Returns whether it was under way here."""
    if not (task := stop(run)):
        return False
    await asyncio.wait({task})
    return True
