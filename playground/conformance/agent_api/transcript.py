"""A reply of the Agent API as the rules see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.conformance.agent_api.walk import Walk, walked
from playground.conformance.parts import MAX_PARTS, Message, Place, cut
from playground.conformance.transfer import (
    BROKEN_OFF,
    Transfer,
    last_reply,
    messages_of,
    transfer_of,
)
from playground.protocols.frames import Frame

#: What some agents send when they are done; the specification ends a stream with its response.
DONE = "[DONE]"
OBJECTS = ("response", "message", "content")


@dataclass(frozen=True, slots=True)
class AgentTranscript:
    """One request and the response to it: a stream of objects, or one object whole."""

    version: str
    request: Mapping[str, Any]
    transfer: Transfer
    #: Whether it ended as its framing says and nothing was broken off.
    whole: bool
    #: Whether there is more than the rules look at.
    overflowed: bool
    #: What came, but for an event that was cut off in the middle.
    events: tuple[Message, ...]
    by_frame: Mapping[int | None, Message]
    #: The responses, messages and contents in the order in which they came. Those of a stream
    #: stand by themselves; of a whole response its output and the contents of that.
    responses: tuple[Place, ...]
    messages: tuple[Place, ...]
    contents: tuple[Place, ...]
    #: What a stream amounts to, object after object.
    walk: Walk

    @property
    def spoke(self) -> bool:
        """Whether any object of the protocol came."""
        return bool(self.responses or self.messages or self.contents)

    @property
    def objects(self) -> tuple[Place, ...]:
        """Every object of a stream, or the whole response; in the order of arrival."""
        return self.walk.objects

    @property
    def bare_errors(self) -> tuple[Place, ...]:
        """Errors that came by themselves."""
        return tuple(
            Place(event.seq, "", event.payload)
            for event in self.events
            if event.members.get("error") is not None and event.members.get("object") is None
        )

    def pointed(self, seq: int | None, pointer: str) -> str:
        """`pointer`, or what of it leads to something in frame `seq` and one step beyond."""
        event = self.by_frame.get(seq)
        return cut(event.payload, pointer) if event and pointer else ""


def read(
    frames: tuple[Frame, ...], request: Any, version: str, *, state: str = "completed"
) -> AgentTranscript:
    """The last reply among the frames. Never raises on what an agent sent."""
    transfer = transfer_of(last_reply(frames))
    came = list(islice(messages_of(transfer), MAX_PARTS + 1))
    events = tuple(event for event in came[:MAX_PARTS] if event.readable or not event.unfinished)
    objects = [
        Place(event.seq, "", event.payload)
        for event in events
        if event.members.get("object") in OBJECTS
    ]
    inner = [] if transfer.streamed else [each for place in objects for each in _output(place)]
    parts = [] if transfer.streamed else [each for place in inner for each in _content(place)]
    return AgentTranscript(
        version=version,
        request=request if isinstance(request, Mapping) else {},
        transfer=transfer,
        whole=transfer.ended and len(events) == len(came) and state not in BROKEN_OFF,
        overflowed=len(came) > MAX_PARTS,
        events=events,
        by_frame={event.seq: event for event in events},
        responses=_named(objects, "response"),
        messages=(*_named(objects, "message"), *inner),
        contents=(*_named(objects, "content"), *parts),
        walk=walked(objects),
    )


def _named(objects: list[Place], name: str) -> tuple[Place, ...]:
    return tuple(place for place in objects if place.value["object"] == name)


def _output(response: Place) -> list[Place]:
    return _inside(response, "output")[:MAX_PARTS]


def _content(message: Place) -> list[Place]:
    return _inside(message, "content")[:MAX_PARTS]


def _inside(place: Place, name: str) -> list[Place]:
    """The objects in an array member."""
    listed = place.value.get(name)
    return [
        Place(place.seq, f"{place.pointer}/{name}/{at}", each)
        for at, each in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(each, dict)
    ]
