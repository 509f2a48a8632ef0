"""Rules on errors: section 7 and "Error Handling"."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, must, should
from playground.conformance.values import is_nonempty_text, type_with_article

_FAILED = frozenset({"failed", "rejected"})


def _errors(t: AgentTranscript) -> list[Location]:
    """Return every error, of responses, messages and contents, and those by themselves."""
    return [
        Location(location.seq, f"{location.pointer}/error", location.value["error"])
        for location in (*t.responses, *t.messages, *t.contents, *t.bare_errors)
        if location.value.get("error") is not None
    ]


@rule(
    "error-object",
    "Errors are objects with a code and a message.",
    must("7"),
    when=lambda t: bool(_errors(t)),
)
def error_object(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The code is for programs and the message for people; both are strings.

    For empty ones see `agent-api.error-explained`.
    """
    for seq, pointer, error in _errors(t):
        if not isinstance(error, dict):
            message = (
                f"error is {type_with_article(error)}; expected an object with code and message."
            )
            yield Violation(message, seq, pointer)
            continue
        for name in ("code", "message"):
            if not isinstance(error.get(name), str):
                yield Violation(f"Set {name} to a string.", seq, f"{pointer}/{name}")


@rule(
    "error-explained",
    "The code and the message of an error are not empty.",
    should("7"),
    when=lambda t: any(isinstance(location.value, dict) for location in _errors(t)),
)
def error_explained(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Without them, neither programs nor people can tell what failed."""
    for seq, pointer, error in _errors(t):
        for name in ("code", "message"):
            text = error.get(name) if isinstance(error, dict) else None
            if isinstance(text, str) and not text.strip():
                yield Violation(f"{name} is empty. Describe the error.", seq, f"{pointer}/{name}")


def _failures(t: AgentTranscript) -> list[Location]:
    failed = [
        location for location in (*t.responses, *t.messages) if status_of(location) in _FAILED
    ]
    errors = [p for p in t.messages if p.value.get("type") == "error"]
    return [*failed, *(p for p in errors if status_of(p) not in _FAILED)]


@rule(
    "failed-error",
    "Failed responses and messages include an error.",
    should("Error Handling"),
    when=lambda t: bool(_failures(t)),
)
def failed_error(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A response has it in error; a message in error, or in its own code and message."""
    for location in _failures(t):
        if location.value.get("error") is not None:
            continue
        if location.value.get("object") == "response":
            message = "Add error, an object with code and message."
            yield Violation(message, location.seq, f"{location.pointer}/error")
        elif status_of(location) != "created" and status_of(location) != "in_progress":
            for name in ("code", "message"):
                if not is_nonempty_text(location.value.get(name)):
                    yield Violation(
                        f"Set {name} to a string.", location.seq, f"{location.pointer}/{name}"
                    )


@rule(
    "error-failed",
    "Responses and messages with an error do not have status completed.",
    should("Error Handling"),
    when=lambda t: any(
        location.value.get("error") is not None for location in (*t.responses, *t.messages)
    ),
)
def error_failed(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients check either of them. Messages of type error may be completed."""
    for kind, locations in (("response", t.responses), ("message", t.messages)):
        for location in locations:
            if kind == "message" and location.value.get("type") == "error":
                continue
            if location.value.get("error") is not None and status_of(location) == "completed":
                yield Violation(
                    f"The {kind} has an error but status completed. Set status to failed.",
                    location.seq,
                    f"{location.pointer}/status",
                )


RULES = (error_object, error_explained, failed_error, error_failed)
