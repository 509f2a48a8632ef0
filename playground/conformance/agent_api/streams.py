"""Rules on streams: the lifecycle of responses and messages, what stays the same, and contents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from playground.conformance.agent_api.stream_state import (
    ContentState,
    MessageState,
    is_final,
    number_of,
    same_json,
)
from playground.conformance.agent_api.transcript import (
    AgentTranscript,
    contents,
    has_streamed_contents,
    listed_contents,
    messages,
    reported,
    row,
    rule,
    segments,
    state_row,
    streamed,
)
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    missing,
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
    type_with_article,
)
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


_CHANGED = "{name} was {before} before. Use the same value in all objects of the "
_RESPONSE = f"{_CHANGED}response."
_TIMES = "Best Practices 3"


def _has_several_responses(t: AgentTranscript) -> bool:
    return streamed(t) and len(t.responses) > 1


def message_id_kept(t: AgentTranscript) -> Iterator[RuleIssue]:
    renamed = "No message began with this id, and one with another id never ends. Use its id."
    yield from reported(t, "message-id-kept", renamed)
    response = t.completed
    listed = _identified(response) if response else []
    announced = {name for name, state in t.stream_state.messages.items() if state.announced}
    others = [location for location in listed if location.value["id"] not in announced]
    missing = t.stream_state.streamed_ids().difference(p.value["id"] for p in listed)
    if len(others) == len(missing):
        for location in others:
            message = "No message with this id was streamed. Use the id of the streamed one."
            yield Violation(message, location.seq, f"{location.pointer}/id")


def _identified(response: Location) -> list[Location]:
    """Return the messages of an output that have an id."""
    output: Any = response.value.get("output")
    return [
        Location(response.seq, f"{response.pointer}/output/{at}", message)
        for at, message in enumerate(output if isinstance(output, list) else ())
        if isinstance(message, dict) and isinstance(message.get("id"), str)
    ]


_STREAMING = "Content Streaming"


def _has_contents(t: AgentTranscript) -> bool:
    return has_streamed_contents(t) or bool(t.stream_state.listed_contents)


def content_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    message = "The message is completed, but this content is not. Set status to completed."
    yield from reported(t, "content-ended", message)
    if not t.is_complete and not is_final(t.stream_state.status):
        yield Inconclusive("The stream was truncated before this could be checked.")
        return
    for content in t.stream_state.open_contents():
        yield Violation(
            "This content is never completed. End it with a segment in status completed.",
            content.location.seq,
            "/status",
        )


def content_index_gapless(t: AgentTranscript) -> Iterator[RuleIssue]:
    for message in t.stream_state.messages.values():
        for expected, index in enumerate(message.indexes):
            if index != expected:
                gap = f"Index {expected} is missing. Number content from 0 without gaps."
                yield missing(t, gap, message.contents[index].location.seq, "/index")
                break
    misplaced = "The content at this position has the index {expected}. Set index to that."
    yield from reported(t, "content-index-gapless", misplaced)


def _is_text(content: dict[str, Any]) -> bool:
    return bool(content.get("type") == "text")


def _has_texts(t: AgentTranscript) -> bool:
    return bool(t.stream_state.totals or t.stream_state.deviations["delta-sum"])


def delta_sum(t: AgentTranscript) -> Iterator[RuleIssue]:
    for location, pieces in t.stream_state.totals:
        text: str = location.value["text"]
        if text == pieces or _punctuation_after(pieces, text):
            continue
        at = next((n for n, (a, b) in enumerate(zip(text, pieces, strict=False)) if a != b), None)
        at = min(len(text), len(pieces)) if at is None else at
        yield Violation(
            f"The deltas have {len(pieces):,} characters, the completed text has {len(text):,}; "
            f"the first difference is at character {at + 1:,}. They must be identical.",
            location.seq,
            "/text",
        )
    doubled = "This text repeats all deltas before it. Set delta to false."
    yield from reported(t, "delta-sum", doubled)


def delta_sum_punctuation(t: AgentTranscript) -> Iterator[RuleIssue]:
    for location, pieces in t.stream_state.totals:
        if rest := _punctuation_after(pieces, location.value["text"]):
            yield Violation(
                f"The deltas lack “{rest[:20]}” at the end of the completed text, as in an example "
                "of the specification. Send it as a delta, too.",
                location.seq,
                "/text",
            )


def _punctuation_after(pieces: str, text: str) -> str:
    """Return what follows the pieces in a text if it has neither letters nor digits, else ""."""
    rest = text[len(pieces) :] if text.startswith(pieces) else ""
    return "" if any(map(str.isalnum, rest)) else rest


def message_content(t: AgentTranscript) -> Iterator[RuleIssue]:
    for location, message in t.stream_state.listed:
        if not message.contents:
            continue
        listed: list[Any] = location.value["content"]
        if len(listed) != (count := len(message.contents)):
            yield Violation(
                f"{count} content objects were streamed for this message, but it contains "
                f"{len(listed)}. They must match.",
                location.seq,
                f"{location.pointer}/content",
            )
        else:
            yield from _is_different(location, listed, message)


def _is_different(
    location: Location, listed: list[Any], message: MessageState
) -> Iterator[RuleIssue]:
    for at, index in enumerate(message.indexes):
        content, actual = message.contents[index], listed[at]
        if isinstance(actual, dict) and is_final(content.status) and not _is_same(actual, content):
            problem = "This content differs from the streamed one. They must be identical."
            yield Violation(problem, location.seq, f"{location.pointer}/content/{at}")


def _is_same(actual: dict[str, Any], content: ContentState) -> bool:
    received = content.location.value
    if received.get("delta") is True:
        # A final delta is not the complete content.
        received = {} if content.pieces is None else {"text": "".join(content.pieces)}
    names = [name for name in ("text", "image_url", "data") if actual.get(name) is not None]
    return all(name not in received or same_json(actual[name], received[name]) for name in names)


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
    state_row("response-id-kept", "The id of a response does not change.", must("6"),
        _has_several_responses, _RESPONSE,
        why="Each request has one response.", needs_complete_response=True),
    state_row("created-at-kept", "The created_at of a response does not change.", should(_TIMES),
        _has_several_responses, _RESPONSE,
        why="A response is created once. Clients measure the latency from this time.",
        needs_complete_response=True),
    state_row("session-kept", "The session_id of a response does not change.", should(_TIMES),
        _has_several_responses, _RESPONSE,
        why="It identifies the conversation that the response belongs to.",
        needs_complete_response=True),
    state_row("message-kept", "The type and the role of a message do not change.", should("4"),
        messages, f"{_CHANGED}message.",
        why="They do not change in the examples. An object may leave them out.",
        needs_complete_response=True),
    rule("message-id-kept", "The id of a message does not change.", must("4"), message_id_kept,
        when=lambda t: streamed(t) and bool(t.messages), needs_complete_response=True,
        why="A message keeps its id until it ends, and has the same id in the output.\n\n"
            "In the output it is reported only where it replaces the id of a streamed message."),
    state_row("message-id-unique", "Each message of an output has a unique id.", must("4"),
        lambda t: any(isinstance(p.value.get("output"), list) for p in t.responses),
        "Another message of this output has this id. Use each id once.",
        why="Content is assigned to its message by the id."),
    state_row("content-kept", "The type of a content object does not change.",
        should("Content Streaming"), contents, f"{_CHANGED}content.",
        why="Segments with the same index belong to the same content object.",
        needs_complete_response=True),
    state_row("content-in-message",
        "The msg_id of a content within a message is the id of the message.", must("3"),
        listed_contents,
        "msg_id is not the id of the message around this content. Set it to that id.",
        why="It may be left out within a message."),
    row("message-announced", "Content belongs to a message that is sent.", must("3"),
        lambda t: t.stream_state.deviations["message-announced"],
        {never: Fix("No message with this id is sent. Send it with status created first.",
                    may_follow=True)},
        when=has_streamed_contents, needs_complete_response=True,
        why="msg_id is the id of a message. Content without it belongs to the open message."),
    state_row("message-before-content", "Messages are sent before their content.",
        should(_STREAMING), has_streamed_contents,
        "The message of this content is sent later. Send it first.",
        why="The message has the type and the role, as in the examples.",
        needs_complete_response=True),
    state_row("content-after-message", "No content follows the end of its message.",
        must(_STREAMING), has_streamed_contents,
        "The message has already ended. Send its content before that.",
        why="Clients have completed the message by then.", needs_complete_response=True),
    state_row("content-after-end", "No segments follow the completed segment of a content object.",
        must(_STREAMING), has_streamed_contents,
        "The content with this index is already completed. Use a new index for new content.",
        why="The segment with status completed is the final one.", needs_complete_response=True),
    rule("content-ended", "The last segment of each content object has status completed.",
        must(_STREAMING), content_ended, when=_has_contents, needs_complete_response=True,
        why="Clients buffer until then. Failed messages and responses need not complete their "
            "content."),
    rule("content-index-gapless",
        "Content indexes are positions in the message: from 0, without gaps.", must("3"),
        content_index_gapless, when=_has_contents, needs_complete_response=True,
        why="Indexes are positions in an array."),
    rule("delta-sum", "A completed text equals the concatenation of its deltas.", must(_STREAMING),
        delta_sum, when=lambda t: streamed(t) and _has_texts(t),
        why="Clients that show deltas and clients that wait for the end show the same text.\n\n"
            "Deltas without the punctuation at the end are accepted, as in an example of the "
            "specification: see `agent-api.delta-sum-punctuation`."),
    rule("delta-sum-punctuation", "The deltas of a text include the punctuation at its end.",
        info(_STREAMING), delta_sum_punctuation,
        when=lambda t: streamed(t) and bool(t.stream_state.totals),
        why="In an example of the specification only the completed text ends with an "
            "exclamation mark."),
    state_row("text-in-pieces", "Partial text is sent as deltas.", must(_STREAMING),
        those(segments, _is_text),
        "This partial segment is not marked as a delta. Set delta to true.",
        why="A segment that is not a delta replaces everything before it."),
    state_row("data-in-pieces", "Partial data is sent as deltas.", info(_STREAMING),
        those(segments, lambda content: not _is_text(content)),
        "This partial segment is not a delta, so clients have to replace the previous one with it.",
        why="Deltas are defined for text only. Other content is replaced as a whole."),
    rule("message-content", "Completed messages contain the content that was streamed for them.",
        should("4"), message_content, when=lambda t: streamed(t) and bool(t.stream_state.listed),
        why="Compared are text, image and data in the order of their indexes, unless left "
            "out.\n\n"
            "This includes the messages in the output of the response."),
)
# fmt: on
