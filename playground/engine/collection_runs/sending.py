"""One step: the request is prepared, recorded, sent, and judged by what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import prefetch_related_objects
from django.utils import timezone

from playground.engine import tasks
from playground.engine.collection_runs.carrying import Carried, Place
from playground.engine.collection_runs.planning import Plan, Planned, folder_of
from playground.engine.launch import Draft, Link, create_run
from playground.engine.preparing import Composition, Scope, prepare
from playground.expectations import capture, evaluate
from playground.models import Run, RunState, SavedRequest, Step
from playground.observing import observe
from playground.protocols import registry
from playground.protocols.events import Elicitation, Event
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from playground.protocols.mcp import questions
from playground.threads import in_reader, in_writer
from playground.variables import Substitution, VariableError, names_in

#: Seconds between two attempts to begin while as many runs are under way as may be.
WAIT_FOR_ROOM = 0.25
#: What a request is held to that says nothing of its own.
IMPLIED = [{"type": "state", "equals": "completed"}]

Verdict = Step.Verdict


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that was recorded and is to be driven."""

    run: Run
    draft: Draft
    place: Place


class Sender:
    """Takes the steps of one collection run."""

    def __init__(self, plan: Plan, is_stopped: Callable[[], bool]) -> None:
        self._plan = plan
        self._options = plan.options
        self._is_stopped = is_stopped
        if self._options.environment is not None:
            # Read once, and not for every request.
            prefetch_related_objects([self._options.environment], "variables")

    async def send(
        self, planned: Planned, carried: Carried, begun: Callable[[Run], None]
    ) -> Run | None:
        """Take a step to its end: its row says what became of it. Returns its run, if any.

        `begun` is called with the run once it is under way.
        """
        step = planned.step
        start = await self._begin(planned, carried)
        if start is None:
            return None
        run = step.run = start.run
        draft = start.draft
        options = {"document": draft.document, "redact": draft.secrets, "attended": False}
        listener = partial(_answer_nobody, run, draft.target, options)
        task = tasks.start(run, draft.target, listener=listener, **options)
        begun(run)
        await task
        await in_reader(_judge, planned, run, carried)
        carried.keep(start.place, run)
        return run

    async def _begin(self, planned: Planned, carried: Carried) -> Begun | None:
        """Record the run, as soon as there is room for one; None where nothing is sent."""
        while not self._is_stopped():
            found = await in_writer(self._record, planned, carried)
            if not isinstance(found, Begun) or not found.run.is_final:
                return found
            # Others of the same user are under way. This one is not refused, it waits.
            await in_writer(found.run.delete)
            await asyncio.sleep(WAIT_FOR_ROOM)
        planned.step.verdict, planned.step.reason = Verdict.SKIPPED, "Stopped before it was sent."
        return None

    def _record(self, planned: Planned, carried: Carried) -> Begun | None:
        step = planned.step
        scope = Scope(self._options.environment, self._values(planned, carried))
        try:
            composition = self._composition(planned.saved, scope)
        except VariableError as error:
            step.verdict, step.reason = Verdict.UNSENT, str(error)
            return None
        prepared = prepare(composition, scope, self._plan.owner)
        if prepared.draft is None or prepared.errors:
            step.verdict, step.reason = Verdict.UNSENT, _told(prepared.errors)
            return None
        draft = prepared.draft
        target = draft.target
        place = (folder_of(planned.saved), target.protocol, target.url)
        thread = carried.thread_for(place, draft.request)
        if thread is not None:
            protocol, context = target.protocol, thread.context
            draft = draft.revised(partial(_with_session, protocol, context))
        link = Link(parent=thread.run if thread else None)
        with transaction.atomic():
            return Begun(create_run(draft, self._plan.owner, link), draft, place)

    def _composition(self, saved: SavedRequest, scope: Scope) -> Composition:
        composition = Composition.of(saved, self._plan.owner)
        if names_in(saved.expectations):
            # What is expected may depend on the row. Of a secret the placeholder stays.
            work = Substitution(scope.find, moment=timezone.now())
            expectations = work.json(saved.expectations).kept
            composition = replace(composition, expectations=expectations)
        agent = self._options.agent
        if agent is not None and agent.protocol == saved.protocol:
            composition = replace(composition, agent=agent, address="")
        # One that was read from a file is in no database.
        return composition if saved.pk else replace(composition, saved=None)

    def _values(self, planned: Planned, carried: Carried) -> dict[str, Any]:
        options = self._options
        return {**options.variables, **options.row(planned.iteration), **carried.values}


def _with_session(
    protocol: str, context: Mapping[str, Any], document: Mapping[str, Any]
) -> dict[str, Any]:
    return registry.with_session(protocol, document, context)


def _answer_nobody(
    run: Run, target: Target, options: Mapping[str, Any], _: Frame, events: Sequence[Event]
) -> None:
    """Cancel a question that a server waits with: nobody is there to answer it."""
    for event in events:
        if not isinstance(event, Elicitation) or event.reply is None:
            continue
        if event.reply.get("kind") == questions.RESPONSE:
            resume = questions.resume_of(event.reply, questions.CANCEL, {})
            if resume is not None:
                tasks.send_errand(run, target, options, resume)


def _judge(planned: Planned, run: Run, carried: Carried) -> None:
    """Say in the step's row what became of the run, and take from it what is captured."""
    step, saved = planned.step, planned.saved
    run.refresh_from_db()
    step.took_ms = run.ended_us / 1000 if run.ended_us is not None else None
    if run.state == RunState.CANCELLED:
        step.verdict, step.reason = Verdict.SKIPPED, "Stopped while it was under way."
        return
    observed = observe(run)
    checks = [each.to_json() for each in evaluate(run.expectations or IMPLIED, observed)]
    if saved.captures:
        values, problems = capture(saved.captures, observed.document)
        carried.values.update(values)
        checks += [_missing(problem.pointer[1:], problem.message) for problem in problems]
    step.checks = checks
    step.verdict = Verdict.MET if all(each["met"] for each in checks) else Verdict.UNMET


def _missing(name: str, why: str) -> dict[str, Any]:
    """A capture that found nothing, in the shape of a check."""
    return {
        "expectation": {"capture": name},
        "met": False,
        "wanted": f"a value for “{name}”, for the requests that follow",
        "actual": why,
        "value": None,
        "message": f"Not met: a value for “{name}”; it was: {why}",
    }


def _told(problems: Sequence[Any]) -> str:
    return " ".join(dict.fromkeys(each.message for each in problems)) or "It cannot be sent."
