"""Steps of a collection run: each is prepared, recorded, sent and evaluated.

The state of an iteration, captured values and conversations, is for its later requests.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from playground.base.executors import read_when_available, write_when_available
from playground.engine import tasks
from playground.engine.collection_runs.plan import (
    CollectionRunPlan,
    PlanError,
    PlannedStep,
    folder_of,
    reload_options,
)
from playground.engine.concurrency import ConcurrencyLimit
from playground.engine.preparation import (
    RequestTemplate,
    VariableScope,
    matching_agent,
    prepare,
)
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent, create_run, is_at_run_limit
from playground.engine.writer import RunEndedError
from playground.expectations import StepLimit, capture, evaluate
from playground.models import Agent, CollectionRun, Run, RunSource, RunState, SavedRequest, Step
from playground.models.collection_runs import INTERRUPTED_REASON
from playground.models.collections import resolve_target
from playground.models.columns import storable
from playground.models.storage import no_room_and_fix
from playground.protocols import raw, registry
from playground.protocols.events import Elicitation, Event
from playground.protocols.frames import Frame
from playground.protocols.mcp import elicitation
from playground.stored_runs import run_facts
from playground.transport import ConnectionPool

#: Seconds for which agents and the environment are cached: changes to them take effect soon, and
#: not at the end of a long run.
CACHE_SECONDS = 2.0

Verdict = Step.Verdict
_ANYWAY = 'To send it unchanged, add "raw": {} to its document.'

#: Bytes of a response that is evaluated from memory; a longer one is read from the database.
MAX_HELD = 256 * 1024
#: The expectations of a request that has none.
DEFAULT_EXPECTATIONS = [{"type": "state", "equals": "completed"}]

#: Reasons for a step whose run was stopped, as parts of sentences, by the state of the run.
_STOP_REASONS: dict[str, str] = {
    RunState.CANCELLED: "it was stopped",
    RunState.INTERRUPTED: INTERRUPTED_REASON,
}

#: Folder, protocol and URL of a conversation.
ConversationKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ConversationState:
    """A conversation that the next request may continue."""

    #: Its latest turn, with the columns that a parent needs only.
    turn: Run
    #: The latest session context that the agent returned.
    context: Mapping[str, Any]


@dataclass(slots=True)
class IterationState:
    """The state of one unit."""

    #: Captured values by name.
    values: dict[str, Any] = field(default_factory=dict)
    #: Names of the latest requests that capture a name, by that name.
    sources: dict[str, str] = field(default_factory=dict)
    conversations: dict[ConversationKey, ConversationState] = field(default_factory=dict)

    def conversation_for(
        self, key: ConversationKey, document: Mapping[str, Any]
    ) -> ConversationState | None:
        """Return the conversation that `document` continues, None where it starts one."""
        conversation = self.conversations.get(key)
        if (
            conversation is None
            or registry.spec(key[1]).session_context(document, None) is not None
        ):
            return None
        return conversation

    def add_run(self, key: ConversationKey, run: Run) -> None:
        """Note the session context of `run` for the later requests."""
        if not isinstance(run.session_context, Mapping):
            return
        context = run.spec.session_context(run.request, run.session_context)
        if isinstance(context, Mapping):
            turn = Run(pk=run.pk, conversation=run.conversation)
            self.conversations[key] = ConversationState(turn, context)


@dataclass(frozen=True, slots=True)
class ReadyStep:
    """A prepared request with its parent, to be recorded."""

    prepared: PreparedRequest
    link: RunParent
    conversation_key: ConversationKey


class StepSender:
    """The sender of the steps of one collection run."""

    def __init__(
        self,
        plan: CollectionRunPlan,
        limit: ConcurrencyLimit,
        halted: asyncio.Event,
        on_wait: Callable[[], None],
        connections: ConnectionPool | None = None,
    ) -> None:
        """Start steps as slots of `limit` are free, until `halted`.

        `on_wait` is called from time to time while a step has waited for some seconds. The steps
        share the `connections`.
        """
        self._plan = plan
        self._options = plan.options
        self._limit = limit
        self._halted = halted
        self._on_wait = on_wait
        self._connections = connections
        #: Stored agents by URL, protocol and binding.
        self._agents: dict[tuple[str, str, str], Agent | None] = {}
        #: When the options were read from the database, by `time.monotonic`.
        self._read_at = time.monotonic()

    async def send(
        self, planned: PlannedStep, iteration: IterationState, on_start: Callable[[Run], None]
    ) -> Run | None:
        """Send a step and store its verdict in its row; return its run, if any.

        `on_start` is called with the run once it is driven. Raises `ShuttingDownError` if the
        process shuts down, and `RunEndedError` if the collection run has ended elsewhere.
        """
        step = planned.step
        try:
            recorded = await self._record(planned, iteration)
        except PlanError as error:
            # It may quote the document, which may hold characters that no database accepts.
            step.verdict, step.reason = Verdict.UNSENT, storable(str(error))
            return None
        if recorded is None:
            step.verdict = Verdict.WAITING  # Nothing was sent.
            return None
        run, ready = recorded
        # The key alone: thousands of runs with their documents would stay in memory.
        step.run_id = run.pk
        collector = ResponseCollector(run, ready.prepared)
        task = tasks.send_here(
            run,
            ready.prepared,
            listeners=[collector],
            attended=False,
            connections=self._connections,
        )
        on_start(run)
        await task
        await read_when_available(evaluate_step, planned, run, collector.all, iteration)
        iteration.add_run(ready.conversation_key, run)
        return run

    async def _record(
        self, planned: PlannedStep, iteration: IterationState
    ) -> tuple[Run, ReadyStep] | None:
        """Record the run as soon as a slot is free; return None if halted before.

        Raises `PlanError` for a request that cannot be sent, and what `send` raises.
        """
        async with self._limit.slot(self._halted):
            while not self._halted.is_set():
                ready = await read_when_available(self._prepare, planned, iteration)
                run = await write_when_available(self._create, planned.step, ready)
                if run is not None:
                    return run, ready
                # Other runs of the owner are in progress: this one waits, and is not refused.
                await self._limit.wait(self._halted, self._on_wait)
        return None

    def _prepare(self, planned: PlannedStep, iteration: IterationState) -> ReadyStep:
        if time.monotonic() - self._read_at > CACHE_SECONDS:
            self._options = reload_options(self._options)
            self._agents.clear()
            self._read_at = time.monotonic()
        options = self._options
        row = options.row(planned.step.iteration)
        values = {**options.variables, **row, **iteration.values}
        scope = VariableScope(options.environment, values, iteration.sources)
        template = self._template(planned.saved)
        prepared = prepare(template, scope, self._plan.owner, find_agent=self._matching_agent)
        if prepared.errors:
            hint = f" {_ANYWAY}" if prepared.can_send_anyway else ""
            messages = dict.fromkeys(each.message for each in prepared.errors)
            raise PlanError(" ".join(messages) + hint)
        target = prepared.target
        key = (folder_of(planned.saved), target.protocol, target.url)
        conversation = iteration.conversation_for(key, prepared.request)
        if conversation is not None:
            protocol, context = target.protocol, conversation.context
            prepared = prepared.with_change(partial(_with_session, protocol, context))
        prepared.source = RunSource.COLLECTION
        return ReadyStep(
            prepared, RunParent(parent=conversation.turn if conversation else None), key
        )

    def _matching_agent(self, agent: Agent) -> Agent | None:
        key = agent.url, agent.protocol, agent.binding
        if key not in self._agents:
            self._agents[key] = matching_agent(agent)
        return self._agents[key]

    def _create(self, step: Step, ready: ReadyStep) -> Run | None:
        """Record the run; None without a free slot. All steps of this process are recorded here.

        Raises `RunEndedError` if the collection run has ended, and `PlanError` without room:
        thousands of refused runs would take some themselves.
        """
        # The steps of one that was given up are ended: none of them may be sent now.
        if not CollectionRun.objects.unfinished().filter(pk=step.collection_run_id).exists():
            raise RunEndedError("the collection run has ended or was deleted")
        owner, prepared = self._plan.owner, ready.prepared
        if problem := no_room_and_fix(owner.pk if owner else None):
            raise PlanError(problem)
        if is_at_run_limit(owner):
            return None
        try:
            with transaction.atomic():
                return create_run(prepared, owner, ready.link, has_room=True)
        except (IntegrityError, ValueError):
            agent = prepared.agent
            if agent.pk and not Agent.objects.filter(pk=agent.pk).exists():
                raise PlanError(f"The agent “{agent.name}” was deleted.") from None
            # The saved request or the parent was deleted meanwhile: the request is sent anyway.
            prepared.saved_request = None
            return create_run(prepared, owner, has_room=True)

    def _template(self, saved: SavedRequest) -> RequestTemplate:
        agents = Agent.objects.filter(owner=self._plan.owner, protocol=saved.protocol)
        agent, address = resolve_target(saved, agents)
        missing_agent = "" if agent or address else saved.agent
        override = self._options.agent
        if override is not None and override.protocol == saved.protocol:
            agent, address = override, ""
        return RequestTemplate(
            request=saved.document,
            headers=[(str(name), str(value)) for name, value in saved.headers],
            agent=agent,
            address=address,
            protocol=saved.protocol,
            version=saved.version,
            binding=saved.binding,
            auth=saved.auth or {},
            saved=saved if saved.pk else None,  # A request from a file is not in the database.
            expectations=saved.expectations or (),
            missing_agent=missing_agent,
        )


def _with_session(
    protocol: str, context: Mapping[str, Any], document: Mapping[str, Any]
) -> dict[str, Any]:
    if raw.raw_of(document) is not None:
        return dict(document)
    return registry.of(protocol).with_session_context(document, context)


# The response


class ResponseCollector:
    """The listener of a step's run: keeps a small response, and cancels questions."""

    def __init__(self, run: Run, prepared: PreparedRequest) -> None:
        self._run = run
        self._prepared = prepared
        self._remaining = MAX_HELD
        self._frames: list[Frame] = []

    @property
    def all(self) -> list[Frame] | None:
        """All frames, None where there were too many bytes."""
        return self._frames if self._remaining >= 0 else None

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        self._remaining -= len(frame.data)
        if self._remaining >= 0:
            self._frames.append(frame)
        for event in events:
            if isinstance(event, Elicitation) and event.resume is not None:
                self._cancel_question(event.resume)

    def _cancel_question(self, question: Mapping[str, Any]) -> None:
        """Cancel a question for which a server waits: there is no user to answer it."""
        if elicitation.is_server_request(question):
            resume = elicitation.resume_of(question, elicitation.CANCEL, {})
            if resume is not None:
                tasks.send_automatic_response(self._run, self._prepared, resume)


def evaluate_step(
    planned: PlannedStep, run: Run, frames: list[Frame] | None, iteration: IterationState
) -> None:
    """Store the verdict on a run in the step's row, and captured values in `iteration`."""
    step, saved = planned.step, planned.saved
    if not run.is_final:  # Ended by another process, or not stored completely.
        run.refresh_from_db()
    step.duration_ms = run.ended_us / 1000 if run.ended_us is not None else None
    if reason := _STOP_REASONS.get(run.state):
        step.end(reason)
        return
    facts = run_facts(run, frames)
    limit = StepLimit()
    evaluated = evaluate(run.expectations or DEFAULT_EXPECTATIONS, facts, limit)
    checks = [each.to_json() for each in evaluated]
    if saved.captures:
        values, problems = capture(saved.captures, facts.document, limit)
        iteration.values.update(values)
        checks += [_failed_capture(problem.pointer[1:], problem.message) for problem in problems]
    step.checks = checks
    step.verdict = Verdict.MET if all(each["met"] for each in checks) else Verdict.UNMET


def _failed_capture(name: str, reason: str) -> dict[str, Any]:
    """Return the failed check of a capture that found nothing."""
    return {
        "expectation": {"capture": name},
        "met": False,
        "wanted": f"a value for “{name}”, used by later requests",
        "actual": reason,
        "value": None,
        "message": f"Failed: a value for “{name}”; actual: {reason}",
    }
