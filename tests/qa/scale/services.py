"""PostgreSQL, Redis and nginx for as long as a `with` block, with interruptions.

They listen on 127.0.0.1, on free ports unless one is given, and keep their data in a directory that
goes with them. PostgreSQL and Redis want a password. A signal of the terminal does not reach them.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg
import redis

from tests.support.playground_server import ROOT
from tests.support.servers import free_port

#: PostgreSQL refuses to be run by root; Debian's package makes this user.
UNPRIVILEGED = "postgres"
INSTALL = "apt-get install --no-install-recommends postgresql redis-server"
INSTALL_NGINX = "apt-get install --no-install-recommends nginx-light"
#: The configuration of the reverse proxy, which is also an example.
PROXY = ROOT / "deploy/nginx/playground.conf"
#: Websockets that nginx can serve; each takes two connections.
WEBSOCKETS = 4096
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


def find_nginx() -> str:
    """The program nginx."""
    # Debian puts it where only root looks.
    if found := shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin"):
        return found
    raise MissingError(f"nginx is not installed: {INSTALL_NGINX}")


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
        #: Files that it writes its messages to.
        self.logs = [home / "log"]

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(self._end)

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether its process exists."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with self.logs[0].open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_as_nobody_special(),
            )
        try:
            _wait(self._process, self._ask, self.logs[0])
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
        """Send it a signal, and wait until it has ended; SIGKILL to all its processes."""
        assert self._process
        others = []
        if number == signal.SIGKILL and self.is_running:
            others = psutil.Process(self._process.pid).children(recursive=True)
        self._process.send_signal(number)
        for other in others:
            with contextlib.suppress(psutil.NoSuchProcess):
                other.kill()
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
    """The settings of two web processes that drive runs: a new database, and Redis.

    The database is in the cluster of `database`.
    """
    name = f"scale_{secrets.token_hex(6)}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    url = urlsplit(database)._replace(path=f"/{name}").geturl()
    shared = {"DATABASE_URL": url, "REDIS_URL": layer, "WEB_CONCURRENCY": "2"}
    return {**shared, "PLAYGROUND_WORKERS": "false"}


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
def nginx(servers: Sequence[int], port: int = 0) -> Iterator[Service]:
    """The reverse proxy of `deploy/nginx`, for web processes on these ports of 127.0.0.1."""
    program, port = find_nginx(), port or free_port()
    listen = f"listen 127.0.0.1:{port};"
    site, changed = re.subn(
        r"^    listen \d+;", f"    {listen}", PROXY.read_text(), flags=re.MULTILINE
    )
    assert changed == 1
    upstream = PROXY.with_name("upstream.conf").read_text()
    lines = "".join(rf"    server 127.0.0.1:{each}\g<2>" for each in servers)
    upstream, changed = re.subn(
        r"(^    server [\w.]+:\d+( .*\n))+", lines, upstream, flags=re.MULTILINE
    )
    assert changed == 1
    with _directory() as home:
        temporary = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        (home / "playground.conf").write_text(site)
        (home / "upstream.conf").write_text(upstream)
        (home / "nginx.conf").write_text(
            f"daemon off;\npid {home}/pid;\nerror_log stderr;\n"
            f"worker_rlimit_nofile {4 * WEBSOCKETS};\n"
            f"events {{ worker_connections {2 * WEBSOCKETS}; }}\n"
            "http {\n"
            "log_format short '$request_method $request_uri $status $upstream_addr';\n"
            f"access_log {home}/access.log short;\n"
            + "".join(f"{name}_temp_path {home}/{name};\n" for name in temporary)
            + f"include {home}/upstream.conf;\ninclude {home}/playground.conf;\n}}\n"
        )
        command = [program, "-p", home, "-e", "stderr", "-c", home / "nginx.conf"]

        def ask() -> None:
            socket.create_connection(("127.0.0.1", port), 1).close()

        url = f"http://127.0.0.1:{port}"
        service = Service(url, command, home, signal.SIGTERM, ask)
        service.logs.append(home / "access.log")
        with service:
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
        except (psycopg.OperationalError, redis.ConnectionError, ConnectionError) as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"it did not start:\n{log.read_text()}") from error
            time.sleep(0.05)
        else:
            return
