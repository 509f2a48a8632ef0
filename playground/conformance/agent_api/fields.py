"""Rules on the members of responses, messages and contents: sections 3, 4 and 6."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.conformance.agent_api.rule import rule, streamed
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.values import is_integer, type_with_article

_STREAMING = "Content Streaming"

#: Members by name: the allowed Python types, and the JSON type as text.
_Shape = Mapping[str, tuple[tuple[type, ...], str]]
_NULL = type(None)
_TEXT = ((str, _NULL), "a string")
_LIST = ((list, _NULL), "an array")
_OBJECT = ((dict, _NULL), "an object")
_WHOLE = ((int, float, _NULL), "an integer")

RESPONSE: _Shape = {
    "created_at": _WHOLE,
    "completed_at": _WHOLE,
    "output": _LIST,
    "usage": _OBJECT,
    "session_id": _TEXT,
}
MESSAGE: _Shape = {
    "type": ((str,), "a string"),
    "role": _TEXT,
    "content": _LIST,
    "code": _TEXT,
    "message": _TEXT,
}
CONTENT: _Shape = {
    "index": _WHOLE,
    "delta": ((bool, _NULL), "true or false"),
    "msg_id": _TEXT,
    "text": _TEXT,
    "image_url": _TEXT,
    "data": _OBJECT,
}
#: The required member of a content by its type.
_PAYLOAD = {"text": "text", "image": "image_url", "data": "data"}


def _named(location: Location, *names: str) -> Iterator[RuleIssue]:
    """Check members that have to be non-empty strings."""
    for name in names:
        value = location.value.get(name)
        if not isinstance(value, str) or not value:
            actual = (
                "is missing" if name not in location.value else f"is {type_with_article(value)}"
            )
            actual = "is empty" if value == "" else actual
            yield Violation(
                f"{name} {actual}. Set it to a string.", location.seq, f"{location.pointer}/{name}"
            )


def _typed(location: Location, shape: _Shape) -> Iterator[RuleIssue]:
    """Check the types of members."""
    for name, (types, words) in shape.items():
        value: Any = location.value.get(name)
        fits = type(value) in types and (float not in types or value is None or is_integer(value))
        if name in location.value and not fits:
            yield Violation(
                f"{name} is {type_with_article(value)}; expected {words}.",
                location.seq,
                f"{location.pointer}/{name}",
            )


@rule(
    "response-fields",
    "Responses have an id, a status and members of the specified types.",
    must("6"),
    when=lambda t: bool(t.responses),
)
def response_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Error, status and sequence number have rules of their own."""
    for location in t.responses:
        yield from _named(location, "id", "status")
        yield from _typed(location, RESPONSE)


@rule(
    "message-fields",
    "Messages have an id, a status and members of the specified types.",
    must("4"),
    when=lambda t: bool(t.messages),
)
def message_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Its type is "message" if none is given."""
    for location in t.messages:
        yield from _named(location, "id", "status")
        yield from _typed(location, MESSAGE)


@rule(
    "content-fields",
    "Content objects have a type and members of the specified types.",
    must("3"),
    when=lambda t: bool(t.contents),
)
def content_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """In a stream those of separate events; their repetition in a message is not checked."""
    for location in t.contents:
        yield from _named(location, "type")
        yield from _typed(location, CONTENT)


def _has_contents(t: AgentTranscript) -> bool:
    return streamed(t) and bool(t.contents)


@rule(
    "content-index",
    "Streamed content has an index, an integer of 0 or more.",
    must(_STREAMING),
    when=_has_contents,
)
def content_index(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It is the content's position in the message."""
    for location in t.contents:
        index = location.value.get("index")
        if not is_integer(index) or index < 0:
            message = "Set index to the position in the message, an integer of 0 or more."
            yield Violation(message, location.seq, f"{location.pointer}/index")


@rule(
    "content-msg-id",
    "Streamed content identifies its message with msg_id.",
    should("Best Practices 1"),
    when=_has_contents,
)
def content_msg_id(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Nothing else assigns it to one of two messages that are streamed at once."""
    for location in t.contents:
        if not isinstance(name := location.value.get("msg_id"), str) or not name:
            yield Violation("Set msg_id to the id of the message.", location.seq, "/msg_id")


@rule(
    "content-status",
    "Streamed content has a status.",
    should(_STREAMING),
    when=_has_contents,
)
def content_status(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients buffer pieces until the status is completed."""
    for location in t.contents:
        if not status_of(location):
            message = "Set status to in_progress, or to completed on the last segment."
            yield Violation(message, location.seq, "/status")


@rule(
    "content-delta",
    "Streamed content has delta, either true or false.",
    info("3"),
    when=_has_contents,
)
def content_delta(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The model allows null; the examples always have it."""
    for location in t.contents:
        if location.value.get("delta") is None:
            actual = "null" if "delta" in location.value else "missing"
            message = f"delta is {actual}, which is treated as false. Set it explicitly."
            yield Violation(message, location.seq, "/delta")


@rule(
    "content-payload",
    "Content has the member that its type requires: text, image_url or data.",
    should("3"),
    when=lambda t: any(location.value.get("type") in _words(_PAYLOAD) for location in t.contents),
)
def content_payload(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Contents with the status created may be empty."""
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
    content_fields,
    content_index,
    content_msg_id,
    content_status,
    content_delta,
    content_payload,
)
