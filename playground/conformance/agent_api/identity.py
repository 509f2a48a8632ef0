"""Rules on what stays the same: ids, types, roles, the session and the time of creation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.rule import rule, streamed
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, must, should


def _changed(t: AgentTranscript, kind: str, *members: str) -> Iterator[RuleIssue]:
    for location, object_kind, member, before in t.stream_state.member_changes:
        if object_kind == kind and member in members:
            yield Violation(
                f"{member} was {str(before)[:60]} before. Use the same value in all objects of "
                f"the {kind}.",
                location.seq,
                f"{location.pointer}/{member}",
            )


def _has_several_responses(t: AgentTranscript) -> bool:
    return streamed(t) and len(t.responses) > 1


@rule(
    "response-id-kept",
    "The id of a response does not change.",
    must("6"),
    when=_has_several_responses,
    needs_complete_response=True,
)
def response_id_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each request has one response."""
    yield from _changed(t, "response", "id")


@rule(
    "created-at-kept",
    "The created_at of a response does not change.",
    should("Best Practices 3"),
    when=_has_several_responses,
    needs_complete_response=True,
)
def created_at_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A response is created once. Clients measure the latency from this time."""
    yield from _changed(t, "response", "created_at")


@rule(
    "session-kept",
    "The session_id of a response does not change.",
    should("Best Practices 3"),
    when=_has_several_responses,
    needs_complete_response=True,
)
def session_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It identifies the conversation that the response belongs to."""
    yield from _changed(t, "response", "session_id")


@rule(
    "message-kept",
    "The type and the role of a message do not change.",
    should("4"),
    when=lambda t: bool(t.messages),
    needs_complete_response=True,
)
def message_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """They do not change in the examples. An object may leave them out."""
    yield from _changed(t, "message", "type", "role")


@rule(
    "message-id-kept",
    "The id of a message does not change.",
    must("4"),
    when=lambda t: streamed(t) and bool(t.messages),
    needs_complete_response=True,
)
def message_id_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A message keeps its id until it ends, and has the same id in the output.

    In the output it is reported only where it replaces the id of a streamed message.
    """
    for location in t.stream_state.renamed:
        message = "No message began with this id, and one with another id never ends. Use its id."
        yield Violation(message, location.seq, "/id")
    response = t.completed
    listed = _identified(response) if response else []
    announced = {name for name, state in t.stream_state.messages.items() if state.announced}
    others = [location for location in listed if location.value["id"] not in announced]
    missing = t.stream_state.streamed_ids().difference(p.value["id"] for p in listed)
    if len(others) == len(missing):
        for location in others:
            message = "No message with this id was streamed. Use the id of the streamed one."
            yield Violation(message, location.seq, f"{location.pointer}/id")


def _identified(response: Location) -> list[Location]:
    """Return the messages of an output that have an id."""
    output: Any = response.value.get("output")
    return [
        Location(response.seq, f"{response.pointer}/output/{at}", message)
        for at, message in enumerate(output if isinstance(output, list) else ())
        if isinstance(message, dict) and isinstance(message.get("id"), str)
    ]


@rule(
    "message-id-unique",
    "Each message of an output has a unique id.",
    must("4"),
    when=lambda t: any(isinstance(p.value.get("output"), list) for p in t.responses),
)
def message_id_unique(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Content is assigned to its message by the id."""
    for location in t.stream_state.duplicates:
        message = "Another message of this output has this id. Use each id once."
        yield Violation(message, location.seq, f"{location.pointer}/id")


@rule(
    "content-kept",
    "The type of a content object does not change.",
    should("Content Streaming"),
    when=lambda t: bool(t.contents),
    needs_complete_response=True,
)
def content_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Segments with the same index belong to the same content object."""
    yield from _changed(t, "content", "type")


@rule(
    "content-in-message",
    "The msg_id of a content within a message is the id of the message.",
    must("3"),
    when=lambda t: bool(t.stream_state.listed_contents),
)
def content_in_message(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It may be left out within a message."""
    for location in t.stream_state.misassigned:
        message = "msg_id is not the id of the message around this content. Set it to that id."
        yield Violation(message, location.seq, f"{location.pointer}/msg_id")


RULES = (
    response_id_kept,
    created_at_kept,
    session_kept,
    message_kept,
    message_id_kept,
    message_id_unique,
    content_kept,
    content_in_message,
)
