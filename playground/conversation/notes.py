"""Text, failures, metadata, tools, the log of a server and everything unknown as entries."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.conversation.entries import Entry, Shown
from playground.conversation.thread import Thread
from playground.protocols import events as ev
from playground.protocols.events import (
    Event,
    Log,
    format_facts,
    is_server_log,
    is_summary,
    late_meta,
    meta_facts,
)
from playground.protocols.nlweb import failures
from playground.stored_runs import read_events
from playground.ui.formatting import (
    MAX_LINE,
    json_preview,
    safe_url,
    table_of,
    value_text,
)
from playground.ui.helpers import get_run

#: Facts of a response format that are shown.
MAX_FORMAT_FACTS = 20
#: Tools of a server that are listed.
MAX_TOOLS = 40


#: The place of the log of a server, which is loaded when it is opened.
SERVER_LOG: Shown = "conversation/notes.html#server_log", {}


def show_text(entry: Entry, _: Thread) -> Shown:
    event = entry.event
    assert isinstance(event, ev.Text)
    if is_summary(event):
        return "conversation/cards.html#summary", {"text": event.text}
    step = event.raw.get("step") if isinstance(event.raw, Mapping) else None
    return "conversation/notes.html#text", {
        "text": event.text,
        "label": event.kind,
        "step": value_text(step, 10),
    }


def show_failure(entry: Entry, _: Thread) -> Shown:
    event = entry.event
    assert isinstance(event, ev.Failure)
    return "conversation/notes.html#failure", {
        "explanation": failures.explain(event.code),
        "details": table_of(event.details),
    }


def failure_line(event: ev.Failure) -> str:
    is_said = event.details is None or (event.message and not isinstance(event.details, str))
    more = "" if is_said else value_text(event.details, MAX_LINE)
    around = event.json_rpc and f"JSON-RPC error {event.json_rpc}"
    return " · ".join(filter(None, (event.code, event.message, more, around)))


def show_metadata(entry: Entry, _: Thread) -> Shown:
    """Show the metadata of a response, such as the format of a ChatGPT app; nothing is loaded."""
    event = entry.event
    assert isinstance(event, ev.Started | ev.Completed)
    return _format(event.meta)


def _format(meta: Mapping[str, Any]) -> Shown:
    facts = meta_facts(meta)
    name = facts.pop("response_format", None)
    is_app = name == "chatgpt_app" or any(fact.startswith("openai/") for fact in facts)
    return "conversation/notes.html#format", {
        "format": value_text(name, 80),
        "facts": _shown_facts(facts),
        "is_app": is_app,
    }


def _shown_facts(facts: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return facts as (name, value as text, whether that is text of the agent)."""
    members = list(facts.items())[:MAX_FORMAT_FACTS]
    return [
        (fact[:80], value_text(value, 2_000), isinstance(value, str)) for fact, value in members
    ]


def show_note(entry: Entry, _: Thread) -> Shown:
    """Show a redirect, metadata that came late, or the place of the server's log."""
    event = entry.event
    assert isinstance(event, ev.Note)
    if meta := late_meta(event):
        return _format(meta)
    if event.name != "redirect":
        return SERVER_LOG
    data = event.data if isinstance(event.data, Mapping) else {}
    return "conversation/notes.html#redirect", {
        "status": data.get("status"),
        "location": data.get("location"),
        "url": safe_url(data.get("location")),
    }


def show_unknown(entry: Entry, _: Thread) -> Shown:
    """Show a preview; the JSON below it is complete."""
    assert isinstance(entry.event, ev.Unknown)
    return "conversation/notes.html#unknown", {"preview": json_preview(entry.event.data, 300)}


def show_tools(entry: Entry, _: Thread) -> Shown:
    """Show the tools of a server as (name, description, facts about the format)."""
    event = entry.event
    assert isinstance(event, ev.Tools)
    tools = [tool for tool in event.tools if isinstance(tool, Mapping)]
    shown = [
        (
            value_text(tool.get("name"), 128),
            value_text(tool.get("description"), 300),
            _shown_facts(format_facts(meta))
            if isinstance(meta := tool.get("_meta"), Mapping)
            else [],
        )
        for tool in tools[:MAX_TOOLS]
    ]
    return "conversation/notes.html#tools", {
        "tools": shown,
        "total": len(tools),
        "more": event.more or len(event.tools) > len(tools),
        "hidden": len(event.tools) - len(shown),
        "incomplete": event.more,
    }


def tools_line(event: ev.Tools) -> str:
    names = [tool.get("name") for tool in event.tools if isinstance(tool, Mapping)]
    return f"{value_text(names, MAX_LINE)}{' and more' if event.more else ''}"


#: Lines of the server log that are listed.
MAX_NOTES = 100
#: Characters of a line that are shown.
MAX_TEXT = 400
#: Members that every note has.
_COMMON = frozenset({"message_type", "query_id"})


@require_safe
def server_log(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the log notifications of MCP, or the notes of NLWeb servers before 0.54, in order."""
    found = (
        (*_name_and_text(event), frame.at_ms)
        for frame, events in read_events(get_run(request, pk))
        for event in events
        if is_server_log(event)
    )
    notes = list(islice(found, MAX_NOTES + 1))
    context = {"notes": notes[:MAX_NOTES], "more": len(notes) > MAX_NOTES}
    return render(request, "conversation/notes.html#log_lines", context)


def _name_and_text(event: Event) -> tuple[str, str]:
    """Return level and logger, or type, and the text of a line of the log."""
    if isinstance(event, Log):
        name = " · ".join(filter(None, (event.level, event.logger)))
        return name[:80] or "log", value_text(event.data, MAX_TEXT)
    data = getattr(event, "data", {})
    return data["message_type"][:80], _note_text(data)


def _note_text(data: dict[str, object]) -> str:
    members = {name: value for name, value in data.items() if name not in _COMMON}
    if set(members) == {"content"}:
        return value_text(members["content"], MAX_TEXT)
    parts = (
        f"{name[:60]}: {value_text(value, MAX_TEXT)}" for name, value in list(members.items())[:20]
    )
    return " · ".join(parts)[: MAX_TEXT * 2]
