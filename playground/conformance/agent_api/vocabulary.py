"""Rules on the words that the specification lists: types, roles, statuses, names of members."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.agent_api.fields import CONTENT, MESSAGE, RESPONSE
from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, should
from playground.protocols.agent_api import constants
from playground.protocols.json_pointer import escape

#: The listed members of an object, with those that every object may have.
_EVENT = {"object", "status", "error", "sequence_number"}
_KNOWN = {
    "response": {*RESPONSE, *_EVENT, "id"},
    "message": {*MESSAGE, *_EVENT, "id"},
    "content": {*CONTENT, *_EVENT, "type"},
}


def _unlisted(
    locations: tuple[Location, ...], member: str, listed: tuple[str, ...], extra: tuple[str, ...]
) -> Iterator[RuleIssue]:
    """Yield each unlisted word once, at its first occurrence."""
    seen: set[str] = set()
    for location in locations:
        word = location.value.get(member)
        if isinstance(word, str) and word and word not in listed and word not in seen:
            seen.add(word)
            known = "Some agents use this value" if word in extra else "Clients may not support it"
            yield Violation(
                f'"{word[:60]}" is not one of {", ".join(listed)}. {known}.',
                location.seq,
                f"{location.pointer}/{member}",
            )


@rule(
    "message-type-known",
    "Message types are listed in the specification.",
    info("1"),
    when=lambda t: bool(t.messages),
)
def message_type_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other type is reported once. The examples also have "assistant" as a type."""
    listed, extra = constants.MESSAGE_TYPES, constants.EXTRA_MESSAGE_TYPES
    yield from _unlisted(t.messages, "type", listed, extra)


@rule(
    "content-type-known",
    "Content types are listed in the specification.",
    info("3"),
    when=lambda t: bool(t.contents),
)
def content_type_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other type is reported once."""
    listed, extra = constants.CONTENT_TYPES, constants.EXTRA_CONTENT_TYPES
    yield from _unlisted(t.contents, "type", listed, extra)


@rule(
    "role-known",
    "The role of a message is assistant, user or system.",
    should("4"),
    when=lambda t: any(isinstance(location.value.get("role"), str) for location in t.messages),
)
def role_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other role is reported once."""
    yield from _unlisted(t.messages, "role", constants.ROLES, constants.EXTRA_ROLES)


@rule(
    "status-known",
    "Status values are listed in the specification.",
    should("1"),
    when=lambda t: t.has_response,
)
def status_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other status is reported once; section 4 mentions `incomplete` and does not list it."""
    locations = (*t.responses, *t.messages, *t.contents)
    yield from _unlisted(locations, "status", constants.STATUSES, constants.EXTRA_STATUSES)


@rule(
    "members-known",
    "Objects have only members that the specification defines.",
    info("3, 4, 6"),
    when=lambda t: t.has_response,
)
def members_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Others are not forbidden; each is reported once."""
    seen: set[tuple[str, str]] = set()
    pairs = (("response", t.responses), ("message", t.messages), ("content", t.contents))
    for kind, locations in pairs:
        for location in locations:
            if location.value.keys() <= _KNOWN[kind]:
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
    content_type_known,
    role_known,
    status_known,
    members_known,
)
