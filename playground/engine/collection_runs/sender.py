"""One step: the request is prepared, recorded, sent, and judged by what came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from playground.engine import tasks
from playground.engine.collection_runs.evaluation import ResponseCollector, evaluate_step
from playground.engine.collection_runs.iteration import ConversationKey, IterationState
from playground.engine.collection_runs.plan import (
    CollectionRunPlan,
    PlanError,
    PlannedStep,
    folder_of,
    reload_options,
)
from playground.engine.concurrency import ConcurrencyLimit
from playground.engine.preparation import Composition, Scope, prepare
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent, create_run, is_at_run_limit
from playground.executors import run_in_reader, run_in_writer
from playground.models import Agent, Run, RunSource, SavedRequest, Step
from playground.models.json_text import storable
from playground.protocols import registry

#: Seconds for which the agent that stands in and the environment are taken to be as they were
#: read: what is changed or revoked meanwhile counts soon, and not at the end of a long run.
CACHE_SECONDS = 2.0

Verdict = Step.Verdict


@dataclass(frozen=True, slots=True)
class ReadyStep:
    """A request that may be recorded and driven."""

    prepared: PreparedRequest
    link: RunParent
    conversation_key: ConversationKey


class StepSender:
    """Takes the steps of one collection run."""

    def __init__(
        self,
        plan: CollectionRunPlan,
        room: ConcurrencyLimit,
        halted: asyncio.Event,
        on_wait: Callable[[], None],
    ) -> None:
        """Begin steps as there is `room`, until `halted`; `on_wait` is called while there is none.

        It is called from time to time, and only after a while.
        """
        self._plan = plan
        self._options = plan.options
        self._room = room
        self._halted = halted
        self._on_wait = on_wait
        #: When the options were read from the database, by `time.monotonic`.
        self._read_at = time.monotonic()

    async def send(
        self, planned: PlannedStep, carried: IterationState, begun: Callable[[Run], None]
    ) -> Run | None:
        """Take a step to its end: its row says what became of it. Returns its run, if any.

        `begun` is called with the run once it is under way.
        """
        step = planned.step
        try:
            found = await self._begin(planned, carried)
        except PlanError as error:
            # It may quote the document, which may hold what no database takes.
            step.verdict, step.reason = Verdict.UNSENT, storable(str(error))
            return None
        if found is None:
            step.verdict = Verdict.WAITING  # Nothing was sent, so it was not begun either.
            return None
        run, ready = found
        # The key alone: thousands of runs with all that they hold would be kept to the end.
        step.run_id = run.pk
        heard = ResponseCollector(run, ready.prepared)
        task = tasks.send(run, ready.prepared, listener=heard, attended=False)
        begun(run)
        await task
        await run_in_reader(evaluate_step, planned, run, heard.all, carried)
        carried.add_run(ready.conversation_key, run)
        return run

    async def _begin(
        self, planned: PlannedStep, carried: IterationState
    ) -> tuple[Run, ReadyStep] | None:
        """Record the run, as soon as there is room for one; None where all is halted before.

        Raises `PlanError` for what cannot be sent.
        """
        async with self._room.slot(self._halted):
            while not self._halted.is_set():
                ready = await run_in_reader(self._prepare, planned, carried)
                run = await run_in_writer(self._create, ready)
                if run is not None:
                    return run, ready
                # Others of the same user are under way. This one is not refused, it waits.
                await self._room.wait(self._halted, self._on_wait)
        return None

    def _prepare(self, planned: PlannedStep, carried: IterationState) -> ReadyStep:
        if time.monotonic() - self._read_at > CACHE_SECONDS:
            self._options = reload_options(self._options)
            self._read_at = time.monotonic()
        values = self._values(planned, carried)
        scope = Scope(self._options.environment, values, carried.sources)
        found = prepare(self._composition(planned.saved), scope, self._plan.owner)
        prepared = found.prepared
        if prepared is None or found.errors:
            raise PlanError(_told(found.errors))
        target = prepared.target
        place = (folder_of(planned.saved), target.protocol, target.url)
        thread = carried.conversation_for(place, prepared.request)
        if thread is not None:
            protocol, context = target.protocol, thread.context
            prepared = prepared.revised(partial(_with_session, protocol, context))
        provenance = replace(prepared.provenance, source=RunSource.COLLECTION)
        prepared = replace(prepared, provenance=provenance)
        return ReadyStep(prepared, RunParent(parent=thread.turn if thread else None), place)

    def _create(self, ready: ReadyStep) -> Run | None:
        """Record the run; None where there is no room. Everything of this process comes by here."""
        owner, prepared = self._plan.owner, ready.prepared
        if is_at_run_limit(owner):
            return None
        try:
            with transaction.atomic():
                return create_run(prepared, owner, ready.link, has_room=True)
        except (IntegrityError, ValueError):
            agent = prepared.agent
            if agent.pk and not Agent.objects.filter(pk=agent.pk).exists():
                raise PlanError(f"The agent “{agent.name}” was deleted.") from None
            # The saved request, or the turn before, was deleted since: it is sent all the same.
            provenance = replace(prepared.provenance, saved_request=None)
            return create_run(replace(prepared, provenance=provenance), owner, has_room=True)

    def _composition(self, saved: SavedRequest) -> Composition:
        composition = Composition.of(saved, self._plan.owner)
        agent = self._options.agent
        if agent is not None and agent.protocol == saved.protocol:
            composition = replace(composition, agent=agent, address="")
        # One that was read from a file is in no database.
        return composition if saved.pk else replace(composition, saved=None)

    def _values(self, planned: PlannedStep, carried: IterationState) -> dict[str, Any]:
        options = self._options
        return {**options.variables, **options.row(planned.iteration), **carried.values}


def _with_session(
    protocol: str, context: Mapping[str, Any], document: Mapping[str, Any]
) -> dict[str, Any]:
    return registry.with_session_context(protocol, document, context)


def _told(problems: Sequence[Any]) -> str:
    return " ".join(dict.fromkeys(each.message for each in problems)) or "It cannot be sent."
