"""Words that the specification lists: types, roles, statuses, and the names of members."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.agent_api.fields import CONTENT, MESSAGE, RESPONSE
from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, should
from playground.protocols.agent_api import constants
from playground.protocols.json_pointer import escape

#: What the specification tells of an object, with what every event may have.
_EVENT = {"object", "status", "error", "sequence_number"}
_KNOWN = {
    "response": {*RESPONSE, *_EVENT, "id"},
    "message": {*MESSAGE, *_EVENT, "id"},
    "content": {*CONTENT, *_EVENT, "type"},
}


def _unlisted(
    places: tuple[Location, ...], member: str, listed: tuple[str, ...], extra: tuple[str, ...]
) -> Iterator[RuleIssue]:
    """Each unlisted word once, where it came first."""
    seen: set[str] = set()
    for place in places:
        word = place.value.get(member)
        if isinstance(word, str) and word and word not in listed and word not in seen:
            seen.add(word)
            known = "Some agents use it" if word in extra else "Clients may not know it"
            yield Violation(
                f'"{word[:60]}" is not among {", ".join(listed)}. {known}.',
                place.seq,
                f"{place.pointer}/{member}",
            )


@rule(
    "message-type-known",
    "Messages have types that the specification lists.",
    info("1"),
    when=lambda t: bool(t.messages),
)
def message_type_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other type is named once. Its own examples have "assistant" for a type."""
    listed, extra = constants.MESSAGE_TYPES, constants.DIALECT_MESSAGE_TYPES
    yield from _unlisted(t.messages, "type", listed, extra)


@rule(
    "content-type-known",
    "Contents have types that the specification lists.",
    info("3"),
    when=lambda t: bool(t.contents),
)
def content_type_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other type is named once."""
    listed, extra = constants.CONTENT_TYPES, constants.DIALECT_CONTENT_TYPES
    yield from _unlisted(t.contents, "type", listed, extra)


@rule(
    "role-known",
    "A message has the role assistant, user or system.",
    should("4"),
    when=lambda t: any(isinstance(place.value.get("role"), str) for place in t.messages),
)
def role_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other role is named once."""
    yield from _unlisted(t.messages, "role", constants.ROLES, constants.EXTRA_ROLES)


@rule(
    "status-known",
    "Statuses are those that the specification lists.",
    should("1"),
    when=lambda t: t.has_response,
)
def status_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Each other status is named once; section 4 mentions `incomplete` and does not list it."""
    places = (*t.responses, *t.messages, *t.contents)
    yield from _unlisted(places, "status", constants.STATUSES, constants.DIALECT_STATUSES)


@rule(
    "members-known",
    "Objects have the members that the specification tells of.",
    info("3, 4, 6"),
    when=lambda t: t.has_response,
)
def members_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Others are not forbidden; each is named once."""
    seen: set[tuple[str, str]] = set()
    pairs = (("response", t.responses), ("message", t.messages), ("content", t.contents))
    for kind, places in pairs:
        for place in places:
            if place.value.keys() <= _KNOWN[kind]:
                continue
            for name in [name for name in place.value if name not in _KNOWN[kind]]:
                if (kind, name) not in seen and len(seen) < _MAX_MEMBERS:
                    seen.add((kind, name))
                    yield Violation(
                        f"The specification tells of no such member of a {kind}: clients pass "
                        "over it.",
                        place.seq,
                        f"{place.pointer}/{escape(name)}",
                    )


#: Members that are told apart; an agent can make up as many as it likes.
_MAX_MEMBERS = 1_000

RULES = (
    message_type_known,
    content_type_known,
    role_known,
    status_known,
    members_known,
)
