"""Output of commands: frames and events as JSON Lines or plain text, printed as they come.

Data of an agent is data on a terminal and for a CI runner, too: characters that a terminal would
obey are replaced, and commands of runners are broken.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, TextIO

from django.template.defaultfilters import pluralize

from playground.conversation.cards import card_of
from playground.conversation.entries import element_of
from playground.conversation.errors import error_card
from playground.conversation.media import media_line
from playground.conversation.messages import listed_tools
from playground.conversation.status import status_label
from playground.elicitation.form import ElicitationForm, with_labels
from playground.models import Run
from playground.protocols import events as ev
from playground.protocols.agent_api import constants
from playground.protocols.agent_api.parts import join
from playground.protocols.doctor import Remedy
from playground.protocols.events import event_label, late_meta, meta_facts
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.mcp import elicitation
from playground.protocols.media import content_media, media_of
from playground.protocols.problems import Problem
from playground.protocols.text import printable, printable_json
from playground.ui.formatting import milliseconds, value_text

#: Limit on the characters of a value in a line of text, and on the tools in one.
MAX_VALUE, MAX_TOOLS = 2_000, 40
#: Messages whose contents are remembered until they are complete.
_MAX_PENDING = 1_000
#: Characters at the end of a line of which a command may be the rest.
_MAX_COMMAND = 50

#: Names of messages by type; other types are printed as they are.
_MESSAGE_NAMES = {"": "message", "assistant": "message"}

#: The part that a text belongs to: reference of its message, index and kind.
_Position = tuple[ev.EntryRef, int, str]
#: Events without a line of text of their own; messages are printed in pieces.
_SILENT = (ev.Started, ev.Completed, ev.Message, ev.Content, ev.Status, ev.ToolCall, ev.ToolOutput)


class Printer:
    """Printer of frames and events as they come; on a terminal with a line of progress below."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        #: Called when the reader of standard output has closed it.
        self.stop: Callable[[], object] = lambda: None
        #: Why standard output cannot be written, such as a full disk.
        self.error = ""
        self._progress = sys.stderr.isatty()
        self._message_printer = MessagePrinter()
        self.results = self.events = self.last = 0
        self._messages = 0
        self._error_printed = False
        self._started_at = time.monotonic()
        #: Whether polls or answers follow the request: the time is that of all of them.
        self._has_followed = False

    def __call__(self, frame: Frame, events: Sequence[ev.Event]) -> None:
        self.last = frame.seq
        self.events += len(events)
        self.results += sum(isinstance(event, ev.Result) for event in events)
        self._messages += sum(isinstance(event, ev.Message) for event in events)
        if frame.kind in (FrameKind.CALL, FrameKind.ERROR):
            # An error that was tolerated is followed by another call.
            self._error_printed = frame.kind is FrameKind.ERROR
        self._message_printer.listen(events)
        self._clear()
        if self._as_json:
            for line in json_lines(frame, events, self._message_printer.reasoning):
                self._print(line)
        else:
            self._write("".join(self._message_printer.pieces(events)))
        # On a terminal it would overwrite an open line.
        if self._progress and not self._message_printer.is_open:
            figures = f"{_count(self.events, 'event')}, {milliseconds(frame.at_ms)}"
            print(f"\r{figures}", end="", file=sys.stderr, flush=True)

    def begin(self, run: Run, form: ElicitationForm | None = None, message: str = "") -> None:
        """Print the start of another run: an answer to `form`, or a poll after another one."""
        self._end_messages()
        # References of messages are by the run's own frames.
        self._message_printer = MessagePrinter()
        self._error_printed = False
        self._has_followed = True
        if self._as_json:
            line = {"type": "run", "run": run.pk, "kind": run.kind, "request": run.request}
            self._print(_json_line({**line, "message": message} if message else line))
        elif message:
            self._print(one_line(f"  !  {message}"))
        elif run.answers:
            values = with_labels(form, run.answers) if form else run.answers
            answers = ", ".join(f"{name}: {value_text(value)}" for name, value in values.items())
            self._print(one_line(f"  →  {answers}"))

    def print_omissions(self, sentences: Sequence[str]) -> None:
        """Print what the next request omits; beside JSON Lines to standard error."""
        for sentence in sentences:
            if self._as_json:
                self.print_line(sentence)
            else:
                self._end_line()
                self._print(one_line(f"  !  {sentence}"))

    def print_line(self, text: str) -> None:
        """Print a message that is no event to standard error."""
        self._end_line()
        print(one_line(text), file=sys.stderr)

    def end(self, run: Run, findings: Sequence[Mapping[str, Any]] = ()) -> None:
        """Print how the last run ended, and the conformance findings of all runs."""
        self._end_messages()
        if self._as_json:
            # A problem that no frame carries: an unreadable reply, or a refused request.
            if run.problem and not self._error_printed:
                self._print(problem_line(run, self.last))
            self._print(end_line(run, self.results, self.events, findings))
            return
        elapsed_ms = (run.ended_us or 0) / 1000
        if self._has_followed:
            elapsed_ms = (time.monotonic() - self._started_at) * 1000
        elapsed = f", {milliseconds(elapsed_ms)}" if run.ended_us else ""
        # The unit depends on the agent's protocol.
        messages, results = _count(self._messages, "message"), _count(self.results, "result")
        counted = messages if self._messages else results
        self._print(f"{status_label(run)}: {counted}, {_count(self.events, 'event')}{elapsed}")
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

    def _end_messages(self) -> None:
        """Print what never completed, except in JSON Lines, which have every event."""
        if not self._as_json:
            self._write("".join(self._message_printer.end()))
        self._end_line()

    def _end_line(self) -> None:
        self._write("".join(self._message_printer.close()))
        self._clear()

    def _print(self, line: str) -> None:
        self._write(f"{line}\n")

    def _write(self, text: str) -> None:
        try:
            if text and not _try_print(text):
                self.stop()
        except OSError as error:
            self.error = f"standard output: {error.strerror}"
            self.stop()

    def _clear(self) -> None:
        if self._progress and not self._message_printer.is_open:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{pluralize(number)}"


def configure_stream(stream: TextIO, as_json: bool) -> None:
    """Set the encoding: UTF-8 for JSON Lines, else the terminal's with escapes for the rest.

    Lone surrogates, which UTF-8 cannot encode, are escaped in the same way as in JSON.
    """
    if isinstance(stream, io.TextIOWrapper):
        encoding = "utf-8" if as_json else stream.encoding
        stream.reconfigure(encoding=encoding, errors="backslashreplace")


def print_line(line: str) -> None:
    write(one_line(line) + "\n")


def write(text: str) -> None:
    """Print a text to standard output, without what a terminal or a CI runner would obey.

    Raise `OSError` if it cannot be written, once: later output is discarded. If the reader has
    closed its end, as in `run_collection … | head`, the command goes on.
    """
    _try_print(printable(text))


def _try_print(text: str) -> bool:
    """Print a text; return False if the reader has closed its end. Discard what follows an error.

    Raise `OSError` for another error.
    """
    try:
        print(text, end="", flush=True)
    except OSError as error:
        # Python would fail to flush its buffer on exit, and exit with that error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise
        return False
    return True


@contextlib.contextmanager
def ignored_by_runner(is_text: bool = True) -> Iterator[None]:
    """Have the runner of GitHub Actions ignore commands in what the block prints as text.

    The lines would spoil other formats, in which commands are escaped.
    """
    token = secrets.token_hex(16)
    if not is_text or os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    print(f"::stop-commands::{token}", flush=True)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            # A line that was printed in part must not hide it.
            print(f"\n::{token}::", flush=True)


class MessagePrinter:
    """Formatter of events as text, in parts that contain their line breaks."""

    def __init__(self) -> None:
        self._names: dict[ev.EntryRef, str] = {}
        #: References of messages of the type reasoning.
        self.reasoning: set[ev.EntryRef] = set()
        #: The part of the open line, which may continue; None at the start of a line.
        self._position: _Position | None = None
        #: The end of that line, or all of a short one.
        self._before = ""
        #: Pieces of contents that are no text and not complete, by message.
        self._pending: dict[ev.EntryRef, dict[tuple[int, str], list[Any]]] = {}
        #: Messages of which nothing was printed yet.
        self._silent: set[ev.EntryRef] = set()
        self._has_heartbeat = False
        #: The metadata that were printed last.
        self._facts: Mapping[str, Any] = {}

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
                if len(self._silent) < _MAX_PENDING:
                    self._silent.add(ref)
                if event.type == "reasoning":
                    self.reasoning.add(ref)

    def pieces(self, events: Sequence[ev.Event]) -> Iterator[str]:
        """Yield the text of one frame's events, to be printed as it is."""
        for event in events:
            if isinstance(event, ev.Content):
                yield from self._content(event)
            elif isinstance(event, ev.ToolCall | ev.ToolOutput):
                yield from self._tool(event)
            elif isinstance(event, ev.Status):
                yield from self._status(event)
            elif isinstance(event, ev.Note) and event.name == "heartbeat":
                if not self._has_heartbeat:
                    self._has_heartbeat = True
                    yield from self._line("heartbeat")
            elif (facts := meta_facts(_meta_of(event))) and facts != self._facts:
                self._facts = facts
                yield from self._line(f"meta {value_text(facts, MAX_VALUE)}")
            else:
                for line in text_lines([event]):
                    yield from self.close()
                    yield f"{line}\n"

    def end(self) -> Iterator[str]:
        """Print what never completed, and end the open line."""
        for ref in list(self._pending):
            yield from self._flush(ref)
        for ref in sorted(self._silent):
            yield from self._line(f"{self._name(ref)} (nothing received)")
        self._silent.clear()
        yield from self.close()

    def close(self) -> Iterator[str]:
        if self._position is not None:
            self._position = None
            yield "\n"

    def _content(self, event: ev.Content) -> Iterator[str]:
        ref = event.message_ref
        if isinstance(event.value, str) and event.kind in ("text", "refusal"):
            self._silent.discard(ref)
            position = ref, event.index, event.kind
            # A complete text replaces the printed one: it starts a new line.
            if position != self._position or not event.delta:
                yield from self.close()
                yield self._open_line(one_line(f"{self._name(ref)} "))
                self._position = position
            yield self._open_line(event.value)
            return
        parts = self._pending.setdefault(ref, {})
        pieces = parts.setdefault((event.index, event.kind), [])
        if not event.delta:
            pieces.clear()
        pieces.append(event.value)
        if _has_own_event(self._name(ref)):
            return  # Its call or output follows, if it can be read.
        # Some agents never complete pictures; other contents may grow until they are complete.
        is_media = content_media(event.kind, event.value) is not None and not event.delta
        if is_media or event.status != "in_progress" or len(self._pending) > _MAX_PENDING:
            yield from self._part(ref, (event.index, event.kind))

    def _open_line(self, piece: str) -> str:
        """Return a piece of the open line, without commands that begin in the pieces before."""
        before = self._before if self._position else ""
        whole = printable(before + piece)
        line = whole.rpartition("\n")[2].lstrip()
        self._before = line if len(line) < _MAX_COMMAND else f".{line[-_MAX_COMMAND:]}"
        return whole[len(before) :]

    def _part(self, ref: ev.EntryRef, key: tuple[int, str]) -> Iterator[str]:
        """Print a content that is no text."""
        parts = self._pending[ref]
        value = join(parts.pop(key))
        if not parts:
            del self._pending[ref]
        self._silent.discard(ref)
        yield from self._line(f"{self._name(ref)} {_content_text(key[1], value)}")

    def _flush(self, ref: ev.EntryRef) -> Iterator[str]:
        """Print the contents of a message that are left, unless its call was printed."""
        if _has_own_event(self._name(ref)) and ref not in self._silent:
            self._pending.pop(ref, None)
        for key in sorted(self._pending.get(ref, {})):
            yield from self._part(ref, key)

    def _status(self, event: ev.Status) -> Iterator[str]:
        """Print the rest of a content object or a message that has ended."""
        ref = event.message_ref
        if ref is None or event.status not in constants.FINAL_STATUSES:
            return
        if event.object == "message":
            yield from self._flush(ref)
            if ref in self._silent:
                self._silent.discard(ref)
                yield from self._line(f"{self._name(ref)} ({event.status})")
        elif not _has_own_event(self._name(ref)):
            for key in sorted(self._pending.get(ref, {})):
                if key[0] == event.index:
                    yield from self._part(ref, key)

    def _tool(self, event: ev.ToolCall | ev.ToolOutput) -> Iterator[str]:
        self._silent.discard(event.message_ref)
        self._pending.pop(event.message_ref, None)
        value = event.arguments if isinstance(event, ev.ToolCall) else event.output
        parts = (event.kind, event.name, event.call_id, value_text(value, MAX_VALUE))
        yield from self._line(" ".join(filter(None, parts)))

    def _name(self, ref: ev.EntryRef) -> str:
        return self._names.get(ref, "message")

    def _line(self, text: str) -> Iterator[str]:
        yield from self.close()
        yield one_line(text) + "\n"


def _meta_of(event: ev.Event) -> Mapping[str, Any]:
    return event.meta if isinstance(event, ev.Started | ev.Completed) else late_meta(event)


def _content_text(kind: str, value: Any) -> str:
    """Return a content that is no text in one line."""
    media, tools = content_media(kind, value), listed_tools(value)
    if media and (media.has_data or media.media_type or media.name):
        return media_line(media)
    if media:
        return f"{kind} {value_text(media.url, MAX_VALUE)}"
    return f"{kind} {value_text(value, MAX_VALUE)}" if tools is None else _tools_text(tools)


def _tools_text(tools: Sequence[Any], *, more: bool = False) -> str:
    """Return the names of the first tools, and the number of the others."""
    known = [tool for tool in tools if isinstance(tool, Mapping)]
    names = ", ".join(value_text(tool.get("name"), 80) for tool in known[:MAX_TOOLS])
    hidden = len(known) - MAX_TOOLS
    rest = f" and {hidden:,} more" if hidden > 0 else ""
    return f"tools {names}{rest}{' (the list is incomplete)' if more else ''}"


def _has_own_event(name: str) -> bool:
    return name in constants.CALLS or name in constants.OUTPUTS


#: Name of a request of an MCP server that is answered automatically and says nothing.
_PING = f"mcp {elicitation.PING}"

#: Fields of events that a JSON line does not have.
_LEFT_OUT = frozenset({"seq", "pointer", "raw", "message_ref"})


def _line_of(event: ev.Event) -> dict[str, Any]:
    """Return `type` and the other members of the JSON line of an event: mostly its fields."""
    names = (each.name for each in fields(event) if each.name not in _LEFT_OUT)
    members = {name: getattr(event, name) for name in names}
    match event:
        case ev.Elicitation():
            questions = [_question_json(question) for question in event.questions]
            members = {"text": event.text, "questions": questions}
        case ev.Failure(json_rpc=""):
            del members["json_rpc"]
        case ev.Message():
            members = {"msg_id": members.pop("id"), "kind": members.pop("type"), **members}
        case ev.Note() if type(event) is ev.Note:
            return {"type": "unknown", **members, "reason": ""}
        case ev.Status():
            del members["index"]
    return {"type": event_label(event).replace(" ", "_"), **members}


def _question_json(question: ev.Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "text": question.text,
        "type": question.type,
        "options": list(question.options),
        **({"labels": list(question.labels)} if question.labels else {}),
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
        if isinstance(event, ev.Note) and event.name == _PING:
            continue
        line = _line_of(event)
        if isinstance(event, ev.Content) and event.message_ref in reasoning:
            line["type"] = "reasoning"
        yield _json_line({**head, **line})
    if frame.kind is FrameKind.ERROR:
        yield _json_line({**head, "type": "error", **Problem.from_bytes(frame.data).to_json()})


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
        name = event_label(event)
        match event:
            case ev.Result():
                yield from map(one_line, _result_lines(event))
            case ev.Elicitation():
                yield one_line(f"  ?  {event.text}")
                yield from (one_line(f"     {_question_text(each)}") for each in event.questions)
            case ev.Note(data=data):
                if isinstance(data, Mapping) and (remark := data.get("remark")):
                    yield one_line(f"note {value_text(remark, MAX_VALUE)}")
            case ev.Progress():
                yield one_line(" ".join(filter(None, (name, _progress_text(event), event.message))))
            case ev.Log():
                yield one_line(f"{name} {event.level}: {value_text(event.data, MAX_VALUE)}")
            case ev.Tools():
                yield one_line(_tools_text(event.tools, more=event.more))
            case _ if not isinstance(event, _SILENT):
                yield one_line(f"{name:>4} {element_of(event).line(event)}")


def _result_lines(event: ev.Result) -> Iterator[str]:
    if media := media_of(event.item):
        yield media_line(media)
        if media.text:
            yield f"     {media.text[:MAX_VALUE]}"
        return
    card = card_of(event.item)
    number = "-" if event.index is None else f"{event.index + 1}."
    yield f"{number:>4} {card.title or card.text}  [{card.kind}]"
    if card.title and card.text:
        yield f"     {card.text}"


def _progress_text(event: ev.Progress) -> str:
    if event.progress is None:
        return ""
    total = "" if event.total is None else f"/{event.total:g}"
    return f"{event.progress:g}{total}"


def _question_text(question: ev.Question) -> str:
    labels = question.labels or question.options
    options = f" ({' / '.join(labels)})" if labels else ""
    return f"{question.id}: {question.text}{options}"


def one_line(text: str) -> str:
    """Return `text` on one line, without what a terminal or a CI runner would obey."""
    return printable(text.replace("\n", " ").replace("\t", " "))


def _json_line(value: Any) -> str:
    """Return one line of JSON, with escapes for what a terminal or a CI runner would obey."""
    return printable_json(json.dumps(value, ensure_ascii=False, default=str))
