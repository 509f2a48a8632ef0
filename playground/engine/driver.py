"""Drives one run: while the exchange has a next call, make it and hand back every frame."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from playground.engine.states import advance
from playground.engine.writer import FrameWriter
from playground.limits import Limits
from playground.models import Run, RunState
from playground.protocols import registry
from playground.protocols.events import Event, Result, Started
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.places import Place, place_of
from playground.protocols.problems import Problem, Stage
from playground.transport import Policy, Transport

logger = logging.getLogger(__name__)

_BLOCKS = frozenset({FrameKind.EVENT, FrameKind.TAIL})

#: Called with each stored-to-be frame and its events, in order (the command line prints them).
Listener = Callable[[Frame, Sequence[Event]], None]

#: Seconds between two signs of life of a run that is silent.
HEARTBEAT = 5.0


class Driver:
    """One run under way."""

    def __init__(
        self,
        run: Run,
        target: Target,
        *,
        redact: Sequence[str] = (),
        listener: Listener | None = None,
        limits: Limits | None = None,
    ) -> None:
        limits = limits or settings.RUN_LIMITS
        policy = Policy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
        self.run = run
        self.exchange: Exchange = registry.exchange(target, run.request, max_depth=limits.max_depth)
        self._transport = Transport(policy, limits, redact=redact)
        self._listener = listener
        self._state = RunState(run.state)
        self._origin_ns = 0
        self._problem: Problem | None = None
        self._counts = {"events": 0, "results": 0, "bytes": 0}
        self._moments: dict[str, int] = {}
        self._highest = -1
        self._out_of_order = False
        #: Set by a user's Stop, so that it can be told from the playground going down.
        self.stop_requested = False
        #: Set once the run has ended and only its last words are being stored.
        self.finishing = False

    async def drive(self) -> None:
        """Make every call of the exchange; end in a final state unless the process goes down.

        Raises `asyncio.CancelledError` when it was cancelled by anything but a user's Stop:
        the run is then left as it is and shows as interrupted after the next start.
        """
        if self.run.is_final:
            return  # Refused when it was recorded.
        self._origin_ns = time.perf_counter_ns()
        with FrameWriter(self.run) as writer:
            heartbeat = asyncio.create_task(self._beat(writer))
            try:
                final = await self._make_calls(writer)
            except asyncio.CancelledError:
                if not self.stop_requested:
                    raise
                final = RunState.CANCELLED
            except Exception as error:
                # Our bug, not the agent's: logged with its traceback, told to the user plainly.
                logger.exception("run %s failed inside the playground", self.run.pk)
                self._problem = _internal(error)
                final = RunState.FAILED
            finally:
                heartbeat.cancel()
            self.finishing = True
            await self._finish(writer, final)

    def _clock(self) -> int:
        return (time.perf_counter_ns() - self._origin_ns) // 1000

    async def _make_calls(self, writer: FrameWriter) -> RunState:
        self._state = advance(self._state, RunState.CONNECTING)
        writer.put(state=self._state, started_at=timezone.now(), alive_at=timezone.now())
        while call := self.exchange.next_call():
            stream = self._transport.send(call, self._clock)
            async with contextlib.aclosing(stream):
                async for frames in stream:
                    self._take(writer, frames)
                    await writer.room()
                    if self._problem:
                        break
            if self._problem:
                return RunState(self._problem.state)
        if problem := self.exchange.problem:
            self._problem = problem
            return RunState(problem.state)
        return RunState.COMPLETED

    def _take(self, writer: FrameWriter, frames: Sequence[Frame]) -> None:
        """Number the frames, read them, and queue them with what they change."""
        numbered = writer.number(self._without_keys(frames))
        places: Counter[Place] = Counter()
        opening = False
        for frame in numbered:
            events = self.exchange.receive(frame)
            for event in events:
                places[place_of(event)] += 1
                opening |= type(event) is Started
            self._count(frame, events)
            if self._listener:
                self._listener(frame, events)
        problem = self.exchange.problem
        if not self._problem and problem and problem.state == RunState.REFUSED:
            self._problem = problem
        changes: dict[str, Any] = {
            "state": self._state,
            "outcome": self.exchange.outcome,
            "out_of_order": self._out_of_order,
            **self._counts,
            **self._moments,
        }
        entries, pinned = places[Place.ENTRY], places[Place.PINNED]
        writer.put(numbered, entries=entries, pinned=pinned, opening=opening, **changes)

    def _without_keys(self, frames: Sequence[Frame]) -> Sequence[Frame]:
        """The frames, with keys masked that older NLWeb servers send to their pages by mistake."""
        if not any(b"api_key" in frame.data for frame in frames):
            return frames
        return [
            replace(frame, data=registry.mask(self.run.protocol, frame.data))
            if frame.kind in _BLOCKS
            else frame
            for frame in frames
        ]

    def _count(self, frame: Frame, events: Sequence[Event]) -> None:
        counts = self._counts
        counts["events"] += len(events)
        for event in events:
            if type(event) is Result:
                counts["results"] += 1
                if event.index is not None:
                    self._out_of_order |= event.index < self._highest
                    self._highest = max(self._highest, event.index)
        if frame.kind in BODY_KINDS:
            counts["bytes"] += len(frame.data)
            if events or frame.kind is FrameKind.BODY:
                self._moments.setdefault("first_event_us", frame.at_us)
        elif frame.kind is FrameKind.HEAD:
            self._state = advance(self._state, RunState.STREAMING)
            self._moments.setdefault("headers_us", frame.at_us)
            self._moments["status"] = _status(frame.data)
        elif frame.kind is FrameKind.ERROR:
            self._problem = Problem.from_bytes(frame.data)

    async def _finish(self, writer: FrameWriter, final: RunState) -> None:
        self._state = advance(self._state, final)
        context = self.exchange.session_context
        writer.put(
            state=self._state,
            outcome=self.exchange.outcome,
            problem=self._problem.to_json() if self._problem else None,
            session_context=dict(context) if context is not None else None,
            ended_us=self._clock(),
            alive_at=timezone.now(),
        )
        await writer.drain()

    async def _beat(self, writer: FrameWriter) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            writer.put(alive_at=timezone.now())


def _status(head: bytes) -> int:
    """The status code of a response head, 0 where there is none to read."""
    parts = head.split(None, 2)
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else 0


def _internal(error: Exception) -> Problem:
    return Problem(
        state=RunState.FAILED,
        stage=Stage.INTERNAL,
        cause="The playground itself failed; the agent is not to blame.",
        fix="Look into the playground's log for the traceback, and report it.",
        detail=type(error).__name__,
    )
