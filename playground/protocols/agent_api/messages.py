"""Reader of messages and their contents: an event for each, however often the agent repeats it.

A message begins when it is announced or with its first content (a framework with texts only
announces none). Contents are received in pieces, as replacements, or complete; the completed
message and the completed response repeat them, and a repetition makes no event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import error_documents, lenient
from playground.protocols.agent_api import parts
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.agent_api.partial_messages import (
    PartialContent,
    PartialMessage,
    PartialMessages,
)
from playground.protocols.agent_api.tools import is_tool, tool_event
from playground.protocols.events import Content, Event, Failure, Message, Note, Status, Unknown

Payload = Mapping[str, Any]
Events = list[Event]

#: Most parts that are continued at the same time.
_MAX_CONTINUED = 100


class Messages:
    """The messages of one response. Every method appends the events that it reads to `found`."""

    def __init__(self) -> None:
        self._partials = PartialMessages()
        #: Message and part of the texts in progress, by `msg_id` and `index`.
        self._continued: dict[tuple[Any, Any], tuple[PartialMessage, PartialContent]] = {}

    # Contents

    def content(self, found: Events, seq: int, part: Payload) -> None:
        """Read a part of a message, or a piece of one (section "Content Streaming")."""
        if not self._continues(found, seq, part):
            if part.get("delta") is not True or len(self._continued) > _MAX_CONTINUED:
                self._continued.clear()
            self._read_part(found, seq, part)

    def _continues(self, found: Events, seq: int, part: Payload) -> bool:
        """Read one more piece of the same text as the previous piece: most of a stream."""
        text = part.get("text")
        if type(text) is not str or part.get("type") != "text" or part.get("error") is not None:
            return False
        if part.get("delta") is not True or part.get("status") != "in_progress":
            return False
        name, index = part.get("msg_id"), part.get("index")
        if type(name) is not str or type(index) is not int:
            return False
        if (known := self._continued.get((name, index))) is None:
            return False
        message, content = known
        content.add(text)
        found.append(
            Content(
                seq,
                message.message_ref,
                message.id,
                content.index,
                "text",
                text,
                True,
                "in_progress",
                part,
            )
        )
        return True

    def _read_part(self, found: Events, seq: int, part: Payload) -> None:
        message = self._owner(found, seq, part)
        kind = parts.kind_of(part)
        value = parts.value_of(part, kind)
        status = part.get("status")
        content = message.content(parts.index_of(part.get("index")), kind)
        if part.get("delta") is True and value is not None:
            content.add(value)
            found.append(
                _content_event(seq, message, content, value, lenient.text(status), part, delta=True)
            )
            name, index = part.get("msg_id"), part.get("index")
            if kind == "text" and type(name) is str and type(index) is int:
                self._continued[name, index] = message, content
        else:
            self._read_whole(found, seq, message, content, value, part)
        if status != "in_progress" and lenient.text(status) in FINAL_STATUSES:
            self._finish(found, seq, message, content, lenient.text(status))
        if part.get("error") is not None:
            found.append(error_documents.failure(seq, part["error"], part))

    def _owner(self, found: Events, seq: int, part: Payload) -> PartialMessage:
        name = identifier(part.get("msg_id"))
        message = self._partials.find(name) if name else self._partials.current
        if message is None:
            message = self._begin(found, seq, name, {})
        return message

    def _read_whole(
        self,
        found: Events,
        seq: int,
        message: PartialMessage,
        content: PartialContent,
        value: Any,
        part: Payload,
    ) -> None:
        """Read a complete part: new, a replacement, or the same as its pieces."""
        status = lenient.text(part.get("status"))
        if value is not None and content.replace(value):
            found.append(_content_event(seq, message, content, value, status, part))
            content.is_announced = False
        else:
            ref, index = message.message_ref, content.index
            found.append(Status(seq, "content", message.id, status, ref, raw=part, index=index))

    def _finish(
        self, found: Events, seq: int, message: PartialMessage, content: PartialContent, status: str
    ) -> None:
        """Complete a part: if it is a tool call or a tool output, its event is due now."""
        if is_tool(message.type) and not content.is_announced:
            event = tool_event(seq, message.message_ref, message.type, content.value)
            content.is_announced = event is not None
            found.extend([event] if event else [])
        content.close(status)

    # Messages

    def message(self, found: Events, seq: int, payload: Payload) -> None:
        """Read a message that is announced, continued or complete (section "Message Model")."""
        self._continued.clear()
        name, kind = identifier(payload.get("id")), lenient.text(payload.get("type"))
        known = self._partials.find(name) if name else self._partials.open_without_id(kind)
        self._read(found, seq, payload, name, known)

    def output(self, found: Events, seq: int, messages: list[Any]) -> None:
        """Read the messages of a response, of which some were received before."""
        self._continued.clear()
        without_id = 0
        for payload in messages:
            if not isinstance(payload, dict):
                reason = "The message in output is not a JSON object."
                found.append(Unknown(seq, "output", payload, reason))
                continue
            name = identifier(payload.get("id"))
            known = self._partials.find(name) if name else self._partials.nth_without_id(without_id)
            without_id += not name
            self._read(found, seq, payload, name, known, repeated=True)

    def _read(
        self,
        found: Events,
        seq: int,
        payload: Payload,
        name: str,
        known: PartialMessage | None,
        *,
        repeated: bool = False,
    ) -> None:
        kind = lenient.text(payload.get("type"))
        if kind == "heartbeat":
            found.extend([] if repeated else [Note(seq, "heartbeat", payload)])
            return
        message = known or self._begin(found, seq, name, payload)
        before = message.status
        message.status = lenient.text(payload.get("status")) or before
        message.type = kind or message.type
        message.role = lenient.text(payload.get("role")) or message.role
        self._contents(found, seq, message, payload)
        if not message.is_open and before not in FINAL_STATUSES:
            for content in message.unfinished():
                self._finish(found, seq, message, content, message.status)
        self._errors(found, seq, message, payload)
        self._partials.settle(message)
        if _is_new_status(known, repeated, before, message):
            status, ref, usage = message.status, message.message_ref, payload.get("usage")
            found.append(Status(seq, "message", message.id, status, ref, usage, payload))

    def _begin(self, found: Events, seq: int, name: str, payload: Payload) -> PartialMessage:
        message = self._partials.begin(name, (seq, len(found)))
        kind, role = lenient.text(payload.get("type")), lenient.text(payload.get("role"))
        if kind == "error" and parts.first_text(payload, "code", "message"):
            # It contains only the error, which has the entry.
            self._errors(found, seq, message, payload)
        else:
            status = lenient.text(payload.get("status"))
            found.append(Message(seq, name, kind, role, status, payload or None))
        return message

    def _contents(self, found: Events, seq: int, message: PartialMessage, payload: Payload) -> None:
        """Read the contents in a message: only new ones make events."""
        content = payload.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        entries = lenient.items(content)
        # Such parts may have no index, and the list has no gaps where the indexes had.
        keys = dict(enumerate(sorted(message.contents) if entries else []))
        for position, part in enumerate(entries):
            if isinstance(part, str):
                part = {"type": "text", "text": part}
            if isinstance(part, dict):
                index, kind = keys.get(position, (position, parts.kind_of(part)))
                index = index if kind == parts.kind_of(part) else position
                self._nested(found, seq, message, part, index)
            else:
                reason = "The content of the message is not a JSON object."
                found.append(Unknown(seq, "content", part, reason))

    def _nested(
        self, found: Events, seq: int, message: PartialMessage, part: dict[str, Any], position: int
    ) -> None:
        kind = parts.kind_of(part)
        value = parts.value_of(part, kind)
        index = parts.index_of(part.get("index"))
        content = message.content(position if index is None else index, kind)
        status = lenient.text(part.get("status")) or message.status
        if value is not None and content.replace(value):
            found.append(_content_event(seq, message, content, value, status, part))
            content.is_announced = False
        if status in FINAL_STATUSES or not message.is_open:
            self._finish(found, seq, message, content, status)

    def _errors(self, found: Events, seq: int, message: PartialMessage, payload: Payload) -> None:
        """Read the error that a message is or has, once."""
        if payload.get("error") is not None:
            failure = error_documents.failure(seq, payload["error"], payload)
        elif parts.first_text(payload, "code", "message"):
            code, text = (parts.first_text(payload, name) for name in ("code", "message"))
            failure = Failure(seq, code, text, raw=payload)
        elif message.type == "error" and not message.is_open and message.announced_as is None:
            failure = Failure(seq, "", _message_text(payload), raw=payload)
        else:
            return
        if message.announced_as != (failure.code, failure.message):
            message.announced_as = failure.code, failure.message
            found.append(failure)


def identifier(value: Any) -> str:
    """Return an id as text, also if it is a number, "" for any other value."""
    if type(value) is str:
        return value
    return parts.canonical(value) if type(value) is int else ""


def _is_new_status(
    known: PartialMessage | None, repeated: bool, before: str, message: PartialMessage
) -> bool:
    """Return whether a message's status needs an event of its own.

    The output of a response repeats its messages, so only a change of status counts there; a new
    message has its first status in its own event, so only a final status needs another.
    """
    if known is None:
        return not message.is_open
    return not repeated or message.status != before


def _content_event(
    seq: int,
    message: PartialMessage,
    content: PartialContent,
    value: Any,
    status: str,
    part: Payload,
    *,
    delta: bool = False,
) -> Content:
    index, kind = content.index, content.kind
    return Content(seq, message.message_ref, message.id, index, kind, value, delta, status, part)


def _message_text(payload: Payload) -> str:
    content = payload.get("content")
    entries = content if isinstance(content, list) else [content]
    texts = (each.get("text") if isinstance(each, dict) else each for each in entries)
    return " ".join(text for text in texts if isinstance(text, str))
