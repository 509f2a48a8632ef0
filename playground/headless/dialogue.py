"""A request and all that follows from it: answers to what the agent asks, and its promise.

Every step is a run on the same path as those of the page; here they are made one after
another, in the foreground.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings

from playground import engine
from playground.elicitation import TemplateError
from playground.follow_ups import answer_document
from playground.headless import replying
from playground.headless.printer import Printer
from playground.headless.stopping import on_stop
from playground.limits import RunLimits
from playground.models import PolledPromise, Run, RunKind
from playground.observing import conformance_report
from playground.protocols.events import Elicitation, Event
from playground.protocols.frames import Frame
from playground.reading import read_events

#: Answers that are given at most: an agent that asks for ever is not worth more.
MAX_ROUNDS = 20


@dataclass(slots=True)
class SendOptions:
    """What to do beyond sending."""

    #: Ask after a promise until it is kept.
    poll_promises: bool = False
    #: Answers by question id; None answers nothing.
    answers: Mapping[str, Any] | None = None
    #: How they are sent; "" for the way that the agent's answers were sent last.
    strategy: str = ""
    #: Seconds for each run, None for the limit of the settings.
    timeout: float | None = None


@dataclass(slots=True)
class Dialogue:
    """What was sent for one command, and what came of it."""

    prepared: engine.PreparedRequest
    printer: Printer
    wishes: SendOptions
    #: Every run that was made, in order.
    runs: list[Run] = field(default_factory=list)
    #: Why the questions of the last run were not answered, a sentence.
    unanswered: str = ""
    #: Whether a promise was not kept in the time that it was followed.
    timed_out: bool = False
    #: What there is to know about that, a sentence.
    failure_reason: str = ""
    _stopped: bool = False
    _following: asyncio.Future[PolledPromise] | None = None
    _asked: Elicitation | None = None
    _place: tuple[int, int] = (0, 0)
    #: Answers that are on their way into the call that waits for them.
    _replies: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def last(self) -> Run:
        """The run that everything has led to."""
        return self.runs[-1]

    async def run(self, link: engine.RunParent | None = None) -> None:
        """Send, answer, follow: until there is nothing more to do."""
        on_stop(self.stop)
        self.printer.stop = self.stop
        wanted = self.wishes.poll_promises
        await self._converse(link)
        # Also where it was stopped before the first check.
        self.timed_out |= wanted and self.last.outcome == "promise"

    async def _converse(self, link: engine.RunParent | None) -> None:
        await self._send(self.prepared, link)
        for _ in range(MAX_ROUNDS):
            if self.wishes.poll_promises and self.last.outcome == "promise":
                await self._follow()
            if self.wishes.answers is None or not self._asked or self.last.state != "completed":
                return
            if not await self._answer(self._asked):
                return

    def stop(self) -> None:
        """Stop what is under way, and begin nothing more."""
        self.wishes = replace(self.wishes, poll_promises=False, answers=None)
        self._stopped = True
        if not engine.stop_all() and self._following:
            self._following.cancel()  # Between two checks there is no run to stop.

    async def _send(self, prepared: engine.PreparedRequest, link: engine.RunParent | None) -> None:
        run = await sync_to_async(engine.create_run)(prepared, None, link)
        self._announce(run)
        self._asked = None
        task = engine.send(run, prepared, listener=self._listen, limits=self._limits)
        if self._stopped:  # While the run was being recorded there was none to stop.
            engine.stop_all()
        await task
        await asyncio.gather(*self._replies)
        await run.arefresh_from_db()

    def _announce(self, run: Run) -> None:
        if self.runs:
            self.printer.begin(run)
        self.runs.append(run)

    @property
    def _limits(self) -> RunLimits:
        limits: RunLimits = settings.RUN_LIMITS
        seconds = self.wishes.timeout
        return replace(limits, total_timeout=seconds) if seconds else limits

    def _listen(self, frame: Frame, events: Sequence[Event]) -> None:
        self.printer(frame, events)
        for part, event in enumerate(events):
            if not isinstance(event, Elicitation):
                continue
            if replying.is_server_request(event):
                self._replies.add(asyncio.create_task(self._reply(event, part)))
            else:
                self._asked, self._place = event, (event.seq, part)

    async def _reply(self, asked: Elicitation, part: int) -> None:
        """Answer the question that a call waits with; where nobody can, say so to the agent."""
        resume, given = replying.resume_of(asked, self.wishes.answers)
        self.unanswered = self.unanswered or given.why
        link = engine.RunParent(RunKind.CLIENT_RESPONSE, self.last, asked.seq, part, given.values)
        prepared = self.prepared.resuming(resume)
        run = await sync_to_async(engine.create_run)(prepared, None, link)
        await engine.send(run, prepared)

    async def _answer(self, asked: Elicitation) -> bool:
        """Send the answers to what was asked; whether there were any that fit."""
        given = replying.answers_for(asked, self.wishes.answers)
        if given.why:
            self.unanswered = given.why
            return False
        seq, part = self._place
        link = engine.RunParent(RunKind.ANSWER, self.last, seq, part, given.values)
        if asked.resume is not None:
            resume, _ = replying.resume_of(asked, self.wishes.answers)
            await self._send(self.prepared.resuming(resume), link)
            return True
        document = await self._document(given)
        if document is not None:
            await self._send(self.prepared.carrying(document), link)
        return document is not None

    async def _document(self, given: replying.PreparedAnswers) -> dict[str, Any] | None:
        """The request that carries answers to NLWeb's questions, None where there is none."""
        agent = self.prepared.agent
        strategy = self.wishes.strategy or agent.answer_strategy
        try:
            document = await sync_to_async(answer_document)(
                self.last, given.form, given.values, strategy, agent.answer_template
            )
        except TemplateError as error:
            self.unanswered = str(error)
            return None
        return document

    async def _follow(self) -> None:
        tracker = await PolledPromise.objects.filter(run=self.last).afirst()
        if tracker is None or self._stopped:
            return
        following = engine.poll_until_settled(
            tracker.pk, agent=self.prepared.agent, announce=self._announce, listener=self._listen
        )
        self._following = asyncio.ensure_future(following)
        with contextlib.suppress(asyncio.CancelledError):
            await self._following
        for run in self.runs:
            await run.arefresh_from_db()
        await tracker.arefresh_from_db()
        self.timed_out = not tracker.is_settled
        self.failure_reason = str(tracker.status_message) if self.timed_out else ""
        await sync_to_async(self._catch_up)(tracker)

    def _catch_up(self, tracker: PolledPromise) -> None:
        """Tell of the end of a promise that a server, which follows it too, was told."""
        end = tracker.final_run
        if end is None or end in self.runs:
            return
        self._announce(end)
        for frame, events in read_events(end):
            self._listen(frame, events)

    def findings(self) -> list[dict[str, Any]]:
        """What is to be said of every run by the rules of its version."""
        found: list[dict[str, Any]] = []
        for run in self.runs:
            report = conformance_report(run)
            found += [{**each.to_json(), "run": run.pk} for each in report.problems]
        return found
