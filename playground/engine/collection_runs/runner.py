"""A collection run under way: its units, at most so many at once, until the end or Stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from playground.engine import tasks
from playground.engine.background import TaskRegistry
from playground.engine.collection_runs.iteration import IterationState
from playground.engine.collection_runs.plan import CollectionRunPlan, PlannedStep, Unit
from playground.engine.collection_runs.sender import StepSender
from playground.engine.collection_runs.steps import StepWriter
from playground.engine.concurrency import concurrency_limit
from playground.engine.heartbeat import beat, forgiving
from playground.engine.writer import notify_viewers, with_retries
from playground.executors import run_in_writer
from playground.models import CollectionRun, Run, Step
from playground.models.collection_runs import end_unfinished_steps
from playground.models.liveness import local_runs

logger = logging.getLogger(__name__)

#: What keeps a step from being begun, or from its end, as a part of a sentence.
STOPPED_REASON = "the run was stopped"
FAILED_STEP_REASON = "a request before it was not met"
INTERNAL_ERROR_REASON = "The playground itself failed; its log says why."

Verdict = Step.Verdict
#: Called with every step that has come to its end, and its run (the command line prints it).
Listener = Callable[[Step, Run | None], None]


class Runner:
    """One collection run under way."""

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
        self._book = StepWriter(collection_run)
        self._on_wait = on_wait
        #: The runs of the steps that have one and are not over, by the number of the step.
        self._under_way: dict[int, Run] = {}
        #: Set once nothing more is to be begun, whatever the cause.
        self._halted = asyncio.Event()
        self._stopped = False

    @property
    def _cause(self) -> str:
        return STOPPED_REASON if self._stopped else FAILED_STEP_REASON

    def stop(self) -> None:
        """Begin nothing more, and stop what is under way."""
        self._stopped = True
        self._halted.set()
        for run in self._under_way.values():
            tasks.stop(run)

    async def drive(self) -> None:
        """Send everything; end in a final state unless the process goes down."""
        heartbeat = beat(self._run, self.stop, self._note_alive)
        keeping = [asyncio.create_task(each) for each in (heartbeat, self._book.run())]
        try:
            with concurrency_limit(self._plan.owner) as room:
                await self._send_all(StepSender(self._plan, room, self._halted, self._on_wait))
        finally:
            for each in keeping:
                each.cancel()
            await asyncio.wait(keeping)
        await self._finish()

    async def _send_all(self, sender: StepSender) -> None:
        # Runs of others count, too: then a step waits for room.
        most = min(self._plan.options.parallel, settings.RUN_LIMITS.max_runs)
        units = iter(self._plan.units)
        async with asyncio.TaskGroup() as group:
            for _ in range(min(most, len(self._plan.units))):
                group.create_task(self._work(sender, units))

    async def _work(self, sender: StepSender, units: Iterator[Unit]) -> None:
        for unit in units:
            carried = IterationState()
            for planned in unit:
                if self._halted.is_set():
                    return
                await self._take(sender, planned, carried)
                carried.note_captures(planned.saved)

    async def _take(
        self, sender: StepSender, planned: PlannedStep, carried: IterationState
    ) -> None:
        step = planned.step
        step.verdict = Verdict.RUNNING
        self._book.add(step)
        run: Run | None = None
        try:
            run = await sender.send(planned, carried, partial(self._begun, step))
        except Exception:
            # Our bug, not the agent's: one step less, and the others go on.
            logger.exception("a step of a collection run failed inside the playground")
            step.verdict, step.reason = Verdict.UNSENT, INTERNAL_ERROR_REASON
        self._under_way.pop(step.number, None)
        if self._plan.options.bail and step.verdict in (Verdict.UNMET, Verdict.UNSENT):
            self._halted.set()
        step.end(self._cause)  # One that found no room before that.
        self._book.add(step)
        if self._listener:
            with forgiving("telling of a step"):
                self._listener(step, run)

    def _begun(self, step: Step, run: Run) -> None:
        """A step has its run: the page links to it, and Stop reaches it."""
        self._under_way[step.number] = run
        if self._stopped:
            tasks.stop(run)

    async def _finish(self) -> None:
        # Raises where the database stays away. The run is then left as it is, and shows as
        # interrupted: ended, it would call skipped what was sent and not stored.
        await with_retries(self._store_end, f"collection run {self._run.pk}: storing its end")
        await notify_viewers(self._run)

    async def _store_end(self) -> None:
        await self._book.store()
        await run_in_writer(self._end)

    def _end(self) -> None:
        end_unfinished_steps(self._run.steps.all(), self._cause)
        for step in self._plan.steps:
            step.end(self._cause)
        run = self._run
        State = CollectionRun.State  # noqa: N806 (a class)
        run.state = State.STOPPED if self._stopped else State.COMPLETED
        run.ended_at = run.heartbeat_at = timezone.now()
        # As an update: the collection may have been deleted meanwhile.
        ended = {"state": run.state, "ended_at": run.ended_at, "heartbeat_at": run.heartbeat_at}
        CollectionRun.objects.filter(pk=run.pk).update(**ended)

    async def _note_alive(self, now: datetime) -> None:
        await run_in_writer(CollectionRun.objects.filter(pk=self._run.pk).update, heartbeat_at=now)


_registry: TaskRegistry[UUID, Runner] = TaskRegistry(
    "collection run", lambda key, _: local_runs.discard(key)
)


def start(
    collection_run: CollectionRun,
    plan: CollectionRunPlan,
    listener: Listener | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> asyncio.Task[None]:
    """Drive a collection run that was recorded in the background; it outlives every viewer.

    `on_wait` is called now and then while steps have waited for room for some seconds.
    Must be called on the event loop's thread.
    """
    runner = Runner(collection_run, plan, listener, on_wait)
    local_runs.add(collection_run.pk)
    return _registry.begin(collection_run.pk, runner, runner.drive())


def stop(collection_run: CollectionRun) -> asyncio.Task[None] | None:
    """Tell it to stop, as its user asked; None if this process does not drive it."""
    if not (entry := _registry.get(collection_run.pk)):
        return None
    runner, task = entry
    runner.stop()
    return task


async def cancel(collection_run: CollectionRun) -> bool:
    """Stop it and wait until that is stored. Returns whether it was under way here.

    One that another process drives is told by the database, and stops within about a second.
    """
    return await tasks.wait_for_stop(collection_run, stop(collection_run))
