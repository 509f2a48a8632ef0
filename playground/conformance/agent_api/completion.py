"""Rules on completed responses: usage, times and session."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, should
from playground.conformance.values import is_number
from playground.protocols.json_pointer import escape

_LIFECYCLE = "Request/Response Lifecycle"
_PRACTICES = "Best Practices 3"
#: The most members of a usage that are checked.
_MAX_USAGE = 100


@rule(
    "usage",
    "Completed responses include usage, an object of numbers.",
    info(_LIFECYCLE),
    when=lambda t: t.completed is not None,
)
def usage(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification mentions final usage metrics, and does not define their names."""
    if location := t.completed:
        pointer, value = f"{location.pointer}/usage", location.value.get("usage")
        if value is None:
            yield Violation("The completed response has no usage.", location.seq, pointer)
        elif isinstance(value, dict):
            for name, number in list(value.items())[:_MAX_USAGE]:
                is_amount = is_number(number) and number >= 0
                if not (number is None or isinstance(number, dict) or is_amount):
                    message = (
                        "Usage values must be numbers of 0 or more, so that clients can add "
                        "them up."
                    )
                    yield Violation(message, location.seq, f"{pointer}/{escape(name)}")


@rule(
    "times",
    "Completed responses have created_at and completed_at.",
    info(_PRACTICES),
    when=lambda t: t.completed is not None,
)
def times(t: AgentTranscript) -> Iterator[RuleIssue]:
    """They are seconds since 1970, for measuring the latency."""
    if location := t.completed:
        for name in ("created_at", "completed_at"):
            if location.value.get(name) is None:
                message = f"{name} is missing, so clients can’t compute the duration."
                yield Violation(message, location.seq, f"{location.pointer}/{name}")


@rule(
    "times-order",
    "The completed_at of a response is not before its created_at.",
    should(_PRACTICES),
    when=lambda t: any(_times(location) for location in t.responses),
)
def times_order(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients compute the latency from both."""
    for location in t.responses:
        if (found := _times(location)) and found[1] < found[0]:
            message = "completed_at is earlier than created_at. Correct one of them."
            yield Violation(message, location.seq, f"{location.pointer}/completed_at")


def _times(location: Location) -> tuple[float, float] | None:
    """Return created_at and completed_at, None unless both are numbers."""
    began, ended = location.value.get("created_at"), location.value.get("completed_at")
    return (began, ended) if is_number(began) and is_number(ended) else None


def _session(t: AgentTranscript) -> str:
    sent = t.request.get("session_id")
    return sent if isinstance(sent, str) else ""


@rule(
    "session-echoed",
    "A response with a session_id has that of the request.",
    should(_PRACTICES),
    when=lambda t: bool(_session(t)) and any(map(_has_session, t.responses)),
)
def session_echoed(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It continues the conversation. A response may have none (section "Response Models")."""
    for location in filter(_has_session, t.responses):
        if location.value["session_id"] != _session(t):
            yield Violation(
                "The session_id differs from that of the request. Return the same value.",
                location.seq,
                f"{location.pointer}/session_id",
            )


def _has_session(location: Location) -> bool:
    return location.value.get("session_id") is not None


RULES = (usage, times, times_order, session_echoed)
