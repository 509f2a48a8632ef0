"""Contents as they grow: section "Content Streaming"."""

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
    "A message is announced before its contents.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def message_announced(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Its type and its role are told there. Contents without msg_id belong to the latest."""
    for place in t.walk.orphans:
        yield Violation(
            "No message of this id was announced. Send the message with the status created first.",
            place.seq,
            "/msg_id",
        )


@rule(
    "content-after-message",
    "No content comes for a message that has ended.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def content_after_message(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients have put the message together by then."""
    for place in t.walk.late:
        yield Violation(
            "The message of this content has ended: send it before.", place.seq, "/msg_id"
        )


@rule(
    "content-after-end",
    "No segment comes for a content that is completed.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def content_after_end(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The segment that says completed is the final one."""
    for place in t.walk.reopened:
        yield Violation(
            "The content of this index was completed before. Give another one its own index.",
            place.seq,
            "/index",
        )


@rule(
    "content-ended",
    "The last segment of each content says completed.",
    must(_STREAMING),
    when=_has_contents,
    needs_complete_response=True,
)
def content_ended(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Until then clients buffer."""
    if not t.is_complete and not is_final(t.walk.status):
        yield Inconclusive("The stream broke off before this could be judged.")
        return
    for slot in t.walk.open_slots():
        yield Violation(
            "This content never ends. Send it whole with the status completed.",
            slot.place.seq,
            "/status",
        )


@rule(
    "content-index-gapless",
    "The contents of a message have indexes from 0 without gaps.",
    should("3"),
    when=_has_contents,
    needs_complete_response=True,
)
def content_index_gapless(t: AgentTranscript) -> Iterator[RuleIssue]:
    """They are places in an array."""
    for thread in t.walk.threads.values():
        for expected, index in enumerate(sorted(thread.slots)):
            if index != expected:
                yield Violation(
                    f"Before this one index {expected} is missing. Count from 0 without gaps.",
                    thread.slots[index].place.seq,
                    "/index",
                )
                break


@rule(
    "delta-sum",
    "A completed text is what its pieces make.",
    must(_STREAMING),
    when=lambda t: streamed(t) and bool(t.walk.sums),
)
def delta_sum(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients that show pieces and clients that wait for the end show the same."""
    for place, pieces in t.walk.sums:
        text: str = place.value["text"]
        if text == pieces:
            continue
        at = next((n for n, (a, b) in enumerate(zip(text, pieces, strict=False)) if a != b), None)
        at = min(len(text), len(pieces)) if at is None else at
        yield Violation(
            f"The pieces make {len(pieces):,} characters and the completed text has "
            f"{len(text):,}; they differ from character {at + 1:,} on. Make them the same.",
            place.seq,
            "/text",
        )


@rule(
    "text-in-pieces",
    "A text that grows comes as deltas.",
    should(_STREAMING),
    when=lambda t: _has_contents(t) and any(p.value.get("type") == "text" for p in t.contents),
)
def text_in_pieces(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A segment that is not marked as one stands for all that came before it."""
    for place in t.walk.replaced:
        if place.value.get("type") == "text":
            message = "This segment is no delta, and the text goes on. Set delta to true."
            yield Violation(message, place.seq, "/delta")


@rule(
    "data-in-pieces",
    "Data that are not complete yet come as deltas.",
    info(_STREAMING),
    when=lambda t: _has_contents(t) and any(p.value.get("type") != "text" for p in t.contents),
)
def data_in_pieces(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification tells of text alone; others replace what came before as a whole."""
    for place in t.walk.replaced:
        if place.value.get("type") != "text":
            yield Violation(
                "This is no delta and not the end: clients have to replace what came before by it.",
                place.seq,
                "/delta",
            )


@rule(
    "message-content",
    "A completed message holds the contents that were streamed for it.",
    should("4"),
    when=lambda t: streamed(t) and bool(t.walk.listed),
)
def message_content(t: AgentTranscript) -> Iterator[RuleIssue]:
    """In the order of their indexes, with the same text, image or data."""
    for place, thread in t.walk.listed:
        if not thread.slots:
            continue
        listed: list[Any] = place.value["content"]
        if len(listed) != len(thread.slots):
            yield Violation(
                f"{len(thread.slots)} contents came for this message and it holds {len(listed)}. "
                "Make them the same.",
                place.seq,
                "/content",
            )
        else:
            yield from _unlike(place.seq, listed, thread)


def _unlike(seq: int, listed: list[Any], thread: MessageState) -> Iterator[RuleIssue]:
    for at, index in enumerate(sorted(thread.slots)):
        slot, said = thread.slots[index], listed[at]
        if not is_final(slot.status):
            continue
        came = slot.place.value
        same = isinstance(said, dict) and all(
            said.get(name) == came.get(name) for name in ("text", "image_url", "data")
        )
        # A last piece is not the whole.
        if not same and came.get("delta") is not True:
            message = "This is not what was streamed for it. Make them the same."
            yield Violation(message, seq, f"/content/{at}")


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
