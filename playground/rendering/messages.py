"""Messages of an Agent API reply, joined from their events: the text so far, calls, outputs.

Pure and total: any sequence of events makes some messages, and the same ones whether they are
looked at between the events or after the last. A viewer's page keeps up by what has changed
(`Messages.changed`), so that a text that grows is sent piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols.agent_api.parts import join
from playground.protocols.events import (
    Content,
    EntryRef,
    Event,
    Message,
    Status,
    ToolCall,
    ToolOutput,
)

#: The events that join a message; none of them but `Message` is an entry of its own.
JOINED = frozenset({Message, Content, Status, ToolCall, ToolOutput})
#: Parts of one message, and messages of one reply, that are kept apart.
MAX_PARTS, MAX_MESSAGES = 1_000, 100_000
#: Kinds of content whose value is an address, also where it is written as a text.
_ADDRESSES = frozenset({"image", "file", "audio", "video"})


@dataclass(slots=True)
class MessagePart:
    """One content part of a message."""

    #: Its number among the parts of its message, in the order in which they came.
    number: int
    index: int
    kind: str
    status: str = ""
    is_text: bool = False
    #: Characters of the text.
    length: int = 0
    #: How often it became something else than a continuation of what it was.
    revision: int = 0
    _pieces: list[str] = field(default_factory=list)
    #: Pieces of what is no text, put together when somebody looks: each is taken in at its own
    #: cost, however much there is before it.
    _values: list[Any] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """What it holds where that is no text, None for nothing."""
        if len(self._values) > 1:
            self._values = [join(self._values)]
        return self._values[0] if self._values else None

    @property
    def text(self) -> str:
        """The text so far, "" for a part that is none."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def since(self, offset: int) -> str:
        """The text from character `offset` on."""
        return self.text[offset:]

    def add(self, event: Content) -> None:
        """Take over a piece, or the whole of it."""
        self.status = event.status or self.status
        value = event.value
        if event.delta and value is None:
            return
        if not isinstance(value, str) or self.kind in _ADDRESSES:
            self._become(value, event.delta)
        elif event.delta and (self.is_text or not self._values):
            self.is_text = True
            self._pieces.append(value)
            self.length += len(value)
        elif not (self.is_text and value == self.text):
            self._write(value)

    def _write(self, text: str) -> None:
        # What is there already stays where it is on a page; only another text replaces it.
        if self.is_text and not text.startswith(self.text):
            self.revision += 1
        self.is_text, self._values = True, []
        self._pieces, self.length = [text], len(text)

    def _become(self, value: Any, is_piece: bool) -> None:
        if is_piece and self._values and type(value) is type(self._values[-1]):
            self.revision += 1
            self._values.append(value)
            return
        if self.is_text or value != self.value:
            self.revision += 1
        self.is_text, self._values = False, [] if value is None else [value]
        self._pieces, self.length = [], 0


@dataclass(slots=True)
class JoinedMessage:
    """One message with all that came of it so far."""

    ref: EntryRef
    id: str
    type: str = ""
    role: str = ""
    status: str = ""
    raw: Any = None
    usage: Any = None
    #: Its number among the entries of the thread; None for one that is not shown.
    number: int | None = None
    #: By index and kind.
    parts: dict[tuple[int, str], MessagePart] = field(default_factory=dict)
    #: The call that it makes, and what a tool returned for it, wherever that came.
    call: ToolCall | None = None
    output: ToolOutput | None = None
    #: What it returns for a call, and the message that made that call.
    tool_output: ToolOutput | None = None
    caller: JoinedMessage | None = None

    @property
    def ordered(self) -> list[MessagePart]:
        """Its parts in the order of their `index`."""
        return [self.parts[key] for key in sorted(self.parts)]

    @property
    def texts(self) -> list[str]:
        """The text of each part that is one, in order."""
        return [part.text for part in self.ordered if part.is_text]

    def read(self, name: str) -> Any:
        """A member of the message as the agent wrote it last, None where it has none."""
        return self.raw.get(name) if isinstance(self.raw, Mapping) else None

    @property
    def document(self) -> dict[str, Any]:
        """The message as JSON: as the agent wrote it last, or as far as it had come."""
        written = dict(self.raw) if isinstance(self.raw, Mapping) else {"id": self.id}
        if not written.get("content") and self.parts:
            parts = self.ordered
            written["content"] = [
                {"type": each.kind, "index": each.index, "value": each.text or each.value}
                for each in parts
            ]
        return written

    def part(self, index: int, kind: str) -> MessagePart | None:
        """The part with this index, made where it is missing; None beyond the limit."""
        if (index, kind) not in self.parts:
            if len(self.parts) >= MAX_PARTS:
                return None
            self.parts[index, kind] = MessagePart(len(self.parts), index, kind)
        return self.parts[index, kind]


class MessageJoiner:
    """The messages of one reply, in the order in which they came into being."""

    def __init__(self) -> None:
        self._by_home: dict[EntryRef, JoinedMessage] = {}
        self._calls: dict[str, JoinedMessage] = {}
        self._returners: dict[str, JoinedMessage] = {}
        self._changed: dict[EntryRef, JoinedMessage] = {}
        #: What the reply has used, as the agent says it; None while it has not.
        self.usage: Any = None

    def __bool__(self) -> bool:
        return bool(self._by_home)

    def __iter__(self) -> Iterator[JoinedMessage]:
        return iter(self._by_home.values())

    def at(self, home: EntryRef) -> JoinedMessage | None:
        """The message whose entry is there."""
        return self._by_home.get(home)

    def changed(self) -> list[JoinedMessage]:
        """The messages that have changed since the last call, in the order of the changes."""
        found = list(self._changed.values())
        self._changed = {}
        return found

    def add(self, event: Event, part: int) -> JoinedMessage | None:
        """Take over an event, number `part` of its frame; returns the message it changed."""
        joined: JoinedMessage | None = None
        match event:
            case Message():
                joined = self._message(event, (event.seq, part))
            case Content():
                joined = self._content(event)
            case Status():
                joined = self._status(event)
            case ToolCall():
                joined = self._call(event)
            case ToolOutput():
                joined = self._output(event)
        if joined:
            self._changed[joined.ref] = joined
        return joined

    def _message(self, event: Message, home: EntryRef) -> JoinedMessage | None:
        if len(self._by_home) >= MAX_MESSAGES:
            return None
        found = JoinedMessage(home, event.id, event.type, event.role, event.status, event.raw)
        self._by_home[home] = found
        return found

    def _content(self, event: Content) -> JoinedMessage | None:
        joined = self._by_home.get(event.message_ref)
        found = joined.part(event.index, event.kind) if joined else None
        if found:
            found.add(event)
        return joined

    def _status(self, event: Status) -> JoinedMessage | None:
        if event.message_ref is None:
            self.usage = event.usage if event.usage is not None else self.usage
            return None
        joined = self._by_home.get(event.message_ref) if event.object == "message" else None
        if joined:
            joined.status = event.status or joined.status
            joined.usage = event.usage if event.usage is not None else joined.usage
            joined.raw = event.raw if event.raw is not None else joined.raw
            joined.type = _text(joined.read("type")) or joined.type
            joined.role = _text(joined.read("role")) or joined.role
        return joined

    def _call(self, event: ToolCall) -> JoinedMessage | None:
        joined = self._by_home.get(event.message_ref)
        if joined is None:
            return None
        joined.call = event
        if event.call_id:
            self._calls[event.call_id] = joined
            self._pair(joined, self._returners.get(event.call_id))
        return joined

    def _output(self, event: ToolOutput) -> JoinedMessage | None:
        joined = self._by_home.get(event.message_ref)
        if joined is None:
            return None
        joined.tool_output = event
        if joined.call is not None and event.call_id in ("", joined.call.call_id):
            joined.output = event  # A call that says its output itself.
        elif event.call_id:
            self._returners[event.call_id] = joined
            self._pair(self._calls.get(event.call_id), joined)
        return joined

    def _pair(self, caller: JoinedMessage | None, returner: JoinedMessage | None) -> None:
        if caller is None or returner is None:
            return
        caller.output, returner.caller = returner.tool_output, caller
        for each in (caller, returner):
            self._changed[each.ref] = each


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
