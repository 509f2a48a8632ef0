"""Serve the playground: migrated, with the shipped fixtures, assets collected."""

from __future__ import annotations

import contextlib
import errno
import importlib
import socket
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from django.conf import settings
from django.core.management import CommandError, CommandParser, call_command
from django.db import connection

from playground import engine
from playground.cli.database_command import DatabaseCommand
from playground.cli.signals import on_stop_signal
from playground.engine.retention import start_pruning
from playground.graceful_stop import stop_gracefully
from playground.startup import collect_static, load_samples
from playground.task_registry import start_task

#: Advisory lock for the preparation of the database: "play" in ASCII.
_LOCK_ID = 0x706C6179
#: The servers, each with the module that runs it.
_SERVERS = {"daphne": "playground.daphne_server", "uvicorn": "playground.uvicorn_server"}


class Command(DatabaseCommand):
    """`python manage.py serve [--host H] [--port N] [--server S]`."""

    help = "Migrate the database, load the shipped collections, and serve the playground."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address to listen on, the origin behind a proxy, and the server."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on; default: 127.0.0.1"
        )
        parser.add_argument(
            "--port", type=int, default=8000, help="port; 0 for a free one; default: 8000"
        )
        parser.add_argument("--public-url", default="", help="origin of the site behind a proxy")
        parser.add_argument(
            "--server",
            choices=_SERVERS,
            default="daphne",
            help="ASGI server; uvicorn, an optional dependency, is faster; default: daphne",
        )

    def handle(
        self, *args: Any, host: str, port: int, public_url: str, server: str, **options: Any
    ) -> None:
        """Prepare the database, print the address, and serve until a signal stops it."""
        runner = _import_server(server)
        port = _port_to_use(host, port)
        shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else host  # noqa: S104
        shown = f"[{shown}]" if ":" in shown else shown
        address = public_url.rstrip("/") or f"http://{shown}:{port}"
        with _preparation_lock():
            call_command("migrate", interactive=False, verbosity=0)
            load_samples(address)
            if not settings.DEBUG:
                collect_static()
        # Not before the tables exist: importing it looks for interrupted runs.
        from playground.asgi import application

        self.stdout.write(f"NLWeb Playground is running at {self.style.SUCCESS(address + '/')}")
        self.stdout.write("Press Ctrl+C to stop.")
        self.stdout.flush()
        runner.run(
            application,
            host=host,
            port=port,
            started=_start_background_tasks,
            client_timeout=settings.CLIENT_TIMEOUT,
        )


def _import_server(name: str) -> ModuleType:
    """Return the module of a server. Raise `CommandError` if a package is not installed."""
    try:
        return importlib.import_module(_SERVERS[name])
    except ModuleNotFoundError as error:
        raise CommandError(
            f"--server {name} needs the package {error.name} of the extra “{name}”."
            " Install it with: make setup"
        ) from error


def _start_background_tasks(stop: Callable[[], None]) -> None:
    """Poll promises, check processes, end sessions, prune the history, and stop on a signal."""
    engine.start_liveness_checks()
    engine.start_promise_poller()
    engine.start_session_cleanup()
    start_pruning()
    on_stop_signal(lambda number: start_task(stop_gracefully(number, stop)))


@contextlib.contextmanager
def _preparation_lock() -> Iterator[None]:
    """Serialise the preparation of one PostgreSQL database by several processes.

    Two that create the same table fail. SQLite is for one process.
    """
    if connection.vendor != "postgresql":
        yield
        return
    # A separate connection holds the lock: loading fixtures closes Django's.
    with contextlib.closing(connection.copy()) as holder:
        holder.cursor().execute("SELECT pg_advisory_lock(%s)", [_LOCK_ID])
        yield


def _port_to_use(host: str, port: int) -> int:
    """Return `port` if it is available, for 0 a free one. Raise `CommandError`.

    Daphne would run without a socket if the port is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise CommandError(_port_error(host, port, error)) from error
        found: int = probe.getsockname()[1]
        return found


def _port_error(host: str, port: int, error: Exception) -> str:
    message = f"Cannot listen on {host}, port {port} ({getattr(error, 'strerror', error)})."
    if getattr(error, "errno", None) == errno.EADDRINUSE:
        message += f" Use another port: make run PORT={port + 1}"
    return message
