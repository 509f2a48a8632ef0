"""Joiner of Agent API messages: events to messages with their text so far, calls and outputs.

Pure and total: any sequence of events makes messages, and the same ones whether they are
read between the events or after the last. Viewers are updated with what has changed
(`MessageJoiner.changed`), so that a growing text is sent in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import lenient
from playground.protocols.agent_api.constants import CLIENT_CALLS
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

#: Events that belong to a message; of these only `Message` is an entry of its own.
JOINED = frozenset({Message, Content, Status, ToolCall, ToolOutput})
#: Most parts of a message, and messages of a response.
MAX_PARTS, MAX_MESSAGES = 1_000, 100_000
#: Kinds of content whose value is a URL, even if it is sent as a string.
URL_KINDS = frozenset({"image", "file", "audio", "video"})


@dataclass(slots=True)
class MessagePart:
    """A content part of a message."""

    #: Number among the parts of the message, in the order of arrival.
    number: int
    index: int
    kind: str
    status: str = ""
    is_text: bool = False
    #: Characters of the text.
    length: int = 0
    #: Number of changes other than an appended text.
    revision: int = 0
    _pieces: list[str] = field(default_factory=list)
    #: Deltas of a value that is no text, joined when they are read: the cost of adding one does
    #: not depend on those before it.
    _values: list[Any] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """Return the value if it is no text; None if there is none."""
        if len(self._values) > 1:
            self._values = [join(self._values)]
        return self._values[0] if self._values else None

    @property
    def text(self) -> str:
        """Return the text so far; "" if the part is no text."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def add(self, event: Content) -> None:
        """Add a delta, or replace the value with a whole one."""
        self.status = event.status or self.status
        value = event.value
        if event.delta and value is None:
            return
        if not isinstance(value, str) or self.kind in URL_KINDS:
            self._set_value(value, event.delta)
        elif event.delta and (self.is_text or not self._values):
            self.is_text = True
            self._pieces.append(value)
            self.length += len(value)
        elif not (self.is_text and value == self.text):
            self._set_text(value)

    def _set_text(self, text: str) -> None:
        # A page keeps the text that it shows; only a different text replaces it.
        if self.is_text and not text.startswith(self.text):
            self.revision += 1
        self.is_text, self._values = True, []
        self._pieces, self.length = [text], len(text)

    def _set_value(self, value: Any, is_delta: bool) -> None:
        if is_delta and self._values and type(value) is type(self._values[-1]):
            self.revision += 1
            self._values.append(value)
            return
        if self.is_text or value != self.value:
            self.revision += 1
        self.is_text, self._values = False, [] if value is None else [value]
        self._pieces, self.length = [], 0


@dataclass(slots=True)
class JoinedMessage:
    """A message with everything that was received of it so far."""

    ref: EntryRef
    id: str
    type: str = ""
    role: str = ""
    status: str = ""
    raw: Any = None
    usage: Any = None
    #: Number among the entries of the thread; None if it is not shown.
    number: int | None = None
    #: By index and kind.
    parts: dict[tuple[int, str], MessagePart] = field(default_factory=dict)
    #: The tool call that it makes, and the output, which may come with another message.
    call: ToolCall | None = None
    output: ToolOutput | None = None
    #: The tool output that it returns, and the message that made the call.
    tool_output: ToolOutput | None = None
    caller: JoinedMessage | None = None

    @property
    def ordered(self) -> list[MessagePart]:
        """Return the parts in the order of their `index`."""
        return [self.parts[key] for key in sorted(self.parts)]

    @property
    def pending_call(self) -> ToolCall | None:
        """Return its call if the client is to answer it and has not, else None."""
        call = self.call
        return call if call and call.kind in CLIENT_CALLS and self.output is None else None

    def read(self, name: str) -> Any:
        """Return a member of the message as the agent sent it last; None if there is none."""
        return self.raw.get(name) if isinstance(self.raw, Mapping) else None

    @property
    def document(self) -> dict[str, Any]:
        """Return the message as JSON: as the agent sent it last, or joined from its parts."""
        document = dict(self.raw) if isinstance(self.raw, Mapping) else {"id": self.id}
        if not document.get("content") and self.parts:
            parts = self.ordered
            document["content"] = [
                {"type": each.kind, "index": each.index, "value": each.text or each.value}
                for each in parts
            ]
        return document

    def part(self, index: int, kind: str) -> MessagePart | None:
        """Return the part with this index, creating it if needed; None beyond the limit."""
        if (index, kind) not in self.parts:
            if len(self.parts) >= MAX_PARTS:
                return None
            self.parts[index, kind] = MessagePart(len(self.parts), index, kind)
        return self.parts[index, kind]


class MessageJoiner:
    """The messages of one response, in the order in which they began."""

    def __init__(self) -> None:
        self._by_ref: dict[EntryRef, JoinedMessage] = {}
        self._calls: dict[str, JoinedMessage] = {}
        self._outputs: dict[str, JoinedMessage] = {}
        self._changed: dict[EntryRef, JoinedMessage] = {}
        #: Usage of the response as the agent sent it; None before that.
        self.usage: Any = None

    def __bool__(self) -> bool:
        return bool(self._by_ref)

    def __iter__(self) -> Iterator[JoinedMessage]:
        return iter(self._by_ref.values())

    def at(self, ref: EntryRef) -> JoinedMessage | None:
        return self._by_ref.get(ref)

    def changed(self) -> list[JoinedMessage]:
        """Return the messages that changed since the last call, in the order of the changes."""
        found = list(self._changed.values())
        self._changed = {}
        return found

    def add(self, event: Event, part: int) -> JoinedMessage | None:
        """Add an event, number `part` of its frame, and return the message that it changed."""
        joined: JoinedMessage | None = None
        match event:
            case Message():
                joined = self._add_message(event, (event.seq, part))
            case Content():
                joined = self._add_content(event)
            case Status():
                joined = self._set_status(event)
            case ToolCall():
                joined = self._add_call(event)
            case ToolOutput():
                joined = self._add_output(event)
        if joined:
            self._changed[joined.ref] = joined
        return joined

    def _add_message(self, event: Message, ref: EntryRef) -> JoinedMessage | None:
        if len(self._by_ref) >= MAX_MESSAGES:
            return None
        found = JoinedMessage(ref, event.id, event.type, event.role, event.status, event.raw)
        self._by_ref[ref] = found
        return found

    def _add_content(self, event: Content) -> JoinedMessage | None:
        joined = self._by_ref.get(event.message_ref)
        found = joined.part(event.index, event.kind) if joined else None
        if found:
            found.add(event)
        return joined

    def _set_status(self, event: Status) -> JoinedMessage | None:
        if event.message_ref is None:
            self.usage = event.usage if event.usage is not None else self.usage
            return None
        joined = self._by_ref.get(event.message_ref) if event.object == "message" else None
        if joined:
            joined.status = event.status or joined.status
            joined.usage = event.usage if event.usage is not None else joined.usage
            joined.raw = event.raw if event.raw is not None else joined.raw
            joined.type = lenient.text(joined.read("type")) or joined.type
            joined.role = lenient.text(joined.read("role")) or joined.role
        return joined

    def _add_call(self, event: ToolCall) -> JoinedMessage | None:
        joined = self._by_ref.get(event.message_ref)
        if joined is None:
            return None
        joined.call = event
        if event.call_id:
            self._calls[event.call_id] = joined
            self._pair(joined, self._outputs.get(event.call_id))
        return joined

    def _add_output(self, event: ToolOutput) -> JoinedMessage | None:
        joined = self._by_ref.get(event.message_ref)
        if joined is None:
            return None
        joined.tool_output = event
        if joined.call is not None and event.call_id in ("", joined.call.call_id):
            joined.output = event  # A call that carries its own output.
        elif event.call_id:
            self._outputs[event.call_id] = joined
            self._pair(self._calls.get(event.call_id), joined)
        return joined

    def _pair(self, caller: JoinedMessage | None, output_message: JoinedMessage | None) -> None:
        if caller is None or output_message is None:
            return
        caller.output, output_message.caller = output_message.tool_output, caller
        for each in (caller, output_message):
            self._changed[each.ref] = each
