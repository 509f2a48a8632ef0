"""What of the messages on a page has changed, as pieces of HTML that are put in their places.

A text that grows is sent piece by piece and never again as a whole; what a call passes and what
came of it is changed in place; only what is read anew (a type that was corrected, a text that
was replaced) makes the message anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.template.loader import get_template

from playground.protocols.events import EntryRef
from playground.rendering.message_parts import MAX_TEXT, MessagePartView, display_text
from playground.rendering.messages import JoinedMessage, MessagePart
from playground.rendering.speech import MessageView
from playground.rendering.thread import Thread
from playground.rendering.tool_calls import tool_call_context


@dataclass(slots=True)
class SentState:
    """What a page knows of one message."""

    #: What stands outside the parts and the call.
    frame: tuple[object, ...]
    status: str
    call: tuple[object, ...]
    #: Of each part, by its number: its edition, and characters of its text.
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)


class MessageUpdates:
    """What one viewer's page knows of the messages that it shows."""

    def __init__(self, window: int) -> None:
        """`window` is how many entries of the thread are pushed to the page."""
        self._window = window
        self._told: dict[EntryRef, SentState] = {}

    def note(self, messages: Iterable[JoinedMessage], over: bool) -> None:
        """These are on the page as they are now."""
        for joined in messages:
            self._told[joined.ref] = _state(joined, over)

    def of(self, changed: Iterable[JoinedMessage], thread: Thread) -> list[str]:
        """The HTML that brings the page up to date; messages beyond the window are left out."""
        found: list[str] = []
        for joined in changed:
            if joined.number is not None and joined.number < self._window:
                found += self._update(joined, thread)
        return found

    def _update(self, joined: JoinedMessage, thread: Thread) -> list[str]:
        over = thread.run.is_final
        before, now = self._told.get(joined.ref), _state(joined, over)
        self._told[joined.ref] = now
        if before is None:
            return []  # It has only just come: its entry says all of it.
        page = _Page(joined, thread)
        if before.frame != now.frame or _is_rewritten(before, now, joined):
            return [page.render("entries/message")]
        found = [page.render("messages/status")] if before.status != now.status else []
        if before.call != now.call:
            found.append(page.render("messages/call"))
        for shown in page.speech.parts:
            found += page.growth(shown.part, before.parts.get(shown.part.number))
        return found


class _Page:
    """One message on the page of its run."""

    def __init__(self, joined: JoinedMessage, thread: Thread) -> None:
        self.speech = MessageView(joined, thread.run.is_final)
        self._anchor = thread.anchor(joined.ref)
        self._context: dict[str, Any] = {
            **thread.children_context(joined.ref),
            **tool_call_context(joined, thread),
            "entry": {"seq": joined.ref[0], "part": joined.ref[1]},
            "agent_images": settings.AGENT_IMAGES,
        }

    def render(self, name: str, **context: Any) -> str:
        """One of the templates as something that replaces what is there."""
        return get_template(f"runs/{name}.html").render({**self._context, "oob": True, **context})

    def growth(self, part: MessagePart, before: tuple[int, int] | None) -> list[str]:
        """What is new of a part."""
        shown = MessagePartView(part)
        if before is None:
            html = get_template("runs/messages/part.html").render({**self._context, "shown": shown})
            return [_append(f"{self._anchor}-parts", html=html)]
        known = before[1]
        if not part.is_text or part.length <= known:
            return []
        found = []
        if piece := display_text(part.text[known:MAX_TEXT]):
            found.append(_append(f"{self._anchor}-p{part.number}", text=piece))
        if shown.length:
            found.append(self.render("messages/remaining_text", shown=shown))
        return found


def _append(target: str, **context: str) -> str:
    return get_template("runs/messages/append.html").render({"target": target, **context})


def _state(joined: JoinedMessage, over: bool) -> SentState:
    speech = MessageView(joined, over)
    call, output, returned = joined.call, joined.output, joined.tool_output
    frame: tuple[object, ...] = (speech.family, speech.label, len(speech.usage))
    frame += (call and call.name, joined.caller and joined.caller.ref)
    frame += (returned and returned.name, returned and returned.output, len(speech.tools))
    within: tuple[object, ...] = ()
    if speech.makes_call:
        # The form comes once the reply has ended.
        within = (call and call.arguments, output and output.output, over)
    parts = {part.number: (part.revision, part.length) for part in joined.parts.values()}
    return SentState(frame, speech.status_label, within, parts)


def _is_rewritten(before: SentState, now: SentState, joined: JoinedMessage) -> bool:
    """Whether a part is not what it was, or a new one does not stand at the end."""
    if any(edition != now.parts[number][0] for number, (edition, _) in before.parts.items()):
        return True
    order = [part.number for part in joined.ordered]
    return order != sorted(order) and len(now.parts) > len(before.parts)
