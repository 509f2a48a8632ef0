"""Command that runs the requests of a collection, and reports which expectations were met.

Exit codes: 0 every request was sent and met its expectations; 1 not all of them; 2 usage (an
unknown collection, a file that cannot be read or written, a data file with an error); 3 the run
failed: nothing could be sent, or no request got a response while not all expectations were met, or
the run was stopped early, the database failed, or writing a report failed in the end.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.management import CommandError, CommandParser
from django.db import Error

from playground.cli.arguments import (
    USAGE,
    add_options,
    agent_of,
    bytes_from,
    collection_of,
    environment_of,
    up_to,
    variables_of,
)
from playground.cli.database_command import DatabaseCommand
from playground.cli.output import (
    configure_stream,
    ignored_by_runner,
    one_line,
    print_line,
    write,
)
from playground.cli.signals import on_stop_signal
from playground.collection_runs.page import report_of, result_of
from playground.collection_runs.reports import (
    FORMATS,
    CollectionRunReport,
    StepResult,
    VerdictCounts,
    step_lines,
    summary_lines,
)
from playground.collections.fixture import FixtureError
from playground.collections.fixture_parser import parse_fixture
from playground.collections.importer import unsaved_collection
from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import (
    MAX_PARALLEL,
    CollectionRunOptions,
    CollectionRunPlan,
    PlanError,
    plan_run,
    record,
)
from playground.engine.collection_runs.runner import INTERNAL_ERROR_REASON
from playground.engine.mcp_sessions import end_sessions_of
from playground.engine.preparation import AgentUrlError, override_agent
from playground.import_export.data_rows import MAX_BYTES, DataError, Row, read_rows
from playground.models import Agent, Collection, CollectionRun, Run, SavedRequest, Step
from playground.models.collections import requests_in_order

logger = logging.getLogger(__name__)

ALL_MET, NOT_ALL_MET, COULD_NOT_RUN = 0, 1, 3

#: Characters of the progress bar.
WIDTH = 24

#: Message for a run that makes no progress because of the limit.
WAITING_FOR_LIMIT = "Waiting for another run to finish: the limit PLAYGROUND_MAX_RUNS is reached."

#: Name and file of each report; "" for standard output.
Reporters = list[tuple[str, str]]


class Command(DatabaseCommand):
    """`python manage.py run_collection SLUG|FILE`."""

    help = "Send the requests of a collection in order, and check their expectations."
    # A test suite: its result must not depend on settings of a server.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "collection",
            help="slug of a collection, or a fixture, which is not imported; - for standard input",
        )
        parser.add_argument(
            "--folder", metavar="F", help="send only the requests in this folder, by slug or name"
        )
        parser.add_argument(
            "--request", action="append", default=[], metavar="R",
            help="send only this request, by slug or name; can be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--agent", metavar="A",
            help="slug or URL; replaces the agent of every request with the same protocol",
        )  # fmt: skip
        values = parser.add_argument_group("variables, in ascending precedence")
        values.add_argument("--environment", metavar="E", help="slug of the environment to use")
        add_options(values, "--var")
        values.add_argument(
            "--data", metavar="FILE", help="CSV or JSON file with a data row per iteration"
        )
        way = parser.add_argument_group("order")
        way.add_argument(
            "--iterations", type=up_to(1_000_000), metavar="N",
            help="number of iterations; default: 1, or one per data row; data rows are reused",
        )  # fmt: skip
        way.add_argument(
            "--parallel", type=up_to(MAX_PARALLEL), default=1, metavar="N",
            help="iterations sent at the same time, or folders if no request captures a value",
        )  # fmt: skip
        way.add_argument("--bail", action="store_true", help="stop on first failure")
        parser.add_argument(
            "--reporter", action="append", default=[], metavar="NAME[=FILE]",
            help=f"{', '.join(FORMATS)}; can be repeated; without FILE to standard output",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            reporters = _reporters(options["reporter"])
            with ignored_by_runner(("text", "") in reporters):
                code = _run(options, reporters)
        except (CommandError, Error):
            raise
        except Exception as error:
            logger.exception("run_collection failed")
            raise CommandError(INTERNAL_ERROR_REASON, returncode=COULD_NOT_RUN) from error
        sys.exit(code)


def _run(options: dict[str, Any], reporters: Reporters) -> int:
    """Run and report; return the exit code. Raise `CommandError` for usage errors."""
    plan = _plan(options)
    configure_stream(sys.stdout, as_json=False)
    printer = StepPrinter(
        len(plan.steps), ("text", "") in reporters, plan.options.iteration_count > 1
    )
    try:
        run = record(plan)
    except PlanError as error:
        raise CommandError(str(error), returncode=COULD_NOT_RUN) from None
    errors = _drive(run, plan, printer)
    printer.clear()
    results = [printer.results.get(s.number) or result_of(s, None) for s in plan.steps]
    report = report_of(run, results)
    errors += _write(report, reporters) + ([printer.error] if printer.error else [])
    for message in errors:
        print(one_line(message), file=sys.stderr)
    return COULD_NOT_RUN if errors else _exit_code(report)


def _drive(run: CollectionRun, plan: CollectionRunPlan, printer: StepPrinter) -> list[str]:
    """Drive the run to its end; return the errors that prevented it, as sentences."""
    try:
        asyncio.run(_await_end(run, plan, printer))
    except Exception as error:
        # Not an error of the agents; the steps that ended are reported all the same.
        logger.exception("a collection run was left unfinished")
        return [f"The run was not completed: {error}"]
    return []


async def _await_end(run: CollectionRun, plan: CollectionRunPlan, printer: StepPrinter) -> None:
    on_stop_signal(lambda _: runner.stop(run))
    try:
        await runner.start(run, plan, printer, printer.wait)
    finally:
        await end_sessions_of(await sync_to_async(_conversations_of)(run))


def _conversations_of(run: CollectionRun) -> list[UUID]:
    runs = Run.objects.filter(pk__in=run.steps.values("run"))
    return list(runs.exclude(conversation=None).values_list("conversation", flat=True).distinct())


def _plan(options: dict[str, Any]) -> CollectionRunPlan:
    collection, requests = _requests_of(options["collection"])
    requests = _select_requests(requests, options["folder"], options["request"])
    run_options = CollectionRunOptions(
        agent=_agent_for(options["agent"], requests) if options["agent"] else None,
        environment=environment_of(options["environment"]),
        variables=variables_of(options["var"]),
        rows=_rows_of(options["data"]) if options["data"] else (),
        iterations=options["iterations"],
        parallel=options["parallel"],
        bail=options["bail"],
    )
    stored = collection if collection.pk else None
    try:
        return plan_run(collection.name, requests, run_options, None, stored)
    except PlanError as error:
        raise CommandError(str(error), returncode=USAGE) from None


def _requests_of(name: str) -> tuple[Collection, list[SavedRequest]]:
    """Return the collection with this slug, or of this file, and its requests in order.

    `-` is standard input.
    """
    if name == "-" or name.endswith(".json") or os.sep in name or Path(name).is_file():
        try:
            return unsaved_collection(parse_fixture(bytes_from(name).decode("utf-8")))
        except UnicodeDecodeError:
            raise CommandError(f"{name}: not UTF-8 text", returncode=USAGE) from None
        except FixtureError as error:
            problems = "\n".join(f"{name}: {one_line(str(each))}" for each in error.problems)
            raise CommandError(problems, returncode=USAGE) from error
    collection = collection_of(name)
    return collection, list(requests_in_order(collection))


def _select_requests(
    requests: Sequence[SavedRequest], folder: str | None, names: Sequence[str]
) -> list[SavedRequest]:
    """Return the requests in a folder, or with one of these names; slugs count as names, too."""
    found = list(requests)
    if folder is not None:
        found = [
            each for each in found if each.folder and folder in (each.folder.slug, each.folder.name)
        ]
        if not found:
            raise CommandError(f"No requests in folder “{folder}”", returncode=USAGE)
    for name in names:
        if not any(name in (each.slug, each.name) for each in found):
            raise CommandError(f"No request “{name}”", returncode=USAGE)
    return [each for each in found if not names or {each.slug, each.name} & set(names)]


def _agent_for(name: str, requests: Sequence[SavedRequest]) -> Agent:
    """Return the agent with this slug, or at this URL, that replaces those of the requests."""
    try:
        agent = override_agent(name, requests, None) if "://" in name else agent_of(name)
    except AgentUrlError as error:
        raise CommandError(str(error), returncode=USAGE) from None
    if requests and all(each.protocol != agent.protocol for each in requests):
        label = agent.get_protocol_display()
        raise CommandError(f"--agent {name}: no request uses {label}", returncode=USAGE)
    return agent


def _rows_of(name: str) -> list[Row]:
    try:
        return read_rows(bytes_from(name, MAX_BYTES), name)
    except DataError as error:
        raise CommandError(f"{name}: {one_line(str(error))}", returncode=USAGE) from error


def _reporters(values: list[str]) -> Reporters:
    """Return the reports and their files; text goes to standard output unless another one does."""
    found: Reporters = []
    for each in values:
        name, _, file = each.partition("=")
        if name not in FORMATS:
            raise CommandError(f"--reporter must be one of {', '.join(FORMATS)}", returncode=USAGE)
        path = Path(file)  # Before the run, and not after it.
        is_writable = os.access(path if path.exists() else path.parent, os.W_OK)
        if file and (path.is_dir() or not is_writable):
            raise CommandError(f"{file}: not writable", returncode=USAGE)
        found.append((name, file))
    printed = [name for name, file in found if not file]
    if len(printed) > 1:
        names = " and ".join(printed)
        raise CommandError(
            f"Only one of {names} can be written to standard output", returncode=USAGE
        )
    return found if printed else [("text", ""), *found]


def _write(report: CollectionRunReport, reporters: Reporters) -> list[str]:
    """Write all reports; return the errors of those that failed, as sentences."""
    errors = []
    for name, file in reporters:
        render, _, _ = FORMATS[name]
        try:
            if file:
                Path(file).write_text(render(report), "utf-8", "replace")
            elif name == "text":  # The steps were printed already.
                for line in summary_lines(report):
                    print_line(line)
            else:
                write(render(report))
        except OSError as error:
            errors.append(f"{file or 'standard output'}: {error.strerror}")
    return errors


def _exit_code(report: CollectionRunReport) -> int:
    if report.all_met:
        return ALL_MET
    if report.state != CollectionRun.State.COMPLETED:
        return COULD_NOT_RUN
    answered = any(step.status is not None for step in report.steps)
    return NOT_ALL_MET if answered else COULD_NOT_RUN


@dataclass(slots=True)
class StepPrinter:
    """Printer of steps as they end; on a terminal with a progress bar below."""

    planned: int
    #: Whether the lines of the steps go to standard output.
    lines: bool
    numbered: bool
    counts: Counter[str] = field(default_factory=Counter)
    #: The steps that have ended, by number.
    results: dict[int, StepResult] = field(default_factory=dict)
    #: Reason why not everything could be printed, a sentence; "" if it could.
    error: str = ""
    _bar: bool = field(default_factory=sys.stderr.isatty)
    _has_waited: bool = False

    def __call__(self, step: Step, run: Run | None) -> None:
        self.counts[step.verdict] += 1
        result = self.results[step.number] = result_of(step, run)
        self.clear()
        if self.lines:
            self._print_lines(step_lines(result, self.numbered))
        if self._bar:
            self._draw()

    def _print_lines(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                print_line(line)
        except OSError as error:
            # Reported once, at the end, and not for every step.
            self.error, self.lines = f"standard output: {error.strerror}", False

    def wait(self) -> None:
        """Print, once, that the next request waits for the concurrency limit."""
        if not self._has_waited:
            self._has_waited = True
            self.clear()
            print(WAITING_FOR_LIMIT, file=sys.stderr, flush=True)

    def _draw(self) -> None:
        verdicts = VerdictCounts(self.planned, self.counts)
        full = WIDTH * verdicts.done // max(1, self.planned)
        bar = f"[{'#' * full}{'.' * (WIDTH - full)}] {verdicts.summary}"
        print(f"\r{bar}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._bar:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
