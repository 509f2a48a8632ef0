"""Rules on contents as they are streamed: section "Content Streaming"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.agent_api.rule import rule, streamed
from playground.conformance.agent_api.stream_state import MessageState, is_final
from playground.conformance.agent_api.transcript import AgentTranscript
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, must, should

_STREAMING = "Content Streaming"


def _has_contents(t: AgentTranscript) -> bool:
    return streamed(t) and bool(t.contents)


@rule(
    "message-announced",
    "Messages are sent before their content.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def message_announced(t: AgentTranscript) -> Iterator[RuleIssue]:
    """It has the type and the role. Contents without msg_id belong to the latest message."""
    for location in t.stream_state.orphans:
        yield Violation(
            "No message with this id was sent before. Send it with status created first.",
            location.seq,
            "/msg_id",
        )


@rule(
    "content-after-message",
    "No content follows the end of its message.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def content_after_message(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients have completed the message by then."""
    for location in t.stream_state.late:
        yield Violation(
            "The message has already ended. Send its content before that.", location.seq, "/msg_id"
        )


@rule(
    "content-after-end",
    "No segments follow the completed segment of a content object.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def content_after_end(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The segment with the status completed is the final one."""
    for location in t.stream_state.reopened:
        yield Violation(
            "The content with this index is already completed. Use a new index for new content.",
            location.seq,
            "/index",
        )


@rule(
    "content-ended",
    "The last segment of each content object has status completed.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def content_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients buffer until then."""
    if not t.is_complete and not is_final(t.stream_state.status):
        yield Inconclusive("The stream was truncated before this could be checked.")
        return
    for content in t.stream_state.open_contents():
        yield Violation(
            "This content is never completed. End it with a segment in status completed.",
            content.location.seq,
            "/status",
        )


@rule(
    "content-index-gapless",
    "Content indexes of a message start at 0 and have no gaps.",
    should("3"),
    when=_has_contents,
    needs_complete_response=True,
)
def content_index_gapless(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Indexes are positions in an array."""
    for message in t.stream_state.messages.values():
        for expected, index in enumerate(sorted(message.contents)):
            if index != expected:
                yield Violation(
                    f"Index {expected} is missing. Number content from 0 without gaps.",
                    message.contents[index].location.seq,
                    "/index",
                )
                break


@rule(
    "delta-sum",
    "A completed text equals the concatenation of its deltas.",
    must(_STREAMING),
    when=lambda t: streamed(t) and bool(t.stream_state.totals),
)
def delta_sum(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients that show pieces and clients that wait for the end show the same."""
    for location, pieces in t.stream_state.totals:
        text: str = location.value["text"]
        if text == pieces:
            continue
        at = next((n for n, (a, b) in enumerate(zip(text, pieces, strict=False)) if a != b), None)
        at = min(len(text), len(pieces)) if at is None else at
        yield Violation(
            f"The deltas have {len(pieces):,} characters, the completed text has {len(text):,}; "
            f"the first difference is at character {at + 1:,}. They must be identical.",
            location.seq,
            "/text",
        )


@rule(
    "text-in-pieces",
    "Partial text is sent as deltas.",
    should(_STREAMING),
    when=lambda t: _has_contents(t) and any(p.value.get("type") == "text" for p in t.contents),
)
def text_in_pieces(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A segment that is not marked as a delta replaces everything before it."""
    for location in t.stream_state.replaced:
        if location.value.get("type") == "text":
            message = "This partial segment is not marked as a delta. Set delta to true."
            yield Violation(message, location.seq, "/delta")


@rule(
    "data-in-pieces",
    "Partial data is sent as deltas.",
    info(_STREAMING),
    when=lambda t: _has_contents(t) and any(p.value.get("type") != "text" for p in t.contents),
)
def data_in_pieces(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification defines deltas for text only; other contents are replaced as a whole."""
    for location in t.stream_state.replaced:
        if location.value.get("type") != "text":
            yield Violation(
                "This partial segment is not a delta, so clients have to replace the previous "
                "one with it.",
                location.seq,
                "/delta",
            )


@rule(
    "message-content",
    "Completed messages contain the content that was streamed for them.",
    should("4"),
    when=lambda t: streamed(t) and bool(t.stream_state.listed),
)
def message_content(t: AgentTranscript) -> Iterator[RuleIssue]:
    """In the order of their indexes, with the same text, image or data."""
    for location, message in t.stream_state.listed:
        if not message.contents:
            continue
        listed: list[Any] = location.value["content"]
        if len(listed) != (count := len(message.contents)):
            yield Violation(
                f"{count} content objects were streamed for this message, but it contains "
                f"{len(listed)}. They must match.",
                location.seq,
                "/content",
            )
        else:
            yield from _is_different(location.seq, listed, message)


def _is_different(seq: int, listed: list[Any], message: MessageState) -> Iterator[RuleIssue]:
    for at, index in enumerate(sorted(message.contents)):
        content, actual = message.contents[index], listed[at]
        if not is_final(content.status):
            continue
        received = content.location.value
        same = isinstance(actual, dict) and all(
            actual.get(name) == received.get(name) for name in ("text", "image_url", "data")
        )
        # A final delta is not the complete content.
        if not same and received.get("delta") is not True:
            problem = "This content differs from the streamed one. They must be identical."
            yield Violation(problem, seq, f"/content/{at}")


RULES = (
    message_announced,
    content_after_message,
    content_after_end,
    content_ended,
    content_index_gapless,
    delta_sum,
    text_in_pieces,
    data_in_pieces,
    message_content,
)
