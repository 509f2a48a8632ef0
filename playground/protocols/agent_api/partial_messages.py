"""Messages that are not complete: the received contents of each, without storing all of them.

An agent sends most contents twice or more: in pieces, in the completed part, in the completed
message and in the completed response. To show each once, the digest of what was received is
enough, so a text of any length costs a few bytes, and a piece costs the same however many there
were before it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from playground.protocols.agent_api import parts
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.events import EntryRef

#: Most parts of one message, and most messages and parts together, that are stored; the oldest
#: are dropped, and a repetition of those is shown again.
MAX_PARTS, MAX_STORED = 1_000, 20_000


class PartialContent:
    """One part of a message: the digest of its pieces."""

    __slots__ = ("_hash", "_pieces", "index", "is_announced", "kind", "status")

    def __init__(self, index: int, kind: str) -> None:
        self.index, self.kind = index, kind
        self.status = ""
        #: Whether the event of its tool call or output was made.
        self.is_announced = False
        self._hash: Any = None
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
        if type(self._hash) is not _HASH:
            self._hash = _new_hash()
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
        if type(self._hash) is _HASH:
            found: bytes = self._hash.digest()
            return found
        return self._hash if type(self._hash) is bytes else None


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
    found = _new_hash()
    found.update(text.encode("utf-8", "surrogatepass"))
    digest: bytes = found.digest()
    return digest


def _new_hash() -> Any:
    return hashlib.blake2b(digest_size=16)


_HASH = hashlib.blake2b
