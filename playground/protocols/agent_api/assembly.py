"""Messages under construction: what has come of each, without keeping all of it.

An agent says most things twice or three times: in pieces, in the completed part, in the
completed message and in the completed response. To show each once it is enough to know the
digest of what came, so a text of any length costs a few bytes, and a piece costs the same
however many there were before it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from playground.protocols.agent_api import parts
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.events import EntryRef

#: Parts of one message, and messages with their parts together, that are remembered; the
#: oldest give way, and what is said of them once more is shown once more.
MAX_PARTS, MAX_REMEMBERED = 1_000, 20_000


class PartialContent:
    """One part of a message: the pieces that came, as a digest."""

    __slots__ = ("_hash", "_pieces", "index", "is_announced", "kind", "status")

    def __init__(self, index: int, kind: str) -> None:
        self.index, self.kind = index, kind
        self.status = ""
        #: Whether the tool call or output in it was handed on.
        self.is_announced = False
        self._hash: Any = None
        self._pieces: list[Any] = []

    @property
    def is_open(self) -> bool:
        """Whether it was not completed yet."""
        return self.status not in FINAL_STATUSES

    @property
    def value(self) -> Any:
        """Its value where that is not text and not complete yet: only then it is kept."""
        return parts.join(self._pieces)

    def add(self, piece: Any) -> None:
        """Take in a piece that continues those before it."""
        if type(piece) is not str:
            self._pieces.append(piece)
            return
        if type(self._hash) is not _HASH:
            self._hash = _new_hash()
        self._hash.update(piece.encode("utf-8", "surrogatepass"))

    def replace(self, value: Any) -> bool:
        """Take in the value as a whole; whether it is another than that of the pieces."""
        digest = _digest(value)
        changed = digest != self._current()
        self._hash = digest
        self._pieces = [] if type(value) is str else [value]
        return changed

    def close(self, status: str) -> None:
        """Nothing is expected to follow: what came is remembered by its digest alone."""
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
    """One message, as far as it has come."""

    __slots__ = (
        "_grow", "_latest", "_top", "announced_as", "home", "id", "role", "slots", "status", "type",
    )  # fmt: skip

    def __init__(self, identifier: str, home: EntryRef, grow: Callable[[], None]) -> None:
        self.id, self.home = identifier, home
        self.type = self.role = self.status = ""
        self.slots: dict[tuple[int, str], PartialContent] = {}
        #: The error that was handed on: its code and its message.
        self.announced_as: tuple[str, str] | None = None
        self._grow = grow
        #: The part of each kind that came last, and the highest place.
        self._latest: dict[str, PartialContent] = {}
        self._top = -1

    @property
    def is_open(self) -> bool:
        """Whether it was not completed yet."""
        return self.status not in FINAL_STATUSES

    def slot(self, index: int | None, kind: str) -> PartialContent:
        """The part at this place; without a place the one that is open, or the next one."""
        if index is None:
            index = self._place(kind)
        return self.slots.get((index, kind)) or self._new_slot(index, kind)

    def content_keys(self) -> list[tuple[int, str]]:
        """Place and type of its parts, in order."""
        return sorted(self.slots)

    def unfinished(self) -> list[PartialContent]:
        """The parts that were never completed."""
        return [slot for slot in self.slots.values() if slot.is_open]

    def _place(self, kind: str) -> int:
        slot = self._latest.get(kind)
        return slot.index if slot is not None and slot.is_open else self._top + 1

    def _new_slot(self, index: int, kind: str) -> PartialContent:
        if len(self.slots) >= MAX_PARTS:
            del self.slots[next(iter(self.slots))]
        self._grow()
        if len(self._latest) >= MAX_PARTS:
            self._latest.clear()
        slot = self.slots[index, kind] = self._latest[kind] = PartialContent(index, kind)
        self._top = max(self._top, index)
        return slot


class PartialMessages:
    """The messages of one response."""

    def __init__(self) -> None:
        #: All that are remembered, the oldest first, by identity; those with an id by that.
        self._all: OrderedDict[int, PartialMessage] = OrderedDict()
        self._by_id: dict[str, PartialMessage] = {}
        #: Those without an id, in the order in which they came.
        self._nameless: list[PartialMessage] = []
        self._open: dict[int, PartialMessage] = {}
        self._latest: PartialMessage | None = None
        self._weight = 0

    @property
    def current(self) -> PartialMessage | None:
        """The message that a part without a `msg_id` belongs to."""
        if self._open:
            return next(reversed(self._open.values()))
        return self._latest

    def find(self, identifier: str) -> PartialMessage | None:
        """The message of this id."""
        return self._by_id.get(identifier)

    def nameless(self, position: int) -> PartialMessage | None:
        """The message without an id that came at this position among those."""
        return self._nameless[position] if position < len(self._nameless) else None

    def unnamed(self, kind: str) -> PartialMessage | None:
        """The message that an announcement of this type and without an id goes on with."""
        draft = self.current
        fits = draft is not None and draft.is_open and kind in ("", draft.type)
        return draft if fits else None

    def begin(self, identifier: str, home: EntryRef) -> PartialMessage:
        """A new message, whose entry is at `home`."""
        draft = PartialMessage(identifier, home, self._grow)
        self._grow()
        self._all[id(draft)] = self._open[id(draft)] = self._latest = draft
        if identifier:
            self._by_id[identifier] = draft
        elif len(self._nameless) < MAX_PARTS:
            self._nameless.append(draft)
        return draft

    def settle(self, draft: PartialMessage) -> None:
        """Note that a message is open still, or is not any more."""
        if not draft.is_open:
            self._open.pop(id(draft), None)

    def _grow(self) -> None:
        self._weight += 1
        while self._weight > MAX_REMEMBERED and len(self._all) > 1:
            self._forget(self._all.popitem(last=False)[1])

    def _forget(self, draft: PartialMessage) -> None:
        self._weight -= 1 + len(draft.slots)
        draft.slots.clear()
        self._open.pop(id(draft), None)
        if self._by_id.get(draft.id) is draft:
            del self._by_id[draft.id]


def _digest(value: Any) -> bytes:
    text = value if type(value) is str else parts.canonical(value)
    found = _new_hash()
    found.update(text.encode("utf-8", "surrogatepass"))
    digest: bytes = found.digest()
    return digest


def _new_hash() -> Any:
    return hashlib.blake2b(digest_size=16)


_HASH = hashlib.blake2b
