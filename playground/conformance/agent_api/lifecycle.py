"""Rules on the lifecycle of responses and messages, and on sequence numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from playground.conformance.agent_api.selectors import reported, row, rule, state_row, streamed
from playground.conformance.agent_api.stream_state import is_final, number_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    must,
    should,
)
from playground.conformance.rule_input import Location
from playground.conformance.shape import (
    MISSING,
    Fix,
    Place,
    is_string,
    never,
    one_of,
    present,
    those,
)
from playground.conformance.values import type_with_article
from playground.protocols.agent_api.constants import FINAL_STATUSES

_LIFECYCLE = "Request/Response Lifecycle"
_STATUSES = "Status Transitions"
_NUMBERS = "Best Practices 3"
_UNENDED = "The response has ended, but this message is {status}. Complete it."
#: Final statuses of a response that is not completed.
_OTHER_ENDS = FINAL_STATUSES - {"completed"}


def _first_object(t: AgentTranscript) -> Iterable[Place]:
    """Select the kind of the first object of a stream."""
    return [(each.seq, "/object", each.value["object"]) for each in t.objects[:1] if streamed(t)]


def _unended_response(t: AgentTranscript) -> Iterator[Place]:
    """Select the last object of a stream without a final status."""
    if not is_final(t.stream_state.status):
        yield t.objects[-1].seq, "", MISSING


def _whole_responses(t: AgentTranscript) -> Iterable[Place]:
    return () if t.http_response.streamed else t.responses


def _is_final_if_known(status: Any) -> bool:
    return not isinstance(status, str) or not status or is_final(status)


def message_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    if t.stream_state.status not in _OTHER_ENDS:
        yield from _open_messages(t)


def message_ended_failed(t: AgentTranscript) -> Iterator[RuleIssue]:
    yield from reported(t, "output-ended", _UNENDED)
    yield from _open_messages(t)


def _open_messages(t: AgentTranscript) -> Iterator[RuleIssue]:
    if not t.http_response.streamed:
        return
    if not t.is_complete and not is_final(t.stream_state.status):
        yield Inconclusive("The stream was truncated before this could be checked.")
        return
    for state in t.stream_state.open_messages():
        yield Violation(
            "This message never ends. Send it with status completed or failed.",
            state.location.seq,
            "/status",
        )


def messages_in_output(t: AgentTranscript) -> Iterator[RuleIssue]:
    listed = {
        message["id"]
        for message in _output(t)
        if isinstance(message, dict) and isinstance(message.get("id"), str)
    }
    announced = t.stream_state.streamed_ids()
    if t.completed and (absent := announced - listed):
        yield Violation(
            f"{len(absent)} of {len(announced)} streamed messages are missing in output. Add them.",
            t.completed.seq,
            "/output",
        )


def _output(t: AgentTranscript) -> Any:
    return t.completed.value.get("output") if t.completed else None


# Sequence numbers


def _is_numbered(t: AgentTranscript) -> bool:
    return streamed(t) and t.stream_state.number is not None


def sequence_present(t: AgentTranscript) -> Iterator[RuleIssue]:
    missing = [location for location in t.objects if location.value.get("sequence_number") is None]
    if not missing:
        return
    count = f"{len(missing)} of {len(t.objects)} objects have no sequence_number"
    if len(missing) == len(t.objects):
        count = "No object has a sequence_number"
    message = f"{count}, so clients can’t detect missing objects."
    yield Violation(message, missing[0].seq, "/sequence_number")


def sequence_type(t: AgentTranscript) -> Iterator[RuleIssue]:
    odd: dict[str, list[Location]] = {}
    for location in _all(t):
        value = location.value.get("sequence_number")
        if value is not None and not isinstance(value, str):
            odd.setdefault(type_with_article(value), []).append(location)
    for actual, locations in odd.items():
        count = len(locations) - 1
        more = f", here and in {count} more objects" if count else ""
        yield Violation(
            f'sequence_number is {actual}{more}. Write the number as a string, such as "0".',
            locations[0].seq,
            f"{locations[0].pointer}/sequence_number",
        )


def _all(t: AgentTranscript) -> tuple[Location, ...]:
    return (*t.objects, *(p for p in (*t.messages, *t.contents) if p.pointer))


_strings = those(present(_all, "sequence_number"), is_string)


def _other_numbers(t: AgentTranscript) -> Iterable[Place]:
    """Select the first sequence number that is a string without a number."""
    return islice(those(_strings, lambda text: number_of(text) is None)(t), 1)


# fmt: off
RULES = (
    row("response-first", "Streams start with the response object.", should(_LIFECYCLE),
        _first_object, {one_of("response"): "Send the response with status created first."},
        why="Its id identifies the response that all following objects belong to."),
    state_row("initial-status", "Responses and messages start with status created.",
        should(_STATUSES), lambda t: streamed(t) and bool(t.stream_state.starts),
        "This {kind} starts with status {status}. Send it with status created first.",
        why="A message may be sent complete at once, and a response may fail at once."),
    state_row("status-transitions", "Status transitions are valid.", must(_STATUSES), streamed,
        "Invalid transition of the {object} from {before} to {after}.",
        why="created leads to in_progress, and both to a final status, which is the last.",
        needs_complete_response=True),
    state_row("nothing-after-end", "Nothing follows the end of the response.", must(_LIFECYCLE),
        streamed, "This {object} was sent after the response ended. Send it before.",
        why="Clients stop reading when it is completed, failed, rejected or canceled.",
        needs_complete_response=True),
    row("response-ended", "Streams end with the response completed, failed, rejected or canceled.",
        must(_LIFECYCLE),
        _unended_response,
        {never: Fix("End the stream with the response in status `completed`.", may_follow=True)},
        when=streamed, needs_complete_response=True,
        why="Without a final status, clients cannot tell whether more follows."),
    row("document-ended", "Responses that are not streamed have a final status.", must(_LIFECYCLE),
        present(_whole_responses, "status"), {
            _is_final_if_known: "The response is still {value}, and nothing follows. Send it once "
                                "it has a final status.",
        }, when=_whole_responses,
        why="No later document could report the end."),
    rule("message-ended", "All messages end before their response is completed.", should(_STATUSES),
        message_ended, when=lambda t: bool(t.messages), needs_complete_response=True,
        why="The examples end each message before the response."),
    state_row("output-ended", "All messages in the output of a completed response have ended.",
        must(_STATUSES), lambda t: bool(t.messages) and t.stream_state.status not in _OTHER_ENDS,
        _UNENDED, why="A completed response means that the operation has finished."),
    rule("message-ended-failed", "All messages end with a response that fails.", should(_STATUSES),
        message_ended_failed,
        when=lambda t: bool(t.messages) and t.stream_state.status in _OTHER_ENDS,
        needs_complete_response=True,
        why="Clients show a message without a final status as in progress."),
    rule("messages-in-output", "The output of a completed response contains all streamed messages.",
        should("6"), messages_in_output,
        when=lambda t: streamed(t) and isinstance(_output(t), list),
        why="Compared by id. Clients that read only the last object get everything but "
            "heartbeats."),
    rule("sequence-present", "Every object of a stream has a sequence number.", info(_NUMBERS),
        sequence_present, when=streamed,
        why='The specification says "if implemented": leaving out all of them is allowed.'),
    rule("sequence-type", "Sequence numbers are strings.", must("6"), sequence_type,
        when=lambda t: any(p.value.get("sequence_number") is not None for p in _all(t)),
        why="The specification declares a string; agents also send numbers. Each type is "
            "reported once."),
    row("sequence-digits", "Sequence numbers consist of digits.", should(_NUMBERS),
        _other_numbers,
        {never: 'sequence_number is not a number. Write one in digits, such as "0".'},
        when=_strings, why="Other strings have no order. Reported once."),
    state_row("sequence-increasing", "Sequence numbers are unique and increasing.",
        should(_NUMBERS), _is_numbered, "{number} {actual}. Sequence numbers must increase.",
        why="Sequence numbers define the order of the objects.", needs_complete_response=True),
    state_row("sequence-gapless", "Sequence numbers have no gaps.", info(_NUMBERS), _is_numbered,
        "{number} follows {before}. Send the missing objects or number them consecutively.",
        why="The specification does not require this; a gap may mean that objects were lost.",
        needs_complete_response=True),
)
# fmt: on
