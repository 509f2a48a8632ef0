"""One trial: runs with viewers, a fault while they stream, and a comparison afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

from tests.bench.clients import Started
from tests.bench.memory import MIB, PeakMemory
from tests.faults.stages import Stage
from tests.load.soak import WINDOW
from tests.load.viewers import Audience

#: Returns when the fault is over.
Fault = Callable[[], Awaitable[None]]

#: Steady runs, seconds between two of their events, and the viewers of each.
RUNS, PACE, VIEWERS = 9, 0.1, 2
#: How many times as many events one more run has, without viewers.
FAST = 25
UNFINISHED = {"queued", "connecting", "streaming"}
#: Seconds before the fault, and after it if the runs outlive it.
LEAD, TAIL = 1.0, 1.0
#: Seconds after a fault until which runs must end, and viewers receive something.
PATIENCE = 60.0
#: Megabytes by which the memory of the playground may grow during a fault: 4 MB wait for the
#: database for each run, in several forms.
GROWTH = 150.0
NUMBER = re.compile(r'"url": "https://recipes\.example/(\d+)"')


@dataclass
class Result:
    """What a trial has counted, and what was not as expected."""

    runs: int = 0
    #: Frames in the database when the fault began, and at the end.
    frames: tuple[int, int] = (0, 0)
    states: Counter[str] = field(default_factory=Counter)
    viewers: int = 0
    reconnections: int = 0
    #: Megabytes before, at most and after; empty if the process was another one after.
    memory: tuple[float, ...] = ()
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        states = ", ".join(f"{count} {state}" for state, count in sorted(self.states.items()))
        memory = "–".join(f"{megabytes:.0f}" for megabytes in self.memory)
        return (
            f"{self.runs} runs, {self.frames[0]:,} frames before and {self.frames[1]:,} after, "
            f"{states}; {self.viewers} viewers, {self.reconnections} reconnections"
            + (f"; {memory} MB" if memory else "")
        )


class Trial:
    """Runs that stream while a fault happens, each with an expected state."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.result = Result()
        self._expected: dict[str, str] = {}
        self._results: dict[str, int] = {}
        self._watched: list[Started] = []

    def add(
        self, runs: int, seconds: float, *, pace: float = PACE, viewers: int = VIEWERS,
        state: str = "completed", server: int = 0,
    ) -> list[Started]:  # fmt: skip
        """Start runs that stream for so long, watched by viewers at every playground."""
        results = round(seconds / pace)
        started = self.stage.streams(server).start(runs, results, pace)
        for run in started:
            self._expected[run.run], self._results[run.run] = state, results
            for number in range(viewers):
                base = self.stage.servers[number % len(self.stage.servers)].url
                url = f"{base.replace('http', 'ws', 1)}/ws/runs/{run.run}/"
                self._watched.append(replace(run, url=url, origin=base))
        return started

    def add_usual(self, seconds: float) -> None:
        """Start runs that outlive a fault of so many seconds."""
        whole = LEAD + seconds + TAIL
        self.add(RUNS, whole)
        self.add(1, whole, pace=PACE / FAST, viewers=0)

    def fail(self, text: str) -> None:
        """Note that something is not as expected."""
        self.result.failures.append(text)

    async def run(self, fault: Fault, *, same_process: bool = True) -> Result:
        """Let the agent stream, cause the fault, wait for the end, and compare."""
        audience = Audience()
        shown: dict[int, list[Started]] = defaultdict(list)
        for run in self._watched:
            completes = self._expected[run.run] == "completed"
            shown[min(self._results[run.run], WINDOW) if completes else 0].append(run)
        for results, runs in shown.items():
            await audience.open(runs, results)
        memory = PeakMemory(self.stage.server.pid)
        with memory if same_process else contextlib.nullcontext():
            self.stage.streams().release()
            await asyncio.sleep(LEAD)
            before = self._stored()
            await fault()
            await audience.finish(PATIENCE)
            await self._end()
        if same_process:
            after = memory._process.memory_info().rss
            self.result.memory = tuple(size / MIB for size in (memory.before, memory.peak, after))
            if memory.growth > GROWTH:
                self.fail(f"the memory has grown by {memory.growth:.0f} MB")
        self._compare(audience, before)
        await audience.close()
        return self.result

    def _stored(self) -> dict[str, tuple[str, int]]:
        """Return the state and the number of frames of each of the runs."""
        runs = self.stage.runs()
        return {key: runs[UUID(key)] for key in self._expected}

    async def _end(self) -> None:
        """Wait until all runs have ended."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            stored = await asyncio.to_thread(self._stored)
            if not {state for state, _ in stored.values()} & UNFINISHED:
                return
            await asyncio.sleep(0.2)

    def _compare(self, audience: Audience, before: dict[str, tuple[str, int]]) -> None:
        stored, result = self._stored(), self.result
        result.runs, result.viewers = len(stored), len(audience.viewers)
        result.reconnections = audience.dropped
        result.states = Counter(state for state, _ in stored.values())
        result.frames = tuple(sum(count for _, count in each.values()) for each in (before, stored))
        for key, (state, _) in stored.items():
            if state != self._expected[key]:
                self.fail(f"run {key} is {state} and not {self._expected[key]}")
            wire = self.stage.get(f"/runs/{key}/wire.txt")
            numbers = [int(number) for number in NUMBER.findall(wire)]
            sent = self._results[key] if state == "completed" else len(numbers)
            if numbers != list(range(sent)):
                lost, repeated = set(range(sent)) - {*numbers}, len(numbers) - len({*numbers})
                self.fail(f"run {key}: {len(lost)} events are lost, {repeated} repeated")
        for viewer in audience.viewers:
            last, frames = viewer.position.last, stored[viewer.run.run][1]
            where = f"a viewer of run {viewer.run.run} at {viewer.run.origin}"
            if viewer.lost > 0 or viewer.repeated or last != frames:
                self.fail(
                    f"{where}: {viewer.lost} events or frames are lost, {viewer.repeated} repeated;"
                    f" it has {last} of {frames} frames"
                )
            if audience.is_following(viewer):
                self.fail(f"{where} has not received the end")
