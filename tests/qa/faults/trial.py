"""One trial: runs with viewers, a fault while they stream, and a comparison afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import httpx

from tests.qa.bench import clients
from tests.qa.bench.clients import Started
from tests.qa.bench.memory import MIB, PeakMemory
from tests.qa.faults.stages import Stage, StoredRun
from tests.qa.load.soak import WINDOW
from tests.qa.load.viewers import Audience, Viewer

#: Returns when the fault is over.
Fault = Callable[[], Awaitable[None]]

#: Results of a request that is sent during a fault, and seconds until the next one.
SHORT, SENDING = 5, 0.5
#: Steady runs, seconds between two of their events, and the viewers of each.
RUNS, PACE, VIEWERS = 9, 0.1, 2
#: How many times as many events one more run has, without viewers.
FAST = 25
UNFINISHED = {"queued", "connecting", "streaming"}
#: Seconds before the fault, and after it if the runs outlive it.
LEAD, TAIL = 1.0, 1.0
#: Seconds after a fault until which runs must end, and viewers receive something.
PATIENCE = 60.0
#: Runs that flood, the bytes that each has in all and in one result, and seconds after the
#: beginning of the fault. Without the budget each would hold eight megabytes.
FLOODS, FLOOD_BYTES, FLOOD_SIZE, FLOOD_DELAY = 12, 8 * 1024 * 1024, 64 * 1024, 0.5
#: Megabytes by which the memory of the playground may grow during a fault.
GROWTH = 60.0
#: Seconds that a step of a collection run takes at least, and the steps that outlive a fault. In an
#: outage none begins.
STEP_SECONDS, STEPS = 0.5, 8
NUMBER = re.compile(r'"url": "https://recipes\.example/(\d+)"')


@dataclass(frozen=True)
class Counts:
    """The runs of a trial, with steps of collection runs and polls, as they are in the database."""

    runs: int = 0
    frames: int = 0
    states: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, runs: Iterable[StoredRun]) -> Counts:
        """Count runs."""
        found = list(runs)
        states = Counter(run.state for run in found)
        return cls(len(found), sum(run.frames for run in found), states)

    def __str__(self) -> str:
        states = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        return f"{self.runs} runs, {self.frames:,} frames, {states}"


@dataclass
class Result:
    """What a trial has counted when the fault began and at the end, and what was not expected."""

    before: Counts = field(default_factory=Counts)
    after: Counts = field(default_factory=Counts)
    viewers: int = 0
    reconnections: int = 0
    #: Megabytes before, at most and after; empty if the process was another one after.
    memory: tuple[float, ...] = ()
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.after.runs:
            return "no runs"
        memory = "–".join(f"{megabytes:.0f}" for megabytes in self.memory)
        return (
            f"before: {self.before}; after: {self.after}; {self.viewers} viewers, "
            f"{self.reconnections} reconnections" + (f"; {memory} MB" if memory else "")
        )


class Trial:
    """Runs that stream while a fault happens, each with an expected state."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.result = Result()
        #: Sends during the fault whose runs may have been recorded although they were refused.
        self.uncertain = 0
        for server in range(len(stage.servers)):
            stage.streams(server)  # The first time starts a run.
        self._others = stage.runs().keys()
        self._expected: dict[str, tuple[str, ...]] = {}
        self._results: dict[str, int] = {}
        self._watched: list[Started] = []
        self._promises: list[UUID] = []
        self._collections: dict[UUID, tuple[str, int]] = {}
        self._keys: set[str] = set()
        #: Process ids of workers whose runs are interrupted.
        self._given_up: set[int] = set()

    def add(
        self, runs: int, seconds: float, *, pace: float = PACE, viewers: int = VIEWERS,
        state: str = "completed", server: int = 0,
    ) -> list[Started]:  # fmt: skip
        """Start runs that stream for so long, watched by viewers at every playground."""
        results = round(seconds / pace)
        started = self.stage.streams(server).start(runs, results, pace)
        self._expect(started, results, state)
        for run in started:
            for number in range(viewers):
                base = self.stage.servers[number % len(self.stage.servers)].url
                url = f"{base.replace('http', 'ws', 1)}/ws/runs/{run.run}/"
                self._watched.append(replace(run, url=url, origin=base))
        return started

    def add_flood(self) -> None:
        """Start runs that send, once the fault has begun, more than the memory budget allows."""
        results = FLOOD_BYTES // FLOOD_SIZE
        delay = LEAD + FLOOD_DELAY
        started = self.stage.streams().start(FLOODS, results, 0, size=FLOOD_SIZE, delay=delay)
        self._expect(started, results, "completed")

    def add_collection_run(self, seconds: float, state: str = "completed") -> None:
        """Start a collection run whose steps take at least so long."""
        steps = round(seconds / STEP_SECONDS)
        self._collections[self.stage.start_collection_run(steps)] = state, steps

    def add_promise(self, seconds: float) -> None:
        """Start a run with a promise that is fulfilled after so many seconds."""
        promised = self.stage.streams().form.start(clients.promise(LEAD + seconds))
        self._promises.append(UUID(promised.run))

    def add_usual(self, seconds: float) -> None:
        """Start runs that outlive a fault of so many seconds."""
        whole = LEAD + seconds + TAIL
        self.add(RUNS, whole)
        if self.stage.workers:
            self.add(RUNS, whole, server=1)
        self.add(1, whole, pace=PACE / FAST, viewers=0)
        self.add_collection_run(STEPS * STEP_SECONDS)
        self.add_promise(seconds / 2)

    def _expect(self, started: Iterable[Started], results: int, *states: str) -> None:
        for run in started:
            self._expected[run.run], self._results[run.run] = states, results
            self._keys.add(run.key)

    async def keep_sending(self, fault: Fault) -> None:
        """Send short requests to all playgrounds in turn during the fault.

        A run that was recorded must complete; a request that failed may have been recorded.
        """
        servers = itertools.cycle(range(len(self.stage.servers)))
        sending: set[asyncio.Task[None]] = set()
        causing = asyncio.create_task(fault())
        while not causing.done():
            sending.add(asyncio.create_task(asyncio.to_thread(self._send, next(servers))))
            await asyncio.wait({causing}, timeout=SENDING)
        await asyncio.gather(causing, *sending)

    def _send(self, server: int) -> None:
        key, form = uuid4().hex, self.stage.streams(server).form
        document = clients.results(SHORT, key=key)
        try:
            response = form.request(document, **{"HX-Request": "true"})
        except (httpx.ConnectError, httpx.ConnectTimeout):
            return
        except httpx.TransportError:
            self.uncertain += 1
        else:
            if response.status_code == 503:
                self.uncertain += 1
            elif response.status_code == 200:
                self._expect([form.started(response, document)], SHORT, "completed")
            else:
                self.fail(f"a request to send returned {response.status_code}")
        self._keys.add(key)

    def give_up(self, pid: int) -> set[UUID]:
        """Expect that the runs of a process are interrupted; return those that are unfinished.

        Those that it takes later, too, unless it has completed them. Called before the fault.
        """
        self._given_up.add(pid)
        runs = self._stored().items()
        return {k for k, run in runs if run.state in UNFINISHED and run.is_driven_by([pid])}

    async def wait_until_interrupted(self, runs: set[UUID], seconds: float) -> None:
        """Wait until runs have ended, for so long at most; one that needs no time may complete."""
        began = time.monotonic()
        while (states := self._states(runs)).keys() & UNFINISHED:
            if time.monotonic() - began > seconds:
                self.fail(f"after {seconds:g} s the runs are {dict(states)}")
                return
            await asyncio.sleep(0.1)
        if not states["interrupted"]:
            self.fail(f"the runs of the worker are {dict(states)}")

    def _states(self, runs: set[UUID]) -> Counter[str]:
        stored = self._stored()
        return Counter(stored[key].state for key in runs)

    def fail(self, text: str) -> None:
        """Note that something is not as expected."""
        self.result.failures.append(text)

    async def run(self, fault: Fault, *, same_process: bool = True) -> Result:
        """Let the agent stream, cause the fault, wait for the end, and compare."""
        audience = Audience()
        shown: dict[int, list[Started]] = defaultdict(list)
        for run in self._watched:
            completes = self._expected[run.run] == ("completed",)
            shown[min(self._results[run.run], WINDOW) if completes else 0].append(run)
        for results, runs in shown.items():
            await audience.open(runs, results)
        memory = PeakMemory(self.stage.driving.pid)
        with memory if same_process else contextlib.nullcontext():
            self.stage.streams().release()
            await asyncio.sleep(LEAD)
            self.result.before = Counts.of(self._stored().values())
            await fault()
            await audience.finish(PATIENCE)
            await self._end()
        if same_process:
            after = memory._process.memory_info().rss
            self.result.memory = tuple(size / MIB for size in (memory.before, memory.peak, after))
            if memory.growth > GROWTH:
                self.fail(f"the memory has grown by {memory.growth:.0f} MB")
        self._compare(audience)
        await audience.close()
        return self.result

    def _stored(self) -> dict[UUID, StoredRun]:
        """Return the runs of the trial, as they are in the database."""
        runs = self.stage.runs()
        return {key: run for key, run in runs.items() if key not in self._others}

    async def _end(self) -> None:
        """Wait until all runs have ended."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and await asyncio.to_thread(self._is_unfinished):
            await asyncio.sleep(0.2)

    def _is_unfinished(self) -> bool:
        return (
            any(self.stage.promise(run) == "polling" for run in self._promises)
            or any(self.stage.collection_run(key)[0] == "running" for key in self._collections)
            or any(run.state in UNFINISHED for run in self._stored().values())
        )

    def _compare(self, audience: Audience) -> None:
        stored, result = self._stored(), self.result
        result.after = Counts.of(stored.values())
        result.viewers, result.reconnections = len(audience.viewers), audience.dropped
        self._compare_number(stored)
        self._compare_requests()
        for key, expected in self._expected.items():
            if run := stored.get(UUID(key)):
                self._compare_run(key, run, expected)
            else:
                self.fail(f"run {key} was shown and is not stored")
        for viewer in audience.viewers:
            self._compare_viewer(viewer, stored[UUID(viewer.run.run)])
            if audience.is_following(viewer):
                self.fail(f"a viewer of run {viewer.run.run} has not received the end")
        for run in self._promises:
            if (status := self.stage.promise(run)) != "fulfilled":
                self.fail(f"the promise of run {run} is {status or 'not stored'}")
        for collection_run in self._collections:
            self._compare_collection_run(collection_run)

    def _compare_run(self, key: str, run: StoredRun, expected: tuple[str, ...]) -> None:
        # A worker may have taken it and then died.
        allowed = (*expected, *(["interrupted"] if run.is_driven_by(self._given_up) else []))
        if run.state not in allowed:
            self.fail(f"run {key} is {run.state} and not {' or '.join(expected)}")
        wire = self.stage.get(f"/runs/{key}/wire.txt")
        numbers = [int(number) for number in NUMBER.findall(wire)]
        sent = self._results[key] if run.state == "completed" else len(numbers)
        if numbers != list(range(sent)):
            lost, repeated = set(range(sent)) - {*numbers}, len(numbers) - len({*numbers})
            self.fail(f"run {key}: {len(lost)} events are lost, {repeated} repeated")

    def _compare_viewer(self, viewer: Viewer, run: StoredRun) -> None:
        last = viewer.position.last
        lost = viewer.lost if run.state == "completed" else viewer.frames_lost
        if lost > 0 or viewer.repeated or last != run.frames:
            self.fail(
                f"a viewer of run {viewer.run.run} at {viewer.run.origin}: {lost} events or frames "
                f"are lost, {viewer.repeated} repeated; it has {last} of {run.frames} frames"
            )

    def _compare_requests(self) -> None:
        """Compare the number of requests that the agent has received."""
        received = self.stage.streams().requests()
        for key in sorted(self._keys - {""}):
            if (count := received.get(key, 0)) > 1:
                self.fail(f"the agent has received request {key} {count} times")

    def _compare_number(self, stored: dict[UUID, StoredRun]) -> None:
        """Compare the number of runs: what was refused must not have been recorded."""
        known = {*map(UUID, self._expected), *self._promises}
        others = [run.state for key, run in stored.items() if run.is_sent and key not in known]
        # A worker may drive what a web process has recorded and could not show.
        ended = {"interrupted", *(["completed"] if self.stage.workers else [])}
        if len(others) > self.uncertain or {*others} - ended:
            self.fail(f"{len(others)} more runs than were sent: {', '.join(others)}")
        if unfinished := [str(key) for key, run in stored.items() if run.state in UNFINISHED]:
            self.fail(f"{len(unfinished)} runs have not ended: {', '.join(unfinished)}")

    def _compare_collection_run(self, key: UUID) -> None:
        expected, steps = self._collections[key]
        state, verdicts = self.stage.collection_run(key)
        driver = self.stage.driver_of_collection_run(key)
        given_up = any(f":{pid}:" in driver for pid in self._given_up)
        if state != expected and not (given_up and state == "interrupted"):
            self.fail(f"the collection run is {state} and not {expected}")
        passed = {"met"} if state == "completed" else {"met", "stopped", "skipped"}
        if verdicts.total() != steps or verdicts.keys() - passed:
            self.fail(f"the steps of the {state} collection run are {dict(verdicts)}")
