"""Background tasks of runs: submission, start, stop and cancel; one task per run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from opentelemetry import context
from opentelemetry.context import Context

from playground.base import jobs
from playground.base.executors import response_timeout, write_when_available
from playground.base.jobs import TaskRegistry, start_task
from playground.engine import concurrency, work_queue
from playground.engine.driver import Driver, Listener
from playground.engine.heartbeat import request_stop
from playground.engine.promises import PromiseObserver
from playground.engine.request import PreparedRequest, request_of_run
from playground.engine.runs import RunParent, create_run, refuses_new_runs
from playground.models import CollectionRun, Run, RunKind, RunState
from playground.models.liveness import local_runs, mark_interrupted
from playground.notifications import notify_viewers


def _unregister(key: UUID, driver: Driver) -> None:
    local_runs.discard(key)
    concurrency.release(driver.run.owner_id)


_registry: TaskRegistry[UUID, Driver] = TaskRegistry("run", _unregister)


async def send(run: Run, prepared: PreparedRequest) -> None:
    """Have the run of `prepared` driven: by a worker, or in this process if there are none.

    Returns once that is certain. Must be called on the event loop's thread.
    """
    if not settings.WORKERS:
        send_here(run, prepared)
    elif not run.is_final:
        payload = work_queue.payload_of(prepared)
        job = _response_job if run.kind == RunKind.CLIENT_RESPONSE else drive_job
        await job.defer(run.pk, partial(work_queue.enqueue, run, payload))


async def _drive(key: str) -> None:
    read, fail = work_queue.read_request, work_queue.fail_unreadable
    if taken := await work_queue.take_readable(Run, key, read, fail):
        await send_here(*taken)


drive_job = jobs.job("drive_run", jobs.RUNS)(_drive)
#: A run in mid-call waits for the response of a client. That must not wait for other runs.
_response_job = jobs.job("drive_response")(_drive)


def send_here(
    run: Run,
    prepared: PreparedRequest,
    *,
    attended: bool = True,
    listeners: Sequence[Listener] = (),
    **options: Any,
) -> asyncio.Task[None]:
    """Drive the run of `prepared` in this process, in the background; return its task.

    It outlives the request and every viewer. If the process shuts down, nothing is sent, and the
    run ends as interrupted. A promise that an attended run ends with is polled, with the request's
    own headers. `options` are those of `Driver`. Must be called on the event loop's thread.
    """
    if run.kind != RunKind.CLIENT_RESPONSE:  # A client response is not responded to again.
        options["on_automatic_response"] = partial(send_automatic_response, run, prepared)
    if attended:
        listeners = (PromiseObserver(run, prepared.headers), *listeners)
    driver = Driver(run, prepared, listeners, attended=attended, **options)
    if refuses_new_runs() and run.kind != RunKind.CLIENT_RESPONSE:
        driver.stop(RunState.INTERRUPTED)
    local_runs.add(run.pk)
    return _registry.begin(run.pk, driver, driver.drive())


def send_automatic_response(run: Run, prepared: PreparedRequest, resume: Mapping[str, Any]) -> None:
    """Respond to a request that the server has sent during `run`, by a run of its own.

    `prepared` is what the run was started with.
    """

    def record() -> tuple[Run, PreparedRequest]:
        target = replace(prepared.target, resume=resume)
        response = request_of_run(run, target, prepared.document, prepared.redact)
        return create_run(response, run.owner, RunParent(RunKind.CLIENT_RESPONSE, run)), response

    async def record_and_send(trace: Context) -> None:
        context.attach(trace)
        await send_here(*await write_when_available(record))

    # A task has a context of its own.
    start_task(record_and_send(context.get_current()))


def stop(run: Run, final: RunState = RunState.CANCELLED) -> asyncio.Task[None] | None:
    """Tell the run to stop and to end in this state; return its task.

    None if this process does not drive it.
    """
    if not (entry := _registry.get(run.pk)):
        return None
    driver, task = entry
    driver.stop(final)
    return task


def stop_all(final: RunState = RunState.CANCELLED) -> int:
    """Tell every run of this process to stop and to end in this state; return their number."""
    drivers = _registry.values()
    for driver in drivers:
        driver.stop(final)
    return len(drivers)


def runs_in_progress() -> dict[UUID, asyncio.Task[None]]:
    return _registry.tasks()


async def cancel(run: Run) -> bool:
    """Stop the run and wait until its state is stored; return whether this process drove it.

    A run of another process is stopped through the database, within about a second.
    """
    return await wait_for_stop(run, stop(run))


async def wait_for_stop(run: Run | CollectionRun, task: asyncio.Task[None] | None) -> bool:
    """Wait for the task of a run that was told to stop; return whether there is one.

    A run that waits for a worker is ended. If another process drives the run, stopping it is
    requested through the database. A request of a browser waits for at most
    PLAYGROUND_DATABASE_TIMEOUT.
    """
    if task:
        await asyncio.wait({task}, timeout=response_timeout.get())
        return True
    if await sync_to_async(work_queue.withdraw)(run):
        await notify_viewers(run)
        return False
    unfinished = type(run).objects.unfinished().filter(pk=run.pk)
    if await unfinished.aupdate(stop_requested=True):
        await request_stop()
        await sync_to_async(mark_interrupted)()  # Its process may have died.
    return False
