"""A PostgreSQL cluster and a Redis server that live as long as a `with` block.

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


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """A new cluster; yields the URL of its database `postgres`."""
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
        with _running(command, home, signal.SIGINT, lambda: psycopg.connect(url).close()):
            yield url


@contextlib.contextmanager
def redis_server() -> Iterator[str]:
    """A Redis that keeps nothing; yields its URL."""
    program, port, password = find_redis(), free_port(), secrets.token_hex(16)
    with _directory() as home:
        # A file: the arguments of a process can be read by everybody.
        settings = home / "redis.conf"
        settings.write_text(
            f'bind 127.0.0.1\nport {port}\nrequirepass {password}\nsave ""\ndir {home}\n'
        )
        url = f"redis://:{password}@127.0.0.1:{port}/0"
        with _running([program, settings], home, signal.SIGTERM, redis.Redis.from_url(url).ping):
            yield url


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


@contextlib.contextmanager
def _running(
    command: list[Any], home: Path, stop: signal.Signals, ask: Callable[[], object]
) -> Iterator[None]:
    """A server from the moment that it answers `ask` to the end of the block."""
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            **_as_nobody_special(),
        )
    try:
        _wait(process, ask, home / "log")
        yield
    finally:
        process.send_signal(stop)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


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
