"""State of messages and contents after each object of a stream, computed in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.conformance.response_parts import Location
from playground.conformance.values import is_integer
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.agent_api.transitions import is_allowed


class StatusChange(NamedTuple):
    """A status that must not follow the previous one."""

    location: Location
    #: `response`, `message` or `content`.
    object: str
    before: str
    after: str


@dataclass(slots=True)
class ContentState:
    """A content of a message: everything received for one index."""

    #: The last object received for it.
    location: Location
    status: str = ""
    #: The pieces of its text so far; None if something else than text was received.
    pieces: list[str] | None = field(default_factory=list)
    #: Whether a piece was marked as a delta.
    has_deltas: bool = False


@dataclass(slots=True)
class MessageState:
    """A message and its contents."""

    #: The object that announced it, or its first content without one; and its last object.
    location: Location
    announced: bool
    last: Location
    type: str = ""
    status: str = ""
    contents: dict[int, ContentState] = field(default_factory=dict)


class TextTotal(NamedTuple):
    """A completed text, and the concatenation of its pieces."""

    location: Location
    pieces: str


@dataclass(slots=True)
class StreamState:
    """The state of a stream. Lists hold violations in the order of arrival."""

    objects: tuple[Location, ...] = ()
    messages: dict[str, MessageState] = field(default_factory=dict)
    #: The last status of the response, "" before the first.
    status: str = ""
    #: The first object of the response and of each message.
    starts: list[Location] = field(default_factory=list)
    changes: list[StatusChange] = field(default_factory=list)
    #: Objects after the end of the response.
    after_end: list[Location] = field(default_factory=list)
    #: Responses with another id than the first.
    renamed: list[Location] = field(default_factory=list)
    #: Contents of messages that were not announced, of ended messages, of ended contents.
    orphans: list[Location] = field(default_factory=list)
    late: list[Location] = field(default_factory=list)
    reopened: list[Location] = field(default_factory=list)
    #: Contents that replace everything before them without being final.
    replaced: list[Location] = field(default_factory=list)
    totals: list[TextTotal] = field(default_factory=list)
    #: The content array of each message with a final status.
    listed: list[tuple[Location, MessageState]] = field(default_factory=list)

    _response: Any = None
    _current: str = ""

    # Objects by kind

    def take(self, location: Location) -> None:
        """Add an object."""
        kind = location.value["object"]
        if is_final(self.status):
            self.after_end.append(location)
        if kind == "response":
            self._take_response(location)
        elif kind == "message":
            self._take_message(location)
        else:
            self._take_content(location)

    def _take_response(self, location: Location) -> None:
        name, status = location.value.get("id"), status_of(location)
        if self._response is None:
            self._response = (name,)
            self.starts.append(location)
        elif name is not None and (name,) != self._response:
            self.renamed.append(location)
        # Changes after the end are reported by another rule.
        if not is_final(self.status):
            self._check(location, "response", self.status, status)
            self.status = status or self.status

    def _take_message(self, location: Location) -> None:
        name, status = _name(location.value.get("id")), status_of(location)
        message = self.messages.get(name)
        if message is None:
            message = self.messages[name] = MessageState(location, announced=True, last=location)
            self.starts.append(location)
        elif not message.announced:
            message.announced = True
        else:
            self._check(location, "message", message.status, status)
        self._current, message.last = name, location
        if isinstance(kind := location.value.get("type"), str):
            message.type = message.type or kind
        message.status = status or message.status
        if isinstance(location.value.get("content"), list) and is_final(message.status):
            self.listed.append((location, message))

    def _take_content(self, location: Location) -> None:
        value = location.value
        named = value.get("msg_id")
        name = self._current if named is None else _name(named)
        message = self.messages.get(name)
        if message is None:
            message = self.messages[name] = MessageState(location, announced=False, last=location)
        if not message.announced:
            self.orphans.append(location)
        elif is_final(message.status):
            self.late.append(location)
        content = message.contents.setdefault(index_of(value), ContentState(location))
        if is_final(content.status):
            # A content does not change after its end.
            self.reopened.append(location)
            return
        self._check(location, "content", content.status, status_of(location))
        self._grow(content, location)
        content.location, content.status = location, status_of(location) or content.status

    def _grow(self, content: ContentState, location: Location) -> None:
        text, delta = location.value.get("text"), location.value.get("delta") is True
        ends = is_final(status_of(location))
        if not isinstance(text, str):
            content.pieces = content.pieces if text is None and not content.pieces else None
        elif delta:
            content.has_deltas = True
            if content.pieces is not None:
                content.pieces.append(text)
        elif ends and content.has_deltas and content.pieces is not None:
            self.totals.append(TextTotal(location, "".join(content.pieces)))
        else:
            content.pieces = [text]
        if not delta and not ends and status_of(location) != "created":
            self.replaced.append(location)

    def _check(self, location: Location, kind: str, before: str, after: str) -> None:
        if before and after and not is_allowed(kind, before, after):
            self.changes.append(StatusChange(location, kind, before, after))

    # Messages and contents without an end

    def open_messages(self) -> Iterator[MessageState]:
        """Yield messages that were announced and have not ended."""
        for message in self.messages.values():
            if message.announced and not is_final(message.status) and message.type != "heartbeat":
                yield message

    def open_contents(self) -> Iterator[ContentState]:
        """Yield contents that have not ended."""
        for message in self.messages.values():
            for content in message.contents.values():
                if not is_final(content.status):
                    yield content


def read_stream_state(objects: Sequence[Location]) -> StreamState:
    """Return the state after these objects. Never raise, whatever an agent sent."""
    stream_state = StreamState(tuple(objects))
    for location in objects:
        stream_state.take(location)
    return stream_state


def is_final(status: str) -> bool:
    """Return whether a status is final."""
    return status in FINAL_STATUSES


def status_of(location: Location) -> str:
    """Return the status of an object, "" without one."""
    status = location.value.get("status")
    return status if isinstance(status, str) else ""


def index_of(value: dict[str, Any]) -> int:
    """Return the index of a content, 0 without a valid one."""
    index = value.get("index")
    return int(index) if is_integer(index) and index is not None and index >= 0 else 0


def _name(value: Any) -> str:
    """Return a message's id as a key; ids that are not strings are distinguished as well."""
    return value if isinstance(value, str) else f"\0{type(value).__name__} {value!r:.80}"
