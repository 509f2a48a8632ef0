"""Rules on failed and completed responses: errors, usage, times and session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from playground.conformance.agent_api.transcript import (
    AgentTranscript,
    completed,
    is_not_blank,
    is_set,
    messages,
    responses,
    row,
    rule,
)
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.shape import (
    Place,
    is_nonempty_text,
    is_number,
    is_object,
    is_string,
    members,
    objects,
    present,
    those,
)
from playground.protocols.json_pointer import escape

_PRACTICES = "Best Practices 3"
_ERRORS = "Error Handling"
_FAILED = ("failed", "rejected")
#: The most members of a usage that are checked.
_MAX_USAGE = 100


def _errors(t: AgentTranscript) -> Iterable[Place]:
    """Select every error, of responses, messages and contents, and those by themselves."""
    for seq, pointer, value in (*t.responses, *t.messages, *t.contents, *t.bare_errors):
        if value.get("error") is not None:
            yield seq, f"{pointer}/error", value["error"]


def _has_error(value: dict[str, Any]) -> bool:
    return value.get("error") is not None


def _has_unexpected_error(message: dict[str, Any]) -> bool:
    return _has_error(message) and message.get("type") != "error"


def _lacks_error(message: dict[str, Any]) -> bool:
    return not _has_error(message) and message.get("status") not in ("created", "in_progress")


_failed_responses = those(responses, lambda value: value.get("status") in _FAILED)
_failed_messages = those(
    messages, lambda value: value.get("status") in _FAILED or value.get("type") == "error"
)


def _is_not_completed(status: Any) -> bool:
    return bool(status != "completed")


_COMPLETED = "has an error but status completed. Set status to failed."


def _figures(t: AgentTranscript) -> Iterator[Place]:
    """Select the members of the usage."""
    for seq, pointer, usage in objects(members(completed, "usage"))(t):
        for name, figure in islice(usage.items(), _MAX_USAGE):
            yield seq, f"{pointer}/{escape(name)}", figure


def _is_figure(value: Any) -> bool:
    return value is None or isinstance(value, dict) or (is_number(value) and value >= 0)


def _timed(t: AgentTranscript) -> Iterator[Place]:
    """Select the responses that have both times."""
    for place in t.responses:
        if is_number(place.value.get("created_at")) and is_number(place.value.get("completed_at")):
            yield place


def times_order(t: AgentTranscript) -> Iterator[RuleIssue]:
    for seq, pointer, response in _timed(t):
        if response["completed_at"] < response["created_at"]:
            message = "completed_at is earlier than created_at. Correct one of them."
            yield Violation(message, seq, f"{pointer}/completed_at")


def _sessions(t: AgentTranscript) -> Iterable[Place]:
    """Select the sessions of responses to a request with a session."""
    sent = t.request.get("session_id")
    has_sent = isinstance(sent, str) and bool(sent)
    return those(present(responses, "session_id"), is_set)(t) if has_sent else ()


def session_echoed(t: AgentTranscript) -> Iterator[RuleIssue]:
    for seq, pointer, session in _sessions(t):
        if session != t.request["session_id"]:
            message = "The session_id differs from that of the request. Return the same value."
            yield Violation(message, seq, pointer)


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
    row("failed-error", "Failed responses and messages include an error.", should(_ERRORS),
        members(_failed_responses, "error"),
        {is_set: "Add error, an object with code and message."},
        (members(those(_failed_messages, _lacks_error), "code", "message"),
         {is_nonempty_text: "Set {name} to a string."}),
        when=lambda t: chain(_failed_responses(t), _failed_messages(t)),
        why="A response has it in error; a message in error, or in its own code and message."),
    row("error-failed", "Responses and messages with an error do not have status completed.",
        should(_ERRORS),
        members(those(responses, _has_error), "status"),
        {_is_not_completed: f"The response {_COMPLETED}"},
        (members(those(messages, _has_unexpected_error), "status"),
         {_is_not_completed: f"The message {_COMPLETED}"}),
        when=lambda t: any(_has_error(value) for _, _, value in (*t.responses, *t.messages)),
        why="Clients check either of them. Messages of type error may be completed."),
    row("usage", "Completed responses include usage, an object of numbers.",
        info("Request/Response Lifecycle"),
        members(completed, "usage"), {is_set: "The completed response has no usage."},
        (_figures, {_is_figure: "Usage values must be numbers of 0 or more, so that clients can "
                                "add them up."}),
        why="The specification mentions final usage metrics, and does not define their names."),
    row("times", "Completed responses have created_at and completed_at.", info(_PRACTICES),
        members(completed, "created_at", "completed_at"),
        {is_set: "{name} is missing, so clients can’t compute the duration."},
        why="They are seconds since 1970, for measuring the latency."),
    rule("times-order", "The completed_at of a response is not before its created_at.",
        should(_PRACTICES), times_order, when=_timed,
        why="Clients compute the latency from both."),
    rule("session-echoed", "A response with a session_id has that of the request.",
        should(_PRACTICES), session_echoed, when=_sessions,
        why='It continues the conversation. A response may have none (section "Response Models").'),
)
# fmt: on
