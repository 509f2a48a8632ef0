"""Transcript of the Agent API: a request and its response, and the places that rules look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.conformance.agent_api.stream_state import StreamState, read_stream_state, status_of
from playground.conformance.rule import Requirement, Rule, RuleIssue, Violation
from playground.conformance.rule_input import MAX_PARTS, Location, RuleInput, resolve_prefix
from playground.conformance.shape import MISSING, Condition, Place, RuleFactory
from playground.protocols.response import Message, Response
from playground.protocols.unreadable import foreign_protocol

OBJECTS = ("response", "message", "content")


@dataclass(frozen=True, slots=True)
class AgentTranscript:
    """One request and its response: a stream of objects, or a single response object."""

    version: str
    request: Mapping[str, Any]
    http_response: Response
    #: Whether it ended as its framing requires, complete, in a run that was not stopped.
    is_complete: bool
    #: Whether there is more than the rules check.
    overflowed: bool
    #: The events, except undecided ones.
    events: tuple[Message, ...]
    by_frame: Mapping[int | None, Message]
    #: The object in each event, None for an event without one.
    known: tuple[Location | None, ...]
    #: Responses, messages and contents in the order of arrival, also those within other objects
    #: (of a message, its contents; of a response, its output and their contents), except
    #: identical repetitions.
    responses: tuple[Location, ...]
    messages: tuple[Location, ...]
    contents: tuple[Location, ...]
    #: The state after the objects of a stream.
    stream_state: StreamState

    @property
    def has_response(self) -> bool:
        return bool(self.responses or self.messages or self.contents)

    @property
    def completed(self) -> Location | None:
        """Return the first response with the status completed: what follows is not part of it."""
        return next((p for p in self.responses if status_of(p) == "completed"), None)

    @property
    def segments(self) -> tuple[Location, ...]:
        """Return the contents of a stream that are objects by themselves."""
        return tuple(location for location in self.contents if not location.pointer)

    @property
    def objects(self) -> tuple[Location, ...]:
        """Return every object of a stream, or the single response, in the order of arrival."""
        return self.stream_state.objects

    @property
    def bare_errors(self) -> tuple[Location, ...]:
        """Return errors outside of any object."""
        return tuple(
            Location(event.seq, "", event.payload)
            for event, known in zip(self.events, self.known, strict=True)
            if known is None
            and event.members.get("error") is not None
            and "object" not in event.members
        )

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        """Return `pointer` as far as it leads through frame `seq`, plus one missing step."""
        event = self.by_frame.get(seq)
        return resolve_prefix(event.payload, pointer) if event and pointer else ""


def read(rule_input: RuleInput) -> AgentTranscript:
    """Return the transcript of the last response. Never raise, whatever an agent sent."""
    http_response = rule_input.response
    received = http_response.messages
    events = tuple(event for event in received[:MAX_PARTS] if not event.undecided)
    known = tuple(_objects(events))
    objects = [location for location in known if location]
    stream_state = read_stream_state(objects, MAX_PARTS)
    return AgentTranscript(
        version=rule_input.version,
        request=rule_input.members,
        http_response=http_response,
        is_complete=http_response.ended
        and len(events) == len(received)
        and not rule_input.was_stopped,
        overflowed=len(received) > MAX_PARTS or stream_state.overflowed,
        events=events,
        by_frame={event.seq: event for event in events},
        known=known,
        responses=tuple(location for location in objects if location.value["object"] == "response"),
        messages=tuple(stream_state.all_messages),
        contents=tuple(stream_state.all_contents),
        stream_state=stream_state,
    )


def _objects(events: Iterable[Message]) -> Iterator[Location | None]:
    """Yield the object of each event; `object` is filled in where it is missing or null."""
    kinds: dict[str, str] = {}
    for event in events:
        members, name = event.members, event.members.get("id")
        kind = members.get("object")
        if kind is None and not foreign_protocol(members):
            known = kinds.get(name, "") if isinstance(name, str) else ""
            # An error that names no kind may have data: WordPress, for one.
            given = members.keys() - ({"data"} if members.get("code") is not None else set())
            kind = known or next((k for k, names in _OWN.items() if names & given), None)
            members = {**members, "object": kind}
        yield Location(event.seq, "", members) if kind in OBJECTS else None
        if kind in OBJECTS and isinstance(name, str):
            kinds.setdefault(name, kind)


#: Members that only one kind of object has, in the order of the checks.
_OWN = {
    "content": {"msg_id", "delta", "index", "text", "image_url", "data"},
    "response": {"output", "created_at", "completed_at", "session_id", "usage"},
    "message": {"role", "content"},
}


#: The only version.
VERSION = "1"

AgentRule = Rule[AgentTranscript]
_rules = RuleFactory[AgentTranscript]("agent-api.", (VERSION,))
rule, row = _rules.rule, _rules.row


def state_row(
    name: str,
    title: str,
    requirement: Requirement,
    when: Condition[AgentTranscript],
    sentence: str,
    *,
    why: str,
    needs_complete_response: bool = False,
) -> AgentRule:
    """Return a rule whose violations show while the stream is read, with a sentence for each."""

    def check(t: AgentTranscript) -> Iterator[RuleIssue]:
        yield from reported(t, name, sentence)

    flag = needs_complete_response
    return rule(name, title, requirement, check, why=why, when=when, needs_complete_response=flag)


def reported(t: AgentTranscript, name: str, sentence: str) -> Iterator[Violation]:
    """Yield the violations of a rule that the stream state has, with its words in a sentence."""
    for seq, pointer, words in t.stream_state.deviations[name]:
        yield Violation(sentence.format(**words), seq, pointer)


# Places


def responses(t: AgentTranscript) -> Iterable[Place]:
    return t.responses


def messages(t: AgentTranscript) -> Iterable[Place]:
    return t.messages


def contents(t: AgentTranscript) -> Iterable[Place]:
    return t.contents


def listed_contents(t: AgentTranscript) -> Iterable[Place]:
    """Select the contents within messages."""
    return (listed.location for listed in t.stream_state.listed_contents)


def segments(t: AgentTranscript) -> Iterable[Place]:
    """Select the contents that a stream sends by themselves."""
    return t.segments if t.http_response.streamed else ()


def completed(t: AgentTranscript) -> Iterable[Place]:
    """Select the first completed response."""
    return [t.completed] if t.completed else ()


# Conditions and tests


def streamed(t: AgentTranscript) -> bool:
    return t.http_response.streamed and t.has_response


def has_streamed_contents(t: AgentTranscript) -> bool:
    return t.http_response.streamed and bool(t.contents)


def is_set(value: Any) -> bool:
    """Return whether a member is neither missing nor null."""
    return value is not MISSING and value is not None


def is_not_blank(value: Any) -> object:
    """Return whether a value is anything but a blank string."""
    return not isinstance(value, str) or value.strip()
