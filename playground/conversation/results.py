"""Results as entries of a thread: cards, media, summaries and plain data."""

from __future__ import annotations

from playground.conversation.action_buttons import action_buttons, is_plain_data
from playground.conversation.cards import card_of, nested_of
from playground.conversation.entries import Entry, Shown
from playground.conversation.grounding import grounding_of
from playground.conversation.media import item_view, media_line
from playground.conversation.thread import Thread
from playground.protocols import events as ev
from playground.protocols import registry
from playground.protocols.media import media_of
from playground.protocols.placement import is_summary
from playground.ui.formatting import pretty, value_text


def show_result(entry: Entry, thread: Thread) -> Shown:
    event = entry.event
    assert isinstance(event, ev.Result)
    item = event.item
    if is_summary(event):
        return "summary", {"text": value_text(item.get("text") or item.get("description"), 20_000)}
    if media := item_view(item):
        return "media", {"media": media}
    buttons = action_buttons(item)
    if thread.run.protocol == registry.ACTION and is_plain_data(item):
        return "data", {"json": pretty(item), "action_buttons": buttons}
    return "card", {
        "card": card_of(item),
        "grounding": grounding_of(item),
        "groups": nested_of(item),
        "action_buttons": buttons,
    }


def result_line(event: ev.Result) -> str:
    if media := media_of(event.item):
        return media_line(media)
    card = card_of(event.item)
    return f"{card.kind} · {card.title or card.text}"


def result_payload(event: ev.Result) -> object:
    return event.item if event.index is None else {"index": event.index, "item": event.item}
