"""Rules on completed responses: usage, times and session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, should
from playground.conformance.values import is_number
from playground.protocols.json_pointer import escape

_LIFECYCLE = "Request/Response Lifecycle"
_PRACTICES = "Best Practices 3"
#: The most members of a usage that are checked.
_MAX_USAGE = 100


def _completed(t: AgentTranscript) -> list[Location]:
    return [location for location in t.responses if status_of(location) == "completed"]


@rule(
    "usage",
    "A completed response tells its usage, an object of numbers.",
    info(_LIFECYCLE),
    when=lambda t: bool(_completed(t)),
)
def usage(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The lifecycle mentions final usage metrics and leaves their names open."""
    for location in _completed(t)[:1]:
        pointer, value = f"{location.pointer}/usage", location.value.get("usage")
        if value is None:
            yield Violation("No usage came with the end of the response.", location.seq, pointer)
        elif isinstance(value, dict):
            for name, number in list(value.items())[:_MAX_USAGE]:
                if not _is_usage(number):
                    message = "Usage is told in numbers from 0, which clients add up."
                    yield Violation(message, location.seq, f"{pointer}/{escape(name)}")


def _is_usage(value: Any) -> bool:
    """Return whether a value is a number from 0, or an object of details."""
    return value is None or isinstance(value, dict) or (is_number(value) and value >= 0)


@rule(
    "times",
    "A completed response says when it began and ended, in that order.",
    info(_PRACTICES),
    when=lambda t: bool(_completed(t)),
)
def times(t: AgentTranscript) -> Iterator[RuleIssue]:
    """For measuring latency; seconds since 1970."""
    for location in _completed(t)[:1]:
        began, ended = location.value.get("created_at"), location.value.get("completed_at")
        for name, value in (("created_at", began), ("completed_at", ended)):
            if value is None:
                message = f"{name} is missing: clients cannot tell how long it took."
                yield Violation(message, location.seq, f"{location.pointer}/{name}")
        if is_number(began) and is_number(ended) and ended < began:
            message = "The response ended before it began. Correct one of the times."
            yield Violation(message, location.seq, f"{location.pointer}/completed_at")


def _session(t: AgentTranscript) -> str:
    sent = t.request.get("session_id")
    return sent if isinstance(sent, str) else ""


@rule(
    "session-echoed",
    "The session_id that was sent comes back.",
    should(_PRACTICES),
    when=lambda t: bool(_session(t)) and bool(t.responses),
)
def session_echoed(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It continues the conversation."""
    with_session = [
        location for location in t.responses if location.value.get("session_id") is not None
    ]
    for location in with_session:
        if location.value["session_id"] != _session(t):
            yield Violation(
                "This is another session than the one that was asked in. Return the same.",
                location.seq,
                f"{location.pointer}/session_id",
            )
    if not with_session:
        message = "A session_id was sent and none came back. Return it in the response."
        yield missing(t, message, t.responses[-1].seq, f"{t.responses[-1].pointer}/session_id")


RULES = (usage, times, session_echoed)
