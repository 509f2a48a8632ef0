"""Run the requests of a collection from the command line, and report what was met.

Exit codes: 0 every request was sent and met what is expected of it; 1 not all of them; 2 usage
(an unknown collection, a file that cannot be read, a data file with a mistake in it); 3 it could
not be run: nothing could be sent, or not one request got an answer while not all was met, or it
was stopped before its end, the database failed, or a report could not be written.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from playground.engine import collection_runs
from playground.engine.collection_runs import (
    MAX_PARALLEL,
    CollectionRunOptions,
    CollectionRunPlan,
    PlanError,
)
from playground.engine.collection_runs.runner import INTERNAL_ERROR_REASON
from playground.headless.arguments import USAGE, environment_of, variables_of
from playground.headless.collecting import (
    StepPrinter,
    agent_for,
    print_line,
    requests_of,
    rows_of,
    select_requests,
    write,
)
from playground.headless.lines import one_line
from playground.headless.printer import configure_stream
from playground.headless.stopping import on_stop
from playground.models import CollectionRun
from playground.rendering.collection_runs import report_of, result_of
from playground.reporting import FORMATS, CollectionRunReport, summary_lines

logger = logging.getLogger(__name__)

ALL_MET, NOT_ALL_MET, COULD_NOT_RUN = 0, 1, 3

#: What a report is written to; "" for the standard output.
Reporters = list[tuple[str, str]]


class Command(BaseCommand):
    """`python manage.py run_collection SLUG|FILE`."""

    help = "Send the requests of a collection in order, and say which met what is expected."
    # They look at every page and would take longer than the requests of a small collection.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        """What is run, with which values, how, and what is told of it."""
        parser.add_argument(
            "collection",
            help="slug of a collection, or a file with one, which is not imported; - for a pipe",
        )
        parser.add_argument(
            "--folder", metavar="F", help="only the requests of this folder, by slug or name"
        )
        parser.add_argument(
            "--request", action="append", default=[], metavar="R",
            help="only this request, by slug or name; may be repeated",
        )  # fmt: skip
        parser.add_argument(
            "--agent", metavar="A",
            help="slug or URL; stands in for the agent of each request that speaks its protocol",
        )  # fmt: skip
        values = parser.add_argument_group("values, the later ones win")
        values.add_argument("--environment", metavar="E", help="slug of an environment")
        values.add_argument(
            "--var", action="append", default=[], metavar="NAME=VALUE", help="may be repeated"
        )
        values.add_argument(
            "--data", metavar="FILE", help="CSV or JSON with values, one row for each iteration"
        )
        way = parser.add_argument_group("way")
        way.add_argument(
            "--iterations", type=int, metavar="N",
            help="how often; once, or once for each row; after the last row comes the first again",
        )  # fmt: skip
        way.add_argument(
            "--parallel", type=int, default=1, metavar="N",
            help="iterations at once; folders, too, where no request captures anything",
        )  # fmt: skip
        way.add_argument(
            "--bail", action="store_true", help="begin nothing more once something is not met"
        )
        parser.add_argument(
            "--reporter", action="append", default=[], metavar="NAME[=FILE]",
            help=f"{', '.join(FORMATS)}; may be repeated; without a file to the standard output",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, report, and exit by how it went."""
        try:
            code = _go(options)
        except CommandError:
            raise
        except DatabaseError as error:
            raise CommandError(f"The database: {error}", returncode=COULD_NOT_RUN) from error
        except Exception as error:
            logger.exception("run_collection failed")
            raise CommandError(INTERNAL_ERROR_REASON, returncode=COULD_NOT_RUN) from error
        sys.exit(code)


def _go(options: dict[str, Any]) -> int:
    """Run and report; the exit code. Raises `CommandError` for usage."""
    reporters = _reporters(options["reporter"])
    plan = _plan(options)
    configure_stream(sys.stdout, as_json=False)
    teller = StepPrinter(
        len(plan.steps), ("text", "") in reporters, plan.options.iteration_count > 1
    )
    run = collection_runs.record(plan)
    troubles = _drive(run, plan, teller)
    teller.clear()
    results = [teller.results.get(s.number) or result_of(s, None) for s in plan.steps]
    report = report_of(run, results)
    troubles += _write(report, reporters) + ([teller.error] if teller.error else [])
    for trouble in troubles:
        print(one_line(trouble), file=sys.stderr)
    return COULD_NOT_RUN if troubles else _exit_code(report)


def _drive(run: CollectionRun, plan: CollectionRunPlan, teller: StepPrinter) -> list[str]:
    """Drive it to its end; why it did not come there, in sentences."""
    try:
        asyncio.run(_to_its_end(run, plan, teller))
    except Exception as error:
        # Not the agents' fault, and no reason to keep back what has come.
        logger.exception("a collection run was left unfinished")
        return [f"The run could not be brought to its end: {error}"]
    return []


async def _to_its_end(run: CollectionRun, plan: CollectionRunPlan, teller: StepPrinter) -> None:
    on_stop(lambda: collection_runs.stop(run))
    await collection_runs.start(run, plan, teller, teller.wait)


def _plan(options: dict[str, Any]) -> CollectionRunPlan:
    collection, requests = requests_of(options["collection"])
    requests = select_requests(requests, options["folder"], options["request"])
    wanted = CollectionRunOptions(
        agent=agent_for(options["agent"], requests) if options["agent"] else None,
        environment=environment_of(options["environment"]),
        variables=variables_of(options["var"]),
        rows=rows_of(options["data"]) if options["data"] else (),
        iterations=_between("--iterations", options["iterations"], None),
        parallel=_between("--parallel", options["parallel"], MAX_PARALLEL) or 1,
        bail=options["bail"],
    )
    stored = collection if collection.pk else None
    try:
        return collection_runs.plan_run(collection.name, requests, wanted, None, stored)
    except PlanError as error:
        raise CommandError(str(error), returncode=USAGE) from None


def _between(name: str, number: int | None, most: int | None) -> int | None:
    if number is not None and (number < 1 or (most and number > most)):
        limit = f" to {most}" if most else " or more"
        raise CommandError(f"{name} wants a number, 1{limit}", returncode=USAGE)
    return number


def _reporters(given: list[str]) -> Reporters:
    """What is written where; the text goes to the standard output unless another one does."""
    found: Reporters = []
    for each in given:
        name, _, file = each.partition("=")
        if name not in FORMATS:
            raise CommandError(f"--reporter is one of {', '.join(FORMATS)}", returncode=USAGE)
        if file and not _is_writable(Path(file)):
            raise CommandError(f"{file}: cannot be written", returncode=USAGE)
        found.append((name, file))
    printed = [name for name, file in found if not file]
    if len(printed) > 1:
        told = " and ".join(printed)
        raise CommandError(f"Only one of {told} can go to the standard output", returncode=USAGE)
    return found if printed else [("text", ""), *found]


def _is_writable(file: Path) -> bool:
    """Found out before the run, and not after it."""
    return os.access(file if file.exists() else file.parent, os.W_OK) and not file.is_dir()


def _write(report: CollectionRunReport, reporters: Reporters) -> list[str]:
    """Write every report that can be written; what kept the others, in sentences."""
    troubles = []
    for name, file in reporters:
        try:
            _write_one(report, name, file)
        except OSError as error:
            troubles.append(f"{file or 'standard output'}: {error.strerror}")
    return troubles


def _write_one(report: CollectionRunReport, name: str, file: str) -> None:
    written, _, _ = FORMATS[name]
    if file:
        Path(file).write_text(written(report), "utf-8", "replace")
    elif name == "text":  # The steps are there already.
        for line in summary_lines(report):
            print_line(line)
    else:
        write(written(report))


def _exit_code(report: CollectionRunReport) -> int:
    if report.all_passed:
        return ALL_MET
    if report.state != CollectionRun.State.COMPLETED:
        return COULD_NOT_RUN
    answered = any(step.status is not None for step in report.steps)
    return NOT_ALL_MET if answered else COULD_NOT_RUN
