"""Transcript of the Agent API: a request and its response as rules read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.conformance.agent_api.stream_state import StreamState, read_stream_state
from playground.conformance.http_response import (
    INCOMPLETE_STATES,
    RecordedResponse,
    last_response_frames,
    messages_of,
    recorded_response,
)
from playground.conformance.response_parts import (
    MAX_PARTS,
    DecodedPayload,
    Location,
    resolve_prefix,
)
from playground.protocols.frames import Frame

#: The last event of some agents; by the specification a stream ends with its response.
DONE = "[DONE]"
OBJECTS = ("response", "message", "content")


@dataclass(frozen=True, slots=True)
class AgentTranscript:
    """One request and its response: a stream of objects, or a single response object."""

    version: str
    request: Mapping[str, Any]
    http_response: RecordedResponse
    #: Whether it ended as its framing requires, complete, in a run that was not stopped.
    is_complete: bool
    #: Whether there is more than the rules check.
    overflowed: bool
    #: The events, except one that was cut off in the middle.
    events: tuple[DecodedPayload, ...]
    by_frame: Mapping[int | None, DecodedPayload]
    #: Responses, messages and contents in the order of arrival. Of a stream, separate objects; of
    #: a single response, its output and their contents.
    responses: tuple[Location, ...]
    messages: tuple[Location, ...]
    contents: tuple[Location, ...]
    #: The state after the objects of a stream.
    stream_state: StreamState

    @property
    def has_response(self) -> bool:
        """Return whether there is any object of the protocol."""
        return bool(self.responses or self.messages or self.contents)

    @property
    def objects(self) -> tuple[Location, ...]:
        """Return every object of a stream, or the single response, in the order of arrival."""
        return self.stream_state.objects

    @property
    def bare_errors(self) -> tuple[Location, ...]:
        """Return errors outside of any object."""
        return tuple(
            Location(event.seq, "", event.payload)
            for event in self.events
            if event.members.get("error") is not None and event.members.get("object") is None
        )

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step."""
        event = self.by_frame.get(seq)
        return resolve_prefix(event.payload, pointer) if event and pointer else ""


def read(
    frames: tuple[Frame, ...], request: Any, version: str, *, state: str = "completed"
) -> AgentTranscript:
    """Return the transcript of the last response. Never raise, whatever an agent sent."""
    http_response = recorded_response(last_response_frames(frames))
    received = list(islice(messages_of(http_response), MAX_PARTS + 1))
    events = tuple(
        event for event in received[:MAX_PARTS] if event.readable or not event.unfinished
    )
    objects = [
        Location(event.seq, "", event.payload)
        for event in events
        if event.members.get("object") in OBJECTS
    ]
    inner = (
        []
        if http_response.streamed
        else [each for location in objects for each in _output(location)]
    )
    parts = (
        []
        if http_response.streamed
        else [each for location in inner for each in _content(location)]
    )
    return AgentTranscript(
        version=version,
        request=request if isinstance(request, Mapping) else {},
        http_response=http_response,
        is_complete=http_response.ended
        and len(events) == len(received)
        and state not in INCOMPLETE_STATES,
        overflowed=len(received) > MAX_PARTS,
        events=events,
        by_frame={event.seq: event for event in events},
        responses=_named(objects, "response"),
        messages=(*_named(objects, "message"), *inner),
        contents=(*_named(objects, "content"), *parts),
        stream_state=read_stream_state(objects),
    )


def _named(objects: list[Location], name: str) -> tuple[Location, ...]:
    return tuple(location for location in objects if location.value["object"] == name)


def _output(response: Location) -> list[Location]:
    return _inside(response, "output")[:MAX_PARTS]


def _content(message: Location) -> list[Location]:
    return _inside(message, "content")[:MAX_PARTS]


def _inside(location: Location, name: str) -> list[Location]:
    """Return the objects in an array member."""
    listed = location.value.get(name)
    return [
        Location(location.seq, f"{location.pointer}/{name}/{at}", each)
        for at, each in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(each, dict)
    ]
