"""A PostgreSQL cluster and a Redis server that live as long as a `with` block, with interruptions.

Both listen on free ports of 127.0.0.1, want a password, and keep their data in a directory that
goes with them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import redis

from tests.support.servers import free_port

#: PostgreSQL refuses to be run by root; Debian's package makes this user.
UNPRIVILEGED = "postgres"
INSTALL = "apt-get install --no-install-recommends postgresql redis-server"
#: Seconds in which a server has to answer.
PATIENCE = 30.0


class MissingError(Exception):
    """A program that is needed is not installed."""


def find_postgresql() -> Path:
    """The directory of PostgreSQL's programs, the newest where there are several."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")  # Where Debian puts it.
    newest = max(versions, key=lambda path: float(path.parts[-3]), default=None)
    if newest is None:
        raise MissingError(f"PostgreSQL is not installed: {INSTALL}")
    return newest.parent


def find_redis() -> str:
    """The program redis-server."""
    if found := shutil.which("redis-server"):
        return found
    raise MissingError(f"redis-server is not installed: {INSTALL}")


class Service:
    """A server process that can be stopped and started again."""

    def __init__(
        self,
        url: str,
        command: list[Any],
        home: Path,
        end: signal.Signals,
        ask: Callable[[], object],
    ) -> None:
        """Describe it; `end` is the signal that ends it, `ask` raises until it answers."""
        self.url = url
        self._command = [str(part) for part in command]
        self._home = home
        self._end = end
        self._ask = ask
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(self._end)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **_as_nobody_special(),
            )
        try:
            _wait(self._process, self._ask, self._home / "log")
        except BaseException:
            self.stop(self._end)
            raise

    @contextlib.contextmanager
    def away(self, number: signal.Signals) -> Iterator[None]:
        """Stop it with a signal, and start it again after the block."""
        self.stop(number)
        try:
            yield
        finally:
            self.start()

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """Suspend its processes for the block: connections are accepted, and nothing responds."""
        assert self._process
        # The first one starts no others while these are suspended.
        server = psutil.Process(self._process.pid)
        server.suspend()
        processes = [server, *server.children(recursive=True)]
        try:
            for process in processes[1:]:
                process.suspend()
            yield
        finally:
            for process in processes:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.resume()

    def stop(self, number: signal.Signals) -> None:
        """Send it a signal, and wait until it has ended."""
        assert self._process
        self._process.send_signal(number)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def postgresql() -> Iterator[Service]:
    """A new cluster; the URL is that of its database `postgres`."""
    programs, port, password = find_postgresql(), free_port(), secrets.token_hex(16)
    with _directory() as home:
        (home / "password").write_text(password)
        (home / "password").chmod(0o644)  # In a directory that nobody else may enter.
        initdb = [programs / "initdb", "-D", home / "data", "-U", "playground", "-E", "UTF8",
                  "--locale=C", "-A", "scram-sha-256", f"--pwfile={home / 'password'}",
                  "--no-sync"]  # fmt: skip
        done = subprocess.run(
            initdb, cwd=home, capture_output=True, text=True, check=False, **_as_nobody_special()
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed:\n{done.stdout}{done.stderr}")
        options = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "",
                   "fsync": "off", "full_page_writes": "off"}  # fmt: skip
        command = [programs / "postgres", "-D", home / "data"]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        url = f"postgres://playground:{password}@127.0.0.1:{port}/postgres"
        # SIGINT: it does not wait for its clients.
        with Service(
            url, command, home, signal.SIGINT, lambda: psycopg.connect(url).close()
        ) as service:
            yield service


def shared_settings(database: str, layer: str) -> dict[str, str]:
    """The settings of two web processes: a new database in the cluster of `database`, and Redis."""
    name = f"scale_{secrets.token_hex(6)}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    url = urlsplit(database)._replace(path=f"/{name}").geturl()
    return {"DATABASE_URL": url, "REDIS_URL": layer, "WEB_CONCURRENCY": "2"}


@contextlib.contextmanager
def redis_server() -> Iterator[Service]:
    """A Redis that keeps nothing."""
    program, port, password = find_redis(), free_port(), secrets.token_hex(16)
    with _directory() as home:
        # A file: the arguments of a process can be read by everybody.
        settings = home / "redis.conf"
        settings.write_text(
            f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\ndir {home}\n'
        )
        url = f"redis://:{password}@127.0.0.1:{port}/0"
        ask = redis.Redis.from_url(url).ping
        with Service(url, [program, settings], home, signal.SIGTERM, ask) as service:
            yield service


@contextlib.contextmanager
def _directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="playground-scale-") as name:
        if os.geteuid() == 0:
            shutil.chown(name, UNPRIVILEGED, UNPRIVILEGED)
        yield Path(name)


def _as_nobody_special() -> dict[str, Any]:
    if os.geteuid():
        return {}
    return {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": ()}


def _wait(process: subprocess.Popen[bytes], ask: Callable[[], object], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            ask()
        except (psycopg.OperationalError, redis.ConnectionError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"it did not start:\n{log.read_text()}") from error
            time.sleep(0.05)
        else:
            return
