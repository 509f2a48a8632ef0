"""`make load`: latency from the agent to the websockets under load, and what idling costs.

Run some rows with `--rows 1,4`, another checkout with `--tree`, and the short form, which fails if
an event is lost or repeated, with `--short`. `--cluster` measures rows with one process, and again
with two web processes and two workers behind nginx. `--soak 20` keeps a mixed load for 20 minutes
instead, and fails also if anything is left over.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.qa.bench.clients import Started
from tests.qa.bench.serving import served
from tests.qa.bench.table import Row, print_table
from tests.qa.cluster.processes import cluster
from tests.qa.load import interim
from tests.qa.load.costs import Cores, Costs
from tests.qa.load.soak import soak
from tests.qa.load.streams import Streams
from tests.qa.load.viewers import Audience
from tests.support.playground_server import ROOT, PlaygroundServer

#: Results of a run. All are within the window whose cards are pushed to a page.
RESULTS = 50
#: Seconds between two results of one of many streams, and of the one run of many viewers.
SLOW, FAST = 0.5, 0.05
#: Seconds for which idling is measured.
IDLE = 15.0
#: File descriptors of each process: two for each run, one for each viewer.
DESCRIPTORS = 8192


@dataclass(frozen=True)
class Options:
    """What is measured, and how."""

    short: bool
    server: tuple[str, ...]
    tree: Path
    python: str
    compression: bool
    #: Whether the playground is a cluster.
    cluster: bool = False


@dataclass
class Totals:
    """Figures of the table's rows beside their times."""

    faults: int = 0
    rows: list[Row] = field(default_factory=list)
    #: Milliseconds of the 99th percentile of each row.
    percentiles: list[float] = field(default_factory=list)

    def add(self, what: str, aim: float, audience: Audience, cores: Cores, costs: str = "") -> None:
        """Add the row of a measurement; its aim is the milliseconds of the 99th percentile."""
        latencies = audience.latencies
        if len(latencies) > 1:
            p99 = statistics.quantiles(latencies, n=100)[98]
            times = f"p50 {statistics.median(latencies):.0f} ms, p99 {p99:.0f} ms"
        else:
            p99, times = float("inf"), "nothing received"
        faults = audience.lost + audience.repeated
        self.faults += faults
        self.percentiles.append(p99)
        dropped = f", {audience.dropped:,} connections dropped" if audience.dropped else ""
        figure = (
            f"{times}; lost {audience.lost:,}, repeated {audience.repeated:,} of "
            f"{len(latencies):,}{dropped}; "
            f"{cores.of('server'):.2f} cores ({cores.others('server')})"
            f"{costs}"
        )
        met = p99 <= aim and not faults
        self.add_row(Row(what, figure, f"p99 ≤ {aim:.0f} ms, none lost", met))

    def add_idle(self, what: str, aim: float, cores: Cores) -> None:
        """Add the row of idling; its aim is a number of cores."""
        used = cores.of("server")
        self.add_row(Row(what, f"{used:.3f} cores", f"≤ {aim} cores", used <= aim))

    def add_row(self, row: Row) -> None:
        """Add a row of another measurement."""
        self.rows.append(row)
        print(f"{row.what}: {row.figure} {row.verdict}", file=sys.stderr, flush=True)


class Load(Streams):
    """A playground, its agent, and the form that starts runs."""

    def __init__(self, url: str, agent: str, cores: Cores, costs: Costs | None = None) -> None:
        super().__init__(url, agent)
        self.cores = cores
        self.costs = costs

    def costs_of(self, events: int) -> str:
        """Return what each of the agent's events has cost, as a phrase; "" if that is unknown."""
        return self.costs.per_event(events) if self.costs else ""


#: Settings of every playground. A stream is silent until all have started.
SETTINGS = {"PLAYGROUND_MAX_RUNS": "1200", "PLAYGROUND_IDLE_TIMEOUT": "600"}


@contextlib.contextmanager
def playground(options: Options) -> Iterator[Load]:
    """A new playground and its agent, a process each; or a cluster and its agent."""
    with (
        tempfile.TemporaryDirectory() as data,
        served("tests.qa.bench.source") as agent,
        contextlib.ExitStack() as stack,
    ):
        if options.cluster:
            parts = stack.enter_context(
                cluster(
                    Path(data), tree=options.tree, python=options.python,
                    server_options=options.server, **SETTINGS,
                )
            )  # fmt: skip
            cores = Cores(
                server=[process.pid for process in (*parts.servers, *parts.workers)],
                web=[process.pid for process in parts.servers],
                workers=[process.pid for process in parts.workers],
                postgresql=parts.database.pid,
                redis=parts.layer.pid,
                nginx=parts.proxy.pid,
                agent=agent.pid,
                viewers=os.getpid(),
            )
            costs = Costs(parts.settings["DATABASE_URL"], parts.settings["REDIS_URL"])
            yield Load(parts.url, agent.url, cores, costs)
            return
        server = stack.enter_context(
            PlaygroundServer(
                Path(data), tree=options.tree, python=options.python, options=options.server,
                **SETTINGS,
            )
        )  # fmt: skip
        cores = Cores(server=server.pid, agent=agent.pid, viewers=os.getpid())
        yield Load(server.url, agent.url, cores)


@contextlib.contextmanager
def measuring(load: Load) -> Iterator[None]:
    """Measure the CPU time of the block, and what it costs the servers of a cluster."""
    measuring_costs = load.costs.measuring() if load.costs else contextlib.nullcontext()
    with measuring_costs, load.cores.measuring():
        yield


async def stream(load: Load, audience: Audience, watched: list[Started], results: int) -> None:
    """Open a websocket for each of `watched`, let the agent stream, and wait for the end."""
    await audience.open(watched, results)
    with measuring(load):
        load.release()
        await audience.finish()
    await audience.close()


def many_streams(streams: int, aim: float) -> Callable[[Options, Totals], None]:
    """Return the row of `streams` runs at once with one viewer each."""

    def measure(options: Options, totals: Totals) -> None:
        results = 10 if options.short else RESULTS
        audience = Audience(options.compression)
        with playground(options) as load:
            started = load.start(streams, results, SLOW)
            asyncio.run(stream(load, audience, started, results))
            what = f"{streams} streams of {1 / SLOW:.0f} events/s, one viewer each"
            what += ", cluster" * options.cluster
            costs = load.costs_of(streams * results)
            totals.add(what, aim, audience, load.cores, costs)

    return measure


def many_viewers(viewers: int, runs: int, aim: float) -> Callable[[Options, Totals], None]:
    """Return the row of `runs` runs, one after another, with `viewers` viewers each."""

    def measure(options: Options, totals: Totals) -> None:
        audience = Audience(options.compression)
        with playground(options) as load:
            count = 2 if options.short else runs
            for _ in range(count):
                [started] = load.start(1, RESULTS, FAST)
                asyncio.run(stream(load, audience, [started] * viewers, RESULTS))
            what = f"one run of {1 / FAST:.0f} events/s, {viewers:,} viewers"
            what += ", cluster" * options.cluster
            totals.add(what, aim, audience, load.cores, load.costs_of(count * RESULTS))

    return measure


def idle(options: Options, totals: Totals) -> None:
    """Measure what silent runs cost, with viewers and without."""

    async def watched(load: Load) -> None:
        audience = Audience(options.compression)
        await audience.open(load.start(1, 0, 0) * 500, 0)
        with measuring(load):
            await asyncio.sleep(IDLE)
        load.release()
        await audience.finish()
        await audience.close()

    with playground(options) as load:
        asyncio.run(watched(load))
        totals.add_idle("idle: 500 viewers of one silent run", 0.05, load.cores)
    with playground(options) as load:
        load.start(500, 0, 0)
        time.sleep(2)
        with measuring(load):
            time.sleep(IDLE)
        load.release()
        totals.add_idle("idle: 500 silent streams without viewers", 0.1, load.cores)


def interim_responses(lines: int) -> Callable[[Options, Totals], None]:
    """Return the row of pages beside agents that send heads of so many lines without end."""

    def measure(options: Options, totals: Totals) -> None:
        seconds = interim.SECONDS / (5 if options.short else 1)
        row = interim.measure(options.server, options.tree, options.python, lines, seconds)
        totals.add_row(row)

    return measure


ROWS: dict[str, Callable[[Options, Totals], None]] = {
    "1": many_streams(50, 50),
    "2": many_streams(200, 150),
    "3": many_streams(500, 250),
    "4": many_viewers(100, 8, 100),
    "5": many_viewers(500, 8, 170),
    "6": many_viewers(1000, 6, 400),
    "7": idle,
    "8": interim_responses(interim.PLAIN),
    "9": interim_responses(interim.LONG),
}
#: The rows of `--short`, and of `--cluster`.
SHORT, CLUSTER = "1,4", "3,5"


def compare_with_cluster(number: str, options: Options, totals: Totals) -> None:
    """Measure a row with one process and with a cluster, and add the ratio."""
    for is_cluster in (False, True):
        ROWS[number](replace(options, cluster=is_cluster), totals)
    one, several = totals.percentiles[-2:]
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
        help="a few seconds of rows 1 and 4; fails only if an event is lost or repeated",
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
    if given.cluster and (others := set(given.rows) - set("123456")):
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
    print_table(totals.rows)
    if given.short and totals.faults:
        sys.exit(1)


if __name__ == "__main__":
    main()
