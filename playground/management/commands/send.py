"""Send a request to an agent from the command line, through the same engine as the page.

Exit codes: 0 a completed run with any outcome but failure, 1 outcome failure, 2 usage error,
3 every other final state.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from playground import engine, headless
from playground.forms import read_document, read_headers
from playground.models import Agent, Run, RunState
from playground.protocols import jsontext, registry
from playground.protocols.events import Event, Result
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.bar import milliseconds, word_of
from playground.transport import check_url

USAGE = 2


class Command(BaseCommand):
    """`python manage.py send AGENT --text "…"`."""

    help = "Send a request to an agent and print what comes back as it happens."

    def add_arguments(self, parser: CommandParser) -> None:
        """AGENT, the request, and how to print."""
        parser.add_argument("agent", help="slug of a saved agent, or a URL (base or …/ask)")
        request = parser.add_mutually_exclusive_group()
        request.add_argument("--text", help="query.text of a new request")
        request.add_argument("--request", metavar="FILE", help="request document; - reads stdin")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="PATH=VALUE",
            dest="assignments",
            help="set a field, such as query.site=recipes.example; JSON values, else strings",
        )
        parser.add_argument("--protocol", default=None, choices=sorted(registry.PROTOCOLS))
        parser.add_argument(
            "--protocol-version", "--version", dest="protocol_version", metavar="VERSION",
            help="protocol version, 0.54 or 0.55",
        )  # fmt: skip
        parser.add_argument(
            "--header", action="append", default=[], metavar="'NAME: VALUE'", help="may be repeated"
        )
        parser.add_argument("--timeout", type=_seconds, metavar="S", help="seconds for the run")
        parser.add_argument("--output", choices=["text", "jsonl"], default="text")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's parser without Django's own --version, which is the protocol's here."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        """Send, print, and exit with the code for how it ended."""
        draft = _draft(options)
        for problem in registry.check(draft.target, draft.request):
            if problem.level == "error":
                raise CommandError(f"{problem.pointer or '/'}: {problem.message}", returncode=USAGE)
        run = engine.create_run(draft)
        as_json = options["output"] == "jsonl"
        _prepare(sys.stdout, as_json)
        printer = Printer(as_json, stop=lambda: engine.stop(run))
        asyncio.run(_send(run, draft, printer, options["timeout"]))
        run.refresh_from_db()
        printer.end(run)
        sys.exit(_exit_code(run))


class Printer:
    """Prints what happens as it happens; on a terminal with a line of progress below it."""

    def __init__(self, as_json: bool, stop: Callable[[], object]) -> None:
        self._as_json = as_json
        self._stop = stop
        self._progress = sys.stderr.isatty()
        self.results = self.events = self.last = 0
        self._error_printed = False

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        """Print one frame's events."""
        self.last = frame.seq
        self.events += len(events)
        self.results += sum(isinstance(event, Result) for event in events)
        self._error_printed |= frame.kind is FrameKind.ERROR
        lines = headless.json_lines(frame, events) if self._as_json else headless.text_lines(events)
        self._clear()
        for line in lines:
            self._print(line)
        if self._progress:
            figures = f"{self.events} events, {milliseconds(frame.at_ms)}"
            print(f"\r{figures}", end="", file=sys.stderr, flush=True)

    def end(self, run: Run) -> None:
        """Print how the run ended."""
        self._clear()
        if self._as_json:
            # What the transfer did not say itself: an unreadable reply, a refusal at once.
            if run.problem and not self._error_printed:
                self._print(headless.problem_line(run, self.last))
            self._print(headless.end_line(run, self.results, self.events))
            return
        elapsed = f", {milliseconds(run.ended_us / 1000)}" if run.ended_us else ""
        self._print(f"{word_of(run)}: {self.results} results, {self.events} events{elapsed}")
        if run.problem:
            print(headless.plain(f"{run.problem['cause']} {run.problem['fix']}"), file=sys.stderr)

    def _print(self, line: str) -> None:
        try:
            print(line, flush=True)
        except BrokenPipeError:
            # Whoever was reading has had enough, as in `send … | head`.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._stop()

    def _clear(self) -> None:
        if self._progress:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _prepare(stream: TextIO, as_json: bool) -> None:
    """JSON Lines are UTF-8; text is in the terminal's encoding, with what it lacks escaped."""
    if isinstance(stream, io.TextIOWrapper):
        if as_json:
            stream.reconfigure(encoding="utf-8")
        else:
            stream.reconfigure(errors="backslashreplace")


async def _send(run: Run, draft: engine.Draft, printer: Printer, seconds: float | None) -> None:
    limits = settings.RUN_LIMITS
    if seconds:
        limits = replace(limits, total_timeout=seconds)
    target, secrets = await sync_to_async(lambda: (draft.target, draft.secrets))()
    task = engine.start(
        run, target, redact=secrets, headers=draft.headers, listener=printer, limits=limits
    )
    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers here.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, engine.stop, run)
    await task


def _draft(options: dict[str, Any]) -> engine.Draft:
    agent = _agent(options["agent"])
    if options["protocol"]:
        agent.protocol = options["protocol"]
    known = [version.name for version in registry.versions(agent.protocol)]
    version = options["protocol_version"] or agent.version
    if version not in known:
        raise CommandError(f"--version is one of {', '.join(known)}", returncode=USAGE)
    document = _document(options, agent.protocol, version)
    for assignment in options["assignments"]:
        _assign(document, assignment)
    pairs = [part.partition(":") for part in options["header"]]
    if any(not colon for _, colon, _ in pairs):
        raise CommandError("--header wants 'Name: value'", returncode=USAGE)
    try:
        headers = read_headers(json.dumps([[name, value] for name, _, value in pairs]))
    except forms.ValidationError as error:
        raise CommandError(error.messages[0], returncode=USAGE) from error
    return engine.Draft(agent, document, headers, version)


def _agent(name: str) -> Agent:
    if "://" in name:
        if refusal := check_url(name):
            raise CommandError(refusal, returncode=USAGE)
        return Agent(name=(urlsplit(name).hostname or name)[:80], url=name)
    agent: Agent | None = Agent.objects.filter(owner=None, slug=name).first()
    if agent is None:
        known = ", ".join(Agent.objects.filter(owner=None).values_list("slug", flat=True))
        raise CommandError(f"No agent “{name}”. Saved agents: {known or 'none'}", returncode=USAGE)
    return agent


def _document(options: dict[str, Any], protocol: str, version: str) -> dict[str, Any]:
    if (source := options["request"]) is None:
        return registry.new_request(protocol, version, options["text"] or "", streaming=True)
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text()
        return read_document(text)
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}", returncode=USAGE) from error
    except forms.ValidationError as error:
        raise CommandError(f"{source}: {error.messages[0]}", returncode=USAGE) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{source}: not UTF-8 text", returncode=USAGE) from error


def _assign(document: dict[str, Any], assignment: str) -> None:
    path, equals, text = assignment.partition("=")
    keys = path.split(".")
    if not equals or not all(keys):
        raise CommandError(f"--set wants path=value, not {assignment!r}", returncode=USAGE)
    try:
        value: Any = jsontext.decode(text)
    except (ValueError, RecursionError):
        value = text
    place: Any = document
    for key in keys[:-1]:
        place = place.setdefault(key, {})
        if not isinstance(place, dict):
            raise CommandError(f"--set {path}: {key} is not an object", returncode=USAGE)
    place[keys[-1]] = value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError("must be greater than zero")
    return value


def _exit_code(run: Run) -> int:
    if run.state != RunState.COMPLETED:
        return 3
    return 1 if run.outcome == "failure" else 0
