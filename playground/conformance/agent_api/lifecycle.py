"""The lifecycle of a response and its messages: order, statuses, numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.rule import rule, streamed
from playground.conformance.agent_api.stream_state import is_final, status_of
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    should,
)
from playground.conformance.values import is_integer, type_with_article

_LIFECYCLE = "Request/Response Lifecycle"
_STATUSES = "Status Transitions"
_NUMBERS = "Best Practices 3"


@rule(
    "response-first",
    "A stream begins with its response.",
    must(_LIFECYCLE),
    when=streamed,
)
def response_first(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients learn from it what to call what follows."""
    first = t.objects[0]
    if first.value["object"] != "response":
        yield Violation("Send the response with the status created first.", first.seq, "/object")


@rule(
    "initial-status",
    "A response and its messages begin with the status created.",
    should(_STATUSES),
    when=lambda t: streamed(t) and bool(t.walk.starts),
)
def initial_status(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The initial state. A response that fails at once may begin with its end."""
    for place in t.walk.starts:
        status, kind = status_of(place), place.value["object"]
        refused = kind == "response" and is_final(status)
        if status and status != "created" and not refused:
            yield Violation(
                f"This {kind} begins with {status[:40]}. Announce it with created first.",
                place.seq,
                "/status",
            )


@rule(
    "status-transitions",
    "A status follows only those that it may follow.",
    must(_STATUSES),
    when=streamed,
    needs_complete_response=True,
)
def status_transitions(t: AgentTranscript) -> Iterator[RuleIssue]:
    """From created to in_progress, and from either to an end, which is one."""
    for change in t.walk.changes:
        after = change.after if change.after != change.before else "the same again"
        yield Violation(
            f"The {change.object} was {change.before} before: {after} may not follow.",
            change.place.seq,
            "/status",
        )


@rule(
    "nothing-after-end",
    "Nothing comes after the response has ended.",
    must(_LIFECYCLE),
    when=streamed,
    needs_complete_response=True,
)
def nothing_after_end(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients stop reading when it is completed, failed, rejected or canceled."""
    for place in t.walk.after_end:
        message = f"This {place.value['object']} came after the response had ended: send it before."
        yield Violation(message, place.seq)


@rule(
    "response-ended",
    "A stream ends with its response completed, failed, rejected or canceled.",
    must(_LIFECYCLE),
    when=streamed,
    needs_complete_response=True,
)
def response_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Otherwise a client does not know whether there is more to come."""
    if not is_final(t.walk.status):
        yield missing(
            t, "Send the response with the status completed when all is sent.", t.objects[-1].seq
        )


@rule(
    "document-ended",
    "A response that comes whole has ended.",
    must(_LIFECYCLE),
    when=lambda t: not t.transfer.streamed and bool(t.responses),
)
def document_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    """There is no other reply that could tell of its end."""
    for place in t.responses:
        if (status := status_of(place)) and not is_final(status):
            message = f"The response is {status[:40]} and nothing follows. Send it when it is done."
            yield Violation(message, place.seq, "/status")


@rule(
    "response-id-kept",
    "A response keeps its id.",
    must("6"),
    when=lambda t: streamed(t) and len(t.responses) > 1,
    needs_complete_response=True,
)
def response_id_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A request gets one response."""
    for place in t.walk.renamed:
        yield Violation("This is another id than the first. Keep it.", place.seq, "/id")


@rule(
    "message-ended",
    "Every message that was announced ends before its response does.",
    should(_STATUSES),
    when=lambda t: streamed(t) and bool(t.walk.threads),
    needs_complete_response=True,
)
def message_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Also where the response failed: clients show a message without an end as growing."""
    if not t.is_complete and not is_final(t.walk.status):
        yield Inconclusive("The stream broke off before this could be judged.")
        return
    for thread in t.walk.open_threads():
        yield Violation(
            "This message never ends. Send it with the status completed, or with failed.",
            thread.place.seq,
            "/status",
        )


@rule(
    "messages-in-output",
    "The output of a completed response has the messages that came.",
    should("6"),
    when=lambda t: streamed(t) and bool(_outputs(t)),
)
def messages_in_output(t: AgentTranscript) -> Iterator[RuleIssue]:
    """By their ids; a client that reads only the end misses nothing."""
    announced = {name for name, thread in t.walk.threads.items() if thread.announced}
    for place_seq, output in _outputs(t):
        listed = {m["id"] for m in output if isinstance(m, dict) and isinstance(m.get("id"), str)}
        missing = [name for name in announced if name not in listed and "\0" not in name]
        if missing:
            yield Violation(
                f"{len(missing)} of the {len(announced)} messages that came are not in the output. "
                "Add them.",
                place_seq,
                "/output",
            )


def _outputs(t: AgentTranscript) -> list[tuple[int, list[Any]]]:
    return [
        (place.seq, place.value["output"])
        for place in t.responses
        if status_of(place) == "completed" and isinstance(place.value.get("output"), list)
    ]


# Sequence numbers


def _numbers(t: AgentTranscript) -> list[tuple[int, int]]:
    """(frame, number) of the objects that have one, written as a number or as a string."""
    found = ((p.seq, number_of(p.value.get("sequence_number"))) for p in t.objects)
    return [(seq, number) for seq, number in found if number is not None]


def number_of(value: Any) -> int | None:
    """A sequence number, however it is written; None where there is none."""
    if is_integer(value):
        return int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return None


def _numbered(t: AgentTranscript) -> bool:
    return streamed(t) and bool(_numbers(t))


@rule(
    "sequence-present",
    "Every object of a stream has a sequence number.",
    info(_NUMBERS),
    when=streamed,
)
def sequence_present(t: AgentTranscript) -> Iterator[RuleIssue]:
    """If they are implemented, says the specification: none at all is legal."""
    missing = [place for place in t.objects if place.value.get("sequence_number") is None]
    if not missing:
        return
    count = f"{len(missing)} of {len(t.objects)} objects have no sequence_number"
    if len(missing) == len(t.objects):
        count = "No object has a sequence_number"
    message = f"{count}: clients cannot tell whether something is missing."
    yield Violation(message, missing[0].seq, "/sequence_number")


@rule(
    "sequence-type",
    "A sequence number is a string of digits.",
    should("6"),
    when=lambda t: any(p.value.get("sequence_number") is not None for p in t.objects),
)
def sequence_type(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The model of a response declares it as one; agents in use send numbers. Told once."""
    odd: dict[str, list[int]] = {}
    for place in t.objects:
        value = place.value.get("sequence_number")
        if value is not None and (not isinstance(value, str) or number_of(value) is None):
            said = type_with_article(value) if not isinstance(value, str) else "no number"
            odd.setdefault(said, []).append(place.seq)
    for said, seqs in odd.items():
        more = f", here and in {len(seqs) - 1} more objects" if len(seqs) > 1 else ""
        yield Violation(
            f'sequence_number is {said}{more}. Write the number as a string, such as "0".',
            seqs[0],
            "/sequence_number",
        )


@rule(
    "sequence-increasing",
    "Sequence numbers grow, so that no two are the same.",
    should(_NUMBERS),
    when=_numbered,
    needs_complete_response=True,
)
def sequence_increasing(t: AgentTranscript) -> Iterator[RuleIssue]:
    """They are for ordering."""
    highest: int | None = None
    for seq, number in _numbers(t):
        if highest is not None and number <= highest:
            said = "came already" if number == highest else f"is less than {_short(highest)}"
            message = f"{_short(number)} {said}. Count up."
            yield Violation(message, seq, "/sequence_number")
        highest = number if highest is None else max(number, highest)


@rule(
    "sequence-gapless",
    "Sequence numbers leave no gap.",
    info(_NUMBERS),
    when=_numbered,
    needs_complete_response=True,
)
def sequence_gapless(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification does not say that they do; after a gap something may be missing."""
    before: int | None = None
    for seq, number in _numbers(t):
        if before is not None and number > before + 1:
            message = (
                f"{_short(number)} came after {_short(before)}. Send what is missing, or count on."
            )
            yield Violation(message, seq, "/sequence_number")
        before = number if before is None else max(before, number)


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**20 else "A very large number"


RULES = (
    response_first,
    initial_status,
    status_transitions,
    nothing_after_end,
    response_ended,
    document_ended,
    response_id_kept,
    message_ended,
    messages_in_output,
    sequence_present,
    sequence_type,
    sequence_increasing,
    sequence_gapless,
)
