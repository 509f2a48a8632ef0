"""One schedule: processes, runs and pages, and what happens to them, drawn from its seed."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch
from uuid import UUID

import channels.consumer
import httpcore
from django.conf import settings
from django.db import DataError, OperationalError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from playground import notifications
from playground.base import executors, jobs
from playground.conversation import updates
from playground.conversation.updates import response_context
from playground.engine import driver, tasks, work_queue
from playground.engine.request import PreparedRequest, request_to
from playground.engine.runs import RunParent, create_run
from playground.live import broadcast, consumers
from playground.models import Agent, Run, RunKind, RunState, Share, driving
from tests.qa.simulation.agents import Agents, Script, draw_script
from tests.qa.simulation.loop import Call, SimulatedLoop, Simulation, in_thread
from tests.qa.simulation.pages import Page

#: Seconds for which the engine waits for the database.
PATIENCE = 3.0
#: Seconds in which every run must end, every page show it, and every task end.
LIMIT = 60.0
#: The driver of runs whose process was killed.
DEAD = "dead"
#: Seconds between two looks of the feeds at the database where notifications must suffice.
NEVER = 1_000_000.0


@dataclass
class SimulatedRun:
    """A run of a schedule, with what was done to it."""

    row: Run
    prepared: PreparedRequest
    script: Script
    #: Token of a share of it.
    token: str
    #: What was done to it: "stopped", "interrupted", "deleted", "refused", "killed".
    done: set[str] = field(default_factory=set)
    #: Whether it waits for a worker, which is told of it more than once.
    is_queued: bool = False

    @property
    def pk(self) -> UUID:
        return self.row.pk


class Layer:
    """The channel layer between two processes: it delays all messages, and loses some."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._channels: dict[str, asyncio.Queue[dict[str, Any]]] = {}
        self._groups: dict[str, set[str]] = {}
        self._loss = draw.choice((0.0, 0.0, 0.3))

    async def new_channel(self) -> str:
        await self._pass()
        name = f"channel {len(self._channels)}"
        self._channels[name] = asyncio.Queue()
        return name

    async def group_add(self, group: str, channel: str) -> None:
        await self._pass()
        self._groups.setdefault(group, set()).add(channel)

    async def group_discard(self, group: str, channel: str) -> None:
        await self._pass()
        self._groups.get(group, set()).discard(channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._pass()
        for channel in sorted(self._groups.get(group, ())):
            if self._draw.random() >= self._loss:
                self._channels[channel].put_nowait(message)

    async def receive(self, channel: str) -> dict[str, Any]:
        message = await self._channels[channel].get()
        await self._pass()
        return message

    async def _pass(self) -> None:
        await asyncio.sleep(self._draw.random() ** 2 * 0.01)


class World:
    """The processes, agents, runs and pages of one schedule."""

    def __init__(self, seed: int) -> None:
        draw = self.draw = random.Random(seed)
        self.log: list[str] = []
        self.simulation = Simulation()
        self.agents = Agents()
        self.runs: list[SimulatedRun] = []
        self.pages: list[Page] = []
        #: Whether another process than that of the pages drives the runs.
        self.is_remote = draw.random() < 0.4
        #: What is planned and has not happened.
        self.planned = 0
        #: Until when the database is away, and until when some of its statements fail.
        self._away_until = self._unsteady_until = 0.0
        #: How probable it is that a commit is made and its answer is lost.
        self._unanswered = draw.choice((0.0, 0.0, 0.0, 0.1))
        #: Whether the database was away for so long that frames can be lost.
        self.was_away_long = False
        #: Whether somebody else than the driver changes a run.
        self._has_others = False
        self._has_small_limits = draw.random() < 0.4
        self._layer = Layer(draw) if self.is_remote else None
        self.browsers = self._process()
        self._begin_processes()

    # Playing

    def prepare(self) -> None:
        """Record the runs, and plan what happens."""
        draw = self.draw
        for number in range(draw.choice((1, 1, 1, 2, 3))):
            self._record(number, draw_script(draw))
        for run in self.runs:
            self._plan_run(run)

    def _record(self, number: int, script: Script) -> None:
        self.agents.scripts.append(script)
        agent = Agent(name="simulated", url=f"http://127.0.0.1:{number + 1}/ask")
        prepared = request_to(agent, {"query": {"text": "eggs"}})
        is_turn = number and self.draw.random() < 0.3
        # A turn of the same conversation: its end is announced on the page of the other one.
        parent = Run.objects.get(pk=self.runs[0].pk) if is_turn else None
        run = create_run(prepared, link=RunParent(RunKind.ASK, parent), has_room=True)
        token = Share.objects.create(run=run).token
        # A worker whose answer is lost has taken a run and does not know it. That run is left to
        # those who miss its heartbeat, by the clock of the database, which is not simulated.
        queued = self.draw.random() < 0.2 and not self._unanswered
        self.runs.append(SimulatedRun(run, prepared, script, token, is_queued=queued))

    def _plan_run(self, run: SimulatedRun) -> None:
        draw = self.draw
        length = sum(pause for pause, _ in run.script.pieces) + 0.1
        if run.is_queued:
            work_queue.enqueue(run.row, work_queue.payload_of(run.prepared))
            for _ in range(draw.choice((1, 2, 3))):
                self._plan(draw.random() * 0.1, self._deliver, run)
        else:
            self._plan(draw.random() * 0.1, self._start, run)
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            self._plan_page(run, length)
        interventions: Sequence[Callable[[SimulatedRun], None]] = (
            *(self._stop, self._stop, self._stop_twice, self._kill),
            *(self._interrupt, self._delete, self._refuse),
        )
        if draw.random() < 0.35:
            chosen = draw.choice(interventions)
            self._has_others |= chosen in (self._interrupt, self._delete, self._kill)
            self._plan(draw.random() * 1.2 * length, chosen, run)
        if draw.random() < 0.25:
            # The same is true of a worker that cannot read what it has taken.
            longest = 1.0 if any(each.is_queued for each in self.runs) else PATIENCE + 1.5
            seconds = draw.choice((0.01, 0.2, 1.0, 1.0, longest))
            self._plan(draw.random() * length, self._lose_database, seconds)
        if draw.random() < 0.15:
            self._plan(draw.random() * length, self._upset_database, draw.random() * 0.3)

    def _plan_page(self, run: SimulatedRun, length: float) -> None:
        draw = self.draw
        name = f"page {len(self.pages)} of run {self.runs.index(run)}"
        page = Page(self, name, run.pk, run.token if draw.random() < 0.3 else "")
        page.slowness = draw.choice((0.0, 0.0, 0.0, 0.01, 0.3))
        self.pages.append(page)
        self._plan(draw.random() * 1.5 * length, self._open, page)
        for _ in range(draw.choice((0, 0, 0, 1, 2))):
            self._plan(draw.random() * 2 * length, page.lose)
        if draw.random() < 0.15:
            self._plan(draw.random() * 2 * length, page.close)

    def play(self) -> None:
        """Let everything happen; raise `StalledError` if a run, a page or a task does not end."""
        run_until = self.simulation.run_until
        run_until(lambda: self._has_ended, LIMIT, "The end of the runs")
        self.note("all runs have ended")
        run_until(lambda: all(page.is_done for page in self.pages), LIMIT, "The last messages")
        for page in self.pages:
            page.close()
        run_until(lambda: not self.left(), LIMIT, "The end of the tasks")

    @property
    def _has_ended(self) -> bool:
        if self.planned or tasks.RUNS.values():
            return False
        states = Run.objects.filter(pk__in=[run.pk for run in self.runs]).values_list("state")
        return all(RunState(state).is_final for (state,) in states)

    def left(self) -> list[str]:
        """Return the tasks that have not ended, without those that always go on."""
        waiting = [task for loop in self.simulation.loops for task in asyncio.all_tasks(loop)]
        return [name for task in waiting if (name := task.get_name()) != "liveness"]

    def note(self, text: str) -> None:
        self.log.append(f"{self.simulation.clock.now:9.4f} {text}")

    def close(self) -> None:
        """Forget all that is left."""
        for loop in tuple(self.simulation.loops):
            self.simulation.kill(loop)
        tasks.RUNS._entries.clear()
        driving.local_runs.clear()
        jobs._running.clear()

    # What pages need

    @property
    def web(self) -> SimulatedLoop:
        return self._web

    async def respond(self, run: UUID) -> tuple[str, int, bool] | None:
        """Return the page of a run: HTML, cursor, whether it is live; None if there is no run.

        Asks again as long as the web process does not respond.
        """
        while True:
            answer: asyncio.Future[tuple[str, int, bool] | None]
            answer = asyncio.get_running_loop().create_future()
            delay = self.draw.random() * 0.02
            self._web.call_later(delay, self._respond, run, answer)
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(answer, 1.0)

    def _respond(self, pk: UUID, answer: asyncio.Future[tuple[str, int, bool] | None]) -> None:
        with in_thread():
            run = Run.objects.filter(pk=pk).first()
            context = response_context(run)
        if answer.done():
            return
        if run is None:
            answer.set_result(None)
            return
        html = "".join([*context["summaries"], *context["cards"]])
        answer.set_result((html, context["cursor"], context["live"]))

    def has_frame(self, run: UUID, seq: int) -> bool:
        """Return whether a frame of a run is stored, or the run was deleted."""
        with in_thread():
            stored = Run.objects.filter(pk=run).values_list("frames", flat=True).first()
        return stored is None or seq <= stored

    def is_in_progress(self, conversation_of: UUID) -> bool:
        """Return whether a turn of the conversation of a run is in progress."""
        turns = Run.objects.filter(conversation__runs=conversation_of).unfinished()
        with in_thread():
            return turns.exists()

    # What happens

    def _plan(self, seconds: float, action: Callable[..., None], *args: Any) -> None:
        self.planned += 1

        def do() -> None:
            self.planned -= 1
            of = [f"run {self.runs.index(a)}" if a in self.runs else str(a) for a in args]
            self.note(f"{action.__qualname__.rpartition('.')[2]} {' '.join(of)}")
            with in_thread():
                action(*args)

        self.browsers.call_later(seconds, do)

    def _start(self, run: SimulatedRun) -> None:
        with self._worker.entered():
            tasks.send_here(run.row, run.prepared)

    def _deliver(self, run: SimulatedRun) -> None:
        """Tell a worker of a run that waits; procrastinate may do so more than once."""
        self._worker.start(self._do_job(str(run.pk)), "job")

    async def _do_job(self, key: str) -> None:
        """Do a job, again if it has failed, as procrastinate does."""
        while True:
            with contextlib.suppress(OperationalError):
                return await tasks._drive(key)
            await asyncio.sleep(1.0)

    def _open(self, page: Page) -> None:
        self.browsers.start(page.live(), page.name)

    def _stop(self, run: SimulatedRun) -> None:
        run.done.add("stopped")
        with self._worker.entered():
            if not tasks.stop(run.row):
                self._worker.start(tasks.cancel(run.row), "cancel")

    def _stop_twice(self, run: SimulatedRun) -> None:
        self._stop(run)
        self._plan(self.draw.random() * 0.02, self._stop, run)

    def _interrupt(self, run: SimulatedRun) -> None:
        """Let another process take the driver for dead."""
        if Run.objects.unfinished().filter(pk=run.pk).update(state=RunState.INTERRUPTED):
            run.done.add("interrupted")

    def _delete(self, run: SimulatedRun) -> None:
        run.done.add("deleted")
        Run.objects.filter(pk=run.pk).delete()

    def _refuse(self, run: SimulatedRun) -> None:
        """Let the database refuse the next rows of one run."""
        run.done.add("refused")

    def _lose_database(self, seconds: float) -> None:
        self._away_until = max(self._away_until, self.simulation.clock.now + seconds)
        self.was_away_long = self.was_away_long or seconds > PATIENCE / 2

    def _upset_database(self, seconds: float) -> None:
        """Let some statements of a transaction fail, for a while."""
        self._unsteady_until = self.simulation.clock.now + seconds

    def _kill(self, run: SimulatedRun) -> None:
        """Kill the process that drives the runs; another one starts."""
        unfinished = Run.objects.unfinished().filter(queued=None)
        for each in self.runs:
            if unfinished.filter(pk=each.pk).update(driver=DEAD):
                each.done.add("killed")
        driving.local_runs.clear()
        tasks.RUNS._entries.clear()
        self.simulation.kill(self._worker)
        for page in self.pages:
            if page.connection and page.connection.loop.is_killed:
                page.lose()
        if self.is_remote:
            self._worker = self._process()
        else:
            self._begin_processes()
        for each in self.runs:
            if each.is_queued:
                self._plan(0.1, self._deliver, each)

    # Processes

    def _begin_processes(self) -> None:
        self._web = self._worker = self._process()
        if self.is_remote:
            self._worker = self._process()
        self._web.start(self._look_for_dead(), "liveness")

    def _process(self) -> SimulatedLoop:
        loop = SimulatedLoop(self.simulation.clock, self.draw, self._do)
        loop.slowness = self.draw.choice((0.001, 0.005, 0.005, 0.05))
        self.simulation.loops.append(loop)
        return loop

    async def _look_for_dead(self) -> None:
        """Do what every server does every few seconds."""
        while True:
            with jobs.log_errors("Reading the runs of dead processes"):
                await executors.run_in_reader(driving.mark_interrupted)
            await asyncio.sleep(driving.HEARTBEAT_INTERVAL)

    def _do(self, name: str, call: Call) -> Any:
        """Run a call of a thread, with the faults of the database."""
        if not name.startswith("frame-"):
            return call()
        now = self.simulation.clock.now
        if now < self._away_until:
            raise OperationalError("away")
        self._is_unsteady = now < self._unsteady_until
        try:
            # What fails within the transaction of the test would end that one.
            with transaction.atomic() if self._is_unsteady else contextlib.nullcontext():
                result = call()
        finally:
            self._is_unsteady = False
        if name == "frame-writer" and self.draw.random() < self._unanswered:
            self.note("an answer of the database is lost")
            raise OperationalError("the answer is lost")
        return result

    #: Whether statements fail now.
    _is_unsteady = False

    @contextlib.contextmanager
    def patches(self) -> Iterator[None]:
        """Put the simulated parts in place."""
        clock = self.simulation.clock
        with contextlib.ExitStack() as stack:

            def replace(where: Any, **values: Any) -> None:
                for name, value in values.items():
                    stack.enter_context(patch.object(where, name, value))

            replace(httpcore, AnyIOBackend=lambda: self.agents)
            replace(time, monotonic=lambda: clock.now, thread_time=lambda: 0.0)
            replace(time, perf_counter_ns=lambda: int(clock.now * 1e9))
            replace(settings, DATABASE_PATIENCE=PATIENCE)
            replace(driving, is_running=lambda process: process != DEAD)
            # Those of threads are that of the test.
            replace(BaseDatabaseWrapper, close=lambda database: None)
            replace(channels.consumer, aclose_old_connections=_nothing)
            for name in ("execute", "executemany"):
                replace(CursorWrapper, **{name: self._failing(getattr(CursorWrapper, name))})
            if self._layer:
                replace(notifications, get_channel_layer=lambda: self._layer)
                replace(broadcast, local_runs=frozenset())
            elif not self._has_others and self.draw.random() < 0.5:
                # A process is notified of the runs that it drives: it needs no look.
                replace(broadcast, POLL=NEVER)
            if self._has_small_limits:
                replace(consumers, MAX_UNSENT=3_000, MIN_UNSENT=1_000)
                replace(broadcast, MAX_WAITING=10, MAX_MISSED=2_000)
                replace(updates, MAX_FRAMES_PER_MESSAGE=7, MAX_FRAMES_TOGETHER=5)
                replace(driver, LARGE=100, SLICE=3)
            yield

    def _failing(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def fail_or_execute(cursor: Any, sql: str, params: Any = None) -> Any:
            if self._is_unsteady and "SAVEPOINT" not in sql and self.draw.random() < 0.2:
                raise OperationalError("unsteady")
            refused = {run.pk.hex for run in self.runs if "refused" in run.done}
            is_row = sql.startswith("INSERT") and "framebatch" in sql
            if is_row and any(pk in str(params) for pk in refused):
                raise DataError("not accepted")
            return execute(cursor, sql, params)

        return fail_or_execute


async def _nothing() -> None: ...
