"""Two versions of the playground side by side on one database: an upgrade under load, and back.

`python -m tests.qa.cluster.upgrade --old REVISION` checks the revision out and prints a table. Runs
with a viewer each start at a steady rate through nginx, while

1. web processes of the old version serve,
2. web processes and workers of this tree start, which migrates the database, and both serve,
3. the old ones are stopped with SIGTERM, and the new ones serve,
4. the new web processes are stopped, then the workers once no run waits; the database is migrated
   back, and web processes of the old version start again.

The exit status is 1 if a viewer or the database lacks an event, if a request reached the agent
twice, or if a run is not in its true state.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import psycopg

from tests.qa.bench import clients
from tests.qa.bench.clients import Started
from tests.qa.bench.serving import served
from tests.qa.bench.table import Row, print_table
from tests.qa.cluster.processes import MARGIN, cluster_settings, start, stop
from tests.qa.load.streams import Streams
from tests.qa.load.viewers import Audience, Viewer
from tests.qa.scale.services import MissingError, find_nginx, nginx, postgresql, redis_server
from tests.support.playground_server import (
    ROOT,
    PlaygroundProcess,
    PlaygroundServer,
    PlaygroundWorker,
)
from tests.support.servers import free_port

#: The last migration of the old version.
BACK_TO = "0017"
#: Seconds between two new runs, results of each, and seconds between these.
RATE, RESULTS, PACE = 0.4, 40, 0.1
#: Seconds that the runs in progress get when their process is stopped: more than they take.
DRAIN = 20
#: Seconds after the end of the load in which all runs must end.
PATIENCE = 60.0
UNFINISHED = {"queued", "connecting", "streaming"}
NUMBER = re.compile(r'"url": "https://recipes\.example/(\d+)"')
SETTINGS = {
    "PLAYGROUND_DRAIN_SECONDS": str(DRAIN),
    "PLAYGROUND_MAX_RUNS": "1000",
    "WEB_CONCURRENCY": "4",
}


@contextlib.contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """Check a revision out beside this tree."""
    with tempfile.TemporaryDirectory(prefix="playground-old-") as directory:
        tree = Path(directory) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", tree, revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)


@dataclass
class Phase:
    """What happened to the requests of one phase."""

    name: str
    #: By the status of their responses.
    responses: Counter[str] = field(default_factory=Counter)
    runs: list[Started] = field(default_factory=list)


class Load:
    """Runs that start at a steady rate, with a viewer each."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self.audience = Audience()
        self.phases: list[Phase] = []
        self._sending: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def phase(self, name: str) -> AsyncIterator[None]:
        """Send during the block."""
        phase = Phase(name)
        self.phases.append(phase)
        print(f"{name} …", file=sys.stderr, flush=True)
        keeping = asyncio.create_task(self._keep(phase))
        try:
            yield
        finally:
            keeping.cancel()

    async def _keep(self, phase: Phase) -> None:
        while True:
            task = asyncio.create_task(self._start(phase))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)
            await asyncio.sleep(RATE)

    async def _start(self, phase: Phase) -> None:
        document = clients.results(RESULTS, PACE, key=uuid4().hex)
        headers = {"HX-Request": "true"}
        try:
            response = await asyncio.to_thread(self._streams.form.request, document, **headers)
        except httpx.TransportError as error:
            phase.responses[type(error).__name__] += 1
            return
        phase.responses[str(response.status_code)] += 1
        if response.status_code == 200:
            started = self._streams.form.started(response, document)
            phase.runs.append(started)
            await self.audience.follow(Viewer(started, RESULTS - started.shown))

    async def finish(self) -> None:
        """Wait until all runs have ended, or nothing more arrives."""
        while self._sending:
            await asyncio.wait(self._sending)
        await self.audience.finish(PATIENCE)


class Database:
    """The rows of the database that both versions use."""

    def __init__(self, url: str) -> None:
        self._url = url

    def states(self) -> dict[UUID, str]:
        """Return the states of all runs."""
        return dict(self._read("SELECT id, state FROM playground_run"))

    def waiting(self) -> int:
        """Return the number of runs that wait for a worker."""
        [(count,)] = self._read("SELECT count(*) FROM playground_queuedwork")
        return int(count)

    def _read(self, sql: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self._url) as connection:
            return connection.execute(sql).fetchall()  # type: ignore[arg-type]


@dataclass(frozen=True)
class Processes:
    """The processes of both versions."""

    old: list[PlaygroundServer]
    new: list[PlaygroundServer]
    workers: list[PlaygroundWorker]

    async def start(self, *groups: Sequence[PlaygroundProcess]) -> None:
        """Start groups of processes, one group after another."""
        for group in groups:
            await asyncio.to_thread(start, group)

    async def stop(self, group: Sequence[PlaygroundProcess]) -> None:
        """Stop a group with SIGTERM."""
        await asyncio.to_thread(stop, group, DRAIN + MARGIN)

    def kill(self) -> None:
        """End what is left."""
        for process in (*self.old, *self.new, *self.workers):
            if process.is_running:
                process.stop(signal.SIGKILL)


async def upgrade(
    load: Load, processes: Processes, database: Database, seconds: float
) -> list[str]:
    """Upgrade and go back under load; return what went wrong with the processes."""
    problems = []
    async with load.phase("old version"):
        await asyncio.sleep(seconds)
    async with load.phase("new version starts, both serve"):
        await processes.start(processes.new, processes.workers)
        await asyncio.sleep(seconds)
    async with load.phase("old version stops, new version serves"):
        await processes.stop(processes.old)
        await asyncio.sleep(seconds)
    async with load.phase("new version stops, old version starts"):
        await processes.stop(processes.new)
        deadline = time.monotonic() + PATIENCE
        while (waiting := database.waiting()) and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        if waiting:
            problems.append(f"{waiting} runs still wait for a worker")
        await processes.stop(processes.workers)
        done = await asyncio.to_thread(
            processes.new[0].manage, "migrate", "playground", BACK_TO, "--no-input"
        )
        if done.returncode:
            problems.append(f"migrating back has failed: {(done.stdout + done.stderr)[-500:]}")
        await processes.start(processes.old)
    async with load.phase("old version again"):
        await asyncio.sleep(seconds)
    await load.finish()
    return problems


def compare(load: Load, streams: Streams, states: dict[UUID, str], url: str) -> Iterator[Row]:
    """Yield the rows of the table."""
    for phase in load.phases:
        responses = ", ".join(
            f"{count} × {name}" for name, count in sorted(phase.responses.items())
        )
        ended = Counter(states.get(UUID(run.run), "missing") for run in phase.runs)
        found = ", ".join(f"{count} {state}" for state, count in sorted(ended.items()))
        are_true = not ended.keys() - {"completed", "interrupted"}
        yield Row(phase.name, f"responses: {responses}; runs: {found}", "runs have ended", are_true)
    lost = repeated = 0
    for viewer in load.audience.viewers:
        is_complete = states.get(UUID(viewer.run.run)) == "completed"
        lost += max(0, viewer.lost if is_complete else viewer.frames_lost)
        repeated += viewer.repeated
    figure = (
        f"lost {lost}, repeated {repeated} at {len(load.audience.viewers)} viewers with "
        f"{load.audience.messages:,} messages, {load.audience.dropped} connections dropped"
    )
    yield Row("events at viewers", figure, "none", not lost and not repeated)
    without = [viewer for viewer in load.audience.viewers if load.audience.is_following(viewer)]
    yield Row("viewers without the end", str(len(without)), "none", not without)
    wrong = [
        run.run for phase in load.phases for run in phase.runs if not is_whole(run, states, url)
    ]
    yield Row("completed runs that lack events", str(len(wrong)), "none", not wrong)
    requests = streams.requests()
    twice = [key for key, count in requests.items() if count > 1]
    yield Row("requests that the agent received twice", str(len(twice)), "none", not twice)
    unfinished = [key for key, state in states.items() if state in UNFINISHED]
    yield Row("runs that have not ended", str(len(unfinished)), "none", not unfinished)


def is_whole(run: Started, states: dict[UUID, str], url: str) -> bool:
    """Return whether the stored events of a run are consecutive, and all there if it completed."""
    wire = httpx.get(f"{url}/runs/{run.run}/wire.txt", timeout=60, trust_env=False).text
    numbers = [int(number) for number in NUMBER.findall(wire)]
    count = RESULTS if states.get(UUID(run.run)) == "completed" else len(numbers)
    return numbers == list(range(count))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.qa.cluster.upgrade", description=__doc__)
    parser.add_argument("--old", required=True, help="revision of the old version")
    parser.add_argument(
        "--seconds", type=float, default=15.0, help="length of a phase; default: 15"
    )
    return parser.parse_args()


def main() -> int:
    """Measure and print; return the exit status."""
    given = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that everything is stopped.
    try:
        find_nginx()
    except MissingError as error:
        print(error, file=sys.stderr)
        return 1
    ports = [free_port() for _ in range(4)]
    with (
        checkout(given.old) as tree,
        tempfile.TemporaryDirectory() as data,
        postgresql() as service,
        redis_server() as layer,
        nginx(ports) as proxy,
        served("tests.qa.bench.source") as agent,
        contextlib.ExitStack() as stack,
    ):
        shared = Path(data) / "shared"
        settings = {**cluster_settings(service.url, layer.url), **SETTINGS}
        options = ["--public-url", proxy.url]
        processes = Processes(
            [PlaygroundServer(shared, port, tree=tree, options=options, **settings)
             for port in ports[:2]],
            [PlaygroundServer(shared, port, options=options, **settings) for port in ports[2:]],
            [PlaygroundWorker(shared, **settings) for _ in range(2)],
        )  # fmt: skip
        stack.callback(processes.kill)
        start(processes.old)
        streams = Streams(proxy.url, agent.url)
        load, database = Load(streams), Database(settings["DATABASE_URL"])
        problems = asyncio.run(upgrade(load, processes, database, given.seconds))
        rows = list(compare(load, streams, database.states(), proxy.url))
        errors = [
            line
            for process in (*processes.old, *processes.new, *processes.workers)
            for line in process.log
            # Refused requests are counted by their responses.
            if " ERROR " in line and "Service Unavailable" not in line
        ]
        rows.append(Row("errors logged", str(len(errors)), "none", not errors))
    print_table(rows, f"upgrade from {given.old} and back")
    for problem in (*problems, *errors[:10]):
        print(problem, file=sys.stderr)
    return 0 if all(row.met for row in rows) and not problems else 1


if __name__ == "__main__":
    sys.exit(main())
