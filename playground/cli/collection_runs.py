"""Collection runs for a command: the requests that arguments select, and the printed steps."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.core.management import CommandError

from playground.cli.arguments import USAGE, agent_of, collection_of
from playground.cli.output import one_line, print_line
from playground.collection_runs.page import result_of
from playground.collection_runs.reports import step_lines
from playground.collection_runs.results import StepResult, VerdictCounts
from playground.collections.fixture import FixtureError
from playground.collections.fixture_parser import parse_fixture
from playground.collections.importer import unsaved_collection
from playground.engine.preparation import AgentUrlError, override_agent
from playground.import_export.data_rows import MAX_BYTES, DataError, Row, read_rows
from playground.models import Agent, Collection, Run, SavedRequest, Step
from playground.models.collections import requests_in_order

#: Characters of the progress bar.
WIDTH = 24

#: Message for a run that makes no progress because of the limit.
WAITING_FOR_LIMIT = "Waiting for another run to finish: the limit PLAYGROUND_MAX_RUNS is reached."


def requests_of(name: str) -> tuple[Collection, list[SavedRequest]]:
    """Return the collection with this slug, or of this file, and its requests in order.

    `-` is standard input.
    """
    if name == "-" or _is_file(name):
        try:
            return unsaved_collection(parse_fixture(_read_bytes(name).decode("utf-8")))
        except UnicodeDecodeError:
            raise CommandError(f"{name}: not UTF-8 text", returncode=USAGE) from None
        except FixtureError as error:
            problems = "\n".join(f"{name}: {one_line(str(each))}" for each in error.problems)
            raise CommandError(problems, returncode=USAGE) from error
    collection = collection_of(name)
    return collection, list(requests_in_order(collection))


def select_requests(
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


def agent_for(name: str, requests: Sequence[SavedRequest]) -> Agent:
    """Return the agent with this slug, or at this URL, that replaces those of the requests."""
    agent = _agent_at(name, requests) if "://" in name else agent_of(name)
    if requests and all(each.protocol != agent.protocol for each in requests):
        label = Agent.Protocol(agent.protocol).label
        raise CommandError(f"--agent {name}: no request uses {label}", returncode=USAGE)
    return agent


def rows_of(name: str) -> list[Row]:
    try:
        return read_rows(_read_bytes(name, MAX_BYTES), name)
    except DataError as error:
        raise CommandError(f"{name}: {one_line(str(error))}", returncode=USAGE) from error


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


def _is_file(name: str) -> bool:
    return name.endswith(".json") or os.sep in name or Path(name).is_file()


def _read_bytes(name: str, limit: int | None = None) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read() if limit is None else sys.stdin.buffer.read(limit + 1)
        with Path(name).open("rb") as file:
            return file.read() if limit is None else file.read(limit + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", returncode=USAGE) from error


def _agent_at(url: str, requests: Sequence[SavedRequest]) -> Agent:
    try:
        return override_agent(url, requests, None)
    except AgentUrlError as error:
        raise CommandError(str(error), returncode=USAGE) from None
