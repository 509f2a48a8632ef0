"""Rules on members: their types (sections 3, 4 and 6), their words (section 1), their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import (
    AgentRule,
    AgentTranscript,
    contents,
    is_set,
    listed_contents,
    messages,
    responses,
    row,
    rule,
    segments,
    state_row,
)
from playground.conformance.rule import Requirement, RuleIssue, Violation, info, must, should
from playground.conformance.shape import (
    Place,
    Selector,
    Tests,
    integer,
    is_given,
    is_integer,
    is_string,
    members,
    never,
    present,
    those,
    type_with_article,
)
from playground.protocols import schemas
from playground.protocols.agent_api import constants, parts
from playground.protocols.json_pointer import escape

_STREAMING = "Content Streaming"

# Types

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
#: By kind of object, the member that identifies it: it is never empty.
_IDENTIFIER = {"response": "id", "message": "id", "content": "type"}
#: Members that other rules check.
_ELSEWHERE = {"object", "error", "sequence_number"}
#: The array member of an object, and the kind of the objects in it.
_LISTED = {"response": ("output", "message"), "message": ("content", "content")}
#: The member with the value of a content, by the content's type.
_PAYLOAD = {kind: parts.MEMBERS[kind] for kind in constants.words("content", "type")[0]}


def _members_of(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the members that the specification defines for `response`, `message` or `content`."""
    found: Mapping[str, Mapping[str, Any]] = schemas.load("agent-api", "1", kind)["properties"]
    return {name: member for name, member in found.items() if "x-addition" not in member}


def _shape(kind: str) -> _Shape:
    others = {_IDENTIFIER[kind], *_ELSEWHERE}
    found = {name: member for name, member in _members_of(kind).items() if name not in others}
    return {name: _types(member) for name, member in found.items()}


def _types(member: Mapping[str, Any]) -> tuple[tuple[type, ...], str]:
    types = [each["type"] for each in member.get("anyOf", [member])]
    names = [*chain(*([each] if isinstance(each, str) else each for each in types))]
    allowed = (*chain(*(_NAMES[name][0] for name in names)),)
    return allowed, next(_NAMES[name][1] for name in names if name != "null")


_SHAPES = {kind: _shape(kind) for kind in _IDENTIFIER}


def _fields_row(
    kind: str, requirement: Requirement, select: Selector[AgentTranscript], *, title: str, why: str
) -> AgentRule:
    """Return a rule on the types that the schema of a kind of object gives its members."""

    def check(t: AgentTranscript) -> Iterator[RuleIssue]:
        for seq, pointer, value in select(t):
            for name, problem in _type_problems(value, kind):
                yield Violation(problem, seq, f"{pointer}/{name}")

    return rule(f"{kind}-fields", title, requirement, check, why=why, when=select)


def _type_problems(value: dict[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each member of another type, and the problem with it."""
    identifier = _IDENTIFIER[kind]
    name = value.get(identifier)
    if kind == "content" and identifier not in value:
        yield identifier, f"{identifier} is missing. Set it to a string."
    elif identifier in value and (not isinstance(name, str) or not name):
        actual = "empty" if name == "" else type_with_article(name)
        yield identifier, f"{identifier} is {actual}. Set it to a string."
    for member, (types, words) in _SHAPES[kind].items():
        if member not in value:
            continue
        inner = value[member]
        fits = type(inner) in types and (type(inner) is not float or is_integer(inner))
        # What a content of another type has in these members is left open.
        is_open = member in _PAYLOAD.values() and not _is_listed(name)
        if not fits and not is_open:
            yield member, f"{member} is {type_with_article(inner)}; expected {words}."
    array, inner_kind = _LISTED.get(kind, ("", ""))
    listed = value.get(array)
    for at, each in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(each, dict):
            problem = f"{array} contains {type_with_article(each)}; expected {inner_kind} objects."
            yield f"{array}/{at}", problem


def _is_listed(content_type: Any) -> bool:
    return content_type is None or (isinstance(content_type, str) and content_type in _PAYLOAD)


def content_payload(t: AgentTranscript) -> Iterator[RuleIssue]:
    for location in t.contents:
        kind = location.value.get("type")
        member = _PAYLOAD.get(kind) if isinstance(kind, str) else None
        if member and location.value.get(member) is None and status_of(location) != "created":
            message = f"Content of type {kind} requires {member}."
            yield Violation(message, location.seq, f"{location.pointer}/{member}")


# Words

_TYPES, _USED_TYPES = constants.words("message", "type")
#: The type of messages in the specification's example streams, which section 1 does not list.
_EXAMPLE_TYPE = "assistant"
#: A status that section 4 mentions for messages and section 1 does not list.
_MENTIONED_STATUS = "incomplete"


def _others(select: Selector[AgentTranscript], listed: Iterable[Any]) -> Selector[AgentTranscript]:
    """Select each word that is not listed at its first occurrence."""

    def places(t: AgentTranscript) -> Iterator[Place]:
        seen = set(listed)
        for place in select(t):
            if isinstance(word := place[2], str) and word not in seen:
                seen.add(word)
                yield place

    return places


def _words(
    select: Selector[AgentTranscript], words: tuple[tuple[str, ...], tuple[str, ...]]
) -> tuple[Selector[AgentTranscript], Tests]:
    """Return the check of a row that words are listed: each is reported once."""
    listed, used = words
    problem = f'"{{value}}" is not one of {", ".join(listed)}.'
    return _others(select, listed), {
        lambda word: word not in used: f"{problem} Some agents use this value.",
        never: f"{problem} Clients may not support it.",
    }


def _is_used_type(word: Any) -> bool:
    return word == _EXAMPLE_TYPE or word in _USED_TYPES


_types_of_messages = present(messages, "type")
_used_types = those(_types_of_messages, _is_used_type)
_other_types = those(_types_of_messages, lambda word: not _is_used_type(word))


def _statuses(t: AgentTranscript) -> Iterator[Place]:
    yield from present(responses, "status")(t)
    yield from those(present(messages, "status"), lambda word: word != _MENTIONED_STATUS)(t)
    yield from present(contents, "status")(t)


def _first_incomplete(t: AgentTranscript) -> Iterable[Place]:
    found = those(present(messages, "status"), lambda word: word == _MENTIONED_STATUS)
    return islice(found(t), 1)


# Names

_KNOWN = {kind: _members_of(kind).keys() for kind in _IDENTIFIER}
#: The most distinct members that are reported; an agent can invent any number.
_MAX_MEMBERS = 1_000


def members_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    seen: set[tuple[str, str]] = set()
    pairs = (("response", t.responses), ("message", t.messages), ("content", t.contents))
    for kind, locations in pairs:
        for location in locations:
            # `content-type-known` reports a type whose members are not defined.
            is_other = kind == "content" and not _is_listed(location.value.get("type"))
            if location.value.keys() <= _KNOWN[kind] or is_other:
                continue
            for name in [name for name in location.value if name not in _KNOWN[kind]]:
                if (kind, name) not in seen and len(seen) < _MAX_MEMBERS:
                    seen.add((kind, name))
                    yield Violation(
                        f"The specification does not define this member of a {kind}, so clients "
                        "ignore it.",
                        location.seq,
                        f"{location.pointer}/{escape(name)}",
                    )


_MISSING: Tests = {is_given: "{name} is missing. Set it to a string."}

# fmt: off
RULES = (
    _fields_row("response", must("6"), responses,
        title="The members of responses have the specified types.",
        why="Other rules check the error and the sequence number.\n\n"
            "See `agent-api.error-object` and `agent-api.sequence-type`."),
    _fields_row("message", must("4"), messages,
        title="The members of messages have the specified types.",
        why="The default type of a message is message."),
    row("response-members", "Responses have an id and a status.", should("6"),
        members(responses, "id", "status"), _MISSING,
        why="The id has a default value, but every example includes both."),
    row("message-members", "Messages have an id and a status, and a type within an output.",
        should("4"), members(messages, "id", "status"), _MISSING,
        (members(lambda t: (p for p in t.messages if p.pointer), "type"), _MISSING),
        why="They have default values, and the examples have all of them.\n\n"
            "The example of a message that ends has no type: it was sent before."),
    _fields_row("content", must("3"), contents,
        title="Content objects have a type and members of the specified types.",
        why="This applies to streamed content and to content within messages."),
    row("content-index", "Streamed content has an index, an integer of 0 or more.",
        must(_STREAMING), members(segments, "index"),
        {integer(0): "Set index to the position in the message, an integer of 0 or more."},
        why="The index is the position of the content in its message."),
    state_row("content-msg-id",
        "Streamed content identifies its message with msg_id if several are open.",
        should("Best Practices 1"), segments,
        "Several messages are open. Set msg_id to the id of the one that has this content.",
        why="Without it, clients cannot assign the content. With one open message it is optional."),
    row("content-status", "Streamed content has a status.", should(_STREAMING),
        members(segments, "status"),
        {is_given: "Set status to in_progress, or to completed on the last segment."},
        why="Clients buffer segments until the status is completed."),
    row("content-delta", "Streamed content has delta, either true or false.", info("3"),
        members(segments, "delta"),
        {is_set: "delta is {actual}, which is treated as false. Set it explicitly."},
        why="The specification allows null; its examples always have a value."),
    state_row("listed-delta", "Contents within a completed message are not marked as deltas.",
        should("3"), listed_contents, "This content is complete. Set delta to false.",
        why="They are complete. Clients would append a delta to what they received before."),
    rule("content-payload",
        "Content has the member that its type requires: text, image_url or data.", info("3"),
        content_payload,
        when=lambda t: any(p.value.get("type") in (*_PAYLOAD,) for p in t.contents),
        why="The specification makes them optional. Content with status created is empty."),
    row("message-type-known", "Message types are listed in the specification.", must("1"),
        *_words(_other_types, (_TYPES, ())), when=messages,
        why="Each type is reported once. "
            "For types that agents use see `agent-api.message-type-used`."),
    row("message-type-used",
        "Message types are none of those that agents use beyond the specification.", info("1"),
        _others(_used_types, ()), {
            lambda word: word != _EXAMPLE_TYPE: '"{value}" is not in the list of message types. '
                                                "Examples of the specification use this value.",
            never: '"{value}" is not in the list of message types. Some agents use this value.',
        }, when=messages,
        why="Agents use reasoning and others, and the examples have assistant.\n\n"
            "Each type is reported once."),
    row("content-type-known", "Content types are listed in the specification.", must("4"),
        *_words(present(contents, "type"), constants.words("content", "type")), when=contents,
        why="Each unknown type is reported once."),
    row("role-known", "The role of a message is assistant, user or system.", should("4"),
        *_words(present(messages, "role"), constants.words("message", "role")),
        when=those(present(messages, "role"), is_string),
        why="Each unknown role is reported once."),
    row("status-known", "Status values are listed in the specification.", must("1"),
        *_words(_statuses, constants.words("message", "status")), when=lambda t: t.has_response,
        why="Each status is reported once. "
            "For incomplete messages see `agent-api.status-incomplete`."),
    row("status-incomplete", "Messages do not have the status incomplete.", info("1, 4"),
        _first_incomplete,
        {never: "Section 4 mentions this status, and section 1 does not list it."}, when=messages,
        why="Section 4 mentions it for messages, and section 1 does not list it.\n\n"
            "Both are accepted."),
    rule("members-known", "Objects have only members that the specification defines.",
        info("3, 4, 6"), members_known, when=lambda t: t.has_response,
        why="Other members are not forbidden. Each is reported once."),
)
# fmt: on
