"""The elements of a response: a row for each kind of event, and the child runs below entries.

Imported when the first of them is needed: their modules import the thread, which shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playground.conversation import actions, elicitation, messages, notes, promises, transcript
from playground.conversation import cards as results
from playground.conversation import status as progress
from playground.conversation.entries import Element
from playground.conversation.thread import Thread
from playground.protocols import events as ev
from playground.ui.formatting import MAX_LINE, value_text


def _call_element(member: str) -> Element:
    """Return the element of a tool call or its output, which has the value of `member`."""
    return Element(
        line=lambda event: f"{event.name} · {value_text(getattr(event, member), MAX_LINE)}",
        payload=lambda event: {
            "type": event.kind,
            "call_id": event.call_id,
            "name": event.name,
            member: getattr(event, member),
        },
    )


_METADATA = Element(
    notes.show_metadata,
    lambda event: value_text(dict(event.meta), MAX_LINE),
    lambda event: dict(event.meta),
)

ELEMENTS: dict[type[ev.Event], Element] = {
    ev.Result: Element(
        results.show_result,
        results.result_line,
        lambda event: (
            event.item if event.index is None else {"index": event.index, "item": event.item}
        ),
    ),
    ev.Text: Element(notes.show_text),
    ev.Elicitation: Element(elicitation.show_elicitation, close=elicitation.close_elicitation),
    ev.Promise: Element(promises.show_promise, lambda event: event.message or event.token),
    ev.Failure: Element(notes.show_failure, notes.failure_line),
    ev.Started: _METADATA,
    ev.Completed: _METADATA,
    ev.Note: Element(
        notes.show_note,
        lambda event: f"{event.name} · {value_text(event.data, MAX_LINE)}",
        lambda event: event.data,
    ),
    ev.Unknown: Element(
        notes.show_unknown,
        lambda event: f"{event.name} · {event.reason}" if event.reason else event.name,
        lambda event: event.data,
    ),
    ev.Log: Element(
        lambda *_: notes.SERVER_LOG,
        lambda event: " · ".join(
            filter(None, (event.level, event.logger, value_text(event.data, MAX_LINE)))
        ),
        lambda event: {"level": event.level, "logger": event.logger, "data": event.data},
    ),
    ev.Tools: Element(notes.show_tools, notes.tools_line, lambda event: list(event.tools)),
    ev.Progress: Element(line=progress.progress_text),
    ev.Message: Element(
        messages.show_message,
        lambda event: " · ".join(filter(None, (event.type, event.role, event.status))),
    ),
    ev.Content: Element(line=messages.content_line),
    ev.Status: Element(line=lambda event: f"{event.object} · {event.status}"),
    ev.ToolCall: _call_element("arguments"),
    ev.ToolOutput: _call_element("output"),
}

#: What adds child runs of an entry to the context of `conversation/response.html#children`.
CHILD_RUNS: Sequence[Callable[[Thread, ev.EntryRef], dict[str, Any]]] = (
    promises.child_runs,
    actions.child_runs,
    transcript.child_runs,
)
