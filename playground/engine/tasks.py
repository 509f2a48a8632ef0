"""Background tasks of runs: start, stop and cancel; one task per run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async

from playground.database_timeout import response_timeout
from playground.engine import concurrency
from playground.engine.driver import Driver
from playground.engine.promises import PromiseObserver
from playground.engine.request import Headers, PreparedRequest, automatic_response
from playground.engine.runs import RunParent, create_run, refuses_new_runs
from playground.executors import write_when_available
from playground.models import CollectionRun, Run, RunKind, RunState
from playground.models.liveness import local_runs, mark_interrupted
from playground.protocols.exchange import Target
from playground.task_registry import TaskRegistry, start_task


def _unregister(key: UUID, driver: Driver) -> None:
    local_runs.discard(key)
    concurrency.release(driver.run.owner_id)


_registry: TaskRegistry[UUID, Driver] = TaskRegistry("run", _unregister)


def send(run: Run, prepared: PreparedRequest, **options: Any) -> asyncio.Task[None]:
    """Drive the run of `prepared` in the background: see `start`."""
    return start(
        run,
        prepared.target,
        document=prepared.wire_document,
        redact=prepared.redact,
        headers=prepared.headers,
        **options,
    )


def start(
    run: Run, target: Target, *, headers: Headers = (), attended: bool = True, **options: Any
) -> asyncio.Task[None]:
    """Drive `run` in the background; it outlives the request and every viewer.

    If the process shuts down, nothing is sent, and the run ends as interrupted. A promise that an
    attended run ends with is polled, with the request's own `headers`. `options` are those of
    `Driver`. Must be called on the event loop's thread.
    """
    if run.kind != RunKind.CLIENT_RESPONSE:  # A client response is not responded to again.
        sent = {"document": options.get("document"), "redact": options.get("redact", ())}
        options["on_automatic_response"] = partial(send_automatic_response, run, target, **sent)
    if attended:
        options["follower"] = PromiseObserver(run, headers)
    driver = Driver(run, target, attended=attended, **options)
    if refuses_new_runs() and run.kind != RunKind.CLIENT_RESPONSE:
        driver.stop(RunState.INTERRUPTED)
    local_runs.add(run.pk)
    return _registry.begin(run.pk, driver, driver.drive())


def send_automatic_response(
    run: Run,
    target: Target,
    resume: Mapping[str, Any],
    document: dict[str, Any] | None,
    redact: Sequence[str],
) -> None:
    """Respond to a request that the server has sent during `run`, by a run of its own.

    `document` and `redact` are those that the run was started with, as `Driver` takes them.
    """
    start_task(_send_automatic_response(run, replace(target, resume=resume), document, redact))


async def _send_automatic_response(
    run: Run, target: Target, document: dict[str, Any] | None, redact: Sequence[str]
) -> None:
    def record() -> tuple[Run, PreparedRequest]:
        response = automatic_response(run, target, document, redact)
        return create_run(response, run.owner, RunParent(RunKind.CLIENT_RESPONSE, run)), response

    await send(*await write_when_available(record))


def stop(run: Run) -> asyncio.Task[None] | None:
    """Tell the run to stop; return its task, None if this process does not drive it."""
    if not (entry := _registry.get(run.pk)):
        return None
    driver, task = entry
    driver.stop()
    return task


def stop_all(final: RunState = RunState.CANCELLED) -> int:
    """Tell every run of this process to stop and to end in this state; return their number."""
    drivers = _registry.values()
    for driver in drivers:
        driver.stop(final)
    return len(drivers)


def runs_in_progress() -> dict[UUID, asyncio.Task[None]]:
    """Return the tasks of the runs that this process drives, by the run's key."""
    return _registry.tasks()


async def cancel(run: Run) -> bool:
    """Stop the run and wait until its state is stored; return whether this process drove it.

    A run of another process is stopped through the database, within about a second.
    """
    return await wait_for_stop(run, stop(run))


async def wait_for_stop(run: Run | CollectionRun, task: asyncio.Task[None] | None) -> bool:
    """Wait for the task of a run that was told to stop; return whether there is one.

    If another process drives the run, stopping it is requested through the database. A request of
    a browser waits for at most PLAYGROUND_DATABASE_TIMEOUT.
    """
    if task:
        await asyncio.wait({task}, timeout=response_timeout.get())
        return True
    unfinished = type(run).objects.unfinished().filter(pk=run.pk)
    if await unfinished.aupdate(stop_requested=True):
        await sync_to_async(mark_interrupted)()  # Its process may have died.
    return False
