"""Chunks to frames: every byte in one frame, wherever the chunks are split."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.limits import RunLimits
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.sse import ServerSentEvent, parse
from playground.transport.frame_queue import FrameQueue
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


class TestSteps:
    """However much one read yields, the work on it comes in steps."""

    STREAM = b"".join(b"data: %d\n\n" % number for number in range(50_000))

    @pytest.mark.parametrize("encoding", ["", "gzip"])
    def test_each_is_bounded(self, encoding: str) -> None:
        sent = gzip.compress(self.STREAM) if encoding else self.STREAM
        frames = Recording()
        recorder = BodyRecorder(
            STREAM, encoding, RemainingLimits.of(RunLimits()), Redactor(), frames.extend
        )
        recorder.add(sent)
        before = most = 0
        for _ in recorder.process(0):
            most = max(most, sum(len(frame.data) for frame in frames[before:]))
            before = len(frames)
        exhaust(recorder.finish(0, clean=True))
        assert 0 < most <= 64 * 1024 + 16
        assert frames.body == self.STREAM

    def test_what_was_left_when_it_was_interrupted_is_not_lost(self) -> None:
        frames = Recording()
        recorder = BodyRecorder(
            STREAM, "gzip", RemainingLimits.of(RunLimits()), Redactor(), frames.extend
        )
        recorder.add(gzip.compress(self.STREAM))
        steps = recorder.process(0)
        next(steps)
        steps.close()
        assert 0 < len(frames) < 50_000
        steps = recorder.finish(0, clean=True)
        next(steps)
        steps.close()
        exhaust(recorder.finish(0, clean=False))
        assert frames.body == self.STREAM
        assert exhaust(recorder.finish(0, clean=True)) == 0
        assert frames.kinds == ["EVENT"] * 50_000

    def test_empty_members_of_gzip_are_work_too(self) -> None:
        frames = Recording()
        recorder = BodyRecorder(
            JSON, "gzip", RemainingLimits.of(RunLimits()), Redactor(), frames.extend
        )
        recorder.add(gzip.compress(b"") * 1000 + gzip.compress(b"{}"))
        assert exhaust(recorder.process(0)) > 10
        exhaust(recorder.finish(0, clean=True))
        assert frames.body == b"{}"


class TestOutbox:
    FRAME = Frame(0, 0, FrameKind.EVENT, b"x" * 1024)

    async def test_a_list_is_bounded(self) -> None:
        outbox = FrameQueue()
        outbox.put([self.FRAME] * 1200)
        outbox.put([Frame(0, 1, FrameKind.BODY, b"x" * 1024 * 1024)] * 2)
        outbox.close()
        lists = []
        while frames := await outbox.get():
            lists.append(frames)
        assert sum(map(len, lists)) == 1202
        assert all(
            len(frames) == 1
            or (len(frames) <= 500 and sum(len(frame.data) for frame in frames) <= 256 * 1024)
            for frames in lists
        )

    async def test_others_run_between_two_lists(self) -> None:
        outbox = FrameQueue()
        outbox.put([self.FRAME] * 1200)
        ran = 0

        async def other() -> None:
            nonlocal ran
            while True:
                ran += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        for turn in range(3):
            await outbox.get()
            assert ran > turn
        task.cancel()

    async def test_a_list_is_taken_as_a_whole(self) -> None:
        outbox = FrameQueue()
        outbox.put([self.FRAME])
        outbox.put([self.FRAME, self.FRAME])
        assert len(await outbox.get()) == 3
        outbox.close()
        assert await outbox.get() == []

    @pytest.mark.parametrize("count", [6_000, 1])
    async def test_reading_pauses_until_frames_are_taken(self, count: int) -> None:
        outbox = FrameQueue()
        size = 8 * 1024 * 1024 // count
        outbox.put([Frame(0, 0, FrameKind.EVENT, b"x" * size)] * count)
        waiting = asyncio.create_task(outbox.wait_for_space())
        await asyncio.sleep(0)
        assert not waiting.done()
        while not waiting.done():
            assert await outbox.get()
            await asyncio.sleep(0)
        await waiting

    async def test_reading_goes_on_while_there_is_room(self) -> None:
        outbox = FrameQueue()
        outbox.put([self.FRAME])
        await outbox.wait_for_space()
