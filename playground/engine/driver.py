"""Drives one run: while the exchange has a next call, make it and hand back every frame."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from playground.counters import RunCounters
from playground.engine.call_loop import make_calls, new_transport, start_clock
from playground.engine.heartbeat import beat
from playground.engine.promises import PromiseObserver, start_polling
from playground.engine.states import transition
from playground.engine.writer import FrameWriter, RunEndedError, notify_viewers
from playground.executors import run_in_writer
from playground.limits import RunLimits
from playground.models import Run, RunState
from playground.models.batches import FramePart
from playground.protocols import registry
from playground.protocols.events import Event, Outcome
from playground.protocols.exchange import Exchange, Target, WaitsForUser
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage

logger = logging.getLogger(__name__)

#: Called with each frame and its events, in order (the command line prints them).
Listener = Callable[[Frame, Sequence[Event]], None]
Reading = tuple[Frame, Sequence[Event]]

#: Frames that are read before others get their turn on the event loop.
SLICE = 250
#: Bytes of a reply that are read in a thread: parsing them would hold up everybody else.
LARGE = 128 * 1024
#: Characters of a run's key that mark the ids of its calls.
_MARK = 12


class Driver:
    """One run under way."""

    def __init__(
        self,
        run: Run,
        target: Target,
        *,
        document: Mapping[str, Any] | None = None,
        redact: Sequence[str] = (),
        headers: Sequence[tuple[str, str]] = (),
        listener: Listener | None = None,
        limits: RunLimits | None = None,
        on_errand: Callable[[Mapping[str, Any]], None] | None = None,
        attended: bool = True,
    ) -> None:
        """Drive `run` to `target`; values of `redact` appear in no frame.

        `document` is what is sent where that is not what the run keeps: it holds secrets.
        `headers` are the request's own, for the checks on a promise that the run may end with;
        `on_errand` sends an answer that is due in mid-call (`Interactive.errands`). A run that
        is not `attended` is one of many: it is stored when it is over rather than at once, `run`
        itself is brought up to date then, and what it is promised is not followed.
        """
        limits = limits or settings.RUN_LIMITS
        self.run = run
        target = replace(target, request_id_prefix=run.pk.hex[:_MARK])
        self.exchange: Exchange = registry.exchange(
            target, run.request if document is None else document, max_depth=limits.max_depth
        )
        self._interactive = self.exchange if isinstance(self.exchange, WaitsForUser) else None
        self._on_errand = on_errand
        self._attended = attended
        self._transport = new_transport(
            limits,
            redact=redact,
            mask=registry.masker(target.protocol),
            patient=self._is_patient,
        )
        #: Frames that were taken from the transport and not numbered yet.
        self._in_hand: list[Frame] = []
        self._listener = listener
        self._headers = headers
        self._sighting = PromiseObserver()
        self._state = RunState(run.state)
        self._clock = start_clock()
        self._problem: Problem | None = None
        self._tally = RunCounters()
        self._task: asyncio.Task[Any] | None = None
        self._stop_requested = False
        self._finishing = False

    def stop(self) -> None:
        """End the run as cancelled, at whatever point it is; one that is ending ends as it does."""
        self._stop_requested = True
        if self._task and not self._finishing:
            self._task.cancel()

    async def drive(self) -> None:
        """Make every call of the exchange; end in a final state unless the process goes down.

        Raises `asyncio.CancelledError` when it was cancelled by anything but `stop`: the run
        is then left as it is and shows as interrupted after the next start.
        """
        if self.run.is_final:
            return  # Refused when it was recorded.
        self._task = asyncio.current_task()
        self._clock = start_clock()
        with FrameWriter(self.run, eager=self._attended) as writer:

            async def note_alive(now: datetime) -> None:
                writer.add(heartbeat_at=now)

            heart = asyncio.create_task(beat(self.run, self.stop, note_alive))
            try:
                final = await self._end_state(writer)
            except RunEndedError:
                logger.warning("run %s was ended by somebody else", self.run.pk)
                return
            finally:
                heart.cancel()
            await self._finish(writer, final)

    async def _end_state(self, writer: FrameWriter) -> RunState:
        """Make the calls; whatever happens, say what state the run ends in."""
        try:
            if self._stop_requested:
                return RunState.CANCELLED
            return await self._make_calls(writer)
        except asyncio.CancelledError:
            if not self._stop_requested:
                raise
            self._finishing = True
            await self._take_leftovers(writer)
            return RunState.CANCELLED
        except RunEndedError:
            raise
        except Exception as error:
            # Our bug, not the agent's: logged with its traceback, told to the user plainly.
            logger.exception("run %s failed inside the playground", self.run.pk)
            self._problem = _internal(error)
            return RunState.FAILED
        finally:
            self._finishing = True

    async def _make_calls(self, writer: FrameWriter) -> RunState:
        self._state = transition(self._state, RunState.CONNECTING)
        writer.add(state=self._state, started_at=timezone.now(), heartbeat_at=timezone.now())
        calls = make_calls(self.exchange, self._transport, self._clock)
        async with contextlib.aclosing(calls):
            async for frames in calls:
                await self._take(writer, frames)
                if self._problem:
                    return RunState(self._problem.state)
        if problem := self.exchange.problem:
            self._problem = problem
            return RunState(problem.state)
        return RunState.COMPLETED

    async def _take(self, writer: FrameWriter, frames: Sequence[Frame]) -> None:
        """Number the frames, read them, and queue them with what they change."""
        self._in_hand.extend(frames)
        while self._in_hand:
            numbered = writer.number(self._in_hand[:SLICE])
            del self._in_hand[:SLICE]
            await self._read_and_put(writer, numbered)
            # Others get their turn, also while a flood comes in one piece.
            await asyncio.sleep(0)
            await writer.wait_for_capacity()

    async def _take_leftovers(self, writer: FrameWriter) -> None:
        """Keep what had arrived when the run was stopped, down to the last unfinished event."""
        await self._take(writer, ())
        for frames in self._transport.unread_frames():
            await self._take(writer, frames)
        self._problem = None

    async def _read_and_put(self, writer: FrameWriter, frames: list[Frame]) -> None:
        if not self._is_large(frames):
            self._put(writer, self._read(frames))
            return
        reading = asyncio.ensure_future(asyncio.to_thread(self._read, frames))
        try:
            readings = await asyncio.shield(reading)
        except asyncio.CancelledError:
            # The frames have their numbers: they are stored, or there would be a gap.
            self._put(writer, await reading)
            raise
        self._put(writer, readings)

    def _is_large(self, frames: Sequence[Frame]) -> bool:
        if any(frame.kind is FrameKind.END for frame in frames):
            return bool(self._tally.columns["bytes"] > LARGE)
        return sum(len(frame.data) for frame in frames) > LARGE

    def _read(self, frames: Sequence[Frame]) -> list[Reading]:
        return [(frame, self.exchange.receive(frame)) for frame in frames]

    def _put(self, writer: FrameWriter, readings: list[Reading]) -> None:
        for frame, events in readings:
            if frame.kind is FrameKind.HEAD:
                self._state = transition(self._state, RunState.STREAMING)
            elif frame.kind is FrameKind.ERROR:
                self._problem = Problem.from_bytes(frame.data)
            self._sighting.observe(events)
            if self._listener:
                self._listener(frame, events)
        self._run_errands()
        problem = self.exchange.problem
        if not self._problem and problem and problem.state == RunState.REFUSED:
            self._problem = problem
        part = FramePart([frame for frame, _ in readings], **self._tally.add(readings))
        writer.add(part, state=self._state, outcome=self.exchange.outcome, **self._tally.columns)

    def _is_patient(self) -> bool:
        """Whether the other side waits for the user: it may be silent for long."""
        return self._interactive is not None and self._interactive.is_waiting_for_user

    def _run_errands(self) -> None:
        """Send what is due in mid-call and needs no user, each as a run of its own."""
        if self._interactive is None or self._on_errand is None or self._stop_requested:
            return
        for errand in self._interactive.automatic_responses():
            self._on_errand(errand)

    async def _finish(self, writer: FrameWriter, final: RunState) -> None:
        self._state = transition(self._state, final)
        context = self.exchange.session_context
        columns: dict[str, Any] = {
            "state": self._state,
            "outcome": self.exchange.outcome,
            "problem": self._problem.to_json() if self._problem else None,
            "session_context": dict(context) if context is not None else None,
            "ended_us": self._clock(),
            "heartbeat_at": timezone.now(),
        }
        try:
            promised = self.exchange.outcome is Outcome.PROMISE
            if final is RunState.COMPLETED and promised and self._attended:
                # Before the end is announced: a viewer stays for what is being followed.
                await run_in_writer(start_polling, self.run, self._sighting, self._headers)
            await self._remember()
            writer.add(**columns)
            await writer.drain()
            if not self._attended:
                # Asking the database for what was just stored is what many small runs wait for.
                vars(self.run).update(self._tally.columns | columns)
        except RunEndedError:
            logger.warning("run %s was ended by somebody else", self.run.pk)
        except Exception as error:
            # Frames that could not be stored are lost, but nobody waits for them for ever.
            logger.exception("run %s could not be stored to its end", self.run.pk)
            columns |= {"state": RunState.FAILED, "problem": _internal(error).to_json()}
            unfinished = Run.objects.unfinished().filter(pk=self.run.pk)
            await run_in_writer(unfinished.update, **columns)
            await notify_viewers(self.run)

    async def _remember(self) -> None:
        """Keep what the exchange found out about its agent, for the next one."""
        opening = self.exchange.handshake
        # What an action was run on is not the agent that gave it, and a session that was
        # opened with the secrets of an environment is not for requests without them.
        is_own_way = not self.run.secret_names and not (self.run.request_template or {}).get("auth")
        if opening is not None and is_own_way and self.run.protocol != registry.ACTION:
            await run_in_writer(_keep, self.run, opening)


def _keep(run: Run, opening: Mapping[str, Any]) -> None:
    # The run has the agent as it was when it was sent to.
    if run.agent is not None:
        run.agent.save_handshake(opening)


def _internal(error: Exception) -> Problem:
    return Problem(
        state=RunState.FAILED,
        stage=Stage.INTERNAL,
        cause="The playground itself failed; the agent is not to blame.",
        fix="Look into the playground's log for the traceback, and report it.",
        detail=type(error).__name__,
    )
