"""Driver of one run: while the exchange has a next call, make it and hand back every frame."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar, runtime_checkable

from django.conf import settings
from django.utils import timezone
from opentelemetry.trace import get_current_span

from playground.base import metrics
from playground.base.executors import UNAVAILABLE, read_when_available, write_until_stored
from playground.base.limits import RunLimits
from playground.base.logs import log_context
from playground.base.memory_budget import RunMemory
from playground.base.tracing import RunTrace, is_recording, set_error
from playground.engine.calls import make_calls, new_transport, start_clock
from playground.engine.heartbeat import heartbeat
from playground.engine.mcp_sessions import find_session, store_session
from playground.engine.request import PreparedRequest
from playground.engine.writer import FramesLostError, FrameWriter, RunEndedError
from playground.models import Run, RunKind, RunState
from playground.models.frames import RunCounters
from playground.notifications import notify_viewers
from playground.protocols import registry
from playground.protocols.events import Event, Outcome
from playground.protocols.exchange import Exchange, Target, UsesSession
from playground.protocols.frames import LAST_KINDS, Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import ConnectionPool
from playground.transport.redaction import Redactor

logger = logging.getLogger(__name__)

#: Called with each frame and its events, in order.
Listener = Callable[[Frame, Sequence[Event]], None]

#: Frames that are read before other tasks get their turn on the event loop.
SLICE = 250
#: Bytes of a response that are read in a thread: parsing them would block the event loop.
LARGE = 128 * 1024
#: Characters of a run's key at the beginning of its request ids.
_REQUEST_ID_PREFIX = 12

#: States in which a run ends without an error of the agent or the playground.
_WITHOUT_ERROR = frozenset({RunState.COMPLETED, RunState.CANCELLED})

#: One response after the other: each takes several times its size, and in parallel none would be
#: finished sooner.
_decoder = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decoder")

T = TypeVar("T")


# States
#
# A state describes the *transfer* and not the answer of the agent. A run moves forward only:
# queued, connecting once its first call is made, streaming once a response head is received, and
# then exactly one final state. Every other state can end in each of the final ones, because a user
# can stop the run, a limit can be exceeded and a process can die at any time; only `completed` and
# `truncated` need a response first.

_ALWAYS = frozenset({RunState.FAILED, RunState.REFUSED, RunState.CANCELLED, RunState.INTERRUPTED})

TRANSITIONS: dict[RunState, frozenset[RunState]] = {
    RunState.QUEUED: _ALWAYS | {RunState.CONNECTING},
    RunState.CONNECTING: _ALWAYS | {RunState.STREAMING},
    RunState.STREAMING: _ALWAYS | {RunState.COMPLETED, RunState.TRUNCATED},
    RunState.COMPLETED: frozenset(),
    RunState.TRUNCATED: frozenset(),
    RunState.FAILED: frozenset(),
    RunState.REFUSED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.INTERRUPTED: frozenset(),
}


class InvalidTransitionError(Exception):
    """A transition that the table does not have: a bug of the playground."""


def transition(state: RunState, target: RunState) -> RunState:
    """Return `target`, if the table has that transition from `state`, or it is the same state."""
    if target != state and target not in TRANSITIONS[state]:
        raise InvalidTransitionError(f"{state} → {target}")
    return target


# Driver


@runtime_checkable
class Completes(Protocol):
    """A listener that continues what a run ends with: the polling of a promise."""

    async def complete(self, outcome: Outcome) -> None:
        """Handle the run's completion, before it is stored and announced."""
        ...


class Driver:
    """One run in progress."""

    def __init__(
        self,
        run: Run,
        prepared: PreparedRequest,
        listeners: Sequence[Listener] = (),
        *,
        limits: RunLimits | None = None,
        on_automatic_response: Callable[[Mapping[str, Any]], None] | None = None,
        attended: bool = True,
        connections: ConnectionPool | None = None,
    ) -> None:
        """Send `prepared` as `run`; its secrets appear in no frame.

        `on_automatic_response` sends a response that is due in mid-call (see
        `Exchange.automatic_responses`). Listeners that are `Completes` get the outcome of a
        run that completed. A run that is not `attended` is one of many: it is stored when it ends
        rather than at once, and `run` itself is updated then. Its calls may reuse `connections`.
        """
        limits = limits or settings.RUN_LIMITS
        self.run = run
        self._memory = RunMemory()
        prefix = run.pk.hex[:_REQUEST_ID_PREFIX]
        target = self._target = replace(prepared.target, request_id_prefix=prefix)
        redact, self._document = prepared.redact, prepared.document
        self._max_depth = limits.max_depth
        self._begin_exchange(target)
        self._on_automatic_response = on_automatic_response
        self._listeners = listeners
        self._attended = attended
        self._transport = new_transport(
            limits,
            redact=redact,
            mask=registry.spec(target.protocol).mask,
            # While the agent waits for the user, the idle timeout does not apply.
            patient=lambda: self.exchange.is_waiting_for_user,
            connections=connections,
            memory=self._memory,
        )
        self._trace: RunTrace | None = None
        if is_recording() or settings.TRACEPARENT:
            self._trace = RunTrace(
                run.pk,
                sends_header=settings.TRACEPARENT,
                redact=lambda url: Redactor(redact).text(url),
            )
        #: Frames from the transport that are not numbered yet.
        self._unnumbered: list[Frame] = []
        self._state = RunState(run.state)
        self._clock = start_clock()
        self._problem: Problem | None = None
        self._counters = RunCounters(run.other_bytes)
        self._task: asyncio.Task[Any] | None = None
        self._stop_requested = False
        #: The final state of a run that is stopped.
        self._stopped_as = RunState.CANCELLED
        self._finishing = False

    def _begin_exchange(self, target: Target) -> None:
        self.exchange: Exchange = registry.exchange(
            target, self._document, max_depth=self._max_depth
        )
        self._session = self.exchange if isinstance(self.exchange, UsesSession) else None

    def stop(self, final: RunState = RunState.CANCELLED) -> None:
        """End the run as cancelled, at any point; a run that is ending keeps its final state.

        `final` is another final state: the run is interrupted when the process shuts down.
        """
        if not self._stop_requested:
            self._stop_requested, self._stopped_as = True, final
        self._end_calls()

    def give_up(self) -> None:
        """Make no further call: the run has ended without this driver."""
        self.stop(RunState.INTERRUPTED)

    def _end_calls(self) -> None:
        # Only once: a second cancellation would interrupt storing the received frames.
        if self._task and not self._finishing:
            self._finishing = True
            self._task.cancel()

    async def drive(self) -> None:
        """Make every call of the exchange; end in a final state unless the process stops.

        Raises `asyncio.CancelledError` when it was cancelled by anything but `stop`: the run
        then stays as it is, and is marked as interrupted after the next start.
        """
        if self.run.is_final:
            # Refused when it was recorded.
            metrics.count_run(self.run.state, (self.run.problem or {}).get("limit"))
            return
        self._task = asyncio.current_task()
        self._clock = start_clock()
        try:
            with (
                metrics.runs_in_progress.track_inprogress(),
                log_context(run=self.run.pk),
                self._trace.active(**_span_of(self.run))
                if self._trace
                else contextlib.nullcontext(),
            ):
                await self._drive()
        finally:
            self._memory.close()

    async def _drive(self) -> None:
        writer = FrameWriter(
            self.run, eager=self._attended, memory=self._memory, on_failure=self._end_calls
        )
        try:
            # Until the end is stored: the database may be unavailable for this run only.
            with writer, heartbeat(self.run, self):
                columns = await self._finish(writer, await self._end_state(writer))
            self._note_end(columns)
        except RunEndedError:
            logger.warning("Driving run %s stopped: another process has ended it", self.run.pk)
            if lost := writer.lost_frames:
                interrupted = Run.objects.filter(pk=self.run.pk, state=RunState.INTERRUPTED)
                how = "was marked as interrupted while it was in progress"
                cause = f"The run {how}: {_not_stored(lost)}."
                problem = Problem(RunState.INTERRUPTED, Stage.INTERNAL, cause, _CHECK_DATABASE)
                await write_until_stored(interrupted.update, problem=problem.to_json())

    async def _end_state(self, writer: FrameWriter) -> RunState:
        """Make the calls; return the final state, whatever happens."""
        try:
            if self._stop_requested:
                return self._stopped_as
            return await self._make_calls_until_stopped(writer)
        except RunEndedError:
            raise
        except Exception as error:
            # An error of the playground, not of the agent.
            logger.exception("Driving run %s failed", self.run.pk)
            self._problem = _internal_problem(error)
            return RunState.FAILED
        finally:
            self._finishing = True

    async def _make_calls_until_stopped(self, writer: FrameWriter) -> RunState:
        try:
            return await self._make_calls(writer)
        except asyncio.CancelledError:
            writer.raise_failure()
            if not self._stop_requested:
                raise
            self._finishing = True
            await self._take_unread_frames(writer)
            return self._stopped_as

    async def _make_calls(self, writer: FrameWriter) -> RunState:
        self._state = transition(self._state, RunState.CONNECTING)
        writer.add(state=self._state, started_at=timezone.now())
        # A client response belongs to the session of the call that waits for it.
        if self._session and self.run.kind != RunKind.CLIENT_RESPONSE:
            session = await read_when_available(find_session, self.run, self._target)
            self._begin_exchange(replace(self._target, session=session))
        calls = make_calls(self.exchange, self._transport, self._clock, trace=self._trace)
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
        self._unnumbered.extend(frames)
        while self._unnumbered:
            numbered = writer.number(self._unnumbered[:SLICE])
            del self._unnumbered[:SLICE]
            await self._read_and_store(writer, numbered)
            # Other tasks get their turn, also while a flood arrives in one piece.
            await asyncio.sleep(0)
            await writer.wait_for_capacity()

    async def _take_unread_frames(self, writer: FrameWriter) -> None:
        """Store what had arrived when the run was stopped, the last incomplete event included."""
        await self._take(writer, ())
        for frames in self._transport.unread_frames():
            await self._take(writer, frames)
        self._problem = None

    async def _read_and_store(self, writer: FrameWriter, frames: list[Frame]) -> None:
        *before, last = frames
        if before and before[-1].kind is FrameKind.BODY and last.kind in LAST_KINDS:
            # Pieces of a body have no events: reading them takes no time.
            self._put(writer, before, self._read(before))
            frames = [last]
        if self._is_large(frames):
            work = asyncio.get_running_loop().run_in_executor(_decoder, self._read, frames)
            await _call_to_end(work, partial(self._put, writer, frames))
        else:
            self._put(writer, frames, self._read(frames))

    def _is_large(self, frames: Sequence[Frame]) -> bool:
        if frames[-1].kind in LAST_KINDS:
            return bool(self._counters.columns["bytes"] > LARGE)
        return sum(len(frame.data) for frame in frames) > LARGE

    def _read(self, frames: list[Frame]) -> list[Sequence[Event]]:
        return [self.exchange.receive(frame) for frame in frames]

    def _put(self, writer: FrameWriter, frames: list[Frame], read: list[Sequence[Event]]) -> None:
        for frame, events in zip(frames, read, strict=True):
            if frame.kind is FrameKind.HEAD:
                self._state = transition(self._state, RunState.STREAMING)
            elif frame.kind is FrameKind.ERROR and not self.exchange.tolerates_error:
                self._problem = Problem.from_bytes(frame.data)
            for listener in self._listeners:
                listener(frame, events)
        self._send_automatic_responses()
        problem = self.exchange.problem
        if not self._problem and problem and problem.state == RunState.REFUSED:
            self._problem = problem
        batch = self._counters.count(frames, read)
        columns = {"outcome": self.exchange.outcome, **self._counters.columns}
        if frames:
            age = (self._clock() - frames[0].at_us) / 1_000_000
            batch.arrived_at = time.monotonic() - age
        writer.add(batch, state=self._state, **columns)

    def _send_automatic_responses(self) -> None:
        """Send the responses that are due in mid-call and need no user, each as its own run."""
        if self._on_automatic_response is None or self._stop_requested:
            return
        for resume in self.exchange.automatic_responses():
            self._on_automatic_response(resume)

    def _note_end(self, columns: Mapping[str, Any]) -> None:
        """Add the end of the run, as it was stored, to metrics and trace."""
        problem = Problem.from_json(columns["problem"]) if columns["problem"] else None
        limit, counts = problem.limit if problem else None, self._counters.columns
        metrics.count_run(columns["state"], limit)
        span, state = get_current_span(), str(columns["state"])
        span.set_attributes(
            {
                "playground.run.state": state,
                "playground.run.outcome": str(columns["outcome"]),
                "playground.run.events": counts["events"],
                "playground.run.bytes": counts["bytes"],
                **({"playground.limit": limit} if limit else {}),
            }
        )
        if state not in _WITHOUT_ERROR:
            set_error(span, problem.stage if problem else state, state)

    async def _finish(self, writer: FrameWriter, final: RunState) -> Mapping[str, Any]:
        """Store the end of the run; return the columns that were stored."""
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
            for listener in self._listeners if final is RunState.COMPLETED else ():
                # Before the end is announced: a viewer stays connected while a promise is polled.
                if isinstance(listener, Completes):
                    await listener.complete(self.exchange.outcome)
            await self._store_handshake()
            if self._session and self._session.session[1]:
                session = self._session.session
                await write_until_stored(store_session, self.run, self._target, session)
            writer.add(**columns)
            await writer.drain()
        except RunEndedError:
            raise
        except Exception as error:
            # Frames that could not be stored are lost, but the run ends, and viewers are notified.
            logger.exception("Storing the end of run %s failed", self.run.pk)
            if not isinstance(error, FramesLostError) or error.frames or not error.is_unavailable:
                columns |= {"state": RunState.FAILED, "problem": _internal_problem(error).to_json()}
                del columns["session_context"]  # The database may have refused it.
        else:
            if not self._attended:
                # Reading what was just stored again would take most of the time of a small run.
                vars(self.run).update(self._counters.columns | columns)
            return columns
        await self._store_end(columns)
        return columns

    async def _store_end(self, columns: Mapping[str, Any]) -> None:
        """Store the end by itself, as soon as the database is available; hold nothing else."""
        self._unnumbered.clear()
        del self._transport, self.exchange
        self._memory.close()
        if not await write_until_stored(_end_run, self.run, columns):
            raise RunEndedError("the run has ended or was deleted")
        vars(self.run).update(columns)
        await notify_viewers(self.run)

    async def _store_handshake(self) -> None:
        """Save the handshake with the agent, so that the next exchange can use it."""
        handshake = self.exchange.handshake
        # An action does not go to the agent that offered it, and a session that was opened with
        # the secrets of an environment is not for requests without them.
        is_of_agent = self.run.protocol != registry.ACTION and not self.run.has_secrets
        if handshake is not None and is_of_agent:
            await write_until_stored(_save_handshake, self.run, handshake)


async def _call_to_end(call: asyncio.Future[T], then: Callable[[T], None]) -> None:
    """Wait for the work of a thread, and call `then` with its result, also if cancelled meanwhile.

    The frames that it reads have their numbers: they are stored, or there would be a gap.
    """
    try:
        result = await asyncio.shield(call)
    except asyncio.CancelledError:
        then(await call)
        raise
    then(result)


def _span_of(run: Run) -> dict[str, Any]:
    attributes = {
        "playground.run.id": str(run.pk),
        "playground.run.kind": str(run.kind),
        "playground.run.source": str(run.source),
        "playground.protocol": run.protocol,
        "playground.binding": run.binding,
        "playground.version": run.version,
    }
    return {"name": f"{run.kind} {run.protocol}", "url": run.url, "attributes": attributes}


def _save_handshake(run: Run, handshake: Mapping[str, Any]) -> None:
    # The run has the agent as it was when the request was sent.
    if run.agent is not None:
        run.agent.save_handshake(handshake)
    elif run.sent_to_url:
        Run.objects.filter(pk=run.pk).update(handshake=dict(handshake))


def _end_run(run: Run, columns: Mapping[str, Any]) -> bool:
    """Store the end of a run; return False if it has ended otherwise, or was deleted.

    Done twice, it finds its own end: the answer of the database was lost.
    """
    if Run.objects.unfinished().filter(pk=run.pk).update(**columns):
        return True
    own = {name: columns[name] for name in ("state", "ended_us")}
    return Run.objects.filter(pk=run.pk, **own).exists()


def _internal_problem(error: Exception) -> Problem:
    cause, detail = "Internal playground error.", type(error).__name__
    fix = "Please report it, with the traceback from the playground’s log."
    lost, is_unavailable = "", isinstance(error, UNAVAILABLE)
    if isinstance(error, FramesLostError):
        detail, is_unavailable = str(error.__cause__), error.is_unavailable
        lost = f": {_not_stored(error.frames)}" if error.frames else ""
        cause = f"Internal playground error{lost}."
    if is_unavailable:
        waited = f"unavailable for more than {settings.DATABASE_PATIENCE} seconds"
        cause = f"The playground’s database was {waited}{lost}."
        fix = _CHECK_DATABASE
    return Problem(RunState.FAILED, Stage.INTERNAL, cause, fix, detail)


_CHECK_DATABASE = "Check the database and its disk, then send the request again."


def _not_stored(frames: int) -> str:
    return f"{frames:,} received {'frame was' if frames == 1 else 'frames were'} not stored"
