"""A cluster: web processes behind nginx, and workers, on one PostgreSQL and one Redis."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.qa.scale.services import Service, nginx, postgresql, redis_server, shared_settings
from tests.support.playground_server import (
    ROOT,
    PlaygroundProcess,
    PlaygroundServer,
    PlaygroundWorker,
)
from tests.support.servers import free_port

#: Seconds beyond the drain in which a process must have ended: those without a database, and some.
MARGIN = 25.0
#: Called with the name of a part and a line of its log.
Echo = Callable[[str, str], object]


@dataclass(frozen=True)
class Cluster:
    """The running parts."""

    database: Service
    layer: Service
    proxy: Service
    servers: list[PlaygroundServer]
    workers: list[PlaygroundWorker]
    settings: dict[str, str]

    @property
    def url(self) -> str:
        """The address of the proxy."""
        return self.proxy.url

    @property
    def parts(self) -> dict[str, Service | PlaygroundProcess]:
        """All parts by their names."""
        named: dict[str, Service | PlaygroundProcess] = {
            "postgresql": self.database, "redis": self.layer, "nginx": self.proxy
        }  # fmt: skip
        named |= {f"web-{number}": each for number, each in enumerate(self.servers, 1)}
        return named | {f"worker-{number}": each for number, each in enumerate(self.workers, 1)}


def cluster_settings(database: str, layer: str) -> dict[str, str]:
    """Return the settings of processes that share a new database, with workers, and Redis."""
    return {**shared_settings(database, layer), "PLAYGROUND_WORKERS": "true"}


@contextlib.contextmanager
def cluster(
    data: Path,
    *,
    port: int = 0,
    servers: int = 2,
    workers: int = 2,
    tree: Path = ROOT,
    python: str = sys.executable,
    server_options: Sequence[str] = (),
    worker_options: Callable[[int], Sequence[str]] = lambda number: (),
    echo: Echo = lambda name, line: None,
    **environment: str,
) -> Iterator[Cluster]:
    """Start a cluster; at the end stop workers, web processes and services, in this order.

    Workers end or interrupt their runs while the web processes still show them.
    """
    ports = [free_port() for _ in range(servers)]
    drain = float(environment.get("PLAYGROUND_DRAIN_SECONDS", "1"))
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgresql())
        layer = stack.enter_context(redis_server())
        proxy = stack.enter_context(nginx(ports, port))
        settings = cluster_settings(database.url, layer.url) | environment
        options = ["--public-url", proxy.url, *server_options]
        common: dict[str, Any] = {"tree": tree, "python": python, "own_session": True, **settings}

        def server(number: int) -> PlaygroundServer:
            said = partial(echo, f"web-{number}")
            return PlaygroundServer(
                data / "shared", ports[number - 1], options=options, echo=said, **common
            )

        def worker(number: int) -> PlaygroundWorker:
            said = partial(echo, f"worker-{number}")
            return PlaygroundWorker(
                data / "shared", options=worker_options(number), echo=said, **common
            )

        started = Cluster(
            database,
            layer,
            proxy,
            [server(number) for number in range(1, servers + 1)],
            [worker(number) for number in range(1, workers + 1)],
            settings,
        )
        for processes in (started.servers, started.workers):
            stack.callback(stop, processes, drain + MARGIN)
            start(processes)
        yield started


def start(processes: Sequence[PlaygroundProcess]) -> None:
    """Start processes at once, and wait for all."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda process: process.start(), processes))


def stop(processes: Sequence[PlaygroundProcess], seconds: float) -> None:
    """End processes at once with SIGTERM; kill those that take longer."""
    running = [process for process in processes if process.is_running]
    for process in running:
        process.send_signal(signal.SIGTERM)
    for process in running:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.stop(signal.SIGKILL)
