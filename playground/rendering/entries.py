"""Events to entries: what the thread of a run shows, one partial per kind.

A new kind of event is one function here and one template under `templates/runs/entries/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from playground.protocols import events as ev
from playground.protocols.nlweb import failures
from playground.protocols.placement import Placement, format_facts, is_server_log, is_summary
from playground.rendering.cards import card_of
from playground.rendering.grounding import grounding_of
from playground.rendering.links import safe_url
from playground.rendering.messages import JoinedMessage
from playground.rendering.nested import nested_of
from playground.rendering.speech import MessageView
from playground.rendering.tables import table_of
from playground.rendering.words import json_preview, value_text

#: Facts of a format that are shown.
MAX_FORMAT_FACTS = 20
#: Tools of a server that are listed.
MAX_TOOLS = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in the thread of a run."""

    #: Number of the frame it came in, and its place among the entries of that frame.
    seq: int
    part: int
    #: Name of the template that shows it.
    template: str
    event: ev.Event
    #: True for what stands above the results wherever it came in the stream.
    pinned: bool = False
    #: Of a message: what has become of it so far.
    message: JoinedMessage | None = None

    @property
    def anchor(self) -> str:
        """The id of its element on the page of its own run."""
        return f"entry-{self.seq}-{self.part}"

    def context(self) -> dict[str, Any]:
        """What its template needs. Made only when it is rendered: most of a flood never is."""
        about = self.message or self.event
        own = _CONTEXTS[type(about)](about)
        images = settings.AGENT_IMAGES
        return {"entry": self, "event": self.event, "agent_images": images, **own}


def entry_of(
    event: ev.Event, part: int, place: Placement, joined: JoinedMessage | None = None
) -> Entry | None:
    """The entry for `event` at its place, None where the thread has nothing to show for it.

    `joined` is what a message becomes; it goes on changing while its reply is read.
    """
    if place is Placement.NONE:
        return None
    template = "summary" if is_summary(event) else _TEMPLATES.get(type(event), "unknown")
    if is_server_log(event):
        template = "server_log"
    pinned = place in (Placement.PINNED, Placement.ASIDE)
    return Entry(event.seq, part, template, event, pinned, joined)


def _result(event: Any) -> dict[str, Any]:
    if is_summary(event):
        text = value_text(event.item.get("text") or event.item.get("description"), 20_000)
        # To the template a summary is a text, whichever kind of event it came as.
        return {"text": text, "event": ev.Text(event.seq, text, kind="summary", raw=event.item)}
    item = event.item
    return {"card": card_of(item), "grounding": grounding_of(item), "groups": nested_of(item)}


def _format(event: Any) -> dict[str, Any]:
    """The widget of a ChatGPT app and the like: facts only, nothing that could be loaded."""
    facts = format_facts(event.meta)
    named = facts.pop("response_format", None)
    is_app = named == "chatgpt_app" or any(name.startswith("openai/") for name in facts)
    members = list(facts.items())[:MAX_FORMAT_FACTS]
    shown = [
        (name[:80], value_text(value, 2_000), isinstance(value, str)) for name, value in members
    ]
    return {"format": value_text(named, 80), "facts": shown, "is_app": is_app}


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
    # What an agent sends beyond the scale is shown as it came, and no bar can draw it.
    return {"percent": None, "beyond": value_text(progress, 20)}


def _redirect(event: Any) -> dict[str, Any]:
    data = event.data if isinstance(event.data, Mapping) else {}
    location = data.get("location")
    return {"status": data.get("status"), "location": location, "url": safe_url(location)}


def _unknown(event: Any) -> dict[str, Any]:
    """A first look at what it is; the JSON below it has all of it."""
    return {"glance": json_preview(event.data, 300)}


def _message(event: Any) -> dict[str, Any]:
    """A message of which no more is known than that it was announced."""
    home = (event.seq, 0)
    joined = JoinedMessage(home, event.id, event.type, event.role, event.status, event.raw)
    return _joined(joined)


def _joined(joined: Any) -> dict[str, Any]:
    return {"speech": MessageView(joined)}


def _tools(event: Any) -> dict[str, Any]:
    """The tools of a server, by name."""
    named = [tool for tool in event.tools if isinstance(tool, Mapping)][:MAX_TOOLS]
    shown = [
        (value_text(tool.get("name"), 128), value_text(tool.get("description"), 300))
        for tool in named
    ]
    return {"tools": shown, "more": event.more or len(event.tools) > len(named)}


def _plain(_: Any) -> dict[str, Any]:
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
    JoinedMessage: _joined,
    ev.Message: _message,
    ev.Result: _result,
    ev.Text: _text,
    ev.Elicitation: _plain,
    ev.Promise: _promise,
    ev.Failure: _failure,
    ev.Note: _redirect,
    ev.Unknown: _unknown,
    ev.Started: _format,
    ev.Completed: _format,
    ev.Tools: _tools,
    ev.Log: _plain,
}
