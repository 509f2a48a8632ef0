"""`make load`: latency from the agent to the websockets under load, and what idling costs.

Rows of latencies are measured in turns with a bare server, and their targets are ratios to it. Run
some rows with `--rows 1,4`, another checkout with `--tree`, and the short form, which fails if an
event is lost or repeated, with `--short`. `--cluster` measures rows with one process, and again
with two web processes and two workers behind nginx. `--soak 20` keeps a mixed load for 20 minutes
instead, and fails also if anything is left over.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.qa.bench.table import Row, print_machine, print_markdown
from tests.qa.load import interim, reloads, stopped
from tests.qa.load.comparison import HEADER, Comparison, Ratios
from tests.qa.load.costs import Cores
from tests.qa.load.sides import Options, Side, playground, run, sides
from tests.qa.load.soak import soak
from tests.support.playground_server import ROOT

#: Results of a run. All are within the window whose cards are pushed to a page.
RESULTS = 50
#: Seconds between two results of one of many streams, and of the one run of many viewers.
SLOW, FAST = 0.5, 0.05
#: Turns in which many streams are measured, with a part of the results in each.
TURNS = 2
#: Seconds for which idling is measured.
IDLE = 15.0
#: File descriptors of each process: two for each run, one for each viewer.
DESCRIPTORS = 8192


@dataclass
class Totals:
    """The rows of both tables."""

    comparisons: list[Comparison] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    #: Events that were lost or repeated.
    faults: int = 0

    def add(self, what: str, target: Ratios, both: tuple[Side, Side]) -> None:
        """Add the row of a playground and a bare server."""
        ours, theirs = both
        row = Comparison(what, ours.figures, theirs.figures, target, os.getloadavg()[0])
        self.comparisons.append(row)
        self.faults += row.faults
        print("\n    ".join(row.cells), file=sys.stderr, flush=True)

    def add_idle(self, what: str, aim: float, cores: Cores) -> None:
        """Add the row of idling; its aim is a number of cores."""
        used = cores.of("server")
        self.add_row(Row(what, f"{used:.3f} cores", f"≤ {aim} cores", used <= aim))

    def add_row(self, row: Row, faults: int = 0) -> None:
        """Add a row of another measurement, in which so many events were lost or repeated."""
        self.rows.append(row)
        self.faults += faults
        print(f"{row.what}: {row.figure} {row.verdict}", file=sys.stderr, flush=True)

    def print_tables(self) -> None:
        """Print what has rows."""
        print_machine()
        if self.comparisons:
            print_markdown(HEADER, [row.cells for row in self.comparisons])
            print()
        if self.rows:
            lines = [[row.what, row.figure, row.aim, row.verdict] for row in self.rows]
            print_markdown(["load", "result", "target", ""], lines)


Measurement = Callable[[Options, Totals], None]


def many_streams(streams: int, target: Ratios) -> Measurement:
    """Return the row of `streams` runs at once with one viewer each."""

    def measure(options: Options, totals: Totals) -> None:
        turns = 1 if options.short else TURNS
        results = 6 if options.short else RESULTS // TURNS
        with sides(options) as both:
            for _ in range(turns):
                for side in both:
                    side.measure(streams, results, SLOW, viewers=1)
            what = f"{streams:,} streams of {1 / SLOW:.0f} events/s, one viewer each"
            totals.add(what + ", cluster" * options.cluster, target, both)

    return measure


def many_viewers(viewers: int, turns: int, target: Ratios) -> Measurement:
    """Return the row of runs with `viewers` viewers each, one in each turn."""

    def measure(options: Options, totals: Totals) -> None:
        with sides(options) as both:
            for _ in range(1 if options.short else turns):
                for side in both:
                    side.measure(1, RESULTS, FAST, viewers)
            what = f"one run of {1 / FAST:.0f} events/s, {viewers:,} viewers"
            totals.add(what + ", cluster" * options.cluster, target, both)

    return measure


def idle(options: Options, totals: Totals) -> None:
    """Measure what silent runs cost, with viewers and without."""

    async def watched(side: Side) -> None:
        await side.audience.open(side.start(1, 0, 0) * 500, 0)
        with side.measuring():
            await asyncio.sleep(IDLE)
        side.release()
        await side.audience.finish()
        await side.audience.close()

    with playground(options) as side:
        run(watched(side))
        totals.add_idle("idle: 500 viewers of one silent run", 0.05, side.cores)
    with playground(options) as side:
        side.start(500, 0, 0)
        time.sleep(2)
        with side.measuring():
            time.sleep(IDLE)
        side.release()
        totals.add_idle("idle: 500 silent streams without viewers", 0.1, side.cores)


def interim_responses(lines: int) -> Callable[[Options, Totals], None]:
    """Return the row of pages beside agents that send heads of so many lines without end."""

    def measure(options: Options, totals: Totals) -> None:
        seconds = interim.SECONDS / (5 if options.short else 1)
        row = interim.measure(options.server, options.tree, options.python, lines, seconds)
        totals.add_row(row)

    return measure


def stopped_readers(options: Options, totals: Totals) -> None:
    """Measure viewers beside sockets that stop reading."""
    totals.add_row(*stopped.measure(options))


def reloaded_pages(options: Options, totals: Totals) -> None:
    """Measure pages that are reloaded while runs flood."""
    totals.add_row(*reloads.measure(options))


#: The playground stores, renders and counts each event, and the bare server does not. Of a message
#: to one more viewer the work is the same.
STREAMS, VIEWERS = Ratios(p99=4, cpu=2), Ratios(p99=1.5, cpu=1.5)
ROWS: dict[str, Measurement] = {
    "1": many_streams(50, STREAMS),
    "2": many_streams(200, STREAMS),
    "3": many_streams(500, STREAMS),
    "4": many_viewers(100, 8, VIEWERS),
    "5": many_viewers(500, 8, VIEWERS),
    "6": many_viewers(1000, 6, VIEWERS),
    "7": idle,
    "8": interim_responses(interim.PLAIN),
    "9": interim_responses(interim.LONG),
    "10": many_streams(1000, STREAMS),
    "11": stopped_readers,
    "12": reloaded_pages,
}
#: The rows with a bare server.
COMPARED = ROWS.keys() - {"7", "8", "9", "11", "12"}
#: The rows of `--short`, and of `--cluster`.
SHORT, CLUSTER = "1,4,12", "3,5"


def compare_with_cluster(number: str, options: Options, totals: Totals) -> None:
    """Measure a row with one process and with a cluster, and add the ratio."""
    for is_cluster in (False, True):
        ROWS[number](replace(options, cluster=is_cluster), totals)
    one, several = (row.playground.p99 for row in totals.comparisons[-2:])
    what = f"row {number}: p99 of the cluster to that of one process"
    totals.add_row(Row(what, f"{several / one:.2f}", "–", None))


def raise_descriptor_limit() -> None:
    """Raise the limit of open files for this process and those that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", help="numbers of rows, for example 1,4; default: all")
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"a few seconds of rows {SHORT}; fails only if an event is lost or repeated",
    )
    parser.add_argument(
        "--cluster",
        action="store_true",
        help=f"rows with one process and with a cluster; default: {CLUSTER}",
    )
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="a mixed load, and no rows")
    parser.add_argument("--samples", type=Path, help="file for the samples of the soak, as JSON")
    parser.add_argument("--server", help="passed to manage.py serve --server")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--python", default=sys.executable, help="the interpreter of that checkout")
    parser.add_argument("--compression", action="store_true", help="offer permessage-deflate")
    given = parser.parse_args()
    default = CLUSTER if given.cluster else SHORT if given.short else ",".join(ROWS)
    given.rows = (given.rows or default).split(",")
    if unknown := set(given.rows) - ROWS.keys():
        parser.error(f"no such rows: {', '.join(sorted(unknown))}")
    if given.cluster and (others := set(given.rows) - COMPARED):
        parser.error(f"rows without latencies: {', '.join(sorted(others))}")
    return given


def main() -> None:
    """Measure and print."""
    given = arguments()
    raise_descriptor_limit()
    options = Options(
        short=given.short,
        server=("--server", given.server) if given.server else (),
        tree=given.tree.resolve(),
        python=given.python,
        compression=given.compression,
    )
    if given.soak:
        is_sound = soak(
            given.soak, tree=options.tree, python=options.python, options=options.server,
            record=given.samples,
        )  # fmt: skip
        sys.exit(0 if is_sound else 1)
    totals = Totals()
    for number in given.rows:
        if given.cluster:
            compare_with_cluster(number, options, totals)
        else:
            ROWS[number](options, totals)
    totals.print_tables()
    if given.short and totals.faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
