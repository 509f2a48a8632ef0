"""Rules on the words that the specification lists: types, roles, statuses, names of members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from playground.conformance.agent_api.fields import members_of
from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.protocols.agent_api import constants
from playground.protocols.json_pointer import escape

_KNOWN = {kind: members_of(kind).keys() for kind in ("response", "message", "content")}
_MESSAGE_TYPES, _EXTRA_MESSAGE_TYPES = constants.words("message", "type")
_CONTENT_TYPES = constants.words("content", "type")
_ROLES = constants.words("message", "role")
_STATUSES = constants.words("message", "status")
#: The type of messages in the specification's example streams, which section 1 does not list.
_EXAMPLE_TYPE = "assistant"
_USED_TYPES = frozenset({*_EXTRA_MESSAGE_TYPES, _EXAMPLE_TYPE})
#: A status that section 4 mentions for messages and section 1 does not list.
_MENTIONED_STATUS = "incomplete"


def _unlisted(
    locations: Iterable[Location], member: str, words: tuple[tuple[str, ...], tuple[str, ...]]
) -> Iterator[RuleIssue]:
    """Yield each word that the specification does not list once, at its first occurrence."""
    listed, extra = words
    for location, word in _other_words(locations, member, listed):
        known = "Some agents use this value" if word in extra else "Clients may not support it"
        yield Violation(
            f'"{word[:60]}" is not one of {", ".join(listed)}. {known}.',
            location.seq,
            f"{location.pointer}/{member}",
        )


def _other_words(
    locations: Iterable[Location], member: str, listed: Iterable[str]
) -> Iterator[tuple[Location, str]]:
    """Yield the first occurrence of each word that is not among those listed."""
    seen = set(listed)
    for location in locations:
        word = location.value.get(member)
        if isinstance(word, str) and word not in seen:
            seen.add(word)
            yield location, word


@rule(
    "message-type-known",
    "Message types are listed in the specification.",
    must("1"),
    when=lambda t: bool(t.messages),
)
def message_type_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each type is reported once. For types that agents use see `agent-api.message-type-used`."""
    others = [p for p in t.messages if not _is_used(p)]
    yield from _unlisted(others, "type", (_MESSAGE_TYPES, ()))


@rule(
    "message-type-used",
    "Message types are none of those that agents use beyond the specification.",
    info("1"),
    when=lambda t: bool(t.messages),
)
def message_type_used(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Agents use reasoning and others, and the examples have assistant.

    Each type is reported once.
    """
    used = [p for p in t.messages if _is_used(p)]
    for location, word in _other_words(used, "type", ()):
        known = "Examples of the specification" if word == _EXAMPLE_TYPE else "Some agents"
        message = f'"{word}" is not in the list of message types. {known} use this value.'
        yield Violation(message, location.seq, f"{location.pointer}/type")


def _is_used(message: Location) -> bool:
    kind = message.value.get("type")
    return isinstance(kind, str) and kind in _USED_TYPES


@rule(
    "content-type-known",
    "Content types are listed in the specification.",
    must("4"),
    when=lambda t: bool(t.contents),
)
def content_type_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each unknown type is reported once."""
    yield from _unlisted(t.contents, "type", _CONTENT_TYPES)


@rule(
    "role-known",
    "The role of a message is assistant, user or system.",
    should("4"),
    when=lambda t: any(isinstance(location.value.get("role"), str) for location in t.messages),
)
def role_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each unknown role is reported once."""
    yield from _unlisted(t.messages, "role", _ROLES)


@rule(
    "status-known",
    "Status values are listed in the specification.",
    must("1"),
    when=lambda t: t.has_response,
)
def status_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each status is reported once. For incomplete messages see `agent-api.status-incomplete`."""
    others = [p for p in t.messages if status_of(p) != _MENTIONED_STATUS]
    locations = (*t.responses, *others, *t.contents)
    yield from _unlisted(locations, "status", _STATUSES)


@rule(
    "status-incomplete",
    "Messages do not have the status incomplete.",
    info("1, 4"),
    when=lambda t: bool(t.messages),
)
def status_incomplete(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Section 4 mentions it for messages, and section 1 does not list it.

    Both are accepted.
    """
    for location in t.messages:
        if status_of(location) == _MENTIONED_STATUS:
            message = "Section 4 mentions this status, and section 1 does not list it."
            yield Violation(message, location.seq, f"{location.pointer}/status")
            return


@rule(
    "members-known",
    "Objects have only members that the specification defines.",
    info("3, 4, 6"),
    when=lambda t: t.has_response,
)
def members_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Other members are not forbidden. Each is reported once."""
    seen: set[tuple[str, str]] = set()
    pairs = (("response", t.responses), ("message", t.messages), ("content", t.contents))
    for kind, locations in pairs:
        for location in locations:
            # `content-type-known` reports a type whose members are not defined.
            is_other = kind == "content" and location.value.get("type") not in (
                *_CONTENT_TYPES[0],
                None,
            )
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


#: The most distinct members that are reported; an agent can invent any number.
_MAX_MEMBERS = 1_000

RULES = (
    message_type_known,
    message_type_used,
    content_type_known,
    role_known,
    status_known,
    status_incomplete,
    members_known,
)
