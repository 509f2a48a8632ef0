"""The playgrounds that faults happen to, with their agent, their database and what it needs."""

from __future__ import annotations

import contextlib
import json
import resource
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import psycopg

from tests.qa.bench import clients
from tests.qa.bench.memory import MIB
from tests.qa.bench.serving import Served, served
from tests.qa.cluster.processes import cluster_settings
from tests.qa.faults.relay import Relay, relay
from tests.qa.load.streams import Streams
from tests.qa.scale.services import Service, postgresql, redis_server, shared_settings
from tests.support.collection_files import collection_items
from tests.support.playground_server import (
    DATABASE,
    ROOT,
    PlaygroundProcess,
    PlaygroundServer,
    PlaygroundWorker,
)

#: Folder of the module that the playgrounds import when they start.
INSIDE = ROOT / "tests/qa/faults/inside"
#: Seconds by which the second of two hosts is wrong.
DAY = 86_400
#: Size of the small disk.
DISK = "256m"
#: Settings of every playground.
SETTINGS = {
    "PLAYGROUND_MAX_RUNS": "1000",
    # A stream is silent until all have started.
    "PLAYGROUND_IDLE_TIMEOUT": "600",
    # A flood of less than this would be held by its runs, and not by the budget.
    "PLAYGROUND_MAX_MEMORY": str(8 * MIB),
    "PYTHONPATH": str(INSIDE),
}
#: Seconds between two heartbeats of processes on one host, and on two: after the fourfold, one
#: counts as missed. On two hosts a late one interrupts runs, so there is time for a busy machine.
HEARTBEAT, HEARTBEAT_OF_HOSTS = "0.5", "2"
#: The settings of a cluster in whose short faults a worker is given up sooner; and in full ones.
SHORT_CLUSTER = {"FAULTS_HEARTBEAT": "1"}
FULL_CLUSTER = {"FAULTS_HEARTBEAT": "0"}
#: A collection of one request, which a collection run sends again and again.
COLLECTION = "faults"
_FIXTURE = collection_items(
    COLLECTION,
    [{
        "name": "Step", "slug": "step", "document": clients.results(5, 0.1),
        "expectations": [{"type": "results", "min": 5, "max": 5}],
    }],
)  # fmt: skip


class StoredRun(NamedTuple):
    """A run as it is in the database."""

    state: str
    frames: int
    #: Whether a user has sent it: not a step of a collection run, and not a poll.
    is_sent: bool
    #: The process that drives it, or has driven it; "" if it waits for a worker.
    driver: str = ""

    def is_driven_by(self, pids: Collection[int]) -> bool:
        """Return whether one of these processes drives it, or has driven it."""
        return any(f":{pid}:" in self.driver for pid in pids)


@dataclass
class Stage:
    """Playgrounds that share a database, and the agent of their runs."""

    agent: Served
    servers: list[PlaygroundServer]
    query: Callable[[str], list[tuple[Any, ...]]]
    database: Service | None = None
    layer: Service | None = None
    #: Where the data of a playground on a small disk is; its file for SIGUSR1.
    disk: Path | None = None
    hang: Path | None = None
    #: What drives the runs, if the playgrounds do not; the relay of the last one.
    workers: list[PlaygroundWorker] = field(default_factory=list)
    relay: Relay | None = None
    _streams: dict[int, Streams] = field(default_factory=dict)

    @property
    def server(self) -> PlaygroundServer:
        """The first playground."""
        return self.servers[0]

    @property
    def driving(self) -> PlaygroundProcess:
        """The first process that drives runs."""
        return self.workers[0] if self.workers else self.server

    @property
    def processes(self) -> list[PlaygroundProcess]:
        """The playgrounds and the workers."""
        return [*self.servers, *self.workers]

    def streams(self, server: int = 0) -> Streams:
        """Return what starts runs at a playground."""
        if server not in self._streams:
            self._streams[server] = Streams(self.servers[server].url, self.agent.url)
        return self._streams[server]

    def runs(self) -> dict[UUID, StoredRun]:
        """Return all runs, as they are in the database."""
        rows = self.query("SELECT id, state, frames, kind, source, driver FROM playground_run")
        return {
            UUID(str(key)): StoredRun(state, frames, (kind, source) == ("ask", "user"), driver)
            for key, state, frames, kind, source, driver in rows
        }

    def driver_of_collection_run(self, key: UUID) -> str:
        """Return the process that drives a collection run."""
        rows = self.query("SELECT id, driver FROM playground_collectionrun")
        return next(driver for each, driver in rows if UUID(str(each)) == key)

    def collection_run(self, key: UUID) -> tuple[str, Counter[str]]:
        """Return the state of a collection run, and the number of its steps by verdict."""
        states = self.query("SELECT id, state FROM playground_collectionrun")
        steps = self.query("SELECT collection_run_id, verdict FROM playground_step")
        [state] = [state for each, state in states if UUID(str(each)) == key]
        return state, Counter(verdict for each, verdict in steps if UUID(str(each)) == key)

    def promise(self, run: UUID) -> str:
        """Return the status of the promise of a run, "" without one."""
        rows = self.query("SELECT run_id, status FROM playground_polledpromise")
        return next((status for key, status in rows if UUID(str(key)) == run), "")

    def start_collection_run(self, iterations: int) -> UUID:
        """Start a collection run of so many steps, one after another."""
        form = {"address": self.agent.url, "iterations": str(iterations)}
        response = self.streams().form.post("/collection-runs/", {"collection": COLLECTION, **form})
        return UUID(response.headers["Location"].strip("/").rpartition("/")[2])

    def restart(self, **environment: str) -> None:
        """Start the first playground again if its environment differs."""
        if environment.items() - self.server.environment.items():
            self.server.stop()
            self.server.start(**environment)

    def configure(self, process: PlaygroundProcess, **environment: str) -> None:
        """Start a process again if its environment differs, or if it has ended."""
        if environment.items() - process.environment.items() or not process.is_running:
            process.stop()
            process.start(**environment)

    def prune(self) -> None:
        """Delete the runs, so that those of the next trial fit on the disk."""
        for runs in ("1", ""):  # A limit would be applied again at the next start.
            limits = {"days": "", "runs": runs}
            self.streams().form.post("/history/retention/", limits)

    def get(self, path: str, server: int = 0) -> str:
        """Return a page."""
        url = f"{self.servers[server].url}{path}"
        return httpx.get(url, timeout=60, trust_env=False).raise_for_status().text


def _import_collection(server: PlaygroundServer) -> None:
    fixture = server.data / "fixtures.json"
    fixture.write_text(json.dumps(_FIXTURE))
    done = server.manage("import_collection", str(fixture))
    assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def small_disk() -> Iterator[Stage]:
    """One playground with SQLite, on a small disk if one can be mounted."""
    with _on_small_disk() as stage:
        yield stage


@contextlib.contextmanager
def uvicorn() -> Iterator[Stage]:
    """The same, served by uvicorn."""
    with _on_small_disk("--server", "uvicorn") as stage:
        yield stage


@contextlib.contextmanager
def _on_small_disk(*options: str) -> Iterator[Stage]:
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        disk = data if _mount(data) else None
        if disk:
            stack.callback(subprocess.run, ["umount", data], check=True)

        def query(sql: str) -> list[tuple[Any, ...]]:
            with contextlib.closing(sqlite3.connect(data / DATABASE, timeout=60)) as connection:
                return connection.execute(sql).fetchall()

        agent = stack.enter_context(served("tests.qa.bench.source"))
        server = stack.enter_context(PlaygroundServer(data, options=options, **SETTINGS))
        _import_collection(server)
        yield Stage(agent, [server], query, disk=disk)


def _mount(directory: Path) -> bool:
    """Mount a small disk; return False if that is not permitted, or not known, on this machine."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "playground-faults", directory]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def one_host() -> Iterator[Stage]:
    """Two playgrounds of one host, with PostgreSQL and Redis."""
    with _shared(HEARTBEAT, {}) as stage:
        yield stage


@contextlib.contextmanager
def two_hosts() -> Iterator[Stage]:
    """Two playgrounds of two hosts; the second one has uvicorn, and a clock that is a day ahead."""
    second = {"FAULTS_HOST": "elsewhere", "FAULTS_CLOCK": str(DAY)}
    with _shared(HEARTBEAT_OF_HOSTS, second, "--server", "uvicorn") as stage:
        yield stage


@contextlib.contextmanager
def _shared(heartbeat: str, second: dict[str, str], *options: str) -> Iterator[Stage]:
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(postgresql())
        layer = stack.enter_context(redis_server())
        hang = data / "hang"
        settings = {
            **SETTINGS,
            **shared_settings(database.url, layer.url),
            "FAULTS_HANG": str(hang),
            "FAULTS_HEARTBEAT": heartbeat,
        }

        def query(sql: str) -> list[tuple[Any, ...]]:
            with psycopg.connect(settings["DATABASE_URL"]) as connection:
                return connection.execute(sql).fetchall()

        agent = stack.enter_context(served("tests.qa.bench.source"))
        servers = [
            stack.enter_context(PlaygroundServer(data / "shared", options=given, **settings, **own))
            for given, own in (((), {}), (options, second))
        ]
        _import_collection(servers[0])
        yield Stage(agent, servers, query, database, layer, hang=hang)


@contextlib.contextmanager
def cluster() -> Iterator[Stage]:
    """Two playgrounds and two workers, each on a host of its own, with PostgreSQL and Redis.

    The second playground has uvicorn; the second worker reaches the services through a relay.
    """
    with contextlib.ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(postgresql())
        layer = stack.enter_context(redis_server())
        # A process of a short fault gets its settings when the fault needs them.
        settings = {**SETTINGS, **cluster_settings(database.url, layer.url), **FULL_CLUSTER}

        def query(sql: str) -> list[tuple[Any, ...]]:
            with psycopg.connect(settings["DATABASE_URL"]) as connection:
                return connection.execute(sql).fetchall()

        network = stack.enter_context(relay(settings["DATABASE_URL"], settings["REDIS_URL"]))
        relayed = dict(zip(("DATABASE_URL", "REDIS_URL"), network.urls, strict=True))
        agent = stack.enter_context(served("tests.qa.bench.source"))
        shared = data / "shared"
        servers = [
            stack.enter_context(
                PlaygroundServer(shared, options=options, FAULTS_HOST=f"web-{number}", **settings)
            )
            for number, options in enumerate(((), ("--server", "uvicorn")), 1)
        ]
        workers = [
            stack.enter_context(
                PlaygroundWorker(shared, FAULTS_HOST=f"worker-{number}", **settings | own)
            )
            for number, own in enumerate(({}, relayed), 1)
        ]
        _import_collection(servers[0])
        yield Stage(agent, servers, query, database, layer, workers=workers, relay=network)


@contextlib.contextmanager
def no_space(stage: Stage) -> Iterator[None]:
    """Fill the disk of a playground; without a small one, let none of its files grow."""
    with contextlib.closing(sqlite3.connect(stage.server.data / DATABASE, timeout=60)) as database:
        # A log that was longer once would be overwritten, which takes no space.
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if stage.disk is None:
        before = resource.prlimit(stage.server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(stage.server.pid, resource.RLIMIT_FSIZE, (1, before[1]))
        yield
        resource.prlimit(stage.server.pid, resource.RLIMIT_FSIZE, before)
        return
    filling = stage.disk / "filling"
    for size in (1024 * 1024, 1024):
        with contextlib.suppress(OSError), filling.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(size))
    yield
    filling.unlink()


@contextlib.contextmanager
def locked(stage: Stage) -> Iterator[None]:
    """Lock the SQLite database of a playground."""
    path = stage.server.data / DATABASE
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    with contextlib.closing(connection):
        connection.execute("BEGIN EXCLUSIVE")
        yield
