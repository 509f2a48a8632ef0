"""A reply of the Agent API as the rules see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.conformance.agent_api.stream_state import StreamState, read_stream_state
from playground.conformance.http_response import (
    BROKEN_OFF,
    RecordedResponse,
    last_response_frames,
    messages_of,
    recorded_response,
)
from playground.conformance.response_parts import MAX_PARTS, DecodedPayload, Location, cut
from playground.protocols.frames import Frame

#: What some agents send when they are done; the specification ends a stream with its response.
DONE = "[DONE]"
OBJECTS = ("response", "message", "content")


@dataclass(frozen=True, slots=True)
class AgentTranscript:
    """One request and the response to it: a stream of objects, or one object whole."""

    version: str
    request: Mapping[str, Any]
    transfer: RecordedResponse
    #: Whether it ended as its framing says and nothing was broken off.
    is_complete: bool
    #: Whether there is more than the rules look at.
    overflowed: bool
    #: What came, but for an event that was cut off in the middle.
    events: tuple[DecodedPayload, ...]
    by_frame: Mapping[int | None, DecodedPayload]
    #: The responses, messages and contents in the order in which they came. Those of a stream
    #: stand by themselves; of a whole response its output and the contents of that.
    responses: tuple[Location, ...]
    messages: tuple[Location, ...]
    contents: tuple[Location, ...]
    #: What a stream amounts to, object after object.
    walk: StreamState

    @property
    def has_response(self) -> bool:
        """Whether any object of the protocol came."""
        return bool(self.responses or self.messages or self.contents)

    @property
    def objects(self) -> tuple[Location, ...]:
        """Every object of a stream, or the whole response; in the order of arrival."""
        return self.walk.objects

    @property
    def bare_errors(self) -> tuple[Location, ...]:
        """Errors that came by themselves."""
        return tuple(
            Location(event.seq, "", event.payload)
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
    transfer = recorded_response(last_response_frames(frames))
    came = list(islice(messages_of(transfer), MAX_PARTS + 1))
    events = tuple(event for event in came[:MAX_PARTS] if event.readable or not event.unfinished)
    objects = [
        Location(event.seq, "", event.payload)
        for event in events
        if event.members.get("object") in OBJECTS
    ]
    inner = [] if transfer.streamed else [each for place in objects for each in _output(place)]
    parts = [] if transfer.streamed else [each for place in inner for each in _content(place)]
    return AgentTranscript(
        version=version,
        request=request if isinstance(request, Mapping) else {},
        transfer=transfer,
        is_complete=transfer.ended and len(events) == len(came) and state not in BROKEN_OFF,
        overflowed=len(came) > MAX_PARTS,
        events=events,
        by_frame={event.seq: event for event in events},
        responses=_named(objects, "response"),
        messages=(*_named(objects, "message"), *inner),
        contents=(*_named(objects, "content"), *parts),
        walk=read_stream_state(objects),
    )


def _named(objects: list[Location], name: str) -> tuple[Location, ...]:
    return tuple(place for place in objects if place.value["object"] == name)


def _output(response: Location) -> list[Location]:
    return _inside(response, "output")[:MAX_PARTS]


def _content(message: Location) -> list[Location]:
    return _inside(message, "content")[:MAX_PARTS]


def _inside(place: Location, name: str) -> list[Location]:
    """The objects in an array member."""
    listed = place.value.get(name)
    return [
        Location(place.seq, f"{place.pointer}/{name}/{at}", each)
        for at, each in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(each, dict)
    ]
