"""Measures what tests find in mutants of a module: `python -m tests.qa.mutants MODULE TEST …`.

Each test runs once, with a trace of the lines that it reaches. Then every mutant runs, in a fork,
the tests that reach its line, until one of them fails. Printed are each mutant that no test has
found, and the figures. The same source has the same mutants, so the figures of two checkouts
compare. Tests that start processes are left out: a process does not have the mutant.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, takewhile
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.qa.mutants.changes import Mutant, apply, mutants_of

#: Exit statuses of a fork: no test has failed, a test has failed, there was nothing to change.
SURVIVED, FOUND, NOT_APPLICABLE = range(3)
#: Seconds of the tests that run for a mutant, and of a fork that does not end.
_SECONDS, _LONGEST = 20.0, 180.0
#: A test that makes the database before the first fork.
_FIRST = """
import pytest

@pytest.mark.django_db
def test_the_database_is_made():
    pass
"""


class Measurement:
    """A plugin of pytest that runs the tests of each mutant."""

    def __init__(self, module: str, count: int) -> None:
        self._name, self._count = module, count
        self._has_failed = False

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out tests that start processes."""
        items[:] = [item for item in items if not item.get_closest_marker("process")]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure, that of a fixture included."""
        self._has_failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Print what the tests find."""
        self._run(session.items[:1], after=session.items[1])
        module = importlib.import_module(self._name)
        path = str(module.__file__)
        source = Path(path).read_text("utf-8")
        reached = self._reached(session.items[1:], path)
        mutants = self._sample(mutants_of(source))
        print(f"\n{self._name}: {len(mutants)} mutants, {len(reached)} tests", flush=True)
        counts = [0, 0, 0]
        for mutant in mutants:
            tests = [item for _, lines, item in reached if mutant.line in lines]
            seconds = accumulate(time for time, lines, _ in reached if mutant.line in lines)
            chosen = tests[: 1 + sum(1 for _ in takewhile(lambda sum_: sum_ < _SECONDS, seconds))]
            status = _fork(lambda: self._verdict(mutant, source, path, chosen))  # noqa: B023
            counts[status] += 1
            if status == SURVIVED:
                line = source.splitlines()[mutant.line - 1].strip()
                print(f"  {mutant.line} {mutant.name}: {line}  ({len(tests)} tests)", flush=True)
        total = len(mutants) - counts[NOT_APPLICABLE]
        print(f"{self._name}: {counts[FOUND]} of {total} found", flush=True)
        return True

    def _sample(self, mutants: Sequence[Mutant]) -> list[Mutant]:
        count = min(self._count or len(mutants), len(mutants))
        return sorted(random.Random(self._name).sample(mutants, count), key=lambda each: each.line)

    def _run(self, items: Sequence[pytest.Item], after: pytest.Item | None = None) -> None:
        """Run tests until one fails. Fixtures of the session stay for the test `after` them."""
        for item, following in zip(items, [*items[1:], after or items[0]], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._has_failed:
                return

    def _verdict(self, mutant: Mutant, source: str, path: str, tests: list[pytest.Item]) -> int:
        if tests and not apply(mutant, source, path):
            return NOT_APPLICABLE
        if tests:
            self._run(tests)
        return FOUND if self._has_failed else SURVIVED

    def _reached(
        self, items: Sequence[pytest.Item], path: str
    ) -> list[tuple[float, set[int], pytest.Item]]:
        """Return (seconds, lines, test) for each test that reaches the module, quickest first.

        In a fork: this process shall start no threads, because a fork has none of them.
        """
        with tempfile.NamedTemporaryFile("r") as file:
            _fork(lambda: self._trace(items, path, Path(file.name)), longest=3600)
            rows = sorted(json.load(file))
        return [(seconds, set(lines), items[number]) for seconds, number, lines in rows]

    def _trace(self, items: Sequence[pytest.Item], path: str, into: Path) -> int:
        lines: set[int] = set()

        def in_module(frame: FrameType, event: str, _: Any) -> Any:
            lines.add(frame.f_lineno)
            return in_module

        def in_any(frame: FrameType, event: str, _: Any) -> Any:
            return in_module(frame, event, _) if frame.f_code.co_filename == path else None

        threading.settrace(in_any)
        rows = []
        for number, item in enumerate(items):
            lines.clear()
            self._has_failed = False
            begun = time.monotonic()
            sys.settrace(in_any)
            self._run([item], after=items[number + 1] if number + 1 < len(items) else None)
            sys.settrace(None)
            if lines and not self._has_failed:
                rows.append((time.monotonic() - begun, number, sorted(lines)))
        into.write_text(json.dumps(rows))
        return SURVIVED


def _fork(run: Callable[[], int], longest: float = _LONGEST) -> int:
    """Return what `run` returns in a fork of this process, `FOUND` if it raises or hangs."""
    if not (pid := os.fork()):
        status = FOUND
        try:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            status = run()
        finally:
            os._exit(status)
    limit = time.monotonic() + longest
    while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
        if time.monotonic() > limit:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    status = os.waitstatus_to_exitcode(ended[1])
    return status if status in (SURVIVED, NOT_APPLICABLE) else FOUND


def main(arguments: Iterable[str] | None = None) -> None:
    """Run pytest with the plugin."""
    parser = argparse.ArgumentParser(prog="python -m tests.qa.mutants", description=__doc__)
    parser.add_argument("module", help="such as playground.protocols.sse")
    parser.add_argument("tests", nargs="+", help="files and directories")
    parser.add_argument("--count", type=int, default=50, help="mutants; 0 for all (default: 50)")
    options = parser.parse_args(arguments if arguments is None else list(arguments))
    with tempfile.TemporaryDirectory() as directory:
        first = Path(directory, "test_first.py")
        first.write_text(_FIRST)
        quiet = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=0"]
        where = ["--rootdir", os.getcwd(), "-c", "pyproject.toml"]
        given = [*quiet, *where, str(first), *options.tests]
        pytest.main(given, plugins=[Measurement(options.module, options.count)])


if __name__ == "__main__":
    main()
