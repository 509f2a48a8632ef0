"""State of messages and contents after each object of a response, computed in one pass.

The objects are those of a stream, or the single response. Messages within an output and contents
within a message are taken as well: they are compared with what was sent for the same message or
content before.
"""

from __future__ import annotations

import json
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

from playground.conformance.rule_input import MAX_PARTS, Location
from playground.conformance.shape import is_integer, is_number
from playground.protocols.agent_api import constants
from playground.protocols.agent_api.constants import FAILED_STATUSES, FINAL_STATUSES

#: By status, the statuses that must not follow it. Section "Status Transitions" describes the
#: states of responses, messages and contents, and leaves the transitions to the reader: all begin
#: as `created`, are `in_progress` once for every piece that is received, and end with a final
#: status, which may be repeated. When something can be rejected is left open. `unknown` means that
#: the status was lost, so any may follow it. A status that no list has is checked by another rule.
_NEVER_AFTER: Mapping[str, Collection[str]] = {
    "created": {"created"},
    "queued": {"created"},
    "in_progress": {"created", "queued"},
    **{
        final: {*chain(*constants.words("message", "status"))} - {final} for final in FINAL_STATUSES
    },
}
#: Statuses of something that goes on.
_IN_PROGRESS = frozenset({"created", "queued", "in_progress"})
_DIGEST_SIZE = 16
#: The rules that report another value of a member, by the member.
_KEPT_IN_RESPONSES: Mapping[str, str] = {
    "id": "response-id-kept",
    "session_id": "session-kept",
    "created_at": "created-at-kept",
}
_KEPT_IN_MESSAGES: Mapping[str, str] = {"type": "message-kept", "role": "message-kept"}
#: The key of messages without an id.
_UNNAMED = "\0NoneType None"
#: The values of members that are compared: those of the specification and of known agents.
_LISTED = {name: (*chain(*constants.words("message", name)),) for name in ("type", "role")}
_CONTENT_TYPES = constants.words("content", "type")[0]


class Deviation(NamedTuple):
    """A place that breaks a rule; its value are the words for the rule's sentence."""

    seq: int
    pointer: str
    words: Mapping[str, Any]


@dataclass(slots=True)
class ContentState:
    """A streamed content of a message: everything received for one index."""

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

    #: The object that announced it, or its first content without one.
    location: Location
    #: Whether it was sent as an object by itself, and whether it is in an output.
    announced: bool = False
    listed: bool = False
    #: Whether another id was used for its end, or this is that other one.
    renamed: bool = False
    type: str = ""
    status: str = ""
    #: The streamed contents by index.
    contents: dict[int, ContentState] = field(default_factory=dict)
    #: Their indexes, sorted.
    indexes: list[int] = field(default_factory=list)
    #: The first values of the members that do not change; None after a change was reported.
    kept: dict[str, Any] = field(default_factory=dict)
    #: The types of the contents by index, streamed or not; None after a change was reported.
    content_types: dict[int, str | None] = field(default_factory=dict)
    #: The content array that was compared with the streamed contents last.
    compared: Any = None


class ListedContent(NamedTuple):
    """A content within a message, the message's type, and the content's place in the response."""

    location: Location
    message_type: str
    #: The message's id, or else its location; and the index.
    slot: tuple[str, int]
    #: Whether the message is in progress.
    is_partial: bool


@dataclass(slots=True)
class StreamState:
    """The state of a stream, and the deviations that show while it is read."""

    objects: tuple[Location, ...] = ()
    messages: dict[str, MessageState] = field(default_factory=dict)
    #: By the name of the rule without its prefix, in the order of arrival.
    deviations: dict[str, list[Deviation]] = field(default_factory=lambda: defaultdict(list))
    #: Messages and contents that the rules check one by one, wherever they are. A repetition that
    #: is identical to an object of an earlier frame is left out.
    all_messages: list[Location] = field(default_factory=list)
    all_contents: list[Location] = field(default_factory=list)
    listed_contents: list[ListedContent] = field(default_factory=list)
    #: How many messages and contents within other objects are still taken; whether there were more.
    remaining: int = MAX_PARTS
    overflowed: bool = False
    #: The last status of the response, "" before the first.
    status: str = ""
    #: The highest sequence number, None before the first.
    number: int | None = None
    #: The first object of the response and of each message.
    starts: list[Location] = field(default_factory=list)
    #: Completed texts, and the concatenation of the pieces of each.
    totals: list[tuple[Location, str]] = field(default_factory=list)
    #: Messages with a final status and a content array, and their state.
    listed: list[tuple[Location, MessageState]] = field(default_factory=list)

    #: The first values of the members of the response that do not change, and whether it came.
    _kept: dict[str, Any] = field(default_factory=dict)
    _has_response: bool = False
    _current: str = ""
    #: The ids of the messages that were announced and have not ended.
    _open: dict[str, None] = field(default_factory=dict)
    #: Contents of messages that were not announced before them.
    _orphans: list[tuple[Location, MessageState]] = field(default_factory=list)
    #: Messages that may end the message that was open before them.
    _candidates: list[tuple[Location, MessageState, MessageState]] = field(default_factory=list)
    #: The first frame of each object that can be repeated, by its message and a digest of its JSON.
    _frames: dict[tuple[str, bytes], int] = field(default_factory=dict)

    def _report(self, rule: str, location: Location, member: str = "", **words: Any) -> None:
        pointer = f"{location.pointer}/{member}" if member else location.pointer
        self.deviations[rule].append(Deviation(location.seq, pointer, words))

    # Objects by kind

    def take(self, location: Location) -> None:
        kind = location.value["object"]
        if is_final(self.status):
            self._report("nothing-after-end", location, object=kind)
        self._count(location)
        if kind == "response":
            self._take_response(location)
            return
        if kind == "message":
            self._take_message(location)
        else:
            self._take_content(location)

    def _count(self, location: Location) -> None:
        """Compare the sequence number of an object with those before it."""
        number, before = number_of(location.value.get("sequence_number")), self.number
        if number is None:
            return
        self.number = number if before is None else max(number, before)
        if before is None or number == before + 1:
            return
        if number > before:
            words = {"number": _short(number), "before": _short(before)}
            self._report("sequence-gapless", location, "sequence_number", **words)
            return
        actual = "was already used" if number == before else f"is less than {_short(before)}"
        words = {"number": _short(number), "actual": actual}
        self._report("sequence-increasing", location, "sequence_number", **words)

    def _take_response(self, location: Location) -> None:
        status = status_of(location)
        if not self._has_response:
            self._has_response = True
            self.starts.append(location)
        self._compare(self._kept, location, _KEPT_IN_RESPONSES)
        # Changes after the end are reported by another rule.
        if not is_final(self.status):
            self._check(location, "response", self.status, status)
            self.status = status or self.status
        seen: set[str] = set()
        for _, message in self._inside(location, "output"):
            name = message.value.get("id")
            if isinstance(name, str) and name in seen:
                self._report("message-id-unique", message, "id")
            elif isinstance(name, str):
                seen.add(name)
            self._take_listed_message(message, location)

    def _take_message(self, location: Location) -> None:
        name, status = _name(location.value.get("id")), status_of(location)
        if status != "created":
            name = self._known_as(name)
        message = self.messages.get(name)
        if message is None:
            message = self.messages[name] = MessageState(location)
        self.all_messages.append(location)
        if is_final(status):
            self._is_repeated(location)
        if message.announced:
            self._check(location, "message", message.status, status)
        elif not message.listed:
            self.starts.append(location)
            self._find_other_name(location, message)
        message.announced = True
        self._compare(message.kept, location, _KEPT_IN_MESSAGES)
        if isinstance(kind := location.value.get("type"), str):
            message.type = message.type or kind
        message.status = status or message.status
        self._current = name
        if is_final(message.status) or message.type == "heartbeat":
            self._open.pop(name, None)
        else:
            self._open[name] = None
        self._take_listed_contents(location, message, name)

    def _known_as(self, name: str) -> str:
        """Return the key of a message that has begun; the one that is open if an id is missing."""
        if len(self._open) != 1 or name in self.messages:
            return name
        key = next(iter(self._open))
        if name == _UNNAMED:
            return key
        if key == _UNNAMED:
            self.messages[name] = self.messages.pop(key)
            self._open, self._current = {name: None}, name
        return name

    def _find_other_name(self, location: Location, message: MessageState) -> None:
        """Remember a message that was never begun, if it can be the end of the current one."""
        before = self.messages.get(self._current)
        if before is None or self._current not in self._open or not is_final(status_of(location)):
            return
        kind, listed = location.value.get("type"), location.value.get("content")
        is_same_type = not isinstance(kind, str) or not before.type or kind == before.type
        has_other_contents = before.contents and (
            message.contents or (isinstance(listed, list) and len(listed) != len(before.contents))
        )
        if is_same_type and not has_other_contents:
            self._candidates.append((location, message, before))

    def _take_content(self, location: Location) -> None:
        value = location.value
        self.all_contents.append(location)
        if value.get("msg_id") is None and len(self._open) > 1:
            # It could be of any of these messages.
            self._report("content-msg-id", location, "msg_id")
            return
        name = self._message_of(location)
        message = self.messages.get(name)
        if message is None:
            message = self.messages[name] = MessageState(location)
        if not message.announced and not message.listed:
            self._orphans.append((location, message))
        elif is_final(message.status):
            self._report("content-after-message", location, "msg_id")
        if is_final(status_of(location)):
            self._is_repeated(location, name)
        index = index_of(value)
        if (content := message.contents.get(index)) is None:
            content = message.contents[index] = ContentState(location)
            insort(message.indexes, index)
        self._compare_type(message, index, location)
        if is_final(content.status):
            # A content does not change after its end.
            self._report("content-after-end", location, "index")
            return
        self._check(location, "content", content.status, status_of(location))
        self._grow(content, location)
        content.location, content.status = location, status_of(location) or content.status

    def _message_of(self, location: Location) -> str:
        """Return the key of a content's message: by its id, or else the one that is open."""
        named = location.value.get("msg_id")
        if isinstance(named, str):
            return self._known_as(named)
        return next(iter(self._open)) if len(self._open) == 1 else self._current

    def _grow(self, content: ContentState, location: Location) -> None:
        text, delta = location.value.get("text"), location.value.get("delta") is True
        ends = is_final(status_of(location))
        if not isinstance(text, str):
            content.pieces = content.pieces if text is None and not content.pieces else None
        elif delta:
            content.has_deltas = True
            if content.pieces is not None:
                if ends and len(content.pieces) > 1 and text == "".join(content.pieces):
                    self._report("delta-sum", location, "delta")
                content.pieces.append(text)
        elif ends and content.has_deltas and content.pieces is not None:
            self.totals.append((location, "".join(content.pieces)))
        else:
            content.pieces = [text]
        if not delta and status_of(location) == "in_progress":
            is_text = location.value.get("type") == "text"
            self._report("text-in-pieces" if is_text else "data-in-pieces", location, "delta")

    # Objects within others

    def _inside(self, location: Location, name: str) -> Iterator[tuple[int, Location]]:
        """Yield the objects in an array member with their positions, up to a limit in all."""
        listed = location.value.get(name)
        for at, each in enumerate(listed if isinstance(listed, list) else ()):
            if not self.remaining:
                self.overflowed = True
                return
            self.remaining -= 1
            if isinstance(each, dict):
                yield at, Location(location.seq, f"{location.pointer}/{name}/{at}", each)

    def _take_listed_message(self, location: Location, response: Location) -> None:
        value, status = location.value, status_of(location)
        is_repeated = self._is_repeated(location)
        if not is_repeated:
            self.all_messages.append(location)
        name = value.get("id")
        if not isinstance(name, str) or not name:
            # Messages without an id are never the same.
            name, message = f"\0{location.seq}{location.pointer}", MessageState(location)
        elif (known := self.messages.get(name)) is not None:
            message = known
        else:
            message = self.messages[name] = MessageState(location)
        message.listed = True
        if status != message.status:
            self._check(location, "message", message.status, status)
        self._compare(message.kept, location, _KEPT_IN_MESSAGES)
        if isinstance(kind := value.get("type"), str):
            message.type = message.type or kind
        is_reported = message.announced and not is_final(message.status)
        if is_final(status_of(response)) and status in _IN_PROGRESS and not is_reported:
            self._report("output-ended", location, "status", status=status)
        if not message.announced:
            message.status = status or message.status
        self._take_listed_contents(location, message, name, is_repeated=is_repeated)

    def _take_listed_contents(
        self, parent: Location, message: MessageState, name: str, *, is_repeated: bool = False
    ) -> None:
        listed = parent.value.get("content")
        if not isinstance(listed, list):
            return
        status = status_of(parent)
        if is_final(status or message.status) and not same_json(listed, message.compared):
            message.compared = listed
            self.listed.append((parent, message))
        for at, location in self._inside(parent, "content"):
            if not is_repeated and not self._is_repeated(location, name):
                self.all_contents.append(location)
            index = message.indexes[at] if at < len(message.indexes) else at
            self._take_listed_content(location, parent, message, index)
            self._check_place(location, parent, index)
            is_partial = status in _IN_PROGRESS
            listed_content = ListedContent(location, message.type, (name, index), is_partial)
            self.listed_contents.append(listed_content)

    def _take_listed_content(
        self, location: Location, parent: Location, message: MessageState, index: int
    ) -> None:
        """Compare a content within a message with what was streamed for its index."""
        self._compare_type(message, index, location)
        streamed, status = message.contents.get(index), status_of(location)
        if streamed is not None and is_final(streamed.status):
            self._check(location, "content", streamed.status, status)
        if status_of(parent) != "completed":
            return
        is_reported = streamed is not None and not is_final(streamed.status)
        if status in _IN_PROGRESS and not is_reported:
            self._report("content-ended", location, "status")
        if location.value.get("delta") is True:
            self._report("listed-delta", location, "delta")

    def _check_place(self, location: Location, parent: Location, expected: int) -> None:
        """Compare a content's own msg_id and index with its message and its position there."""
        message_id, name = parent.value.get("id"), location.value.get("msg_id")
        if isinstance(name, str) and isinstance(message_id, str) and name != message_id:
            self._report("content-in-message", location, "msg_id")
        index = location.value.get("index")
        if is_integer(index) and index != expected:
            self._report("content-index-gapless", location, "index", expected=expected)

    # Comparisons

    def _is_repeated(self, location: Location, message: str = "") -> bool:
        """Return whether an earlier frame had the same object; remember this one.

        Contents are the same only within the same message.
        """
        text = json.dumps(location.value).encode()
        digest = blake2b(text, digest_size=_DIGEST_SIZE).digest()
        return self._frames.setdefault((message, digest), location.seq) != location.seq

    def _check(self, location: Location, kind: str, before: str, after: str) -> None:
        if after in _NEVER_AFTER.get(before, ()):
            words = "the same status" if after == before else after
            self._report(
                "status-transitions", location, "status", object=kind, before=before, after=words
            )

    def _compare(self, kept: dict[str, Any], location: Location, rules: Mapping[str, str]) -> None:
        """Report members with another value than in an earlier object, each once."""
        for name, rule in rules.items():
            value = location.value.get(name)
            # Values that are not specified are reported by other rules.
            if name in _LISTED and value not in _LISTED[name]:
                continue
            if not (is_number(value) if name == "created_at" else isinstance(value, str) and value):
                continue
            before = kept.setdefault(name, value)
            if before is not None and before != value:
                kept[name] = None
                self._report_change(rule, location, name, before)

    def _report_change(self, rule: str, location: Location, name: str, before: Any) -> None:
        self._report(rule, location, name, name=name, before=str(before)[:60])

    def _compare_type(self, message: MessageState, index: int, location: Location) -> None:
        kind = location.value.get("type")
        if kind not in _CONTENT_TYPES:
            return
        before = message.content_types.setdefault(index, kind)
        if before is not None and before != kind:
            message.content_types[index] = None
            self._report_change("content-kept", location, "type", before)

    def finish(self) -> None:
        """Report what only the last object settles.

        These are messages whose end has another id, the first status of those that have not, and
        content whose message was sent later or never.
        """
        for location, message, before in self._candidates:
            if not is_final(before.status) and not before.renamed:
                end = _name(location.value.get("id"))
                before.renamed = message.renamed = True
                # A missing id is reported by another rule.
                if isinstance(before.location.value.get("id"), str) and not end.startswith("\0"):
                    self._report("message-id-kept", location, "id")
        ends = {deviation.seq for deviation in self.deviations["message-id-kept"]}
        self.starts = [location for location in self.starts if location.seq not in ends]
        for location in self.starts:
            status, kind = status_of(location), location.value["object"]
            ends_at_once = is_final(status) if kind == "message" else status in FAILED_STATUSES
            if status and status != "created" and not ends_at_once:
                self._report("initial-status", location, "status", kind=kind, status=status[:40])
        for location, message in self._orphans:
            self._report(
                "message-before-content" if message.announced else "message-announced",
                location,
                "msg_id",
            )

    # Messages and contents after the last object

    def streamed_ids(self) -> set[str]:
        """Return the ids of the messages that were announced and kept them; not of heartbeats."""
        return {
            name
            for name, message in self.messages.items()
            if message.announced
            and not message.renamed
            and message.type != "heartbeat"
            and not name.startswith("\0")
        }

    def open_messages(self) -> Iterator[MessageState]:
        """Yield messages that were announced and have not ended."""
        for message in self.messages.values():
            is_open = message.announced and not is_final(message.status) and not message.renamed
            if is_open and message.type != "heartbeat":
                yield message

    def open_contents(self) -> Iterator[ContentState]:
        """Yield streamed contents that have not ended, unless their message or response failed."""
        for message in self.messages.values():
            status = message.status if is_final(message.status) else self.status
            if is_final(status) and status != "completed":
                continue
            for content in message.contents.values():
                if not is_final(content.status):
                    yield content


def read_stream_state(objects: Sequence[Location], limit: int = MAX_PARTS) -> StreamState:
    """Return the state after these objects. Never raise, whatever an agent sent.

    `limit` is the most messages and contents within others that are taken.
    """
    stream_state = StreamState(tuple(objects), remaining=limit)
    for location in objects:
        stream_state.take(location)
    stream_state.finish()
    return stream_state


def is_final(status: str) -> bool:
    return status in FINAL_STATUSES


def status_of(location: Location) -> str:
    """Return the status of an object, "" without one."""
    status = location.value.get("status")
    return status if isinstance(status, str) else ""


def index_of(value: dict[str, Any]) -> int:
    """Return the index of a content, 0 without a valid one."""
    index = value.get("index")
    return int(index) if is_integer(index) and index is not None and index >= 0 else 0


def number_of(value: Any) -> int | None:
    """Return a sequence number, written as a number or as a string; None without one."""
    if is_integer(value):
        return int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return None


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**20 else "A very large number"


def same_json(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same_json(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _name(value: Any) -> str:
    """Return a message's id as a key; ids that are not strings are distinguished as well."""
    return value if isinstance(value, str) else f"\0{type(value).__name__} {value!r:.80}"
