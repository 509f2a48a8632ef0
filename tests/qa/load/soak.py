"""The soak of `make load ARGS="--soak 20"`: a mixed load for minutes, and what it leaves behind.

Runs of several kinds start at a steady rate. Their viewers come at random moments; some leave, come
back from their cursor, or stop reading for some seconds. The order and the completeness of what
each receives is checked. The server's memory, files and tasks are sampled; when it is idle again
it must have as many of each as before the load.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psutil

from tests.qa.bench import clients
from tests.qa.bench.clients import CURSOR, Started
from tests.qa.bench.memory import MIB
from tests.qa.bench.serving import served
from tests.qa.bench.table import Row, print_table
from tests.qa.load.costs import Cores
from tests.qa.load.viewers import Audience, Viewer
from tests.support.playground_server import DATABASE, PlaygroundServer
from tests.support.servers import free_port

T = TypeVar("T")
Sample = dict[str, Any]

#: Runs that start each second.
RATE = 2.5
#: Seconds between two samples, and samples after which one is printed.
INTERVAL, PRINTED = 5.0, 6
#: Seconds of the same load, and more of it, before the first figures are taken: until every pool
#: has all its threads, and each of these has its connections.
WARM_UP, WARM_UP_RATE = 20.0, 6.0
#: Seconds without load after which the figures are taken, and until which they may be too high.
IDLE, PATIENCE = 10.0, 40.0
#: Runs that are stored at most, and the number of new runs after which older ones are deleted.
STORED, DELETED_AFTER = 300, 60
#: Viewers of a run: the mean, and the most.
MEAN_VIEWERS, MAX_VIEWERS = 4, 20
#: Cards that a page receives at most, see `playground.conversation.updates`.
WINDOW = 60
#: Threads that send requests.
SENDING = 8
#: Megabytes per hour of growth that count as none, and seconds after which the slope is judged.
FLAT, ENOUGH = 5.0, 1200.0
#: Lines of the server's log that are printed from an error on.
TRACEBACK = 40
#: Metrics of the server whose figures must be the same before and after.
METRICS = {
    "background tasks": "playground_background_tasks",
    "websockets": "playground_websockets",
    "runs in progress": "playground_runs_in_progress",
    "held bytes": "playground_held_bytes",
}
#: Figures that must be the same before and after.
RETURNING = (*METRICS, "sockets", "files", "threads")
#: A figure that need not: SQLite keeps the files of a closed connection for the next one.
DATABASE_FILES = "database files"


@dataclass(frozen=True)
class Kind:
    """A kind of run."""

    agent: str
    document: dict[str, Any]
    #: How long it takes, about.
    seconds: float
    #: Results that it stores; None if that is not known before.
    results: int | None = None
    is_cancelled: bool = False


CALM = Kind("source", clients.results(20, 0.5), 10, 20)
BURST = Kind("source", clients.results(500), 0.5, 500)
FLOOD = Kind("source", clients.results(5000), 3, 5000)
TEXT = Kind("pieces", clients.pieces(400), 0.5)
CANCELLED = Kind("source", clients.results(200, 0.1), 4, is_cancelled=True)
UNREACHABLE = Kind("dead", clients.results(5), 0.2, 0)
#: The kinds of 60 runs, which start in random order; then another 60.
DECK = [CALM] * 30 + [BURST] * 12 + [FLOOD] + [TEXT] * 8 + [CANCELLED] * 5 + [UNREACHABLE] * 4

#: Pages that are fetched beside that of each run, each after so many runs.
PAGES = {
    "/runs/{}/conformance/": 5,
    "/": 6,
    "/history/": 10,
    "/runs/{}/timeline/": 15,
    "/runs/{}/wire/": 20,
    "/runs/": 10,
}


@dataclass
class Faults:
    """What was wrong, and how much was checked."""

    runs: int = 0
    viewers: int = 0
    messages: int = 0
    lost: int = 0
    repeated: int = 0
    dropped: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, audience: Audience, left: set[Viewer], last: int) -> None:
        """Add the viewers of a run that has ended with the frame `last`."""
        self.dropped += audience.dropped
        self.repeated += audience.repeated
        for viewer in audience.viewers:
            self.viewers += 1
            if viewer in left:
                self.lost += viewer.frames_lost
                continue
            self.lost += max(viewer.lost, last - viewer.position.last)
            self.repeated += max(0, viewer.position.last - last)
            if audience.is_following(viewer):
                self.errors.append(f"a viewer of {viewer.run.run} did not receive the end")


class Server:
    """The server under load, as it is measured from outside and by its metrics."""

    def __init__(self, playground: PlaygroundServer) -> None:
        self._process = psutil.Process(playground.pid)
        self._client = httpx.Client(base_url=playground.url, timeout=60, trust_env=False)

    def sample(self) -> Sample:
        """Return all figures, as they are now."""
        text = self._client.get("/metrics").raise_for_status().text
        values = dict(re.findall(r"^(\w+)(?:{.*})? (\S+)$", text, re.MULTILINE))
        opened = [Path(file.path).name for file in self._process.open_files()]
        database = sum(name.startswith(DATABASE) for name in opened)
        return {
            "seconds": time.monotonic(),
            "rss": self._process.memory_info().rss / MIB,
            "files": self._process.num_fds() - database,
            DATABASE_FILES: database,
            "sockets": len(self._process.net_connections("all")),
            "threads": self._process.num_threads(),
            **{name: int(float(values[metric])) for name, metric in METRICS.items()},
        }


class MixedLoad:
    """Runs of all kinds with their viewers."""

    def __init__(self, playground: str, agent: str, faults: Faults) -> None:
        self._faults = faults
        self._random = random.Random(1)  # The same load in each soak.
        self._deck: list[Kind] = []
        self._pool = ThreadPoolExecutor(SENDING)
        self._form = clients.Viewer(playground, agent)
        dead = f"http://127.0.0.1:{free_port()}"
        self._form.add_agent("dead", dead, clients.AGENTS["source"])

    async def keep(self, seconds: float, rate: float) -> None:
        """Start runs for so long, and wait until all have ended and all viewers have left."""
        loop = asyncio.get_running_loop()
        began, tasks = loop.time(), set[asyncio.Task[None]]()
        number = 0
        while (now := loop.time()) < began + seconds:
            number += 1
            task = asyncio.create_task(self._noting_errors(self._run(self._next(), number)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            await asyncio.sleep(began + number / rate - now)
        while tasks:
            await asyncio.wait(tasks)

    def close(self) -> None:
        """Close the connections that are kept."""
        self._pool.shutdown()
        self._form.close()

    def _next(self) -> Kind:
        if not self._deck:
            self._deck = self._random.sample(DECK, len(DECK))
        return self._deck.pop()

    async def _noting_errors(self, work: Any) -> None:
        try:
            await work
        except Exception as error:
            self._faults.errors.append(f"{type(error).__name__}: {error}")

    async def _send(self, call: Callable[..., T], *arguments: Any) -> T:
        """Call a function that sends a request and waits for the response."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)

    async def _run(self, kind: Kind, number: int) -> None:
        started = await self._send(self._form.start, kind.document, kind.agent)
        audience, left = Audience(), set[Viewer]()
        count = min(MAX_VIEWERS, round(self._random.expovariate(1 / MEAN_VIEWERS)))
        viewing = [self._view(kind, started, audience, left) for _ in range(count)]
        stopping = self._stop(kind, started) if kind.is_cancelled else asyncio.sleep(kind.seconds)
        await asyncio.gather(stopping, *viewing)
        await audience.finish()
        last = await self._last_frame(kind, started)
        self._faults.runs += 1
        self._faults.messages += audience.messages
        self._faults.add(audience, left, last)
        await audience.close()
        await self._fetch_pages(started, number)
        if number % DELETED_AFTER == 0:
            limits = {"days": "", "runs": str(STORED)}
            await self._send(self._form.post, "/history/retention/", limits)

    async def _stop(self, kind: Kind, started: Started) -> None:
        await asyncio.sleep(kind.seconds * self._random.random())
        await self._send(self._form.post, f"/runs/{started.run}/cancellation/", {})

    async def _view(
        self, kind: Kind, started: Started, audience: Audience, left: set[Viewer]
    ) -> None:
        """Come at a random moment, and behave in one of five ways."""
        chance = self._random
        visible = 0 if kind.results is None else min(kind.results, WINDOW)
        viewer = Viewer(started, max(0, visible - started.shown))
        await asyncio.sleep(kind.seconds * chance.random() * 1.1)
        audience.viewers.append(viewer)
        await audience.connect(viewer)
        behaviour = chance.choices(["stay", "leave", "return", "pause"], [8, 4, 4, 4])[0]
        if behaviour == "stay":
            return
        await asyncio.sleep(kind.seconds * chance.random() / 2)
        if behaviour == "pause":
            await audience.stop_reading(viewer, 4 * chance.random())
            return
        if behaviour == "leave":
            left.add(viewer)
        ended = not audience.is_following(viewer)
        await audience.disconnect(viewer, abort=chance.random() < 0.5)
        if behaviour == "return" and not ended:
            await asyncio.sleep(3 * chance.random())
            await audience.connect(viewer)

    async def _last_frame(self, kind: Kind, started: Started) -> int:
        """Fetch the page of a run, again until the run has ended; return its last frame."""
        for _ in range(round(PATIENCE)):
            page = await self._send(self._form.get, f"/runs/{started.run}/")
            cursor = CURSOR.search(page)
            assert cursor, page
            if "data-final" in cursor[3]:
                break
            await asyncio.sleep(1)
        else:
            raise AssertionError(f"run {started.run} does not end")
        stored = f'data-results="{kind.results}"'
        assert kind.results is None or stored in cursor[3], f"not {stored}: {cursor[0]}"
        return int(cursor[2])

    async def _fetch_pages(self, started: Started, number: int) -> None:
        for path, every in PAGES.items():
            if number % every == 0:
                await self._send(self._form.get, path.format(started.run))


@asynccontextmanager
async def sampling(server: Server, samples: list[Sample]) -> AsyncIterator[None]:
    """Add a sample now and then while the block runs, and print some of them."""

    async def sample() -> None:
        began = time.monotonic()
        while True:
            sample = await asyncio.to_thread(server.sample)
            if len(samples) % PRINTED == 0:
                minutes = (sample["seconds"] - began) / 60
                print(f"{minutes:4.1f} min: {_figures(sample)}", file=sys.stderr, flush=True)
            samples.append(sample)
            await asyncio.sleep(INTERVAL)

    task = asyncio.create_task(sample())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def settle(server: Server, before: Sample | None = None) -> Sample:
    """Wait until the server is idle, and return its figures; not above those before, if it can."""
    time.sleep(IDLE)
    deadline = time.monotonic() + PATIENCE
    while True:
        sample = server.sample()
        if before is None or not left_over(before, sample) or time.monotonic() > deadline:
            return sample
        time.sleep(INTERVAL)


def _figures(sample: Sample) -> str:
    counts = ", ".join(f"{name} {sample[name]:,}" for name in RETURNING)
    return f"{counts}, rss {sample['rss']:,.1f} MB"


def left_over(before: Sample, after: Sample) -> list[str]:
    """Return the names of the figures that are higher than before."""
    return [name for name in RETURNING if after[name] > before[name]]


def memory_growth(samples: list[Sample]) -> float:
    """Return the megabytes per hour by which the memory grows, without the first quarter."""
    warm = samples[len(samples) // 4 :]
    hours = [sample["seconds"] / 3600 for sample in warm]
    return statistics.linear_regression(hours, [sample["rss"] for sample in warm]).slope


def _is_long(samples: list[Sample]) -> bool:
    return samples[-1]["seconds"] - samples[0]["seconds"] >= ENOUGH


def verdict(before: Sample, samples: list[Sample], after: Sample) -> str:
    """Return whether the figures are flat: none is higher afterwards, and the memory does not grow.

    In a short soak only the caches grow, so that the memory is not judged.
    """
    is_long, higher = _is_long(samples), left_over(before, after)
    if is_long and memory_growth(samples) > FLAT:
        higher.append("rss")
    if higher:
        return f"not flat: {', '.join(higher)}"
    return "flat" if is_long else f"flat, in less than {ENOUGH / 60:.0f} minutes without rss"


def rows(before: Sample, samples: list[Sample], after: Sample) -> Iterator[Row]:
    """Return the rows of the figures."""
    for name in (*RETURNING, DATABASE_FILES):
        most = max(sample[name] for sample in samples)
        figure = f"{before[name]} before, at most {most}, {after[name]} after"
        if name in RETURNING:
            yield Row(f"soak: {name}", figure, "as before", after[name] <= before[name])
        else:
            yield Row(f"soak: {name}", figure, "–", None)
    growth = memory_growth(samples)
    most = max(sample["rss"] for sample in samples)
    yield Row(
        "soak: rss",
        f"{growth:+,.1f} MB per hour; {before['rss']:,.1f} before, at most {most:,.1f}, "
        f"{after['rss']:,.1f} after",
        f"≤ {FLAT:.0f} MB per hour",
        growth <= FLAT if _is_long(samples) else None,
    )
    found = verdict(before, samples, after)
    yield Row("soak: verdict", found, "flat", found.startswith("flat"))


def soak(
    minutes: float, *, tree: Path, python: str, options: tuple[str, ...], record: Path | None
) -> bool:
    """Measure and print; return whether nothing was left over, lost or repeated."""
    faults, samples = Faults(), list[Sample]()
    with (
        tempfile.TemporaryDirectory() as data,
        served("tests.qa.bench.source") as agent,
        PlaygroundServer(
            Path(data) / "data",
            tree=tree,
            python=python,
            options=options,
            PLAYGROUND_MAX_RUNS="200",
        ) as playground,
    ):
        server = Server(playground)
        warm_up = MixedLoad(playground.url, agent.url, faults)
        asyncio.run(warm_up.keep(WARM_UP, WARM_UP_RATE))
        warm_up.close()
        before = settle(server)
        load = MixedLoad(playground.url, agent.url, faults)
        cores = Cores(server=playground.pid, agent=agent.pid, viewers=os.getpid())

        async def keep() -> None:
            async with sampling(server, samples):
                await load.keep(minutes * 60, RATE)

        with cores.measuring():
            asyncio.run(keep())
        load.close()
        after = settle(server, before)
        for number, line in enumerate(playground.log):
            if " ERROR " in line:
                faults.errors.append("".join(playground.log[number : number + TRACEBACK]))
    if record:
        lines = [json.dumps(sample) + "\n" for sample in (before, *samples, after)]
        record.write_text("".join(lines))
    figure = (
        f"lost {faults.lost}, repeated {faults.repeated}, other errors {len(faults.errors)} in "
        f"{faults.runs:,} runs with {faults.viewers:,} viewers and {faults.messages:,} messages; "
        f"{faults.dropped} connections dropped; "
        f"{cores.of('server'):.2f} cores ({cores.others('server')})"
    )
    is_sound = not (faults.lost or faults.repeated or faults.errors)
    print_table(
        [
            Row(f"soak: mixed load for {minutes:g} minutes", figure, "none", is_sound),
            *rows(before, samples, after),
        ]
    )
    for error in faults.errors[:20]:
        print(error, file=sys.stderr)
    return is_sound and not left_over(before, after)
