"""Updates of messages on a page, as out-of-band HTML.

A growing text is sent in pieces and never again as a whole; arguments and output of a call are
replaced in place; only a corrected type or a replaced text replaces the whole message.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import get_template

from playground.conversation.message_joiner import JoinedMessage, MessagePart
from playground.conversation.messages import MAX_TEXT, MessagePartView, MessageView, display_text
from playground.conversation.thread import Thread
from playground.conversation.tool_calls import tool_call_context
from playground.protocols.events import EntryRef
from playground.ui.formatting import pretty

_FILE = "conversation/messages.html"


@dataclass(slots=True)
class SentState:
    """The state of a message as a page shows it."""

    #: Everything outside the parts and the call.
    frame: tuple[object, ...]
    status: str
    call: tuple[object, ...]
    #: What its JSON shows, which only a read-only page has before it is opened.
    document: tuple[object, ...]
    #: Number of a part to its revision and the length of its text.
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)


class MessageUpdates:
    """The states of the messages on the page of one viewer."""

    def __init__(self, window: int) -> None:
        """Update messages among the first `window` entries of the thread."""
        self._window = window
        self._sent: dict[EntryRef, SentState] = {}

    def note(self, messages: Iterable[JoinedMessage], over: bool) -> None:
        """Record that these messages are on the page as they are now."""
        for joined in messages:
            self._sent[joined.ref] = _state(joined, over)

    def of(self, changed: Iterable[JoinedMessage], thread: Thread) -> list[str]:
        """Return the HTML that updates the page; messages beyond the window are left out."""
        updates: list[str] = []
        for joined in changed:
            if joined.number is not None and joined.number < self._window:
                updates += self._update(joined, thread)
        return updates

    def _update(self, joined: JoinedMessage, thread: Thread) -> list[str]:
        over = thread.run.is_final
        before, now = self._sent.get(joined.ref), _state(joined, over)
        self._sent[joined.ref] = now
        if before is None:
            return []  # A new message is sent as an entry.
        html = _MessageHtml(joined, thread)
        if before.frame != now.frame or _is_rewritten(before, now, joined):
            return [html.render(f"{_FILE}#entry", **html.raw())]
        updates = [html.render(f"{_FILE}#status")] if before.status != now.status else []
        if before.call != now.call:
            updates.append(html.render(f"{_FILE}#call"))
        for shown in html.view.parts:
            updates += html.growth(shown.part, before.parts.get(shown.part.number))
        if thread.readonly and before.document != now.document:
            # Not with every piece of a text: the JSON has all of the text.
            if over or before.status != now.status:
                return [*updates, html.render("conversation/response.html#raw", **html.raw())]
            now.document = before.document
        return updates


class _MessageHtml:
    """HTML of a message on the page of its run."""

    def __init__(self, joined: JoinedMessage, thread: Thread) -> None:
        self.view = MessageView(joined, thread.run.is_final)
        self._readonly = thread.readonly
        self._anchor = thread.anchor(joined.ref)
        self._context: dict[str, Any] = {
            **thread.children_context(joined.ref),
            **tool_call_context(joined, thread),
            "entry": {"seq": joined.ref[0], "part": joined.ref[1]},
        }

    def render(self, name: str, **context: Any) -> str:
        """Return a template as out-of-band HTML."""
        return get_template(name).render({**self._context, "oob": True, **context})

    def raw(self) -> dict[str, str]:
        """Return the context of `conversation/response.html#raw` beyond that of the message."""
        return {"raw": pretty(self.view.joined.document)} if self._readonly else {}

    def growth(self, part: MessagePart, before: tuple[int, int] | None) -> list[str]:
        """Return the HTML that appends what is new of a part."""
        view = MessagePartView(part)
        if before is None:
            html = get_template(f"{_FILE}#part").render({**self._context, "shown": view})
            return [_append(f"{self._anchor}-parts", html=html)]
        sent = before[1]
        if not part.is_text or part.length <= sent:
            return []
        updates = []
        if piece := display_text(part.text[sent:MAX_TEXT]):
            updates.append(_append(f"{self._anchor}-p{part.number}", text=piece))
        if view.length:
            updates.append(self.render(f"{_FILE}#remaining_text", shown=view))
        return updates


def _append(target: str, **context: str) -> str:
    return get_template(f"{_FILE}#append").render({"target": target, **context})


def _state(joined: JoinedMessage, over: bool) -> SentState:
    view = MessageView(joined, over)
    call, output, tool_output = joined.call, joined.output, joined.tool_output
    frame: tuple[object, ...] = (view.family, view.label, len(view.usage))
    frame += (call and call.name, joined.caller and joined.caller.ref)
    frame += (tool_output and tool_output.name, tool_output and tool_output.output, len(view.tools))
    call_state: tuple[object, ...] = ()
    if view.makes_call:
        # The form is shown once the response has ended.
        call_state = (call and call.arguments, output and output.output, over)
    parts = {part.number: (part.revision, part.length) for part in joined.parts.values()}
    return SentState(frame, view.status_label, call_state, (joined.raw, parts), parts)


def _is_rewritten(before: SentState, now: SentState, joined: JoinedMessage) -> bool:
    """Return whether a part was replaced, or a new one is not the last."""
    if any(revision != now.parts[number][0] for number, (revision, _) in before.parts.items()):
        return True
    order = [part.number for part in joined.ordered]
    return order != sorted(order) and len(now.parts) > len(before.parts)
