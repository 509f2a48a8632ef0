"""Frames and events as lines: JSON Lines for programs, plain lines for people.

What an agent sends is data, also on a terminal: control
characters are taken out before it is printed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from playground.models import Run
from playground.protocols import events as ev
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.rendering.cards import card_of, value_text
from playground.rendering.events import event_text

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

#: Characters of a value that a line for people shows.
MAX_TOLD = 2_000

Fields = Callable[[Any], dict[str, Any]]

#: For each kind of event the `type` of its line and what the line holds besides.
LINES: Mapping[type[ev.Event], tuple[str, Fields]] = {
    ev.Started: ("started", lambda e: {"meta": dict(e.meta)}),
    ev.Result: ("result", lambda e: {"index": e.index, "item": e.item}),
    ev.Text: ("text", lambda e: {"text": e.text, "delta": e.delta, "kind": e.kind}),
    ev.Elicitation: (
        "elicitation",
        lambda e: {"text": e.text, "questions": [_question(q) for q in e.questions]},
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


def _question(question: ev.Question) -> dict[str, Any]:
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
    """The JSON Lines of one frame: one per event, and one for an error of the transfer.

    `reasoning` holds the homes of the messages whose content is no answer.
    """
    head = {"seq": frame.seq, "at_ms": round(frame.at_ms, 3)}
    for event in events:
        name, fields = LINES[type(event)]
        if isinstance(event, ev.Content) and event.message_ref in reasoning:
            name = "reasoning"
        yield _dump({**head, "type": name, **fields(event)})
    if frame.kind is FrameKind.ERROR:
        yield _dump({**head, "type": "error", **Problem.from_bytes(frame.data).to_json()})


def run_line(run: Run) -> str:
    """A line before the events of every run after the first: an answer, a check."""
    return _dump({"type": "run", "run": run.pk, "kind": run.kind, "request": run.request})


def end_line(
    run: Run, results: int, events: int, findings: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The last line: how the last run ended, with the counts and findings of all of them."""
    return _dump(
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
    """The line of a problem that no frame carries: a reply that could not be read."""
    at_ms = round((run.ended_us or 0) / 1000, 3)
    return _dump({"seq": seq, "at_ms": at_ms, "type": "error", **(run.problem or {})})


def text_lines(events: Sequence[ev.Event]) -> Iterator[str]:
    """Events for people, a line each, results with their description."""
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
            yield from (one_line(f"     {_ask(question)}") for question in event.questions)
        elif isinstance(event, ev.Text | ev.Failure | ev.Promise | ev.Unknown):
            yield one_line(f"{name:>4} {event_text(event)}")
        elif isinstance(event, ev.Progress):
            yield one_line(" ".join(filter(None, (name, _share(event), event.message))))
        elif isinstance(event, ev.Log):
            yield one_line(f"{name} {event.level}: {value_text(event.data, MAX_TOLD)}")
        elif isinstance(event, ev.Tools):
            named = (tool.get("name") for tool in event.tools if isinstance(tool, Mapping))
            yield one_line(f"{name} {', '.join(value_text(each, 80) for each in named)}")


def _share(event: ev.Progress) -> str:
    if event.progress is None:
        return ""
    total = "" if event.total is None else f"/{event.total:g}"
    return f"{event.progress:g}{total}"


def _ask(question: ev.Question) -> str:
    options = f" ({' / '.join(question.options)})" if question.options else ""
    return f"{question.id}: {question.text}{options}"


def one_line(text: str) -> str:
    """`text` without anything that a terminal would obey, on one line."""
    return strip_control_characters(text.replace("\n", " ").replace("\t", " "))


def strip_control_characters(text: str) -> str:
    """`text` without anything that a terminal would obey, its line breaks kept."""
    return _CONTROL.sub("\ufffd", text)


def _dump(value: Any) -> str:
    """One line of JSON in which a terminal finds nothing to obey."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
