"""What every response, message and content holds: sections 3, 4 and 6."""

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

#: Members by name: the types that they may have in Python, and the same in words.
_Shape = Mapping[str, tuple[tuple[type, ...], str]]
_NULL = type(None)
_TEXT = ((str, _NULL), "a string")
_LIST = ((list, _NULL), "an array")
_OBJECT = ((dict, _NULL), "an object")
_WHOLE = ((int, float, _NULL), "a whole number")

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
#: The member that a content of each type is about.
_PAYLOAD = {"text": "text", "image": "image_url", "data": "data"}


def _named(place: Location, *names: str) -> Iterator[RuleIssue]:
    """Members that have to be strings."""
    for name in names:
        value = place.value.get(name)
        if not isinstance(value, str) or not value:
            said = "is missing" if name not in place.value else f"is {type_with_article(value)}"
            said = "is empty" if value == "" else said
            yield Violation(
                f"{name} {said}. Set it to a string.", place.seq, f"{place.pointer}/{name}"
            )


def _typed(place: Location, shape: _Shape) -> Iterator[RuleIssue]:
    """Members of other types than they should have."""
    for name, (types, words) in shape.items():
        value: Any = place.value.get(name)
        fits = type(value) in types and (float not in types or value is None or is_integer(value))
        if name in place.value and not fits:
            yield Violation(
                f"{name} is {type_with_article(value)}. Make it {words}.",
                place.seq,
                f"{place.pointer}/{name}",
            )


@rule(
    "response-fields",
    "A response has an id and a status, and its members have the types of the model.",
    must("6"),
    when=lambda t: bool(t.responses),
)
def response_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Error, status and sequence number have rules of their own."""
    for place in t.responses:
        yield from _named(place, "id", "status")
        yield from _typed(place, RESPONSE)


@rule(
    "message-fields",
    "A message has an id and a status, and its members have the types of the model.",
    must("4"),
    when=lambda t: bool(t.messages),
)
def message_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Its type is "message" where none is given."""
    for place in t.messages:
        yield from _named(place, "id", "status")
        yield from _typed(place, MESSAGE)


@rule(
    "content-fields",
    "A content names its type, and its members have the types of the model.",
    must("3"),
    when=lambda t: bool(t.contents),
)
def content_fields(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Of streams those that came by themselves; what a message repeats of them is not judged."""
    for place in t.contents:
        yield from _named(place, "type")
        yield from _typed(place, CONTENT)


def _has_contents(t: AgentTranscript) -> bool:
    return streamed(t) and bool(t.contents)


@rule(
    "content-index",
    "A content of a stream has an index, a whole number from 0.",
    must(_STREAMING),
    when=_has_contents,
)
def content_index(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It points to the content's place in the message."""
    for place in t.contents:
        index = place.value.get("index")
        if not is_integer(index) or index < 0:
            message = "Set index to the content's place in its message, a whole number from 0."
            yield Violation(message, place.seq, f"{place.pointer}/index")


@rule(
    "content-msg-id",
    "A content of a stream names its message in msg_id.",
    should("Best Practices 1"),
    when=_has_contents,
)
def content_msg_id(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Of two messages at once nothing else says which one it belongs to."""
    for place in t.contents:
        if not isinstance(name := place.value.get("msg_id"), str) or not name:
            yield Violation("Set msg_id to the id of the message.", place.seq, "/msg_id")


@rule(
    "content-status",
    "A content of a stream has a status.",
    should(_STREAMING),
    when=_has_contents,
)
def content_status(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients buffer pieces until it says completed."""
    for place in t.contents:
        if not status_of(place):
            message = "Set status to in_progress, or to completed on the last segment."
            yield Violation(message, place.seq, "/status")


@rule(
    "content-delta",
    "A content of a stream says whether it is a piece: delta is true or false.",
    info("3"),
    when=_has_contents,
)
def content_delta(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The model lets it be null; examples always say it."""
    for place in t.contents:
        if place.value.get("delta") is None:
            said = "null" if "delta" in place.value else "missing"
            message = f"delta is {said}, which reads as false: say so."
            yield Violation(message, place.seq, "/delta")


@rule(
    "content-payload",
    "A content holds what its type is for: text, image_url or data.",
    should("3"),
    when=lambda t: any(place.value.get("type") in _words(_PAYLOAD) for place in t.contents),
)
def content_payload(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Of contents that have just been created nothing is asked."""
    for place in t.contents:
        kind = place.value.get("type")
        member = _PAYLOAD.get(kind) if isinstance(kind, str) else None
        if member and place.value.get(member) is None and status_of(place) != "created":
            message = f"A content of type {kind} holds {member}: add it."
            yield Violation(message, place.seq, f"{place.pointer}/{member}")


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
