"""Prints what happens as it happens; on a terminal with a line of progress below it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TextIO

from playground.headless import lines
from playground.headless.speech import MessagePrinter
from playground.models import Run
from playground.protocols.events import Event, Message, Result
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.cards import value_text
from playground.rendering.run_status import milliseconds, status_label


class Printer:
    """Prints what happens as it happens; on a terminal with a line of progress below it."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        #: Called when nobody reads any more.
        self.stop: Callable[[], object] = lambda: None
        self._progress = sys.stderr.isatty()
        self._speech = MessagePrinter()
        self.results = self.events = self.last = 0
        self._messages = 0
        self._error_printed = False

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        """Print one frame's events."""
        self.last = frame.seq
        self.events += len(events)
        self.results += sum(isinstance(event, Result) for event in events)
        self._messages += sum(isinstance(event, Message) for event in events)
        self._error_printed |= frame.kind is FrameKind.ERROR
        self._speech.listen(events)
        self._clear()
        if self._as_json:
            for line in lines.json_lines(frame, events, self._speech.reasoning):
                self._print(line)
        else:
            self._write("".join(self._speech.pieces(events)))
        # On a terminal it would overwrite a text that is growing.
        if self._progress and not self._speech.is_open:
            figures = f"{self.events} events, {milliseconds(frame.at_ms)}"
            print(f"\r{figures}", end="", file=sys.stderr, flush=True)

    def begin(self, run: Run) -> None:
        """Say that another run of the conversation begins: an answer or a check."""
        self._settle()
        # Its messages have their homes among its own frames.
        self._speech = MessagePrinter()
        self._error_printed = False
        if self._as_json:
            self._print(lines.run_line(run))
        elif run.answers:
            told = ", ".join(f"{name}: {value_text(value)}" for name, value in run.answers.items())
            self._print(lines.one_line(f"  →  {told}"))

    def print_line(self, text: str) -> None:
        """Tell the user something that is no event, on the error stream."""
        self._settle()
        print(lines.one_line(text), file=sys.stderr)

    def end(self, run: Run, findings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Print how the last run ended, and what all of them did against the specification."""
        self._settle()
        if self._as_json:
            # What the transfer did not say itself: an unreadable reply, a refusal at once.
            if run.problem and not self._error_printed:
                self._print(lines.problem_line(run, self.last))
            self._print(lines.end_line(run, self.results, self.events, findings))
            return
        elapsed = f", {milliseconds(run.ended_us / 1000)}" if run.ended_us else ""
        # What there is to count depends on what the agent speaks.
        counted = f"{self._messages} messages" if self._messages else f"{self.results} results"
        self._print(f"{status_label(run)}: {counted}, {self.events} events{elapsed}")
        if run.problem:
            self.print_line(f"{run.problem['cause']} {run.problem['fix']}")
        for finding in findings:
            if finding["verdict"] == "fail":
                place = f" at {finding['pointer']}" if finding["pointer"] else ""
                self._print(
                    lines.one_line(
                        f"  {finding['level']:>6} {finding['rule']} ({finding['section']})"
                        f"{place}: {finding['message']}"
                    )
                )

    def _settle(self) -> None:
        """Leave the output at the start of a line."""
        self._write("".join(self._speech.close()))
        self._clear()

    def _print(self, line: str) -> None:
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        if not text:
            return
        try:
            print(text, end="", flush=True)
        except BrokenPipeError:
            # Whoever was reading has had enough, as in `send … | head`.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.stop()

    def _clear(self) -> None:
        if self._progress and not self._speech.is_open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def configure_stream(stream: TextIO, as_json: bool) -> None:
    """JSON Lines are UTF-8; text is in the terminal's encoding, with what it lacks escaped.

    UTF-8 lacks halves of surrogate pairs; escaped like that, they are the same in JSON.
    """
    if isinstance(stream, io.TextIOWrapper):
        encoding = "utf-8" if as_json else stream.encoding
        stream.reconfigure(encoding=encoding, errors="backslashreplace")
