"""Messages and their contents as events: each thing once, however often the agent says it.

A message comes into being when it is announced or when its first content comes (a framework
that knows texts only announces none). Contents come in pieces, as whole replacements, or
complete; the completed message and the completed response repeat them, and what was said
already makes no event of its own there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.agent_api import failures, parts
from playground.protocols.agent_api.assembly import PartialContent, PartialMessage, PartialMessages
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.agent_api.tools import is_tool, tool_event
from playground.protocols.events import Content, Event, Message, Note, Status, Unknown

Payload = Mapping[str, Any]
Found = list[Event]

#: Parts that pieces are expected for at once.
_MAX_GROWING = 100


class Messages:
    """The messages of one response. Every method appends what it reads to `found`."""

    def __init__(self) -> None:
        self._drafts = PartialMessages()
        #: Where pieces of text go: message and part, by what the pieces say. Emptied by all else.
        self._growing: dict[tuple[Any, Any], tuple[PartialMessage, PartialContent]] = {}

    # Contents

    def content(self, found: Found, seq: int, part: Payload) -> None:
        """A part of a message, or a piece of one (section "Content Streaming")."""
        if not self._grows(found, seq, part):
            if part.get("delta") is not True or len(self._growing) > _MAX_GROWING:
                self._growing.clear()
            self._read_part(found, seq, part)

    def _grows(self, found: Found, seq: int, part: Payload) -> bool:
        """One more piece of the text that the piece before it belongs to: most of a stream."""
        text = part.get("text")
        if type(text) is not str or part.get("type") != "text" or part.get("error") is not None:
            return False
        if part.get("delta") is not True or part.get("status") != "in_progress":
            return False
        name, index = part.get("msg_id"), part.get("index")
        if type(name) is not str or type(index) is not int:
            return False
        if (known := self._growing.get((name, index))) is None:
            return False
        draft, slot = known
        slot.add(text)
        found.append(
            Content(seq, draft.home, draft.id, slot.index, "text", text, True, "in_progress", part)
        )
        return True

    def _read_part(self, found: Found, seq: int, part: Payload) -> None:
        draft = self._owner(found, seq, part)
        kind = parts.kind_of(part)
        value = parts.value_of(part, kind)
        status = part.get("status")
        slot = draft.slot(parts.index_of(part.get("index")), kind)
        if part.get("delta") is True and value is not None:
            slot.add(value)
            said = _text(status)
            found.append(
                Content(seq, draft.home, draft.id, slot.index, kind, value, True, said, part)
            )
            name, index = part.get("msg_id"), part.get("index")
            if kind == "text" and type(name) is str and type(index) is int:
                self._growing[name, index] = draft, slot
        else:
            self._whole(found, seq, draft, slot, value, part)
        if status != "in_progress" and _text(status) in FINAL_STATUSES:
            self._finish(found, seq, draft, slot, _text(status))
        if part.get("error") is not None:
            found.append(failures.of_error(seq, part["error"], part))

    def _owner(self, found: Found, seq: int, part: Payload) -> PartialMessage:
        name = identifier(part.get("msg_id"))
        draft = self._drafts.find(name) if name else self._drafts.current
        if draft is None:
            draft = self._begin(found, seq, name, {})
        return draft

    def _whole(
        self,
        found: Found,
        seq: int,
        draft: PartialMessage,
        slot: PartialContent,
        value: Any,
        part: Payload,
    ) -> None:
        """A part that is given as a whole: new, a replacement, or what its pieces said."""
        status = _text(part.get("status"))
        if value is not None and slot.replace(value):
            found.append(
                Content(
                    seq, draft.home, draft.id, slot.index, slot.kind, value, False, status, part
                )
            )
            slot.is_announced = False
        else:
            found.append(
                Status(seq, "content", draft.id, status, draft.home, raw=part, index=slot.index)
            )

    def _finish(
        self, found: Found, seq: int, draft: PartialMessage, slot: PartialContent, status: str
    ) -> None:
        """A part is complete: if it is a call of a tool or its output, it can be told now."""
        if is_tool(draft.type) and not slot.is_announced:
            event = tool_event(seq, draft.home, draft.type, slot.value)
            slot.is_announced = event is not None
            found.extend([event] if event else [])
        slot.close(status)

    # Messages

    def message(self, found: Found, seq: int, payload: Payload) -> None:
        """A message is announced, goes on, or is complete (section "Message Model")."""
        self._growing.clear()
        name, kind = identifier(payload.get("id")), _text(payload.get("type"))
        known = self._drafts.find(name) if name else self._drafts.unnamed(kind)
        self._read(found, seq, payload, name, known)

    def output(self, found: Found, seq: int, messages: list[Any]) -> None:
        """The messages of a response: those that came before it, and those that did not."""
        self._growing.clear()
        nameless = 0
        for payload in messages:
            if not isinstance(payload, dict):
                reason = "A message of the output is not a JSON object."
                found.append(Unknown(seq, "output", payload, reason))
                continue
            name = identifier(payload.get("id"))
            known = self._drafts.find(name) if name else self._drafts.nameless(nameless)
            nameless += not name
            self._read(found, seq, payload, name, known, repeated=True)

    def _read(
        self,
        found: Found,
        seq: int,
        payload: Payload,
        name: str,
        known: PartialMessage | None,
        *,
        repeated: bool = False,
    ) -> None:
        kind = _text(payload.get("type"))
        if kind == "heartbeat":
            found.extend([] if repeated else [Note(seq, "heartbeat", payload)])
            return
        draft = known or self._begin(found, seq, name, payload)
        before, draft.status = draft.status, _text(payload.get("status")) or draft.status
        draft.type, draft.role = kind or draft.type, _text(payload.get("role")) or draft.role
        self._contents(found, seq, draft, payload)
        if not draft.is_open and before not in FINAL_STATUSES:
            for slot in draft.unfinished():
                self._finish(found, seq, draft, slot, draft.status)
        self._errors(found, seq, draft, payload)
        self._drafts.settle(draft)
        if _is_news(known, repeated, before, draft):
            found.append(_status(seq, draft, payload))

    def _begin(self, found: Found, seq: int, name: str, payload: Payload) -> PartialMessage:
        draft = self._drafts.begin(name, (seq, len(found)))
        kind, role = _text(payload.get("type")), _text(payload.get("role"))
        if kind == "error" and failures.first_text(payload, "code", "message"):
            # Nothing but the error is in it, so that has the entry.
            self._errors(found, seq, draft, payload)
        else:
            status = _text(payload.get("status"))
            found.append(Message(seq, name, kind, role, status, payload or None))
        return draft

    def _contents(self, found: Found, seq: int, draft: PartialMessage, payload: Payload) -> None:
        """The contents that a message carries itself: what of it is new."""
        content = payload.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        entries = content if isinstance(content, list) else []
        # Such parts may have no index of their own, and the list no gaps where the indexes had.
        places = dict(enumerate(draft.content_keys() if entries else []))
        for position, part in enumerate(entries):
            if isinstance(part, str):
                part = {"type": "text", "text": part}
            if isinstance(part, dict):
                place = places.get(position, (position, parts.kind_of(part)))
                index = place[0] if place[1] == parts.kind_of(part) else position
                self._nested(found, seq, draft, part, index)
            else:
                reason = "A content of the message is not a JSON object."
                found.append(Unknown(seq, "content", part, reason))

    def _nested(
        self, found: Found, seq: int, draft: PartialMessage, part: dict[str, Any], position: int
    ) -> None:
        kind = parts.kind_of(part)
        value = parts.value_of(part, kind)
        index = parts.index_of(part.get("index"))
        slot = draft.slot(position if index is None else index, kind)
        status = _text(part.get("status")) or draft.status
        if value is not None and slot.replace(value):
            found.append(
                Content(seq, draft.home, draft.id, slot.index, kind, value, False, status, part)
            )
            slot.is_announced = False
        if status in FINAL_STATUSES or not draft.is_open:
            self._finish(found, seq, draft, slot, status)

    def _errors(self, found: Found, seq: int, draft: PartialMessage, payload: Payload) -> None:
        """The error that a message is or carries, once."""
        if payload.get("error") is not None:
            failure = failures.of_error(seq, payload["error"], payload)
        elif failures.first_text(payload, "code", "message"):
            failure = failures.of_message(seq, payload, "")
        elif draft.type == "error" and not draft.is_open and draft.announced_as is None:
            failure = failures.of_message(seq, payload, _words(payload))
        else:
            return
        if draft.announced_as != (failure.code, failure.message):
            draft.announced_as = failure.code, failure.message
            found.append(failure)


def identifier(value: Any) -> str:
    """An id as text: agents number things, too. "" for what is none."""
    if type(value) is str:
        return value
    return parts.canonical(value) if type(value) is int else ""


def _is_news(
    known: PartialMessage | None, repeated: bool, before: str, draft: PartialMessage
) -> bool:
    """Whether a message's status has to be told by itself.

    The output of a response is a reminder, so only a change is told from there; a message that
    was not known tells its first status itself, and if that is the last one, then its end.
    """
    if known is None:
        return not draft.is_open
    return not repeated or draft.status != before


def _status(seq: int, draft: PartialMessage, payload: Payload) -> Status:
    usage = payload.get("usage")
    return Status(seq, "message", draft.id, draft.status, draft.home, usage, payload)


def _words(payload: Payload) -> str:
    """The text of a message's contents."""
    content = payload.get("content")
    entries = content if isinstance(content, list) else [content]
    texts = (each.get("text") if isinstance(each, dict) else each for each in entries)
    return " ".join(text for text in texts if isinstance(text, str))


def _text(value: Any) -> str:
    return value if type(value) is str else ""
