"""Rules on the members of responses, messages and contents: sections 3, 4 and 6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from playground.conformance.agent_api.rule import rule, state_row, streamed
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.values import is_integer, type_with_article
from playground.protocols import schemas
from playground.protocols.agent_api import constants, parts

_STREAMING = "Content Streaming"

#: Members by name: the allowed Python types, and the JSON type as text.
_Shape = Mapping[str, tuple[tuple[type, ...], str]]
#: The Python types of a JSON type, and its name.

_NAMES = {
    "string": ((str,), "a string"),
    "integer": ((int, float), "an integer"),
    "boolean": ((bool,), "true or false"),
    "array": ((list,), "an array"),
    "object": ((dict,), "an object"),
    "null": ((type(None),), ""),
}
#: Members that other rules check.
_ELSEWHERE = {
    "response": {"id", "object", "error", "sequence_number"},
    "message": {"id", "object", "error", "sequence_number"},
    "content": {"type", "object", "error", "sequence_number"},
}
#: The member with the value of a content, by the content's type.
_PAYLOAD = {kind: parts.MEMBERS[kind] for kind in constants.words("content", "type")[0]}


def members_of(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the members that the specification defines for `response`, `message` or `content`."""
    members: Mapping[str, Mapping[str, Any]] = schemas.load("agent-api", "1", kind)["properties"]
    return {name: member for name, member in members.items() if "x-addition" not in member}


def _shape(kind: str, *others: str) -> _Shape:
    """Return the types of members, except those that other rules check."""
    return {
        name: _types(member)
        for name, member in members_of(kind).items()
        if name not in _ELSEWHERE[kind] and name not in others
    }


def _types(member: Mapping[str, Any]) -> tuple[tuple[type, ...], str]:
    alternatives = member.get("anyOf", [member])
    names = [
        name
        for each in alternatives
        for name in ([each["type"]] if isinstance(each["type"], str) else each["type"])
    ]
    types = tuple(each for name in names for each in _NAMES[name][0])
    return types, next(_NAMES[name][1] for name in names if name != "null")


_RESPONSE = _shape("response")
_MESSAGE = _shape("message")
_CONTENT = _shape("content")
#: Without the members that have another meaning in a content of another type.
_ANY_CONTENT = _shape("content", *_PAYLOAD.values())


def _identifies(location: Location, name: str) -> Iterator[RuleIssue]:
    """Check that a member is a non-empty string if it is present."""
    value = location.value.get(name)
    if name in location.value and (not isinstance(value, str) or not value):
        actual = "empty" if value == "" else type_with_article(value)
        message = f"{name} is {actual}. Set it to a string."
        yield Violation(message, location.seq, f"{location.pointer}/{name}")


def _present(locations: Iterable[Location], *names: str) -> Iterator[RuleIssue]:
    for location in locations:
        for name in names:
            if name not in location.value:
                message = f"{name} is missing. Set it to a string."
                yield Violation(message, location.seq, f"{location.pointer}/{name}")


def _typed(location: Location, shape: _Shape) -> Iterator[RuleIssue]:
    for name, (types, words) in shape.items():
        value: Any = location.value.get(name)
        fits = type(value) in types and (type(value) is not float or is_integer(value))
        if name in location.value and not fits:
            yield Violation(
                f"{name} is {type_with_article(value)}; expected {words}.",
                location.seq,
                f"{location.pointer}/{name}",
            )


def _objects(location: Location, name: str, kind: str) -> Iterator[RuleIssue]:
    """Check that an array member contains objects only."""
    listed = location.value.get(name)
    for at, each in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(each, dict):
            yield Violation(
                f"{name} contains {type_with_article(each)}; expected {kind} objects.",
                location.seq,
                f"{location.pointer}/{name}/{at}",
            )


@rule(
    "response-fields",
    "The members of responses have the specified types.",
    must("6"),
    when=lambda t: bool(t.responses),
)
def response_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Other rules check the error and the sequence number.

    See `agent-api.error-object` and `agent-api.sequence-type`.
    """
    for location in t.responses:
        yield from _identifies(location, "id")
        yield from _typed(location, _RESPONSE)
        yield from _objects(location, "output", "message")


@rule(
    "message-fields",
    "The members of messages have the specified types.",
    must("4"),
    when=lambda t: bool(t.messages),
)
def message_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The default type of a message is message."""
    for location in t.messages:
        yield from _identifies(location, "id")
        yield from _typed(location, _MESSAGE)
        yield from _objects(location, "content", "content")


@rule(
    "response-members",
    "Responses have an id and a status.",
    should("6"),
    when=lambda t: bool(t.responses),
)
def response_members(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The id has a default value, but every example includes both."""
    yield from _present(t.responses, "id", "status")


@rule(
    "message-members",
    "Messages have an id and a status, and a type within an output.",
    should("4"),
    when=lambda t: bool(t.messages),
)
def message_members(t: AgentTranscript) -> Iterator[RuleIssue]:
    """They have default values, and the examples have all of them.

    The example of a message that ends has no type: it was sent before.
    """
    yield from _present(t.messages, "id", "status")
    yield from _present([each for each in t.messages if each.pointer], "type")


@rule(
    "content-fields",
    "Content objects have a type and members of the specified types.",
    must("3"),
    when=lambda t: bool(t.contents),
)
def content_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """This applies to streamed content and to content within messages."""
    for location in t.contents:
        yield from _present([location], "type")
        yield from _identifies(location, "type")
        # What another type has in these members is left open.
        is_listed = location.value.get("type") in (*_PAYLOAD, None)
        yield from _typed(location, _CONTENT if is_listed else _ANY_CONTENT)


def _has_segments(t: AgentTranscript) -> bool:
    return streamed(t) and bool(t.segments)


@rule(
    "content-index",
    "Streamed content has an index, an integer of 0 or more.",
    must(_STREAMING),
    when=_has_segments,
)
def content_index(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The index is the position of the content in its message."""
    for location in t.segments:
        index = location.value.get("index")
        if not is_integer(index) or index < 0:
            message = "Set index to the position in the message, an integer of 0 or more."
            yield Violation(message, location.seq, "/index")


content_msg_id = state_row(
    "content-msg-id",
    "Streamed content identifies its message with msg_id if several are open.",
    should("Best Practices 1"),
    "Several messages are open. Set msg_id to the id of the one that has this content.",
    why="Without it, clients cannot assign the content. With one open message it is optional.",
    when=_has_segments,
)


@rule(
    "content-status",
    "Streamed content has a status.",
    should(_STREAMING),
    when=_has_segments,
)
def content_status(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients buffer segments until the status is completed."""
    for location in t.segments:
        if "status" not in location.value:
            message = "Set status to in_progress, or to completed on the last segment."
            yield Violation(message, location.seq, "/status")


@rule(
    "content-delta",
    "Streamed content has delta, either true or false.",
    info("3"),
    when=_has_segments,
)
def content_delta(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification allows null; its examples always have a value."""
    for location in t.segments:
        if location.value.get("delta") is None:
            actual = "null" if "delta" in location.value else "missing"
            message = f"delta is {actual}, which is treated as false. Set it explicitly."
            yield Violation(message, location.seq, "/delta")


listed_delta = state_row(
    "listed-delta",
    "Contents within a completed message are not marked as deltas.",
    should("3"),
    "This content is complete. Set delta to false.",
    why="They are complete. Clients would append a delta to what they received before.",
    when=lambda t: bool(t.stream_state.listed_contents),
)


@rule(
    "content-payload",
    "Content has the member that its type requires: text, image_url or data.",
    info("3"),
    when=lambda t: any(location.value.get("type") in _words(_PAYLOAD) for location in t.contents),
)
def content_payload(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification makes them optional. Content with status created is empty."""
    for location in t.contents:
        kind = location.value.get("type")
        member = _PAYLOAD.get(kind) if isinstance(kind, str) else None
        if member and location.value.get(member) is None and status_of(location) != "created":
            message = f"Content of type {kind} requires {member}."
            yield Violation(message, location.seq, f"{location.pointer}/{member}")


def _words(values: Mapping[str, str]) -> list[str]:
    return list(values)


RULES = (
    response_fields,
    message_fields,
    response_members,
    message_members,
    content_fields,
    content_index,
    content_msg_id,
    content_status,
    content_delta,
    listed_delta,
    content_payload,
)
