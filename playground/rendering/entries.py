"""Entries of a thread: events with the template and the context that show them.

`python -m tests.scaffold event NAME` writes the places of a new kind of event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols import events as ev
from playground.protocols.media import media_of
from playground.protocols.nlweb import failures
from playground.protocols.placement import (
    Placement,
    format_facts,
    is_server_log,
    is_summary,
    late_meta,
    meta_facts,
)
from playground.rendering.cards import card_of, nested_of
from playground.rendering.formatting import json_preview, table_of, value_text
from playground.rendering.grounding import grounding_of
from playground.rendering.links import safe_url
from playground.rendering.media import item_view
from playground.rendering.message_joiner import JoinedMessage
from playground.rendering.messages import MessageView

#: Facts of a response format that are shown.
MAX_FORMAT_FACTS = 20
#: Tools of a server that are listed.
MAX_TOOLS = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """An event in the thread of a run."""

    #: Number of its frame, and of the event in the frame.
    seq: int
    part: int
    #: Name of the template.
    template: str
    event: ev.Event
    #: Whether it is shown above the results, wherever it is in the stream.
    pinned: bool = False
    #: The joined message of a message event.
    message: JoinedMessage | None = None

    @property
    def anchor(self) -> str:
        """Return the id of its element on the page of its own run."""
        return f"entry-{self.seq}-{self.part}"

    def context(self) -> dict[str, Any]:
        """Return the context of its template; most entries of a flood are never rendered."""
        source = self.message or self.event
        own = _CONTEXTS[type(source)](source)
        return {"entry": self, "event": self.event, **own}


def entry_of(
    event: ev.Event, part: int, placement: Placement, joined: JoinedMessage | None = None
) -> Entry | None:
    """Return the entry of event number `part` of its frame, None if the thread does not show it.

    `joined` is the message of a message event; it changes while the response is read.
    """
    if placement is Placement.NONE:
        return None
    template = "summary" if is_summary(event) else _TEMPLATES.get(type(event), "unknown")
    if template == "card" and media_of(event.item) is not None:  # type: ignore[attr-defined]
        template = "media"
    if is_server_log(event):
        template = "server_log"
    elif late_meta(event):
        template = "format"
    pinned = placement in (Placement.PINNED, Placement.ASIDE)
    return Entry(event.seq, part, template, event, pinned, joined)


def _result(event: Any) -> dict[str, Any]:
    if is_summary(event):
        text = value_text(event.item.get("text") or event.item.get("description"), 20_000)
        # The template gets a text, whichever event the summary was.
        return {"text": text, "event": ev.Text(event.seq, text, kind="summary", raw=event.item)}
    item = event.item
    if view := item_view(item):
        return {"media": view}
    return {"card": card_of(item), "grounding": grounding_of(item), "groups": nested_of(item)}


def _format(event: Any) -> dict[str, Any]:
    """Return the metadata, such as the format of a ChatGPT app; nothing is loaded."""
    facts = meta_facts(event.meta)
    name = facts.pop("response_format", None)
    is_app = name == "chatgpt_app" or any(fact.startswith("openai/") for fact in facts)
    return {"format": value_text(name, 80), "facts": _shown_facts(facts), "is_app": is_app}


def _shown_facts(facts: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    """Return facts as (name, value as text, whether that is text of the agent)."""
    members = list(facts.items())[:MAX_FORMAT_FACTS]
    return [
        (fact[:80], value_text(value, 2_000), isinstance(value, str)) for fact, value in members
    ]


def _failure(event: Any) -> dict[str, Any]:
    return {
        "explanation": failures.explain(event.code),
        "details": table_of(event.details),
    }


def _text(event: Any) -> dict[str, Any]:
    step = event.raw.get("step") if isinstance(event.raw, Mapping) else None
    return {"text": event.text, "label": event.kind, "step": value_text(step, 10)}


def _promise(event: Any) -> dict[str, Any]:
    progress = event.progress
    if progress is None or 0 <= progress <= 1:
        return {"percent": None if progress is None else round(progress * 100)}
    # Progress beyond 0 to 1 is shown as text, because no bar can draw it.
    return {"percent": None, "beyond": value_text(progress, 20)}


def _note(event: Any) -> dict[str, Any]:
    """Return the context of a redirect, or of metadata that came late."""
    meta = late_meta(event)
    return _format(ev.Started(event.seq, meta)) if meta else _redirect(event)


def _redirect(event: Any) -> dict[str, Any]:
    data = event.data if isinstance(event.data, Mapping) else {}
    location = data.get("location")
    return {"status": data.get("status"), "location": location, "url": safe_url(location)}


def _unknown(event: Any) -> dict[str, Any]:
    """Return a preview; the JSON below it is complete."""
    return {"preview": json_preview(event.data, 300)}


def _message(event: Any) -> dict[str, Any]:
    """Return the context of a message of which only the beginning was received."""
    joined = JoinedMessage(
        (event.seq, 0), event.id, event.type, event.role, event.status, event.raw
    )
    return _joined_message(joined)


def _joined_message(message: Any) -> dict[str, Any]:
    return {"message": MessageView(message)}


def _tools(event: Any) -> dict[str, Any]:
    """Return the tools of a server as (name, description, facts about the format)."""
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
    return {
        "tools": shown,
        "total": len(tools),
        "more": event.more or len(event.tools) > len(tools),
        "hidden": len(event.tools) - len(shown),
        "incomplete": event.more,
    }


def _no_context(_: Any) -> dict[str, Any]:
    return {}


_TEMPLATES: dict[type[ev.Event], str] = {
    ev.Result: "card",
    ev.Note: "redirect",
    ev.Text: "text",
    ev.Elicitation: "elicitation",
    ev.Promise: "promise",
    ev.Failure: "failure",
    ev.Unknown: "unknown",
    ev.Started: "format",
    ev.Completed: "format",
    ev.Message: "message",
    ev.Tools: "tools",
}
_CONTEXTS: dict[type, Callable[[Any], dict[str, Any]]] = {
    JoinedMessage: _joined_message,
    ev.Message: _message,
    ev.Result: _result,
    ev.Text: _text,
    ev.Elicitation: _no_context,
    ev.Promise: _promise,
    ev.Failure: _failure,
    ev.Note: _note,
    ev.Unknown: _unknown,
    ev.Started: _format,
    ev.Completed: _format,
    ev.Tools: _tools,
    ev.Log: _no_context,
}
