"""Drive runs that web processes have queued, poll promises, and apply retention limits."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.conf import settings
from django.core.management import CommandError, CommandParser
from django.core.management.base import ALL_CHECKS

from playground.base import installation, metrics, tracing
from playground.base.jobs import start_task
from playground.cli.arguments import USAGE, up_to
from playground.cli.database_command import DatabaseCommand
from playground.cli.signals import on_stop_signal
from playground.engine import process
from playground.models.driving import mark_interrupted
from playground.server.graceful_stop import stop_gracefully
from playground.server.startup import tune_garbage_collection

#: Runs in progress at once.
CONCURRENCY = 250


class Command(DatabaseCommand):
    """`python manage.py worker [--concurrency N] [--metrics-port P]`."""

    help = "Drive the runs that web processes have queued (with PostgreSQL and Redis)."
    requires_system_checks = ALL_CHECKS

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--concurrency",
            type=up_to(99_999),
            default=CONCURRENCY,
            help=f"runs and collection runs in progress at once; default: {CONCURRENCY}",
        )
        parser.add_argument(
            "--metrics-port", type=int, help="port on which metrics are served; default: none"
        )
        parser.add_argument(
            "--metrics-host",
            default="127.0.0.1",
            help="address on which metrics are served; default: 127.0.0.1",
        )

    def handle(
        self,
        *args: Any,
        concurrency: int,
        metrics_port: int | None,
        metrics_host: str,
        **options: Any,
    ) -> None:
        if not settings.WORKERS:
            raise CommandError(
                "Workers need PostgreSQL and Redis: set DATABASE_URL and REDIS_URL, and do not set"
                " PLAYGROUND_WORKERS to false.",
                returncode=USAGE,
            )
        try:
            from playground.engine.worker import Worker
        except ModuleNotFoundError as error:
            raise CommandError(
                f"Workers need the package {error.name} of the extra “scale”."
                f" Install it with: {installation.install_command('scale')}"
            ) from error
        mark_interrupted()
        tune_garbage_collection()
        tracing.prepare()
        with self._metrics(metrics_host, metrics_port):
            asyncio.run(self._run(Worker(concurrency), concurrency))

    @contextmanager
    def _metrics(self, host: str, port: int | None) -> Iterator[None]:
        """Serve the metrics, if there is a port. Raise `CommandError` if it is in use."""
        with ExitStack() as stack:
            if port is not None:
                try:
                    served = stack.enter_context(metrics.serve_metrics(port, host))
                except (OSError, OverflowError) as error:
                    reason = getattr(error, "strerror", None) or error
                    cause = f"Cannot listen on {host}, port {port} ({reason})."
                    raise CommandError(cause) from error
                self.stdout.write(f"Metrics are served at http://{host}:{served}/metrics")
            yield

    async def _run(self, worker: Any, concurrency: int) -> None:
        stopped = asyncio.Event()

        def stop(received: signal.Signals) -> None:
            worker.stop()
            start_task(stop_gracefully(received, stopped.set))

        on_stop_signal(stop)
        process.start_background_tasks(is_worker=True)
        self.stdout.write(f"The worker drives up to {concurrency} runs at once.")
        self.stdout.write("Press Ctrl+C to stop.")
        self.stdout.flush()
        await worker.run()
        await stopped.wait()
