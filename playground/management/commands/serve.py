"""Serve the playground: migrated, with the shipped fixtures, assets collected."""

from __future__ import annotations

import asyncio
import errno
import importlib
import os
import socket
import sys
import webbrowser
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import CommandError, CommandParser
from django.core.management.base import ALL_CHECKS

from playground.base import installation
from playground.base.jobs import start_task
from playground.cli.database_command import DatabaseCommand
from playground.cli.signals import on_stop_signal
from playground.engine import process
from playground.server.graceful_stop import stop_gracefully
from playground.server.migrations import migrate
from playground.server.startup import collect_static, load_samples, preparation_lock

#: Names of the servers, which are modules of `playground.server`.
_SERVERS = ("daphne", "uvicorn")


class Command(DatabaseCommand):
    """`python manage.py serve [--host H] [--port N] [--server S] [--browser]`."""

    help = "Migrate the database, load the shipped collections, and serve the playground."
    requires_system_checks = ALL_CHECKS
    requires_migrations_checks = False  # It migrates, on PostgreSQL too.

    def add_arguments(self, parser: CommandParser) -> None:
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
        parser.add_argument(
            "--browser", action="store_true", help="open the playground in the browser"
        )

    def handle(
        self,
        *args: Any,
        host: str,
        port: int,
        public_url: str,
        server: str,
        browser: bool,
        **options: Any,
    ) -> None:
        runner = _import_server(server)
        port = _port_to_use(host, port)
        shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else host  # noqa: S104
        shown = f"[{shown}]" if ":" in shown else shown
        address = public_url.rstrip("/") or f"http://{shown}:{port}"
        with preparation_lock():
            migrate()
            demo_before = load_samples(address)
            if not settings.DEBUG:
                collect_static()
        # Not before the tables exist: importing it looks for interrupted runs.
        from playground.asgi import application

        self.stdout.write(f"NLWeb Playground is running at {self.style.SUCCESS(address + '/')}")
        if _is_listening(demo_before):
            self.stdout.write(
                f"Another process listens on {demo_before}. If it is a playground with the same"
                " database, its demo agent is now this one. PLAYGROUND_DATA_DIR sets another folder"
                " for the data."
            )
        self.stdout.write("Press Ctrl+C to stop.")
        self.stdout.flush()
        runner.run(
            application,
            host=host,
            port=port,
            started=partial(_start_background_tasks, address if browser else ""),
            client_timeout=settings.CLIENT_TIMEOUT,
        )


def _import_server(name: str) -> ModuleType:
    """Return the module of a server. Raise `CommandError` if a package is not installed."""
    try:
        return importlib.import_module(f"playground.server.{name}")
    except ModuleNotFoundError as error:
        raise CommandError(
            f"--server {name} needs the package {error.name} of the extra “{name}”."
            f" Install it with: {installation.install_command(name)}"
        ) from error


def _start_background_tasks(address: str, stop: Callable[[], None]) -> None:
    """Poll promises, check processes, end sessions, prune the history, and stop on a signal.

    Open `address` in the browser, unless it is empty.
    """
    process.start_background_tasks()
    on_stop_signal(lambda number: start_task(stop_gracefully(number, stop)))
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    # A browser of the terminal, without a window, would hide the log.
    has_windows = sys.platform in {"win32", "darwin"} or any(map(os.environ.get, names))
    if address and has_windows:
        start_task(asyncio.to_thread(webbrowser.open, f"{address}/"))


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
            reason = getattr(error, "strerror", error)
            message = f"Cannot listen on {host}, port {port} ({reason})."
            if getattr(error, "errno", None) == errno.EADDRINUSE:
                message += f" Use another port: {installation.start_command(port + 1)}"
            raise CommandError(message) from error
        found: int = probe.getsockname()[1]
        return found


def _is_listening(origin: str) -> bool:
    """Return whether a process of this host listens on the port of an origin such as the demo's."""
    parts = urlsplit(origin)
    if parts.hostname not in {"127.0.0.1", "::1", "localhost"} or not parts.port:
        return False
    try:
        with socket.create_connection((parts.hostname, parts.port), timeout=1):
            return True
    except OSError:
        return False
