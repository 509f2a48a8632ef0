"""Dialogue of a command: a request, the answers to the agent's questions, and polling its promise.

Every step is a run on the same path as those of the page; here they are sent one after another, in
the foreground. Answers to server requests of a binding (MCP elicitation) are sent while the call
waits for them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings

from playground.base.limits import RunLimits
from playground.cli.output import Printer
from playground.cli.signals import on_stop_signal
from playground.elicitation.form import ElicitationForm, build_form, read_answers, to_data
from playground.elicitation.strategies import TemplateError
from playground.engine import promise_polling, tasks
from playground.engine.follow_ups import answer_document, answer_omissions
from playground.engine.mcp_sessions import end_sessions_of
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent, create_run
from playground.models import PolledPromise, Run, RunKind
from playground.protocols.events import Elicitation, Event
from playground.protocols.frames import Frame
from playground.protocols.mcp import elicitation as mcp
from playground.stored_runs import conformance_report, read_events

#: Limit on the rounds of answers, for agents that never stop asking.
MAX_ROUNDS = 20


@dataclass(slots=True)
class SendOptions:
    """Options beyond sending."""

    #: Poll a promise until it is settled.
    poll_promises: bool = False
    #: Answers by question id; None answers nothing.
    answers: Mapping[str, Any] | None = None
    #: Answer strategy; "" for the one that the agent's answers were sent with last.
    strategy: str = ""
    #: Seconds for each run, None for the limit of the settings.
    timeout: float | None = None


@dataclass(slots=True)
class Dialogue:
    """The runs of one command, and their result."""

    prepared: PreparedRequest
    printer: Printer
    options: SendOptions
    #: Every run that was made, in order.
    runs: list[Run] = field(default_factory=list)
    #: Reason why the questions of the last run were not answered, a sentence.
    unanswered: str = ""
    #: Whether a promise was not settled in the time that it was polled.
    timed_out: bool = False
    #: Reason for that, a sentence.
    failure_reason: str = ""
    #: What the next request omits, as sentences.
    omissions: Sequence[str] = ()
    _stopped: bool = False
    _polling: asyncio.Future[PolledPromise] | None = None
    _elicitation: Elicitation | None = None
    #: The form that the next request answers.
    _answered_form: ElicitationForm | None = None
    _position: tuple[int, int] = (0, 0)
    #: Tasks that send answers into the call that waits for them.
    _replies: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def last(self) -> Run:
        return self.runs[-1]

    async def run(self, parent: RunParent | None = None) -> None:
        """Send, answer and poll until nothing is left to do."""
        on_stop_signal(lambda _: self.stop())
        self.printer.stop = self.stop
        polls = self.options.poll_promises
        try:
            await self._send_and_follow_up(parent)
        finally:
            await end_sessions_of([run.conversation_id for run in self.runs])
        # Also if it was stopped before the first poll.
        self.timed_out |= polls and self.last.outcome == "promise"

    async def _send_and_follow_up(self, parent: RunParent | None) -> None:
        await self._send(self.prepared, parent)
        for _ in range(MAX_ROUNDS):
            if self.options.poll_promises and self.last.outcome == "promise":
                await self._poll()
            if (
                self.options.answers is None
                or not self._elicitation
                or self.last.state != "completed"
            ):
                return
            if not await self._answer(self._elicitation):
                return

    def stop(self) -> None:
        """Stop the current run, and start nothing more."""
        self.options = replace(self.options, poll_promises=False, answers=None)
        self._stopped = True
        if not tasks.stop_all() and self._polling:
            self._polling.cancel()  # Between two polls there is no run to stop.

    async def _send(self, prepared: PreparedRequest, parent: RunParent | None) -> None:
        run = await sync_to_async(create_run)(prepared, None, parent)
        self._announce(run)
        self._elicitation = None
        task = tasks.send_here(run, prepared, listeners=[self._listen], limits=self._limits)
        if self._stopped:  # While the run was being recorded there was none to stop.
            tasks.stop_all()
        await task
        await asyncio.gather(*self._replies)
        await run.arefresh_from_db()

    def _announce(self, run: Run, message: str = "") -> None:
        if self.runs:
            self.printer.begin(run, self._answered_form, message)
        self.printer.print_omissions(self.omissions)
        self._answered_form, self.omissions = None, ()
        self.runs.append(run)

    @property
    def _limits(self) -> RunLimits:
        limits: RunLimits = settings.RUN_LIMITS
        seconds = self.options.timeout
        return replace(limits, total_timeout=seconds) if seconds else limits

    def _listen(self, frame: Frame, events: Sequence[Event]) -> None:
        self.printer(frame, events)
        for part, event in enumerate(events):
            if not isinstance(event, Elicitation):
                continue
            if mcp.is_server_request(event.resume):
                self._replies.add(asyncio.create_task(self._reply(event, part)))
            else:
                self._elicitation, self._position = event, (event.seq, part)

    async def _reply(self, elicitation: Elicitation, part: int) -> None:
        """Answer the server request that a call waits for; without answers, cancel it."""
        resume, prepared_answers = resume_of(elicitation, self.options.answers)
        self.unanswered = self.unanswered or prepared_answers.error
        parent = RunParent(
            RunKind.CLIENT_RESPONSE, self.last, elicitation.seq, part, prepared_answers.values
        )
        prepared = self.prepared.with_target(resume=resume)
        run = await sync_to_async(create_run)(prepared, None, parent)
        await tasks.send_here(run, prepared)

    async def _answer(self, elicitation: Elicitation) -> bool:
        """Send the answers to an elicitation; return whether there were any that fit."""
        prepared_answers = answers_for(elicitation, self.options.answers)
        if prepared_answers.error:
            self.unanswered = prepared_answers.error
            return False
        self._answered_form = prepared_answers.form
        seq, part = self._position
        parent = RunParent(RunKind.ANSWER, self.last, seq, part, prepared_answers.values)
        if elicitation.resume is not None:
            resume, _ = resume_of(elicitation, self.options.answers)
            await self._send(self.prepared.with_target(resume=resume), parent)
            return True
        document = await self._document(prepared_answers)
        if document is not None:
            await self._send(self.prepared.with_document(document), parent)
        return document is not None

    async def _document(self, prepared_answers: PreparedAnswers) -> dict[str, Any] | None:
        """Return the request that carries the answers, None if there is none."""
        agent = self.prepared.agent
        strategy = self.options.strategy or agent.answer_strategy
        try:
            document = await sync_to_async(answer_document)(
                self.last,
                prepared_answers.form,
                prepared_answers.values,
                strategy,
                agent.answer_template,
            )
        except TemplateError as error:
            self.unanswered = str(error)
            return None
        self.omissions = await sync_to_async(answer_omissions)(self.last, strategy)
        return document

    async def _poll(self) -> None:
        promise = await PolledPromise.objects.filter(run=self.last).afirst()
        if promise is None or self._stopped:
            return
        polling = promise_polling.poll_until_settled(
            promise.pk,
            options=promise_polling.PollOptions(
                self.prepared.agent, self._announce, [self._listen]
            ),
        )
        self._polling = asyncio.ensure_future(polling)
        with contextlib.suppress(asyncio.CancelledError):
            await self._polling
        for run in self.runs:
            await run.arefresh_from_db()
        await promise.arefresh_from_db()
        self.timed_out = not promise.is_settled
        self.failure_reason = str(promise.status_message) if self.timed_out else ""
        await sync_to_async(self._print_final_run)(promise)

    def _print_final_run(self, promise: PolledPromise) -> None:
        """Print the final run of a promise that a server, which polls it too, has received."""
        end = promise.final_run
        if end is None or end in self.runs:
            return
        self._announce(end)
        for frame, events in read_events(end):
            self._listen(frame, events)

    def findings(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for run in self.runs:
            report = conformance_report(run)
            found += [{**each.to_json(), "run": run.pk} for each in report.problems]
        return found


@dataclass(frozen=True, slots=True)
class PreparedAnswers:
    """The answers to an elicitation, and why they do not fit, if so."""

    form: ElicitationForm
    values: dict[str, Any]
    #: Reason why they do not fit, a sentence for each question; "" if they do.
    error: str = ""


def answers_for(asked: Elicitation, answers: Mapping[str, Any] | None) -> PreparedAnswers:
    """Return the answers to an elicitation, with the agent's defaults for missing ones."""
    form = build_form(asked)
    defaults = {each.id: each.default for each in form.fields if each.default is not None}
    read = read_answers(form, to_data(form, {**defaults, **(answers or {})}))
    labels = {each.name: each.id for each in form.fields}
    messages = (f"{labels.get(name, name)}: {error}" for name, error in read.errors.items())
    return PreparedAnswers(form, read.values, " ".join(messages))


def resume_of(
    asked: Elicitation, answers: Mapping[str, Any] | None
) -> tuple[dict[str, Any] | None, PreparedAnswers]:
    """Return what resumes the exchange (`Target.resume`), and the answers in it.

    Without answers, or with invalid ones, it is a cancellation.
    """
    prepared = answers_for(asked, answers)
    fits = answers is not None and not prepared.error
    action = mcp.ACCEPT if fits else mcp.CANCEL
    resume = mcp.resume_of(asked.resume or {}, action, prepared.values)
    return resume, prepared if fits else PreparedAnswers(prepared.form, {}, prepared.error)
