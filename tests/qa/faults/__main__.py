"""`make faults`: what the faults of a database, a channel layer or a process do to runs.

Each fault at a tenth of its duration in a loop, then once at full length. `--rows 1,2` selects
rows, `--loops N` the length of the loop, `--full` only the full length, `--short` only a loop, of
one for some rows.
The exit status is 1 if anything is not as expected.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import signal
import sys
import tempfile
from collections.abc import Iterator

from tests.qa.bench.table import Row as Line
from tests.qa.bench.table import print_table
from tests.qa.faults.rows import FEW, LOOPS, ROWS, SHORT, Row
from tests.qa.faults.stages import Stage
from tests.qa.faults.trial import Result
from tests.qa.scale.services import MissingError, find_postgresql, find_redis
from tests.support.isolation import SHARED

#: Failures that are printed of a trial.
SHOWN = 5


def durations(given: argparse.Namespace, row: Row) -> list[float]:
    """Return the seconds of each trial of a row."""
    tenth = max(row.seconds / 10, row.least)
    loops = (1 if given.short else row.loops) if given.loops is None else given.loops
    loops = 0 if given.full else loops
    return [tenth] * loops + [row.seconds] * (not given.short)


def trials(stage: Stage, number: str, given: argparse.Namespace) -> Iterator[Line]:
    """Yield the table's lines of a row: of its loop, and of its full length."""
    row = ROWS[number]
    for seconds, repeated in itertools.groupby(durations(given, row)):
        results = [trial(stage, number, seconds) for _ in repeated]
        bad = sum(bool(result.failures) for result in results)
        figure = f"{len(results) - bad} of {len(results)} as expected; the last: {results[-1]}"
        yield Line(f"{number}: {row.what} for {seconds:g} s", figure, row.expected, not bad)


def trial(stage: Stage, number: str, seconds: float) -> Result:
    """Cause a fault once; print what was counted, and what was not as expected."""
    row = ROWS[number]
    try:
        result = asyncio.run(row.cause(stage, seconds))
    except Exception as error:
        result = Result(failures=[f"{type(error).__name__}: {error}"])
    print(f"{number}: {row.what} for {seconds:g} s: {result}", file=sys.stderr, flush=True)
    for failure in result.failures[:SHOWN]:
        print(f"   {failure}", file=sys.stderr, flush=True)
    if rest := len(result.failures[SHOWN:]):
        print(f"   and {rest} more", file=sys.stderr, flush=True)
    return result


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", help="numbers of rows, for example 1,4; default: all")
    parser.add_argument("--loops", type=int, help=f"default: {LOOPS}, of some rows {FEW}")
    parser.add_argument("--full", action="store_true", help="only the full length")
    parser.add_argument(
        "--short", action="store_true", help=f"rows {SHORT} once, at a tenth of their length"
    )
    given = parser.parse_args()
    given.rows = (given.rows or (SHORT if given.short else ",".join(ROWS))).split(",")
    if unknown := set(given.rows) - ROWS.keys():
        parser.error(f"no such rows: {', '.join(sorted(unknown))}")
    return given


def main() -> int:
    """Cause the faults and print the table."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that all servers are stopped.
    given = arguments()
    try:
        find_postgresql()
        find_redis()
    except MissingError as error:
        print(error, file=sys.stderr)
        return 1
    lines: dict[str, list[Line]] = {}
    with tempfile.TemporaryDirectory() as shared:
        # Playgrounds begin with a copy of one data directory.
        os.environ[SHARED] = shared
        in_order = sorted(given.rows, key=lambda number: ROWS[number].stage.__name__)
        for stage, numbers in itertools.groupby(in_order, lambda number: ROWS[number].stage):
            with stage() as playgrounds:
                for number in numbers:
                    lines[number] = list(trials(playgrounds, number, given))
    table = [line for number in given.rows for line in lines[number]]
    print_table(table, "fault")
    return 0 if all(line.met for line in table) else 1


if __name__ == "__main__":
    sys.exit(main())
