"""A reply as the rules see it: read once by the playground's own readers, then frozen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple

from playground.conformance.http_response import (
    BROKEN_OFF,
    RecordedResponse,
    last_response_frames,
    recorded_response,
)
from playground.conformance.recording_reader import RecordingReader
from playground.conformance.response_parts import (
    MAX_PARTS,
    ActionFinder,
    DecodedPayload,
    Location,
    cut,
    items_of,
    listed_actions,
    meta_of,
    parts_of,
)
from playground.protocols.events import Outcome
from playground.protocols.frames import Frame
from playground.protocols.nlweb import versions
from playground.protocols.nlweb.content import number_of

_KINDS = frozenset(outcome.value for outcome in Outcome if outcome is not Outcome.NONE)


class ResponseLocation(NamedTuple):
    """Where a reply stands in the JSON of a frame: JSON pointers, "" for all of it.

    One into a text that is JSON itself ends with `#`.
    """

    response: str = ""
    #: What holds its `_meta`, where that stands beside the rest of the reply.
    meta: str = ""


_TOP = ResponseLocation()


@dataclass(frozen=True, slots=True)
class Transcript:
    """One request and its reply. Lists are empty where there is nothing of the kind."""

    version: str
    operation: str
    request: Mapping[str, Any]
    #: HTTP status, 0 without a response head; header names in lower case.
    status: int
    headers: Mapping[str, str]
    head_seq: int | None
    streamed: bool
    #: Whether the reply ended the way its framing says.
    ended: bool
    #: Whether it did, and nothing was broken off: nothing more could have come.
    is_complete: bool
    #: What came, but for an event that was cut off in the middle.
    messages: tuple[DecodedPayload, ...]
    by_frame: Mapping[int | None, DecodedPayload]
    metas: tuple[Location, ...]
    items: tuple[Location, ...]
    #: The `actions` members of all items, at any depth, and the actions in them.
    action_lists: tuple[Location, ...]
    actions: tuple[Location, ...]
    #: Content members of all messages by name: `results`, `content`, `error`, ...
    parts: Mapping[str, tuple[Location, ...]]
    #: Whether there is more than the rules look at.
    overflowed: bool
    outcome: Outcome
    session_context: Mapping[str, Any] | None
    #: The frames of the reply, as they crossed the wire.
    frames: tuple[Frame, ...]
    #: Progress that earlier replies to the same promise told.
    earlier_progress: tuple[float, ...] = ()
    #: Where the reply stands in a frame that holds more; see `read_inner`.
    nests: Mapping[int | None, ResponseLocation] = field(default_factory=dict)

    @property
    def traits(self) -> Mapping[str, Any]:
        """How the version differs from the others."""
        return versions.get_version(self.version).traits

    @property
    def document(self) -> DecodedPayload | None:
        """The whole reply, None where it is a stream or did not come."""
        return next((message for message in self.messages if message.document), None)

    @property
    def last_seq(self) -> int | None:
        """The last frame that says something, for what is missing at the end."""
        return self.messages[-1].seq if self.messages else self.head_seq

    @property
    def has_response(self) -> bool:
        """Whether there is an NLWeb reply to judge: not for an error of HTTP alone."""
        objects = any(isinstance(message.payload, dict) for message in self.messages)
        return objects and (self.status < 300 or self.outcome is not Outcome.NONE)

    def pointed(self, seq: int | None, pointer: str) -> str:
        """`pointer`, or what of it leads to something in frame `seq` and one step beyond.

        From the top of the frame's JSON; of a reply in a text, the place of the text, a `#`,
        and the pointer into the JSON in it.
        """
        message = self.by_frame.get(seq)
        if message is None:
            return ""
        inner = cut(message.payload, pointer) if pointer else ""
        nest = self.nests.get(seq, _TOP)
        if inner == "/_meta" or inner.startswith("/_meta/"):
            return nest.meta + inner
        return nest.response + inner if inner else nest.response.removesuffix("#")

    def prefer(self, name: str) -> Any:
        """A preference of the request (section 3.3), None without one."""
        prefer = self.request.get("prefer")
        return prefer.get(name) if isinstance(prefer, Mapping) else None

    @property
    def announced(self) -> str:
        """What the reply calls itself last, in lower case; "" if none of the four types."""
        for place in reversed(self.metas):
            if kind := type_of(place.value):
                return kind
        return ""

    @property
    def kind(self) -> str:
        """What the reply is: what it calls itself, or else what it holds; "" for neither."""
        seen = self.outcome.value
        return self.announced or (seen if seen in _KINDS else "")

    def is_kind(self, kind: str, part: str) -> bool:
        """Whether the reply says that it is of a kind, or has the part that makes it one."""
        return self.has_response and (self.kind == kind or part in self.parts)


def type_of(meta: Any) -> str:
    """The response type in a meta block in lower case, "" if it is none of the four."""
    name = meta.get("response_type") if isinstance(meta, dict) else None
    low = name.strip().lower() if isinstance(name, str) else ""
    return low if low in _KINDS else ""


def read(
    frames: Iterable[Frame],
    request: Any,
    version: str,
    *,
    operation: str = "ask",
    state: str = "completed",
    earlier_progress: Iterable[float] = (),
) -> Transcript:
    """The last reply among the frames. Raises `ValueError` for an unknown version only."""
    transfer = recorded_response(last_response_frames(tuple(frames)))
    recorder = RecordingReader(version)
    messages = recorder.read(transfer.frames)
    whole = [message for message in messages if message.readable or not message.unfinished]
    unread_tail = len(whole) < len(messages)
    return _transcript(
        transfer,
        recorder,
        tuple(whole),
        version=version,
        operation=operation,
        request=request if isinstance(request, Mapping) else {},
        is_complete=transfer.ended and not unread_tail and state not in BROKEN_OFF,
        earlier_progress=_numbers(earlier_progress),
        streamed=transfer.streamed,
    )


def read_inner(
    transfer: RecordedResponse,
    pieces: Sequence[tuple[DecodedPayload, ResponseLocation]],
    request: Any,
    version: str,
    *,
    operation: str = "ask",
    earlier_progress: Iterable[float] = (),
) -> Transcript:
    """A reply that the messages of another binding carry, each somewhere in its frame.

    One piece is a whole reply; several are one that came bit by bit. Raises `ValueError` for
    an unknown version only.
    """
    recorder = RecordingReader(version)
    whole = len(pieces) == 1
    for message, _ in pieces:
        if whole:
            recorder.document(message.seq, message.payload)
        else:
            recorder.payload(message.seq, None, message.payload)
    recorder.end()
    return _transcript(
        transfer,
        recorder,
        tuple(message._replace(name=None, document=whole) for message, _ in pieces),
        version=version,
        operation=operation,
        request=request if isinstance(request, Mapping) else {},
        is_complete=True,
        earlier_progress=_numbers(earlier_progress),
        streamed=False,
        nests={message.seq: nest for message, nest in pieces},
    )


def _numbers(told: Iterable[float]) -> tuple[float, ...]:
    return tuple(number for number in map(number_of, told) if number is not None)


def _transcript(
    transfer: RecordedResponse,
    recorder: RecordingReader,
    messages: tuple[DecodedPayload, ...],
    **facts: Any,
) -> Transcript:
    items = tuple(islice(chain.from_iterable(map(items_of, messages)), MAX_PARTS))
    walk = ActionFinder()
    lists = tuple(islice(chain.from_iterable(map(walk.actions_of, items)), MAX_PARTS))
    actions = tuple(islice(listed_actions(lists), MAX_PARTS))
    return Transcript(
        status=transfer.status,
        headers=transfer.headers,
        head_seq=transfer.head_seq,
        ended=transfer.ended,
        messages=messages,
        by_frame={message.seq: message for message in messages},
        metas=tuple(place for message in messages if (place := meta_of(message))),
        items=items,
        action_lists=lists,
        actions=actions,
        overflowed=walk.overflowed or MAX_PARTS in map(len, (items, lists, actions)),
        parts=_parts(messages),
        outcome=recorder.outcome,
        session_context=recorder.session_context,
        frames=transfer.frames,
        **facts,
    )


def _parts(messages: tuple[DecodedPayload, ...]) -> Mapping[str, tuple[Location, ...]]:
    found: dict[str, list[Location]] = {}
    for message in messages:
        for name, place in parts_of(message):
            found.setdefault(name, []).append(place)
    return {name: tuple(places) for name, places in found.items()}
