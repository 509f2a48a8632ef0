"""Rules on failed and completed responses: errors, usage, times and session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.agent_api.selectors import (
    completed,
    is_not_blank,
    is_set,
    messages,
    responses,
    row,
    rule,
)
from playground.conformance.agent_api.stream_state import status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.shape import (
    Place,
    is_object,
    is_string,
    members,
    objects,
    present,
    those,
)
from playground.conformance.values import is_nonempty_text, is_number
from playground.protocols.json_pointer import escape

_PRACTICES = "Best Practices 3"
_ERRORS = "Error Handling"
_FAILED = frozenset({"failed", "rejected"})
#: The most members of a usage that are checked.
_MAX_USAGE = 100


def _errors(t: AgentTranscript) -> Iterable[Place]:
    """Select every error, of responses, messages and contents, and those by themselves."""
    for seq, pointer, value in (*t.responses, *t.messages, *t.contents, *t.bare_errors):
        if value.get("error") is not None:
            yield seq, f"{pointer}/error", value["error"]


def _has_error(value: dict[str, Any]) -> bool:
    return value.get("error") is not None


def _failures(t: AgentTranscript) -> list[Location]:
    failed = [
        location for location in (*t.responses, *t.messages) if status_of(location) in _FAILED
    ]
    errors = [p for p in t.messages if p.value.get("type") == "error"]
    return [*failed, *(p for p in errors if status_of(p) not in _FAILED)]


@rule(
    "failed-error",
    "Failed responses and messages include an error.",
    should(_ERRORS),
    when=_failures,
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


_messages_with_error = those(messages, _has_error)


def _is_not_completed(status: Any) -> bool:
    return bool(status != "completed")


_COMPLETED = "has an error but status completed. Set status to failed."


@rule(
    "usage",
    "Completed responses include usage, an object of numbers.",
    info("Request/Response Lifecycle"),
    when=completed,
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


def _ends(t: AgentTranscript) -> Iterator[Place]:
    """Select the end of each response that has both times: whether it is not before the begin."""
    for seq, pointer, value in t.responses:
        began, ended = value.get("created_at"), value.get("completed_at")
        if is_number(began) and is_number(ended):
            yield seq, f"{pointer}/completed_at", ended >= began


def _sessions(t: AgentTranscript) -> Iterator[Place]:
    """Select the sessions of responses to a request with a session: whether they are the same."""
    sent = t.request.get("session_id")
    for seq, pointer, value in t.responses:
        if isinstance(sent, str) and sent and value.get("session_id") is not None:
            yield seq, f"{pointer}/session_id", value["session_id"] == sent


# fmt: off
RULES = (
    row("error-object", "Errors are objects with a code and a message.", must("7"),
        _errors, {is_object: "error is {actual}; expected an object with code and message."},
        (members(_errors, "code", "message"), {is_string: "Set {name} to a string."}),
        why="The code is for programs and the message for people; both are strings.\n\n"
            "For empty ones see `agent-api.error-explained`."),
    row("error-explained", "The code and the message of an error are not empty.", should("7"),
        present(_errors, "code", "message"),
        {is_not_blank: "{name} is empty. Describe the error."}, when=objects(_errors),
        why="Without them, neither programs nor people can tell what failed."),
    failed_error,
    row("error-failed", "Responses and messages with an error do not have status completed.",
        should(_ERRORS),
        members(those(responses, _has_error), "status"),
        {_is_not_completed: f"The response {_COMPLETED}"},
        (members(those(_messages_with_error, lambda value: value.get("type") != "error"), "status"),
         {_is_not_completed: f"The message {_COMPLETED}"}),
        when=lambda t: any(_has_error(value) for _, _, value in (*t.responses, *t.messages)),
        why="Clients check either of them. Messages of type error may be completed."),
    usage,
    row("times", "Completed responses have created_at and completed_at.", info(_PRACTICES),
        members(completed, "created_at", "completed_at"),
        {is_set: "{name} is missing, so clients can’t compute the duration."},
        why="They are seconds since 1970, for measuring the latency."),
    row("times-order", "The completed_at of a response is not before its created_at.",
        should(_PRACTICES),
        _ends, {bool: "completed_at is earlier than created_at. Correct one of them."},
        why="Clients compute the latency from both."),
    row("session-echoed", "A response with a session_id has that of the request.",
        should(_PRACTICES),
        _sessions,
        {bool: "The session_id differs from that of the request. Return the same value."},
        why="It continues the conversation. A response may have none (section \"Response Models\")."
        ),
)
# fmt: on
