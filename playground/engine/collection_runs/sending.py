"""One step: the request is prepared, recorded, sent, and judged by what came back."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from playground.engine import tasks
from playground.engine.collection_runs.carrying import Carried, Place
from playground.engine.collection_runs.planning import Plan, Planned, folder_of
from playground.engine.drafts import Draft
from playground.engine.launch import Link, create_run, may_begin
from playground.engine.preparing import Composition, Scope, prepare
from playground.expectations import capture, evaluate
from playground.models import MadeBy, Run, RunState, SavedRequest, Step
from playground.models.json_text import storable
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
#: Seconds for which it is taken that there is room for one more run.
ROOM_HOLDS = 0.25
#: Bytes of a reply that is judged from memory; a longer one is read again from the database.
MAX_HELD = 256 * 1024
#: What Stop does to a step, as a part of a sentence.
STOPPED = "the run was stopped"
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
        #: Since when there is known to be room, by `time.monotonic`.
        self._room_at = -math.inf

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
        heard = Heard(run, draft.target, options)
        task = tasks.start(run, draft.target, listener=heard, **options)
        begun(run)
        await task
        await in_reader(_judge, planned, run, heard.all, carried)
        carried.keep(start.place, run)
        return run

    async def _begin(self, planned: Planned, carried: Carried) -> Begun | None:
        """Record the run, as soon as there is room for one; None where nothing is sent."""
        while not self._is_stopped():
            has_room, begun = await in_writer(self._try, planned, carried)
            if has_room:
                return begun
            # Others of the same user are under way. This one is not refused, it waits.
            await asyncio.sleep(WAIT_FOR_ROOM)
        planned.step.verdict = Verdict.WAITING  # Nothing was sent, so it was not begun either.
        planned.step.end(STOPPED)
        return None

    def _try(self, planned: Planned, carried: Carried) -> tuple[bool, Begun | None]:
        return (True, self._record(planned, carried)) if self._has_room() else (False, None)

    def _has_room(self) -> bool:
        """Whether one more run may begin; looked up now and then, and not for every request."""
        if time.monotonic() - self._room_at < ROOM_HOLDS:
            return True
        if not may_begin(self._plan.owner):
            return False
        self._room_at = time.monotonic()
        return True

    def _record(self, planned: Planned, carried: Carried) -> Begun | None:
        step = planned.step
        scope = Scope(self._options.environment, self._values(planned, carried))
        try:
            composition = self._composition(planned.saved, scope)
        except VariableError as error:
            _refuse(step, str(error))
            return None
        prepared = prepare(composition, scope, self._plan.owner)
        if prepared.draft is None or prepared.errors:
            _refuse(step, _told(prepared.errors))
            return None
        draft = prepared.draft
        target = draft.target
        place = (folder_of(planned.saved), target.protocol, target.url)
        thread = carried.thread_for(place, draft.request)
        if thread is not None:
            protocol, context = target.protocol, thread.context
            draft = draft.revised(partial(_with_session, protocol, context))
        link = Link(parent=thread.run if thread else None)
        return Begun(self._create(draft, link), draft, place)

    def _create(self, draft: Draft, link: Link) -> Run:
        draft = replace(draft, origin=replace(draft.origin, made_by=MadeBy.COLLECTION))
        try:
            with transaction.atomic():
                return create_run(draft, self._plan.owner, link, has_room=True)
        except (IntegrityError, ValueError):
            # The saved request, or the turn before, was deleted since: it is sent all the same.
            origin = replace(draft.origin, saved_request=None)
            return create_run(replace(draft, origin=origin), self._plan.owner, has_room=True)

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


def _refuse(step: Step, why: str) -> None:
    # It may quote the document, which may hold what no database takes.
    step.verdict, step.reason = Verdict.UNSENT, storable(why)


def _with_session(
    protocol: str, context: Mapping[str, Any], document: Mapping[str, Any]
) -> dict[str, Any]:
    return registry.with_session(protocol, document, context)


class Heard:
    """What comes in of a run: kept as long as it is little, and cancelled where it asks."""

    def __init__(self, run: Run, target: Target, options: Mapping[str, Any]) -> None:
        self._run = run
        self._target = target
        self._options = options
        self._left = MAX_HELD
        self._frames: list[Frame] = []

    @property
    def all(self) -> list[Frame] | None:
        """Every frame, None where there were too many to be held."""
        return self._frames if self._left >= 0 else None

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        """Take note of a frame."""
        self._left -= len(frame.data)
        if self._left >= 0:
            self._frames.append(frame)
        for event in events:
            if isinstance(event, Elicitation) and event.reply is not None:
                self._answer(event.reply)

    def _answer(self, reply: Mapping[str, Any]) -> None:
        """Cancel a question that a server waits with: nobody is there to answer it."""
        if reply.get("kind") == questions.RESPONSE:
            resume = questions.resume_of(reply, questions.CANCEL, {})
            if resume is not None:
                tasks.send_errand(self._run, self._target, self._options, resume)


def _judge(planned: Planned, run: Run, frames: list[Frame] | None, carried: Carried) -> None:
    """Say in the step's row what became of the run, and take from it what is captured."""
    step, saved = planned.step, planned.saved
    if not run.is_final:  # Ended by somebody else, or not stored to its end.
        run.refresh_from_db()
    step.took_ms = run.ended_us / 1000 if run.ended_us is not None else None
    if run.state == RunState.CANCELLED:
        step.end("it was stopped")
        return
    observed = observe(run, frames)
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
