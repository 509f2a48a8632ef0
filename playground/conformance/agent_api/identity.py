"""Rules on what stays the same: ids, types, roles, the session and the time of creation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.rule import reported, rule, state_row, streamed
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, must, should

_CHANGED = "{name} was {before} before. Use the same value in all objects of the "


def _has_several_responses(t: AgentTranscript) -> bool:
    return streamed(t) and len(t.responses) > 1


response_id_kept = state_row(
    "response-id-kept",
    "The id of a response does not change.",
    must("6"),
    _CHANGED + "response.",
    why="Each request has one response.",
    when=_has_several_responses,
    needs_complete_response=True,
)
created_at_kept = state_row(
    "created-at-kept",
    "The created_at of a response does not change.",
    should("Best Practices 3"),
    _CHANGED + "response.",
    why="A response is created once. Clients measure the latency from this time.",
    when=_has_several_responses,
    needs_complete_response=True,
)
session_kept = state_row(
    "session-kept",
    "The session_id of a response does not change.",
    should("Best Practices 3"),
    _CHANGED + "response.",
    why="It identifies the conversation that the response belongs to.",
    when=_has_several_responses,
    needs_complete_response=True,
)
message_kept = state_row(
    "message-kept",
    "The type and the role of a message do not change.",
    should("4"),
    _CHANGED + "message.",
    why="They do not change in the examples. An object may leave them out.",
    when=lambda t: bool(t.messages),
    needs_complete_response=True,
)


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
    renamed = "No message began with this id, and one with another id never ends. Use its id."
    yield from reported(t, "message-id-kept", renamed)
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


message_id_unique = state_row(
    "message-id-unique",
    "Each message of an output has a unique id.",
    must("4"),
    "Another message of this output has this id. Use each id once.",
    why="Content is assigned to its message by the id.",
    when=lambda t: any(isinstance(p.value.get("output"), list) for p in t.responses),
)
content_kept = state_row(
    "content-kept",
    "The type of a content object does not change.",
    should("Content Streaming"),
    _CHANGED + "content.",
    why="Segments with the same index belong to the same content object.",
    when=lambda t: bool(t.contents),
    needs_complete_response=True,
)
content_in_message = state_row(
    "content-in-message",
    "The msg_id of a content within a message is the id of the message.",
    must("3"),
    "msg_id is not the id of the message around this content. Set it to that id.",
    why="It may be left out within a message.",
    when=lambda t: bool(t.stream_state.listed_contents),
)

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
