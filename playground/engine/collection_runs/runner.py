"""Runner of collection runs: drives the units of a plan concurrently, until the end or a stop.

Collection runs that users start are submitted: a worker drives them, or this process if there are
no workers. Their steps are runs of the process that drives them. A `StepWriter` stores the rows of
the steps: many changes, few transactions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from playground.base import jobs
from playground.base.executors import UNAVAILABLE, write_when_available
from playground.base.jobs import log_errors
from playground.base.logs import log_context
from playground.engine import tasks, work_queue
from playground.engine.collection_runs.plan import (
    CollectionRunPlan,
    PlanError,
    PlannedStep,
    Unit,
    plan_from_json,
    plan_to_json,
)
from playground.engine.collection_runs.steps import IterationState, StepSender
from playground.engine.concurrency import concurrency_limit
from playground.engine.heartbeat import heartbeat
from playground.engine.runs import ShuttingDownError, refuses_new_runs
from playground.engine.work_queue import UnreadableWorkError
from playground.engine.writer import RunEndedError
from playground.models import CollectionRun, QueuedWork, Run, RunState, Step
from playground.models.collection_runs import (
    INTERRUPTED_REASON,
    STOPPED_REASON,
    end_unfinished,
)
from playground.notifications import notify_viewers
from playground.transport import ConnectionPool

logger = logging.getLogger(__name__)

#: Reasons for a step that was not started or not finished, as parts of sentences.
FAILED_STEP_REASON = "an earlier request failed"
INTERNAL_ERROR_REASON = "Internal playground error. See the playground’s log."

#: Seconds between two transactions: more often than viewers can read.
STEP_INTERVAL = 0.2
#: The reason in the row of a step of which the database accepts the verdict only.
NOT_STORED = "The result could not be stored. See the playground’s log."
_COLUMNS = ("verdict", "checks", "reason", "duration_ms", "run_id")
Row = dict[str, Any]

Verdict = Step.Verdict
#: Called with every step that has ended, and its run (the command line prints it).
Listener = Callable[[Step, Run | None], None]


class Runner:
    """One collection run in progress."""

    def __init__(
        self,
        collection_run: CollectionRun,
        plan: CollectionRunPlan,
        listener: Listener | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = collection_run
        self._plan = plan
        self._listener = listener
        self._writer = StepWriter(collection_run)
        self._on_wait = on_wait
        #: The unfinished runs of steps, by the number of the step.
        self._active_runs: dict[int, Run] = {}
        #: Set once no further step is to be started, for whatever reason.
        self._halted = asyncio.Event()
        #: Why steps are not started, or do not end.
        self._end_reason = FAILED_STEP_REASON
        #: The final state of steps in progress that are stopped; None if they are not.
        self._stopped_as: RunState | None = None
        self._interrupted = False

    def stop(self) -> None:
        """Start no further steps, and stop those in progress."""
        self._stop(RunState.CANCELLED, STOPPED_REASON)

    def give_up(self) -> None:
        """Start no further steps, and stop those in progress: it has ended without this runner."""
        if self._stopped_as is None:
            message = "Driving collection run %s stopped: another process has ended it"
            logger.warning(message, self._run.pk)
        self._stop(RunState.INTERRUPTED, INTERRUPTED_REASON)

    def _stop(self, final: RunState, reason: str) -> None:
        self._stopped_as, self._end_reason = final, reason
        self._halted.set()
        for run in self._active_runs.values():
            tasks.stop(run, final)

    def interrupt(self) -> None:
        """Start no further steps, because the process shuts down; those in progress continue."""
        self._interrupted = True
        if not self._halted.is_set():
            self._end_reason = INTERRUPTED_REASON
            self._halted.set()

    async def drive(self) -> None:
        """Send all steps; end in a final state unless the process stops."""
        with log_context(collection_run=self._run.pk):
            await self._drive()

    async def _drive(self) -> None:
        writing = asyncio.create_task(self._writer.run())
        try:
            async with ConnectionPool(self._parallel) as connections:
                with heartbeat(self._run, self), concurrency_limit(self._plan.owner) as limit:
                    sender = StepSender(self._plan, limit, self._halted, self._on_wait, connections)
                    await self._send_all(sender)
        finally:
            writing.cancel()
            await asyncio.wait({writing})
        await self._finish()

    @property
    def _parallel(self) -> int:
        # Other runs of the owner count as well: then a step waits for a slot.
        most = min(self._plan.options.parallel, settings.RUN_LIMITS.max_runs)
        return min(most, len(self._plan.units))

    async def _send_all(self, sender: StepSender) -> None:
        units = iter(self._plan.units)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._parallel):
                group.create_task(self._work(sender, units))

    async def _work(self, sender: StepSender, units: Iterator[Unit]) -> None:
        for unit in units:
            iteration = IterationState()
            for planned in unit:
                if self._halted.is_set():
                    return
                await self._send(sender, planned, iteration)
                iteration.sources |= dict.fromkeys(planned.saved.captures, planned.saved.name)

    async def _send(
        self, sender: StepSender, planned: PlannedStep, iteration: IterationState
    ) -> None:
        step = planned.step
        step.verdict = Verdict.RUNNING
        self._writer.add(step)
        run: Run | None = None
        try:
            run = await sender.send(planned, iteration, partial(self._started, step))
        except ShuttingDownError:
            self.interrupt()
            step.verdict = Verdict.WAITING  # Nothing was sent.
        except RunEndedError:
            self.give_up()
            step.verdict = Verdict.WAITING  # Nothing was sent.
        except Exception:
            # An error of the playground, not of the agent: the other steps continue.
            logger.exception(
                "Sending step %s of collection run %s failed", step.number, self._run.pk
            )
            step.verdict, step.reason = Verdict.UNSENT, INTERNAL_ERROR_REASON
        self._active_runs.pop(step.number, None)
        if self._plan.options.bail and step.verdict in (Verdict.UNMET, Verdict.UNSENT):
            self._halted.set()
        step.end(self._end_reason)  # One that was still waiting for a slot.
        self._writer.add(step)
        if self._listener:
            with log_errors("Reporting a step"):
                self._listener(step, run)

    def _started(self, step: Step, run: Run) -> None:
        """Note the run of a step, so that `stop` reaches it."""
        self._active_runs[step.number] = run
        if self._stopped_as:
            tasks.stop(run, self._stopped_as)

    async def _finish(self) -> None:
        # Raises where the database stays unavailable. The run then becomes interrupted: as an ended
        # one it would have skipped steps that were sent and not stored.
        await self._writer.store()
        await write_when_available(self._end)
        await notify_viewers(self._run)

    def _final_state(self) -> CollectionRun.State:
        """Return the final state; steps that were interrupted are open, stopped or skipped."""
        State = CollectionRun.State  # noqa: N806 (a class)
        if self._stopped_as:
            return State.STOPPED if self._stopped_as is RunState.CANCELLED else State.INTERRUPTED
        unfinished = {Verdict.RUNNING, Verdict.STOPPED}
        if self._end_reason == INTERRUPTED_REASON:
            unfinished |= {Verdict.WAITING, Verdict.SKIPPED}
        left_out = any(step.verdict in unfinished for step in self._plan.steps)
        return State.INTERRUPTED if self._interrupted and left_out else State.COMPLETED

    def _end(self) -> None:
        run, now = self._run, timezone.now()
        columns = {"state": self._final_state(), "ended_at": now, "heartbeat_at": now}
        if not end_unfinished(run.pk, self._end_reason, **columns):
            # It has ended elsewhere, or was deleted.
            columns = CollectionRun.objects.filter(pk=run.pk).values(*columns).first() or columns
        vars(run).update(columns)
        for step in self._plan.steps:
            step.end(self._end_reason)


COLLECTION_RUNS: tasks.Drivers[Runner] = tasks.Drivers("collection run")
stop, cancel = COLLECTION_RUNS.stop, COLLECTION_RUNS.cancel


async def submit(collection_run: CollectionRun, plan: CollectionRunPlan) -> None:
    """Have a recorded collection run driven: by a worker, or in this process if there are none.

    Returns once that is certain. Must be called on the event loop's thread.
    """
    if not settings.WORKERS:
        start(collection_run, plan)
    elif not collection_run.is_final:
        enqueue = partial(work_queue.enqueue, collection_run, plan_to_json(plan))
        await drive_job.defer(collection_run.pk, enqueue)


@jobs.job("drive_collection_run", jobs.RUNS)
async def drive_job(key: str) -> None:
    """Drive the collection run with this key, if it waits for a worker."""
    if taken := await work_queue.take_readable(CollectionRun, key, _read_plan, _end_unsent):
        await start(*taken)


def _read_plan(run: CollectionRun, work: QueuedWork) -> CollectionRunPlan:
    try:
        return plan_from_json(run, work_queue.read_payload(work))
    except PlanError as error:
        raise UnreadableWorkError(*error.args) from error


def _end_unsent(run: CollectionRun, error: UnreadableWorkError) -> None:
    """End a collection run of which nothing can be sent, for the same reason for every step."""
    with transaction.atomic():
        unfinished = CollectionRun.objects.unfinished().filter(pk=run.pk)
        if unfinished.update(state=CollectionRun.State.COMPLETED, ended_at=timezone.now()):
            run.steps.all().update(verdict=Verdict.UNSENT, reason=" ".join(error.args))


def start(
    collection_run: CollectionRun,
    plan: CollectionRunPlan,
    listener: Listener | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> asyncio.Task[None]:
    """Drive a recorded collection run in the background; it outlives every viewer.

    `on_wait` is called now and then while steps have waited for a slot for some seconds. If the
    process shuts down, nothing is sent, and the collection run ends as interrupted. Must be called
    on the event loop's thread.
    """
    runner = Runner(collection_run, plan, listener, on_wait)
    if refuses_new_runs():
        runner.interrupt()
    return COLLECTION_RUNS.drive(collection_run, runner)


# The rows of the steps


class StepWriter:
    """The writer of the changed steps of one collection run; notifies its viewers."""

    def __init__(self, collection_run: CollectionRun) -> None:
        self._collection_run = collection_run
        self._changed: dict[int, Step] = {}
        self._wake = asyncio.Event()

    def add(self, step: Step) -> None:
        self._changed[step.number] = step
        self._wake.set()

    async def run(self) -> None:
        """Store changes until cancelled."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(STEP_INTERVAL)
            with log_errors("Storing steps"):
                await self.store()

    async def store(self) -> None:
        """Store the queued steps now. After an exception of the database they stay queued."""
        self._wake.clear()
        changed, self._changed = self._changed, {}
        if not changed:
            return
        # Copied: steps change while they are stored in another thread.
        rows = [
            (step.pk, {name: getattr(step, name) for name in _COLUMNS}) for step in changed.values()
        ]
        try:
            await write_when_available(_store_all, self._collection_run.pk, rows)
        except BaseException:  # Cancelled, too: the next call stores them.
            self._changed = changed | self._changed
            self._wake.set()
            raise
        await notify_viewers(self._collection_run)


def _store_all(key: UUID, rows: list[tuple[int, Row]]) -> None:
    """Store rows; of a row that the database refuses, store the verdict."""
    try:
        _store(key, rows)
    except UNAVAILABLE:
        raise  # All of them are retried.
    except Exception:
        if len(rows) > 1:
            logger.exception("Storing %d steps failed; each is stored by itself", len(rows))
            for row in rows:
                _store_all(key, [row])
            return
        ((pk, columns),) = rows
        logger.exception("Storing step %s failed; only its verdict is stored", pk)
        _store(key, [(pk, columns | {"checks": [], "reason": NOT_STORED})])


def _store(key: UUID, rows: list[tuple[int, Row]]) -> None:
    """Store rows unless the collection run has ended elsewhere, or was deleted."""
    with transaction.atomic():
        # Locked, so that it does not end before its steps are stored.
        unfinished = CollectionRun.objects.unfinished().filter(pk=key).select_for_update()
        if not unfinished.values_list("pk"):
            logger.warning("Steps of collection run %s were not stored: it has ended", key)
            return
        # The runs may have been deleted meanwhile.
        keys = [columns["run_id"] for _, columns in rows if columns["run_id"]]
        known = set(Run.objects.filter(pk__in=keys).values_list("pk", flat=True))
        for pk, columns in rows:
            if columns["run_id"] not in known:
                columns["run_id"] = None
            Step.objects.filter(pk=pk).update(**columns)
