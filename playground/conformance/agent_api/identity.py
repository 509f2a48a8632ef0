"""Rules on what stays the same: ids, types, roles, the session and the time of creation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.selectors import (
    contents,
    listed_contents,
    messages,
    reported,
    rule,
    state_row,
    streamed,
)
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import RuleIssue, Violation, must, should
from playground.conformance.rule_input import Location

_CHANGED = "{name} was {before} before. Use the same value in all objects of the "
_RESPONSE = f"{_CHANGED}response."
_TIMES = "Best Practices 3"


def _has_several_responses(t: AgentTranscript) -> bool:
    return streamed(t) and len(t.responses) > 1


def message_id_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
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


# fmt: off
RULES = (
    state_row("response-id-kept", "The id of a response does not change.", must("6"),
        _has_several_responses, _RESPONSE,
        why="Each request has one response.", needs_complete_response=True),
    state_row("created-at-kept", "The created_at of a response does not change.", should(_TIMES),
        _has_several_responses, _RESPONSE,
        why="A response is created once. Clients measure the latency from this time.",
        needs_complete_response=True),
    state_row("session-kept", "The session_id of a response does not change.", should(_TIMES),
        _has_several_responses, _RESPONSE,
        why="It identifies the conversation that the response belongs to.",
        needs_complete_response=True),
    state_row("message-kept", "The type and the role of a message do not change.", should("4"),
        messages, f"{_CHANGED}message.",
        why="They do not change in the examples. An object may leave them out.",
        needs_complete_response=True),
    rule("message-id-kept", "The id of a message does not change.", must("4"), message_id_kept,
        when=lambda t: streamed(t) and bool(t.messages), needs_complete_response=True,
        why="A message keeps its id until it ends, and has the same id in the output.\n\n"
            "In the output it is reported only where it replaces the id of a streamed message."),
    state_row("message-id-unique", "Each message of an output has a unique id.", must("4"),
        lambda t: any(isinstance(p.value.get("output"), list) for p in t.responses),
        "Another message of this output has this id. Use each id once.",
        why="Content is assigned to its message by the id."),
    state_row("content-kept", "The type of a content object does not change.",
        should("Content Streaming"), contents, f"{_CHANGED}content.",
        why="Segments with the same index belong to the same content object.",
        needs_complete_response=True),
    state_row("content-in-message",
        "The msg_id of a content within a message is the id of the message.", must("3"),
        listed_contents,
        "msg_id is not the id of the message around this content. Set it to that id.",
        why="It may be left out within a message."),
)
# fmt: on
