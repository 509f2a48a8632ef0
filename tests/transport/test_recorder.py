"""Chunks to frames: every byte in one frame, wherever the chunks are split."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.base.limits import RunLimits
from playground.protocols.frames import FrameKind
from playground.protocols.sse import ServerSentEvent, parse
from playground.transport.recorder import BodyRecorder, RemainingLimits
from playground.transport.redaction import Redactor
from tests.transport.conftest import Recording

STREAM, JSON, TEXT = "text/event-stream; charset=utf-8", "application/json", "text/plain"


def exhaust(steps: Iterator[None]) -> int:
    return sum(1 for _ in steps)


def frames_of(media_type: str, pieces: list[bytes]) -> Recording:
    frames = Recording()
    recorder = BodyRecorder(
        media_type, "", RemainingLimits.of(RunLimits()), Redactor(), frames.extend
    )
    for at, piece in enumerate(pieces):
        recorder.add(piece)
        exhaust(recorder.process(at))
    exhaust(recorder.finish(len(pieces), clean=True))
    return frames


def messages(frames: Recording) -> list[ServerSentEvent]:
    """Events as read: a blank line behind a comment may fall into either block."""
    return [parse(data) for data in frames.of(FrameKind.EVENT)]


BODIES = [
    (STREAM, b"event: result\ndata: 1\n\n: ping\n\ndata: 2\r\n\r\ndata: 3", "EVENT"),
    (STREAM, b"\xef\xbb\xbfdata: 1\n\ndata: 2\n\n", "EVENT"),
    (STREAM, b"\n\ndata: 1\n\n", "EVENT"),
    (STREAM, b"unknown: 1\n\n", "EVENT"),
    (STREAM, b": only\n\n: comments\n\n", "COMMENT"),
    (STREAM, b"data: never finished", "TAIL"),
    (STREAM, b'{"json": "all the same"}', "BODY"),
    (STREAM, b"  <html></html>", "BODY"),
    (TEXT, b"data: 1\n\ndata: 2\n\n", "EVENT"),
    (TEXT, b"event: x\ndata: 1\n\n", "EVENT"),
    (TEXT, b"date: not a field", "BODY"),
    (TEXT, b"da", "BODY"),
    (JSON, b'{"a": 1}', "BODY"),
    (JSON, b"data: 1\n\n", "EVENT"),
    ("", b"id: 7\ndata: 1\n\n", "EVENT"),
    ("text/html", b"<p>data: 1</p>", "BODY"),
    (JSON, b" " * 5000 + b"{}", "BODY"),
]


@pytest.mark.parametrize(("media_type", "body", "kind"), BODIES)
def test_cut_at_every_byte(media_type: str, body: bytes, kind: str) -> None:
    whole = frames_of(media_type, [body])
    assert kind in whole.kinds
    assert whole.body == body
    for cut in range(1, min(len(body), 200)):
        frames = frames_of(media_type, [body[:cut], body[cut:]])
        assert frames.body == body
        assert messages(frames) == messages(whole)


@given(
    st.sampled_from([STREAM, TEXT, JSON]),
    st.lists(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from([b"data: x\n", b"\n", b"\r\n", b": c\n\n", b"id:1\r\n\r\n", b"\xef"]),
        ),
        max_size=12,
    ),
)
def test_no_byte_is_lost_or_repeated(media_type: str, pieces: list[bytes]) -> None:
    assert frames_of(media_type, pieces).body == b"".join(pieces)


def test_the_first_byte_of_json_and_of_a_comment_shows_at_once() -> None:
    assert frames_of(JSON, [b"{", b"}"]).kinds == ["BODY", "BODY"]
    assert frames_of(STREAM, [b":\n", b"data: 1\n\n"]).kinds == ["COMMENT", "EVENT"]
    assert frames_of(STREAM, [b":\n", b"data: 1\n\n"])[0].at_us == 0


def test_the_end_of_a_line_in_the_last_chunk_is_no_incomplete_event() -> None:
    frames = frames_of(STREAM, [b"data: 1\r\n\r", b"\n"])
    assert [frame.kind for frame in frames] == [FrameKind.EVENT, FrameKind.COMMENT]


def test_an_empty_body_has_no_frames() -> None:
    assert frames_of(STREAM, []) == []
    assert frames_of(JSON, [b""]) == []
