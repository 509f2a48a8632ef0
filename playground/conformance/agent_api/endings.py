"""What a response says when it ends: errors, usage, session, times. Sections 6 and 7."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, should
from playground.conformance.values import is_nonempty_text, is_number, type_with_article
from playground.protocols.json_pointer import escape

_FAILED = frozenset({"failed", "rejected"})


def _errors(t: AgentTranscript) -> list[Location]:
    """Every error that is told, wherever it stands."""
    return [
        Location(place.seq, f"{place.pointer}/error", place.value["error"])
        for place in (*t.responses, *t.messages, *t.contents, *t.bare_errors)
        if place.value.get("error") is not None
    ]


@rule(
    "error-object",
    "An error is an object with a code and a message.",
    must("7"),
    when=lambda t: bool(_errors(t)),
)
def error_object(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The code for programs, the message for people; both are strings."""
    for seq, pointer, error in _errors(t):
        if not isinstance(error, dict):
            message = (
                f"error is {type_with_article(error)}. Make it an object with code and message."
            )
            yield Violation(message, seq, pointer)
            continue
        for name in ("code", "message"):
            if not is_nonempty_text(error.get(name)):
                yield Violation(f"Set {name} to a string.", seq, f"{pointer}/{name}")


def _failures(t: AgentTranscript) -> list[Location]:
    failed = [place for place in (*t.responses, *t.messages) if status_of(place) in _FAILED]
    return [*failed, *(p for p in t.messages if p.value.get("type") == "error" and p not in failed)]


@rule(
    "failed-error",
    "What failed says why.",
    should("Error Handling"),
    when=lambda t: bool(_failures(t)),
)
def failed_error(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A response in error; a message in error, or in its own code and message."""
    for place in _failures(t):
        if place.value.get("error") is not None:
            continue
        if place.value.get("object") == "response":
            message = "Add error, an object with code and message."
            yield Violation(message, place.seq, f"{place.pointer}/error")
        elif status_of(place) != "created" and status_of(place) != "in_progress":
            for name in ("code", "message"):
                if not is_nonempty_text(place.value.get(name)):
                    yield Violation(
                        f"Set {name} to a string.", place.seq, f"{place.pointer}/{name}"
                    )


@rule(
    "error-failed",
    "A response with an error did not complete.",
    should("Error Handling"),
    when=lambda t: any(place.value.get("error") is not None for place in t.responses),
)
def error_failed(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients look at either."""
    for place in t.responses:
        if place.value.get("error") is not None and status_of(place) == "completed":
            yield Violation(
                "The response has an error and calls itself completed. Set status to failed.",
                place.seq,
                f"{place.pointer}/status",
            )


def _completed(t: AgentTranscript) -> list[Location]:
    return [place for place in t.responses if status_of(place) == "completed"]


@rule(
    "usage",
    "A completed response tells its usage, an object of numbers.",
    info("Request/Response Lifecycle"),
    when=lambda t: bool(_completed(t)),
)
def usage(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Final usage metrics, says the lifecycle, and leaves open what they are called."""
    for place in _completed(t)[:1]:
        pointer, value = f"{place.pointer}/usage", place.value.get("usage")
        if value is None:
            yield Violation("No usage came with the end of the response.", place.seq, pointer)
        elif isinstance(value, dict):
            for name, number in list(value.items())[:_MAX_USAGE]:
                if not _is_usage(number):
                    message = "Usage is told in numbers from 0, which clients add up."
                    yield Violation(message, place.seq, f"{pointer}/{escape(name)}")


#: Members of a usage that are looked at.
_MAX_USAGE = 100


def _is_usage(value: Any) -> bool:
    """A number, or an object of details."""
    return value is None or isinstance(value, dict) or (is_number(value) and value >= 0)


@rule(
    "times",
    "A completed response says when it began and ended, in that order.",
    info("Best Practices 3"),
    when=lambda t: bool(_completed(t)),
)
def times(t: AgentTranscript) -> Iterator[RuleIssue]:
    """For measuring latency; seconds since 1970."""
    for place in _completed(t)[:1]:
        began, ended = place.value.get("created_at"), place.value.get("completed_at")
        for name, value in (("created_at", began), ("completed_at", ended)):
            if value is None:
                message = f"{name} is missing: clients cannot tell how long it took."
                yield Violation(message, place.seq, f"{place.pointer}/{name}")
        if is_number(began) and is_number(ended) and ended < began:
            message = "The response ended before it began. Correct one of the times."
            yield Violation(message, place.seq, f"{place.pointer}/completed_at")


def _session(t: AgentTranscript) -> str:
    sent = t.request.get("session_id")
    return sent if isinstance(sent, str) else ""


@rule(
    "session-echoed",
    "The session_id that was sent comes back.",
    should("Best Practices 3"),
    when=lambda t: bool(_session(t)) and bool(t.responses),
)
def session_echoed(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A conversation goes on under it."""
    told = [place for place in t.responses if place.value.get("session_id") is not None]
    for place in told:
        if place.value["session_id"] != _session(t):
            yield Violation(
                "This is another session than the one that was asked in. Return the same.",
                place.seq,
                f"{place.pointer}/session_id",
            )
    if not told:
        message = "A session_id was sent and none came back. Return it in the response."
        yield missing(t, message, t.responses[-1].seq, f"{t.responses[-1].pointer}/session_id")


RULES = (error_object, failed_error, error_failed, usage, times, session_echoed)
