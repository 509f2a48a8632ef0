"""Reader of messages and their contents: an event for each, however often the agent repeats it.

A message begins when it is announced or with its first content (a framework with texts only
announces none). Contents are received in pieces, as replacements, or complete; the completed
message and the completed response repeat them, and a repetition makes no event.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from playground.protocols import error_documents, lenient
from playground.protocols.agent_api import parts
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.events import (
    Content,
    EntryRef,
    Event,
    Failure,
    Message,
    Note,
    Status,
    Unknown,
)

# --- messages that are not complete -----------------------------------------------------------
#
# An agent sends most contents twice or more: in pieces, in the completed part, in the completed
# message and in the completed response. To show each once, the digest of what was received is
# enough, so a text of any length costs a few bytes, and a piece costs the same however many there
# were before it.

#: Most parts of one message, and most messages and parts together, that are stored; the oldest
#: are dropped, and a repetition of those is shown again.
MAX_PARTS, MAX_STORED = 1_000, 20_000
_DIGEST_SIZE = 16


class PartialContent:
    """One part of a message: the digest of its pieces."""

    __slots__ = ("_hash", "_pieces", "index", "is_announced", "kind", "status")

    def __init__(self, index: int, kind: str) -> None:
        self.index, self.kind = index, kind
        self.status = ""
        #: Whether the event of its tool call or output was made.
        self.is_announced = False
        #: Of its text or, once it is complete, its digest.
        self._hash: blake2b | bytes | None = None
        self._pieces: list[Any] = []

    @property
    def is_open(self) -> bool:
        return self.status not in FINAL_STATUSES

    @property
    def value(self) -> Any:
        """Return its value if it is neither text nor complete: only then it is stored."""
        return parts.join(self._pieces)

    def add(self, piece: Any) -> None:
        if type(piece) is not str:
            self._pieces.append(piece)
            return
        if not isinstance(self._hash, blake2b):
            self._hash = blake2b(digest_size=_DIGEST_SIZE)
        self._hash.update(piece.encode("utf-8", "surrogatepass"))

    def replace(self, value: Any) -> bool:
        """Replace the pieces by a whole value and return whether it differs from them."""
        digest = _digest(value)
        changed = digest != self._current()
        self._hash = digest
        self._pieces = [] if type(value) is str else [value]
        return changed

    def close(self, status: str) -> None:
        """Complete the part: its value is from now on stored as a digest only."""
        self._hash = self._current()
        self._pieces = []
        self.status = status

    def _current(self) -> bytes | None:
        if self._pieces:
            return _digest(self.value)
        return self._hash.digest() if isinstance(self._hash, blake2b) else self._hash


class PartialMessage:
    """One message, as far as it was received."""

    __slots__ = (
        "_count", "_latest", "_top", "announced_as", "contents", "id", "message_ref", "role",
        "status", "type",
    )  # fmt: skip

    def __init__(self, identifier: str, message_ref: EntryRef, count: Callable[[], None]) -> None:
        self.id, self.message_ref = identifier, message_ref
        self.type = self.role = self.status = ""
        self.contents: dict[tuple[int, str], PartialContent] = {}
        #: Code and message of the failure that was made an event.
        self.announced_as: tuple[str, str] | None = None
        self._count = count
        #: The latest part of each kind, and the highest index.
        self._latest: dict[str, PartialContent] = {}
        self._top = -1

    @property
    def is_open(self) -> bool:
        return self.status not in FINAL_STATUSES

    def content(self, index: int | None, kind: str) -> PartialContent:
        """Return the part at this index; without an index the open one of its kind, or a new."""
        if index is None:
            latest = self._latest.get(kind)
            index = latest.index if latest is not None and latest.is_open else self._top + 1
        return self.contents.get((index, kind)) or self._new_content(index, kind)

    def unfinished(self) -> list[PartialContent]:
        return [content for content in self.contents.values() if content.is_open]

    def _new_content(self, index: int, kind: str) -> PartialContent:
        if len(self.contents) >= MAX_PARTS:
            del self.contents[next(iter(self.contents))]
        self._count()
        if len(self._latest) >= MAX_PARTS:
            self._latest.clear()
        content = self.contents[index, kind] = self._latest[kind] = PartialContent(index, kind)
        self._top = max(self._top, index)
        return content


class PartialMessages:
    """The messages of one response."""

    def __init__(self) -> None:
        #: All stored messages, the oldest first, by identity; those with an id also by that.
        self._all: OrderedDict[int, PartialMessage] = OrderedDict()
        self._by_id: dict[str, PartialMessage] = {}
        #: Those without an id, in the order in which they were received.
        self._without_id: list[PartialMessage] = []
        self._open: dict[int, PartialMessage] = {}
        self._latest: PartialMessage | None = None
        self._size = 0

    @property
    def current(self) -> PartialMessage | None:
        """Return the message that a part without a `msg_id` belongs to."""
        if self._open:
            return next(reversed(self._open.values()))
        return self._latest

    def find(self, identifier: str) -> PartialMessage | None:
        return self._by_id.get(identifier)

    def nth_without_id(self, position: int) -> PartialMessage | None:
        return self._without_id[position] if position < len(self._without_id) else None

    def open_without_id(self, kind: str) -> PartialMessage | None:
        """Return the message that an announcement of this type and without an id continues."""
        message = self.current
        fits = message is not None and message.is_open and kind in ("", message.type)
        return message if fits else None

    def begin(self, identifier: str, message_ref: EntryRef) -> PartialMessage:
        message = PartialMessage(identifier, message_ref, self._count)
        self._count()
        self._all[id(message)] = self._open[id(message)] = self._latest = message
        if identifier:
            self._by_id[identifier] = message
        elif len(self._without_id) < MAX_PARTS:
            self._without_id.append(message)
        return message

    def settle(self, message: PartialMessage) -> None:
        if not message.is_open:
            self._open.pop(id(message), None)

    def _count(self) -> None:
        self._size += 1
        while self._size > MAX_STORED and len(self._all) > 1:
            self._drop(self._all.popitem(last=False)[1])

    def _drop(self, message: PartialMessage) -> None:
        self._size -= 1 + len(message.contents)
        message.contents.clear()
        self._open.pop(id(message), None)
        if self._by_id.get(message.id) is message:
            del self._by_id[message.id]


def _digest(value: Any) -> bytes:
    text = value if type(value) is str else parts.canonical(value)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_SIZE).digest()


# --- reader -----------------------------------------------------------------------------------

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
        found.append(_content_event(seq, message, content, text, "in_progress", part, delta=True))
        return True

    def _read_part(self, found: Events, seq: int, part: Payload) -> None:
        message = self._owner(found, seq, part)
        kind = parts.kind_of(part)
        value = parts.value_of(part, kind)
        status = lenient.text(part.get("status"))
        content = message.content(parts.index_of(part.get("index")), kind)
        if part.get("delta") is True and value is not None:
            content.add(value)
            found.append(_content_event(seq, message, content, value, status, part, delta=True))
            name, index = part.get("msg_id"), part.get("index")
            if kind == "text" and type(name) is str and type(index) is int:
                self._continued[name, index] = message, content
        elif not _read_whole(found, seq, message, content, value, status, part):
            ref, index = message.message_ref, content.index
            found.append(Status(seq, "content", message.id, status, ref, raw=part, index=index))
        if status in FINAL_STATUSES:
            self._finish(found, seq, message, content, status)
        if part.get("error") is not None:
            found.append(error_documents.failure(seq, part["error"], part))

    def _owner(self, found: Events, seq: int, part: Payload) -> PartialMessage:
        name = identifier(part.get("msg_id"))
        message = self._partials.find(name) if name else self._partials.current
        if message is None:
            message = self._begin(found, seq, name, {})
        return message

    def _finish(
        self, found: Events, seq: int, message: PartialMessage, content: PartialContent, status: str
    ) -> None:
        """Complete a part: if it is a tool call or a tool output, its event is due now."""
        if parts.is_tool(message.type) and not content.is_announced:
            event = parts.tool_event(seq, message.message_ref, message.type, content.value)
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
        # The output of a response repeats its messages, so only a change of status counts there; a
        # new message has its first status in its own event, so only a final status needs another.
        is_said = message.is_open if known is None else repeated and message.status == before
        if not is_said:
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
        _read_whole(found, seq, message, content, value, status, part)
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


def _read_whole(
    found: Events,
    seq: int,
    message: PartialMessage,
    content: PartialContent,
    value: Any,
    status: str,
    part: Payload,
) -> bool:
    """Read a complete part; return whether it is new, and not the same as its pieces."""
    if value is None or not content.replace(value):
        return False
    found.append(_content_event(seq, message, content, value, status, part))
    content.is_announced = False
    return True


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
