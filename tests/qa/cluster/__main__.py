"""`make cluster`: a playground of two web processes and two workers behind nginx, for trying.

PostgreSQL and Redis come from the machine's packages. Everything listens on 127.0.0.1, and its data
is deleted at the end. Ctrl+C or SIGTERM stops the workers, which end their runs first, then the web
processes and the services; a second signal kills everything. The exit status is 1 if a part ends by
itself.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import psutil

from tests.qa.cluster.processes import Cluster, cluster
from tests.qa.scale.services import MissingError, find_nginx, find_postgresql, find_redis
from tests.support.playground_server import PlaygroundProcess
from tests.support.servers import free_port

#: Seconds between two looks at the processes and at the files of the services.
INTERVAL = 0.2
#: Seconds that the runs in progress get at the end.
DRAIN_SECONDS = 20


class StoppedError(Exception):
    """A signal has ended the cluster."""


class StopSignals:
    """SIGINT and SIGTERM: the first raises `StoppedError`, the second kills all processes."""

    def __init__(self) -> None:
        self._is_stopping = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._is_stopping:
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
            return
        self._is_stopping = True
        raise StoppedError(signal.Signals(number).name)


class Output:
    """The lines of all parts, each with the name of its part."""

    WIDTH = 10

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __call__(self, name: str, line: str) -> None:
        """Print a line."""
        with self._lock:
            print(f"{name:{self.WIDTH}} | {line.rstrip()}", flush=True)

    @contextlib.contextmanager
    def following(self, files: dict[str, list[Path]]) -> Iterator[None]:
        """Print what is added to files of each part during the block."""
        stopping = threading.Event()

        def follow() -> None:
            with contextlib.ExitStack() as stack:
                opened = [
                    (name, stack.enter_context(path.open(errors="replace")))
                    for name, paths in files.items()
                    for path in paths
                ]
                while True:
                    is_last = stopping.wait(INTERVAL)
                    for name, file in opened:
                        for line in file:
                            self(name, line)
                    if is_last:
                        return

        thread = threading.Thread(target=follow)
        thread.start()
        try:
            yield
        finally:
            stopping.set()
            thread.join()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.qa.cluster", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="port of the proxy; default: 8000")
    parser.add_argument("--servers", type=int, default=2, help="web processes; default: 2")
    parser.add_argument("--workers", type=int, default=2, help="default: 2")
    parser.add_argument("--concurrency", help="runs of a worker at once")
    parser.add_argument("--server", default="daphne", help="passed to manage.py serve --server")
    return parser.parse_args()


def overview(started: Cluster, metrics: dict[int, int]) -> str:
    """Return the lines that say what runs where."""
    places = {name: f"pid {part.pid}" for name, part in started.parts.items()}
    places["postgresql"] += f", {started.settings['DATABASE_URL']}"
    places["redis"] += f", {started.settings['REDIS_URL']}"
    places["nginx"] += f", {started.url}"
    for number, server in enumerate(started.servers, 1):
        places[f"web-{number}"] += f", http://127.0.0.1:{server.port}, behind nginx"
    for number in range(1, len(started.workers) + 1):
        places[f"worker-{number}"] += f", http://127.0.0.1:{metrics[number]}/metrics"
    lines = [f"  {name:{Output.WIDTH}} {place}" for name, place in places.items()]
    return "\n".join([f"The playground is at {started.url}/", *lines, "Press Ctrl+C to stop."])


def watch(started: Cluster) -> str:
    """Wait until a part has ended; return its name."""
    while True:
        for name, part in started.parts.items():
            if not part.is_running:
                return name
        time.sleep(INTERVAL)


def logs(started: Cluster) -> dict[str, list[Path]]:
    """Return the files that the services write their messages to."""
    return {
        name: part.logs
        for name, part in started.parts.items()
        if not isinstance(part, PlaygroundProcess)
    }


def main() -> int:
    """Run the cluster until a signal or the end of a part; return the exit status."""
    given = arguments()
    try:
        find_postgresql()
        find_redis()
        find_nginx()
    except MissingError as error:
        print(error, file=sys.stderr)
        return 1
    output = Output()
    metrics = {number: free_port() for number in range(1, given.workers + 1)}

    def worker_options(number: int) -> list[str]:
        concurrency = ["--concurrency", given.concurrency] if given.concurrency else []
        return [*concurrency, "--metrics-port", str(metrics[number])]

    StopSignals()
    try:
        with (
            tempfile.TemporaryDirectory() as data,
            cluster(
                Path(data),
                port=given.port,
                servers=given.servers,
                workers=given.workers,
                server_options=["--server", given.server],
                worker_options=worker_options,
                echo=output,
                PLAYGROUND_DRAIN_SECONDS=str(DRAIN_SECONDS),
            ) as started,
            output.following(logs(started)),
        ):
            print(overview(started, metrics), flush=True)
            name = watch(started)
            print(f"{name} has ended; everything is stopped.", file=sys.stderr, flush=True)
            return 1
    except StoppedError as stopped:
        print(f"Stopped by {stopped}.", file=sys.stderr, flush=True)
        return 0
    except RuntimeError as error:  # A part has not started.
        print(error, file=sys.stderr, flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())
