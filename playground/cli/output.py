"""Output of commands: frames and events as JSON Lines or plain text, printed as they come.

Data of an agent is data on a terminal, too: characters that a terminal would obey are replaced.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, TextIO

from playground.models import Run
from playground.protocols import events as ev
from playground.protocols.agent_api import constants
from playground.protocols.doctor import Remedy
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.rendering.cards import card_of
from playground.rendering.error_card import error_card
from playground.rendering.events import event_text
from playground.rendering.formatting import milliseconds, value_text
from playground.rendering.run_status import status_label

#: Limit on the characters of a value in a line of text.
MAX_VALUE = 2_000
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

#: Names of messages by type; other types are printed as they are.
_MESSAGE_NAMES = {"": "message", "assistant": "message"}

#: The part that a text belongs to: reference of its message, index and kind.
_Position = tuple[ev.EntryRef, int, str]
Fields = Callable[[Any], dict[str, Any]]


class Printer:
    """Printer of frames and events as they come; on a terminal with a line of progress below."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        #: Called when the reader of standard output has closed it.
        self.stop: Callable[[], object] = lambda: None
        self._progress = sys.stderr.isatty()
        self._message_printer = MessagePrinter()
        self.results = self.events = self.last = 0
        self._messages = 0
        self._error_printed = False

    def __call__(self, frame: Frame, events: Sequence[ev.Event]) -> None:
        """Print one frame's events."""
        self.last = frame.seq
        self.events += len(events)
        self.results += sum(isinstance(event, ev.Result) for event in events)
        self._messages += sum(isinstance(event, ev.Message) for event in events)
        self._error_printed |= frame.kind is FrameKind.ERROR
        self._message_printer.listen(events)
        self._clear()
        if self._as_json:
            for line in json_lines(frame, events, self._message_printer.reasoning):
                self._print(line)
        else:
            self._write("".join(self._message_printer.pieces(events)))
        # On a terminal it would overwrite an open line.
        if self._progress and not self._message_printer.is_open:
            figures = f"{self.events} events, {milliseconds(frame.at_ms)}"
            print(f"\r{figures}", end="", file=sys.stderr, flush=True)

    def begin(self, run: Run) -> None:
        """Print the start of another run of the conversation: an answer or a poll."""
        self._end_line()
        # References of messages are by the run's own frames.
        self._message_printer = MessagePrinter()
        self._error_printed = False
        if self._as_json:
            self._print(run_line(run))
        elif run.answers:
            answers = ", ".join(
                f"{name}: {value_text(value)}" for name, value in run.answers.items()
            )
            self._print(one_line(f"  →  {answers}"))

    def print_line(self, text: str) -> None:
        """Print a message that is no event to standard error."""
        self._end_line()
        print(one_line(text), file=sys.stderr)

    def end(self, run: Run, findings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Print how the last run ended, and the conformance findings of all runs."""
        self._end_line()
        if self._as_json:
            # A problem that no frame carries: an unreadable reply, or a refused request.
            if run.problem and not self._error_printed:
                self._print(problem_line(run, self.last))
            self._print(end_line(run, self.results, self.events, findings))
            return
        elapsed = f", {milliseconds(run.ended_us / 1000)}" if run.ended_us else ""
        # The unit depends on the agent's protocol.
        counted = f"{self._messages} messages" if self._messages else f"{self.results} results"
        self._print(f"{status_label(run)}: {counted}, {self.events} events{elapsed}")
        if run.problem:
            self.print_line(f"{run.problem['cause']} {run.problem['fix']}")
        elif (card := error_card(run)) and card.remedy in (Remedy.AUTHENTICATE, Remedy.SWITCH):
            # The response is complete, and proves that the request was wrong.
            self.print_line(f"{card.headline} {card.fix}")
        for finding in findings:
            if finding["verdict"] == "fail":
                place = f" at {finding['pointer']}" if finding["pointer"] else ""
                self._print(
                    one_line(
                        f"  {finding['level']:>6} {finding['rule']} ({finding['section']})"
                        f"{place}: {finding['message']}"
                    )
                )

    def _end_line(self) -> None:
        """End the current line of the output."""
        self._write("".join(self._message_printer.close()))
        self._clear()

    def _print(self, line: str) -> None:
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        if not text:
            return
        try:
            print(text, end="", flush=True)
        except BrokenPipeError:
            # The reader has closed its end, as in `send … | head`.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.stop()

    def _clear(self) -> None:
        if self._progress and not self._message_printer.is_open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def configure_stream(stream: TextIO, as_json: bool) -> None:
    """Set the encoding: UTF-8 for JSON Lines, else the terminal's with escapes for the rest.

    Lone surrogates, which UTF-8 cannot encode, are escaped in the same way as in JSON.
    """
    if isinstance(stream, io.TextIOWrapper):
        encoding = "utf-8" if as_json else stream.encoding
        stream.reconfigure(encoding=encoding, errors="backslashreplace")


def print_line(line: str) -> None:
    """Print a line to standard output."""
    write(one_line(line) + "\n")


def write(text: str) -> None:
    """Print a text to standard output, with control characters replaced.

    Raise `OSError` if it cannot be written, once: later output is discarded.
    """
    try:
        print(replace_control_characters(text), end="", flush=True)
    except OSError as error:
        # Python would fail to flush its buffer on exit, and exit with that error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # If the reader has closed its end, as in `run_collection … | head`, the run goes on.
        if not isinstance(error, BrokenPipeError):
            raise


class MessagePrinter:
    """Formatter of events as text, in parts that contain their line breaks."""

    def __init__(self) -> None:
        self._names: dict[ev.EntryRef, str] = {}
        #: References of messages of the type reasoning.
        self.reasoning: set[ev.EntryRef] = set()
        #: The part of the open line, which may continue; None at the start of a line.
        self._position: _Position | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the last line has not ended."""
        return self._position is not None

    def listen(self, events: Sequence[ev.Event]) -> None:
        """Record the types of messages, for the contents that follow."""
        for part, event in enumerate(events):
            if isinstance(event, ev.Message):
                ref = event.seq, part
                self._names[ref] = _MESSAGE_NAMES.get(event.type, event.type)
                if event.type == "reasoning":
                    self.reasoning.add(ref)

    def pieces(self, events: Sequence[ev.Event]) -> Iterator[str]:
        """Yield the text of one frame's events, to be printed as it is."""
        for event in events:
            if isinstance(event, ev.Content):
                yield from self._content(event)
            elif isinstance(event, ev.ToolCall | ev.ToolOutput):
                yield from self._tool(event)
            else:
                for line in text_lines([event]):
                    yield from self.close()
                    yield f"{line}\n"

    def close(self) -> Iterator[str]:
        """End the open line, if there is one."""
        if self._position is not None:
            self._position = None
            yield "\n"

    def _content(self, event: ev.Content) -> Iterator[str]:
        name = self._names.get(event.message_ref, "message")
        if isinstance(event.value, str) and event.kind in ("text", "refusal"):
            position = event.message_ref, event.index, event.kind
            # A complete text replaces the printed one: it starts a new line.
            if position != self._position or not event.delta:
                yield from self.close()
                yield one_line(f"{name} ")
                self._position = position
            yield replace_control_characters(event.value)
        elif not _has_own_event(name) and event.status != "in_progress":
            yield from self.close()
            shown = value_text(event.value, MAX_VALUE)
            yield one_line(f"{name} {event.kind} {shown}") + "\n"

    def _tool(self, event: ev.ToolCall | ev.ToolOutput) -> Iterator[str]:
        yield from self.close()
        value = event.arguments if isinstance(event, ev.ToolCall) else event.output
        parts = (event.kind, event.name, event.call_id, value_text(value, MAX_VALUE))
        yield one_line(" ".join(filter(None, parts))) + "\n"


def _has_own_event(name: str) -> bool:
    return name in constants.CALLS or name in constants.OUTPUTS


#: `type` and other members of the JSON line of each event.
LINES: Mapping[type[ev.Event], tuple[str, Fields]] = {
    ev.Started: ("started", lambda e: {"meta": dict(e.meta)}),
    ev.Result: ("result", lambda e: {"index": e.index, "item": e.item}),
    ev.Text: ("text", lambda e: {"text": e.text, "delta": e.delta, "kind": e.kind}),
    ev.Elicitation: (
        "elicitation",
        lambda e: {"text": e.text, "questions": [_question_json(q) for q in e.questions]},
    ),
    ev.Promise: (
        "promise",
        lambda e: {
            "token": e.token,
            "estimated_time": e.estimated_time,
            "message": e.message,
            "progress": e.progress,
        },
    ),
    ev.Failure: (
        "failure",
        lambda e: {"code": e.code, "message": e.message, "details": e.details},
    ),
    ev.Completed: ("completed", lambda e: {"meta": dict(e.meta)}),
    ev.Note: ("unknown", lambda e: {"name": e.name, "data": e.data, "reason": ""}),
    ev.Unknown: ("unknown", lambda e: {"name": e.name, "data": e.data, "reason": e.reason}),
    ev.Message: (
        "message",
        lambda e: {"msg_id": e.id, "kind": e.type, "role": e.role, "status": e.status},
    ),
    ev.Content: (
        "content",
        lambda e: {
            "msg_id": e.msg_id,
            "index": e.index,
            "delta": e.delta,
            "kind": e.kind,
            "value": e.value,
            "status": e.status,
        },
    ),
    ev.Status: (
        "status",
        lambda e: {"object": e.object, "id": e.id, "status": e.status, "usage": e.usage},
    ),
    ev.ToolCall: (
        "tool_call",
        lambda e: {
            "call_id": e.call_id,
            "name": e.name,
            "arguments": e.arguments,
            "kind": e.kind,
        },
    ),
    ev.ToolOutput: (
        "tool_output",
        lambda e: {"call_id": e.call_id, "name": e.name, "output": e.output, "kind": e.kind},
    ),
    ev.Progress: (
        "progress",
        lambda e: {"progress": e.progress, "total": e.total, "message": e.message},
    ),
    ev.Log: ("log", lambda e: {"level": e.level, "logger": e.logger, "data": e.data}),
    ev.Tools: ("tools", lambda e: {"tools": list(e.tools), "more": e.more}),
}


def _question_json(question: ev.Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        "type": question.type,
        "options": list(question.options),
        "default": question.default,
    }


def json_lines(
    frame: Frame, events: Sequence[ev.Event], reasoning: Container[ev.EntryRef] = ()
) -> Iterator[str]:
    """Yield the JSON Lines of one frame: one per event, and one for an error of the transfer.

    `reasoning` holds the references of messages whose content is no answer.
    """
    head = {"seq": frame.seq, "at_ms": round(frame.at_ms, 3)}
    for event in events:
        name, fields = LINES[type(event)]
        if isinstance(event, ev.Content) and event.message_ref in reasoning:
            name = "reasoning"
        yield _json_line({**head, "type": name, **fields(event)})
    if frame.kind is FrameKind.ERROR:
        yield _json_line({**head, "type": "error", **Problem.from_bytes(frame.data).to_json()})


def run_line(run: Run) -> str:
    """Return the line before the events of every run after the first: an answer, a poll."""
    return _json_line({"type": "run", "run": run.pk, "kind": run.kind, "request": run.request})


def end_line(
    run: Run, results: int, events: int, findings: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the last line: how the run ended, and the findings of all runs."""
    return _json_line(
        {
            "type": "end",
            "state": run.state,
            "outcome": run.outcome,
            "results": results,
            "events": events,
            "session_context": run.session_context,
            "findings": list(findings),
            "run": run.pk,
            "conversation": run.conversation_id,
        }
    )


def problem_line(run: Run, seq: int) -> str:
    """Return the line of a problem that no frame carries: an unreadable reply."""
    at_ms = round((run.ended_us or 0) / 1000, 3)
    return _json_line({"seq": seq, "at_ms": at_ms, "type": "error", **(run.problem or {})})


def text_lines(events: Sequence[ev.Event]) -> Iterator[str]:
    """Yield events as plain text, a line each, results with their description."""
    for event in events:
        name, _ = LINES[type(event)]
        if isinstance(event, ev.Result):
            card = card_of(event.item)
            number = "-" if event.index is None else f"{event.index + 1}."
            yield one_line(f"{number:>4} {card.title or card.text}  [{card.kind}]")
            if card.title and card.text:
                yield one_line(f"     {card.text}")
        elif isinstance(event, ev.Elicitation):
            yield one_line(f"  ?  {event.text}")
            yield from (
                one_line(f"     {_question_text(question)}") for question in event.questions
            )
        elif isinstance(event, ev.Text | ev.Failure | ev.Promise | ev.Unknown):
            yield one_line(f"{name:>4} {event_text(event)}")
        elif isinstance(event, ev.Progress):
            yield one_line(" ".join(filter(None, (name, _progress_text(event), event.message))))
        elif isinstance(event, ev.Log):
            yield one_line(f"{name} {event.level}: {value_text(event.data, MAX_VALUE)}")
        elif isinstance(event, ev.Tools):
            named = (tool.get("name") for tool in event.tools if isinstance(tool, Mapping))
            yield one_line(f"{name} {', '.join(value_text(each, 80) for each in named)}")


def _progress_text(event: ev.Progress) -> str:
    if event.progress is None:
        return ""
    total = "" if event.total is None else f"/{event.total:g}"
    return f"{event.progress:g}{total}"


def _question_text(question: ev.Question) -> str:
    options = f" ({' / '.join(question.options)})" if question.options else ""
    return f"{question.id}: {question.text}{options}"


def one_line(text: str) -> str:
    """Return `text` on one line, with control characters replaced."""
    return replace_control_characters(text.replace("\n", " ").replace("\t", " "))


def replace_control_characters(text: str) -> str:
    """Return `text` with U+FFFD for what a terminal would obey; tabs and line breaks stay."""
    return _CONTROL_CHARACTERS.sub("\ufffd", text)


def _json_line(value: Any) -> str:
    """Return one line of JSON, with escapes for what a terminal would obey."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
