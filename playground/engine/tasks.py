"""The background tasks: one per run, owned here and nowhere else."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Sequence
from uuid import UUID

from playground.engine.driver import Driver, Listener
from playground.models import Run
from playground.protocols.exchange import Target

#: Strong references: the event loop itself keeps only weak ones.
_running: dict[UUID, tuple[Driver, asyncio.Task[None]]] = {}


def start(run: Run, target: Target, *, redact: Sequence[str] = ()) -> None:
    """Drive `run` in the background; it outlives the request and every viewer.

    Must be called on the event loop's thread. The task gets an empty context: a view's
    context would bind it to a request that is over long before the run is.
    """
    if run.is_final:
        return  # Refused before it began.
    driver = Driver(run, target, redact=redact)
    task = asyncio.get_running_loop().create_task(
        driver.drive(), name=f"run-{run.pk}", context=contextvars.Context()
    )
    _running[run.pk] = (driver, task)
    task.add_done_callback(lambda _: _running.pop(run.pk, None))


async def run_to_end(
    run: Run, target: Target, *, redact: Sequence[str] = (), listener: Listener | None = None
) -> None:
    """Drive `run` in the caller's task, for callers that wait for it (the command line)."""
    if not run.is_final:
        await Driver(run, target, redact=redact, listener=listener).drive()


async def cancel(run: Run) -> bool:
    """Stop the run if this process drives it, and wait until its state is stored.

    Returns whether there was something to stop.
    """
    if not (entry := _running.get(run.pk)):
        return False
    driver, task = entry
    driver.stop_requested = True
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait({task})
    return True


def is_running_here(pk: UUID) -> bool:
    """Whether this process drives the run."""
    return pk in _running
