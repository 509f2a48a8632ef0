"""How streams travel: whether one was wanted, and what standard clients make of its bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, rule, should
from playground.conformance.transcript import Transcript
from playground.protocols.frames import BODY_KINDS, FrameKind

_BOM = b"\xef\xbb\xbf"
#: A byte order mark where a line begins.
_BOM_AT_LINE = re.compile(rb"(?<![^\r\n])" + _BOM)


@rule(
    "stream-closed",
    "The last event of a stream ends with a blank line.",
    v55=should("6"),
    v54=should("8.4"),
    when=lambda t: t.streamed,
)
def stream_closed(t: Transcript) -> Iterator[RuleIssue]:
    """Standard clients drop an event that does not."""
    tails = [frame for frame in t.frames if frame.kind is FrameKind.TAIL]
    if not t.ended:
        yield Inconclusive("The stream broke off before its end.", tails[0].seq if tails else None)
        return
    for frame in tails:
        yield Violation(
            "The stream ended within an event: clients drop it. End each with a blank line.",
            frame.seq,
        )


@rule(
    "stream-bom",
    "A stream has no byte order marks.",
    v55=info("6"),
    v54=info("8.4"),
    when=lambda t: t.streamed,
)
def stream_bom(t: Transcript) -> Iterator[RuleIssue]:
    """Clients take away one at the very beginning, and misread a line that begins with one."""
    for frame in t.frames:
        if frame.kind in BODY_KINDS and _BOM in frame.data and _BOM_AT_LINE.search(frame.data):
            yield Violation("Leave out the byte order mark: UTF-8 needs none.", frame.seq)


@rule(
    "stream-compression",
    "A stream is not compressed.",
    v55=info("7.3"),
    v54=info("8.4"),
    when=lambda t: t.streamed and t.head_seq is not None,
)
def stream_compression(t: Transcript) -> Iterator[RuleIssue]:
    """Compressors collect events before they pass them on."""
    encoding = t.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        yield Violation(
            f"The stream is compressed ({encoding[:40]}), so that events may come late.",
            t.head_seq,
        )


def _asked(t: Transcript) -> bool:
    return t.has_response and t.kind == "answer" and isinstance(t.prefer("streaming"), bool)


@rule(
    "streaming-honoured",
    "The answer streams if and only if that was asked for.",
    v55=should("3.3"),
    v54=should("3.3"),
    when=_asked,
)
def streaming_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """A preference. The format chatgpt_app has no events, so that it comes whole (6.1)."""
    wanted = t.prefer("streaming")
    if wanted and not t.streamed and "structuredData" not in t.parts:
        yield Violation(
            "prefer.streaming was true and the answer came whole: send it as events.", t.head_seq
        )
    elif not wanted and t.streamed:
        yield Violation(
            "prefer.streaming was false and a stream came: answer with one JSON document.",
            t.head_seq,
        )


RULES = (streaming_honoured, stream_closed, stream_bom, stream_compression)
