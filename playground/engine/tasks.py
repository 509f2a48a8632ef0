"""The background tasks: one per run, owned here and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async

from playground.engine import concurrency
from playground.engine.background import TaskRegistry, begin
from playground.engine.driver import Driver
from playground.engine.request import PreparedRequest, automatic_reply
from playground.engine.runs import RunParent, create_run
from playground.executors import run_in_writer
from playground.models import CollectionRun, Run, RunKind
from playground.models.liveness import local_runs, mark_interrupted
from playground.protocols.exchange import Target


def _forget(key: UUID, driver: Driver) -> None:
    local_runs.discard(key)
    concurrency.release(driver.run.owner_id)


_registry: TaskRegistry[UUID, Driver] = TaskRegistry("run", _forget)


def send(run: Run, prepared: PreparedRequest, **options: Any) -> asyncio.Task[None]:
    """Drive the run that was made of `prepared`: see `start`."""
    return start(
        run,
        prepared.target,
        document=prepared.wire_document,
        redact=prepared.redact,
        headers=prepared.headers,
        **options,
    )


def start(run: Run, target: Target, **options: Any) -> asyncio.Task[None]:
    """Drive `run` in the background; it outlives the request and every viewer.

    `options` are those of `Driver`. Must be called on the event loop's thread.
    """
    if (
        run.kind != RunKind.CLIENT_RESPONSE
    ):  # What a server says to an answer is not answered again.
        sent = {"document": options.get("document"), "redact": options.get("redact", ())}
        options["on_errand"] = partial(send_errand, run, target, **sent)
    driver = Driver(run, target, **options)
    local_runs.add(run.pk)
    return _registry.begin(run.pk, driver, driver.drive())


def send_errand(
    run: Run,
    target: Target,
    resume: Mapping[str, Any],
    document: dict[str, Any] | None,
    redact: Sequence[str],
) -> None:
    """Answer a request that `run` was sent in mid-call, by a run of its own.

    `document` and `redact` are those that the run was started with, as `Driver` takes them.
    """
    begin(_errand(run, replace(target, resume=resume), document, redact))


async def _errand(
    run: Run, target: Target, document: dict[str, Any] | None, redact: Sequence[str]
) -> None:
    def record() -> tuple[Run, PreparedRequest]:
        reply = automatic_reply(run, target, document, redact)
        return create_run(reply, run.owner, RunParent(RunKind.CLIENT_RESPONSE, run)), reply

    await send(*await run_in_writer(record))


def stop(run: Run) -> asyncio.Task[None] | None:
    """Tell the run to stop, as its user asked; None if this process does not drive it."""
    if not (entry := _registry.get(run.pk)):
        return None
    driver, task = entry
    driver.stop()
    return task


def stop_all() -> int:
    """Tell every run of this process to stop; returns how many there were. For commands."""
    drivers = _registry.values()
    for driver in drivers:
        driver.stop()
    return len(drivers)


async def cancel(run: Run) -> bool:
    """Stop the run and wait until its state is stored. Returns whether it was under way here.

    A run that another process drives is told by the database, and stops within about a second.
    """
    return await wait_for_stop(run, stop(run))


async def wait_for_stop(run: Run | CollectionRun, task: asyncio.Task[None] | None) -> bool:
    """Wait for the task of a run that was told to stop, and return whether there is one.

    Without one, another process is told by the database to stop the run.
    """
    if task:
        await asyncio.wait({task})
        return True
    unfinished = type(run).objects.unfinished().filter(pk=run.pk)
    if await unfinished.aupdate(stop_requested=True):
        await sync_to_async(mark_interrupted)()  # There may be nobody left to be told.
    return False
