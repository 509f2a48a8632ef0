"""One pass over the objects of a stream: what each of them means after those before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.conformance.response_parts import Location
from playground.conformance.values import is_integer
from playground.protocols.agent_api.constants import FINAL_STATUSES
from playground.protocols.agent_api.transitions import is_allowed


class StatusChange(NamedTuple):
    """A status that may not follow the one before it."""

    place: Location
    #: `response`, `message` or `content`.
    object: str
    before: str
    after: str


@dataclass(slots=True)
class ContentState:
    """A content of a message: all that came for one index."""

    #: The last that came for it.
    place: Location
    status: str = ""
    #: The pieces of its text so far; None where something else than text came.
    pieces: list[str] | None = field(default_factory=list)
    #: Whether a piece of it was marked as one.
    grew: bool = False


@dataclass(slots=True)
class MessageState:
    """A message and its contents."""

    #: What announced it, or the first content where nothing did; and what came of it last.
    place: Location
    announced: bool
    last: Location
    type: str = ""
    status: str = ""
    slots: dict[int, ContentState] = field(default_factory=dict)


class TextTotal(NamedTuple):
    """A completed text, and what its pieces make."""

    place: Location
    pieces: str


@dataclass(slots=True)
class StreamState:
    """What a stream amounts to. Lists hold what is wrong, in the order of arrival."""

    objects: tuple[Location, ...] = ()
    threads: dict[str, MessageState] = field(default_factory=dict)
    #: The status of the response as told last, "" before it was told.
    status: str = ""
    #: The first object of the response and of each message.
    starts: list[Location] = field(default_factory=list)
    changes: list[StatusChange] = field(default_factory=list)
    #: Whatever came after the response had ended.
    after_end: list[Location] = field(default_factory=list)
    #: Responses of another id than the first.
    renamed: list[Location] = field(default_factory=list)
    #: Contents of messages that nobody had announced, of ended messages, of ended contents.
    orphans: list[Location] = field(default_factory=list)
    late: list[Location] = field(default_factory=list)
    reopened: list[Location] = field(default_factory=list)
    #: Contents that stand for all that came before them, though they are not the last.
    replaced: list[Location] = field(default_factory=list)
    sums: list[TextTotal] = field(default_factory=list)
    #: The content that each message says it has in the end.
    listed: list[tuple[Location, MessageState]] = field(default_factory=list)

    _response: Any = None
    _current: str = ""

    # Objects by kind

    def take(self, place: Location) -> None:
        """One more object."""
        kind = place.value["object"]
        if is_final(self.status):
            self.after_end.append(place)
        if kind == "response":
            self._take_response(place)
        elif kind == "message":
            self._take_message(place)
        else:
            self._take_content(place)

    def _take_response(self, place: Location) -> None:
        name, status = place.value.get("id"), status_of(place)
        if self._response is None:
            self._response = (name,)
            self.starts.append(place)
        elif name is not None and (name,) != self._response:
            self.renamed.append(place)
        # What comes after the end is another rule's.
        if not is_final(self.status):
            self._check(place, "response", self.status, status)
            self.status = status or self.status

    def _take_message(self, place: Location) -> None:
        name, status = _name(place.value.get("id")), status_of(place)
        thread = self.threads.get(name)
        if thread is None:
            thread = self.threads[name] = MessageState(place, announced=True, last=place)
            self.starts.append(place)
        elif not thread.announced:
            thread.announced = True
        else:
            self._check(place, "message", thread.status, status)
        self._current, thread.last = name, place
        if isinstance(kind := place.value.get("type"), str):
            thread.type = thread.type or kind
        thread.status = status or thread.status
        if isinstance(place.value.get("content"), list) and is_final(thread.status):
            self.listed.append((place, thread))

    def _take_content(self, place: Location) -> None:
        value = place.value
        named = value.get("msg_id")
        name = self._current if named is None else _name(named)
        thread = self.threads.get(name)
        if thread is None:
            thread = self.threads[name] = MessageState(place, announced=False, last=place)
        if not thread.announced:
            self.orphans.append(place)
        elif is_final(thread.status):
            self.late.append(place)
        slot = thread.slots.setdefault(index_of(value), ContentState(place))
        if is_final(slot.status):
            # What it was when it ended is what it is.
            self.reopened.append(place)
            return
        self._check(place, "content", slot.status, status_of(place))
        self._grow(slot, place)
        slot.place, slot.status = place, status_of(place) or slot.status

    def _grow(self, slot: ContentState, place: Location) -> None:
        text, delta = place.value.get("text"), place.value.get("delta") is True
        ends = is_final(status_of(place))
        if not isinstance(text, str):
            slot.pieces = slot.pieces if text is None and not slot.pieces else None
        elif delta:
            slot.grew = True
            if slot.pieces is not None:
                slot.pieces.append(text)
        elif ends and slot.grew and slot.pieces is not None:
            self.sums.append(TextTotal(place, "".join(slot.pieces)))
        else:
            slot.pieces = [text]
        if not delta and not ends and status_of(place) != "created":
            self.replaced.append(place)

    def _check(self, place: Location, kind: str, before: str, after: str) -> None:
        if before and after and not is_allowed(kind, before, after):
            self.changes.append(StatusChange(place, kind, before, after))

    # What was left open

    def open_threads(self) -> Iterator[MessageState]:
        """Messages that were announced and never ended."""
        for thread in self.threads.values():
            if thread.announced and not is_final(thread.status) and thread.type != "heartbeat":
                yield thread

    def open_slots(self) -> Iterator[ContentState]:
        """Contents that began and never ended."""
        for thread in self.threads.values():
            for slot in thread.slots.values():
                if not is_final(slot.status):
                    yield slot


def read_stream_state(objects: Sequence[Location]) -> StreamState:
    """The pass over these objects. Never raises on what an agent sent."""
    walk = StreamState(tuple(objects))
    for place in objects:
        walk.take(place)
    return walk


def is_final(status: str) -> bool:
    """Whether nothing more comes after this status."""
    return status in FINAL_STATUSES


def status_of(place: Location) -> str:
    """The status of an object, "" where it has none."""
    status = place.value.get("status")
    return status if isinstance(status, str) else ""


def index_of(value: dict[str, Any]) -> int:
    """The index of a content, 0 where it has none that is one."""
    index = value.get("index")
    return int(index) if is_integer(index) and index is not None and index >= 0 else 0


def _name(value: Any) -> str:
    """A message's id as a key: ids that are no strings are told apart all the same."""
    return value if isinstance(value, str) else f"\0{type(value).__name__} {value!r:.80}"
