"""Background tasks of runs: submission, start, stop and cancel; one task per run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar
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
from playground.engine.heartbeat import Drivable, request_stop
from playground.engine.promises import PromiseObserver
from playground.engine.request import PreparedRequest, request_of_run
from playground.engine.runs import RunParent, create_run, refuses_new_runs
from playground.models import CollectionRun, Run, RunKind, RunState
from playground.models.driving import local_runs, mark_interrupted
from playground.notifications import notify_viewers

D = TypeVar("D", bound=Drivable)


class Drivers(TaskRegistry[UUID, D]):
    """The runs, or the collection runs, that this process drives."""

    def __init__(self, what: str, on_end: Callable[[D], None] = lambda driver: None) -> None:
        def end(key: UUID, driver: D) -> None:
            local_runs.discard(key)
            on_end(driver)

        super().__init__(what, end)

    def drive(self, record: Run | CollectionRun, driver: D) -> asyncio.Task[None]:
        local_runs.add(record.pk)
        return self.begin(record.pk, driver, driver.drive())

    def stop(self, record: Run | CollectionRun, *final: RunState) -> asyncio.Task[None] | None:
        """Tell it to stop, and to end in this state; return its task.

        None if this process does not drive it.
        """
        if not (entry := self.get(record.pk)):
            return None
        driver, task = entry
        driver.stop(*final)
        return task

    async def cancel(self, record: Run | CollectionRun) -> bool:
        """Stop it and wait until that is stored; return whether this process drove it.

        One that waits for a worker is ended. One that another process drives is stopped through
        the database, within about a second. A request of a browser waits for at most
        PLAYGROUND_DATABASE_TIMEOUT.
        """
        if task := self.stop(record):
            await asyncio.wait({task}, timeout=response_timeout.get())
            return True
        if await sync_to_async(work_queue.withdraw)(record):
            await notify_viewers(record)
            return False
        unfinished = type(record).objects.unfinished().filter(pk=record.pk)
        if await unfinished.aupdate(stop_requested=True):
            await request_stop()
            await sync_to_async(mark_interrupted)()  # Its process may have died.
        return False


RUNS: Drivers[Driver] = Drivers("run", lambda driver: concurrency.release(driver.run.owner_id))
stop, cancel = RUNS.stop, RUNS.cancel


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
    return RUNS.drive(run, driver)


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


def stop_all(final: RunState = RunState.CANCELLED) -> int:
    """Tell every run of this process to stop and to end in this state; return their number."""
    drivers = RUNS.values()
    for driver in drivers:
        driver.stop(final)
    return len(drivers)
