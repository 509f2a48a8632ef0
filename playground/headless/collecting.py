"""A collection run for a command: what the arguments name, and what is printed of it."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.core.management import CommandError

from playground.engine.preparation import AddressError, stand_in
from playground.headless.arguments import USAGE, agent_of
from playground.headless.lines import one_line, strip_control_characters
from playground.library.data_files import MAX_BYTES, DataError, Row, read_rows
from playground.library.fixtures import FixtureError, parse_fixture
from playground.library.unsaved import unsaved_collection
from playground.models import Agent, Collection, Run, SavedRequest, Step
from playground.models.collections import requests_in_order
from playground.rendering.collection_runs import result_of
from playground.reporting import StepResult, VerdictCounts, step_lines

#: Characters of the bar.
WIDTH = 24
#: What somebody is told who would otherwise see nothing happen for long.
WAITING_FOR_LIMIT = (
    "Waiting for one of the runs under way to end: "
    "there are as many as may be at once (PLAYGROUND_MAX_RUNS)."
)


def requests_of(name: str) -> tuple[Collection, list[SavedRequest]]:
    """The collection with this slug, or of this file, and its requests in order.

    `-` is the standard input.
    """
    if name == "-" or _is_file(name):
        try:
            return unsaved_collection(parse_fixture(_bytes(name).decode("utf-8")))
        except UnicodeDecodeError:
            raise CommandError(f"{name}: not UTF-8 text", returncode=USAGE) from None
        except FixtureError as error:
            told = "\n".join(f"{name}: {one_line(str(each))}" for each in error.problems)
            raise CommandError(told, returncode=USAGE) from error
    mine = Collection.objects.filter(owner=None)
    collection = mine.filter(slug=name).first()
    if collection is None:
        known = ", ".join(mine.values_list("slug", flat=True)[:50]) or "none"
        raise CommandError(f"No collection “{name}”. Collections: {known}", returncode=USAGE)
    return collection, list(requests_in_order(collection))


def _is_file(name: str) -> bool:
    return name.endswith(".json") or os.sep in name or Path(name).is_file()


def _bytes(name: str, most: int | None = None) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read() if most is None else sys.stdin.buffer.read(most + 1)
        with Path(name).open("rb") as file:
            return file.read() if most is None else file.read(most + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", returncode=USAGE) from error


def select_requests(
    requests: Sequence[SavedRequest], folder: str | None, names: Sequence[str]
) -> list[SavedRequest]:
    """Those in a folder, or with one of these names; slugs count as names, too."""
    found = list(requests)
    if folder is not None:
        found = [
            each for each in found if each.folder and folder in (each.folder.slug, each.folder.name)
        ]
        if not found:
            raise CommandError(f"No request is in a folder “{folder}”", returncode=USAGE)
    for name in names:
        if not any(name in (each.slug, each.name) for each in found):
            raise CommandError(f"No request “{name}”", returncode=USAGE)
    return [each for each in found if not names or {each.slug, each.name} & set(names)]


def agent_for(name: str, requests: Sequence[SavedRequest]) -> Agent:
    """The agent with this slug, or at this address, that stands in for those of the requests."""
    agent = _addressed(name, requests) if "://" in name else agent_of(name)
    if requests and all(each.protocol != agent.protocol for each in requests):
        label = Agent.Protocol(agent.protocol).label
        raise CommandError(f"--agent {name}: no request speaks {label}", returncode=USAGE)
    return agent


def _addressed(url: str, requests: Sequence[SavedRequest]) -> Agent:
    try:
        return stand_in(url, requests, None)
    except AddressError as error:
        raise CommandError(str(error), returncode=USAGE) from None


def rows_of(name: str) -> list[Row]:
    """The rows of a data file."""
    try:
        return read_rows(_bytes(name, MAX_BYTES), name)
    except DataError as error:
        raise CommandError(f"{name}: {one_line(str(error))}", returncode=USAGE) from error


@dataclass(slots=True)
class StepPrinter:
    """Prints steps as they end; on a terminal with a bar below them."""

    planned: int
    #: Whether the lines of the steps go to the standard output.
    lines: bool
    numbered: bool
    counts: Counter[str] = field(default_factory=Counter)
    #: The steps that have ended, by number.
    results: dict[int, StepResult] = field(default_factory=dict)
    #: Why not all of it could be printed, a sentence; "" where it could.
    error: str = ""
    _bar: bool = field(default_factory=sys.stderr.isatty)
    _has_waited: bool = False

    def __call__(self, step: Step, run: Run | None) -> None:
        """Take note of a step that has ended."""
        self.counts[step.verdict] += 1
        result = self.results[step.number] = result_of(step, run)
        self.clear()
        if self.lines:
            self._tell(step_lines(result, self.numbered))
        if self._bar:
            self._draw()

    def _tell(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                print_line(line)
        except OSError as error:
            # Told once, at the end, and not for every step.
            self.error, self.lines = f"standard output: {error.strerror}", False

    def wait(self) -> None:
        """Say, once, that there is no room for the next request."""
        if not self._has_waited:
            self._has_waited = True
            self.clear()
            print(WAITING_FOR_LIMIT, file=sys.stderr, flush=True)

    def _draw(self) -> None:
        tally = VerdictCounts(self.planned, self.counts)
        full = WIDTH * tally.done // max(1, self.planned)
        bar = f"[{'#' * full}{'.' * (WIDTH - full)}] {tally.summary}"
        print(f"\r{bar}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Take the bar away."""
        if self._bar:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def print_line(line: str) -> None:
    """A line on the standard output."""
    write(one_line(line) + "\n")


def write(text: str) -> None:
    """A text on the standard output, without anything that a terminal would obey.

    Raises `OSError` where it cannot be written, once: what comes later goes nowhere.
    """
    try:
        print(strip_control_characters(text), end="", flush=True)
    except OSError as error:
        # Nor can Python write what it has in hand still, and exits as if that were the news.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Where nobody reads it any more, as in `run_collection … | head`, the run goes on.
        if not isinstance(error, BrokenPipeError):
            raise
