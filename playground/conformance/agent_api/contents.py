"""Rules on contents as they are streamed: section "Content Streaming"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.selectors import (
    has_streamed_contents,
    reported,
    row,
    rule,
    segments,
    state_row,
    streamed,
)
from playground.conformance.agent_api.stream_state import (
    ContentState,
    MessageState,
    is_final,
    same_json,
)
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
from playground.conformance.rule_input import Location
from playground.conformance.shape import Fix, never, those

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
