"""Event streams, after the WHATWG HTML standard, section 9.2.6."""

from __future__ import annotations

import httpx
import httpx_sse
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import sse
from tests.support.playbook import every_cut


def split(*chunks: bytes) -> tuple[list[bytes], bytes]:
    """The blocks that the chunks make, and what is left."""
    splitter = sse.Splitter()
    blocks = [block.data for chunk in chunks for block in splitter.feed(chunk)]
    return blocks, splitter.flush()


def messages(blocks: list[bytes]) -> list[sse.ServerSentEvent]:
    """What a standard client dispatches: blocks without data are dropped."""
    return [message for message in map(sse.parse, blocks) if message.has_data]


class TestSplitter:
    @pytest.mark.parametrize(
        ("stream", "blocks"),
        [
            *((each.replace(b"|", end), 2) for end in (b"\n", b"\r", b"\r\n")
              for each in (b"data: 1||/event: x|data: 2||/", b": a||/data: 1||/data: 2|")),
            (b"data: 1\r\n\n/data: 2\n\r\n/", 2),  # Line ends can be mixed.
            (b"data: 1\r\ndata: 2\r\n", 0),  # CR LF is one line end.
            (b"event: x\n: note\ndata: 1\n\n/", 1),  # A comment within an event.
        ],
    )  # fmt: skip
    def test_a_blank_line_ends_a_block(self, stream: bytes, blocks: int) -> None:
        """A slash is the end of a block; the rest is left over."""
        *expected, rest = stream.split(b"/")
        assert len(expected) == blocks
        assert split(stream.replace(b"/", b"")) == (expected, rest)

    @pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1e"])
    def test_other_separators_do_not_split(self, separator: str) -> None:
        block = f"data: one{separator}{separator}two\n\n".encode()
        assert split(block) == ([block], b"")
        assert sse.parse(block).data == f"one{separator}{separator}two"

    def test_flush_empties(self) -> None:
        splitter = sse.Splitter()
        splitter.feed(b"data: 1\n")
        assert splitter.flush() == b"data: 1\n"
        assert splitter.flush() == b""

    def test_nothing_waits_for_more_than_its_blank_line(self) -> None:
        splitter = sse.Splitter()
        assert splitter.feed(b"data: 1\r\n") == []
        assert [block.data for block in splitter.feed(b"\r")] == [b"data: 1\r\n\r"]

    def test_the_lf_of_a_cut_cr_lf_makes_no_event(self) -> None:
        blocks, rest = split(b"data: 1\r\n\r", b"\ndata: 2\r\n\r\n")
        assert b"".join(blocks) == b"data: 1\r\n\r\ndata: 2\r\n\r\n"
        assert [message.data for message in messages(blocks)] == ["1", "2"]
        assert rest == b""

    def test_many_chunks_of_one_block_cost_no_more_than_one(self) -> None:
        # Eight megabytes in one block: copying it for each chunk would move half a terabyte.
        line = b"data: " + b"x" * 57 + b"\n"
        splitter = sse.Splitter()
        for _ in range(8 * 1024 * 1024 // len(line)):
            assert splitter.feed(line) == []
        (block,) = splitter.feed(b"\n")
        assert len(block.data) == 8 * 1024 * 1024 // len(line) * len(line) + 1


class TestHeartbeats:
    def test_a_heartbeat_does_not_wait_for_a_blank_line(self) -> None:
        splitter = sse.Splitter()
        (block,) = splitter.feed(b": ping\n")
        assert block.data == b": ping\n"
        assert block.is_comment

    @pytest.mark.parametrize("end", [b"\n", b"\r\n"])
    def test_nor_does_the_next_one(self, end: bytes) -> None:
        splitter = sse.Splitter()
        beat = b": ping" + end
        assert [block.data for block in splitter.feed(beat)] == [beat]
        assert [block.data for block in splitter.feed(end + beat)] == [end + beat]

    @pytest.mark.parametrize(
        ("block", "comment"),
        [
            (b": ping\n\n", True),
            (b"\n", True),
            (b"\r\n: a\r\n: b\r\n\r\n", True),
            (b"\xef\xbb\xbf: ping\n\n", True),
            (b": ping\ndata: 1\n\n", False),
            (b"event: x\n: note\ndata: 1\n\n", False),
            (b"\ndata: 1\n\n", False),
            (b"\xef\xbb\xbfdata: 1\n\n", False),
            (b"retry: 1\n\n", False),
        ],
    )
    def test_what_is_a_comment(self, block: bytes, comment: bool) -> None:
        assert sse.Block(block).is_comment is comment


class TestParse:
    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            (b"data: 1\n\n", sse.ServerSentEvent(None, "1")),
            (b"data:1\n\n", sse.ServerSentEvent(None, "1")),
            (b"data:  1\n\n", sse.ServerSentEvent(None, " 1")),
            (b"data: a\ndata: b\n\n", sse.ServerSentEvent(None, "a\nb")),
            (b"data\ndata\n\n", sse.ServerSentEvent(None, "\n")),
            (b"data: a:b\n\n", sse.ServerSentEvent(None, "a:b")),
            (b"event: x\rdata: 1\r\r", sse.ServerSentEvent("x", "1")),
            (b"event: x\nevent: y\ndata: 1\n\n", sse.ServerSentEvent("y", "1")),
            (b"event\ndata: 1\n\n", sse.ServerSentEvent(None, "1")),
            (b"id: 7\ndata: 1\n\n", sse.ServerSentEvent(None, "1", "7")),
            (b"id: 7\0\ndata: 1\n\n", sse.ServerSentEvent(None, "1")),
            (b"retry: 10\ndata: 1\n\n", sse.ServerSentEvent(None, "1", None, 10)),
            (b"retry: 1O\ndata: 1\n\n", sse.ServerSentEvent(None, "1")),
            (b"retry: \xc2\xb2\n\n", sse.ServerSentEvent(None, "", has_data=False)),
            (
                b"retry: " + b"9" * 5000 + b"\n\n",
                sse.ServerSentEvent(None, "", None, 10**18 - 1, False),
            ),
            (b"Data: 1\n data: 2\nother: 3\n\n", sse.ServerSentEvent(None, "", has_data=False)),
            (b"event: x\n\n", sse.ServerSentEvent("x", "", has_data=False)),
            (b"\xef\xbb\xbfdata: 1\n\n", sse.ServerSentEvent(None, "1")),
            (b": c\n\xef\xbb\xbfdata: 1\n\n", sse.ServerSentEvent(None, "1")),
            (b"data: \xef\xbb\xbf1\n\n", sse.ServerSentEvent(None, "\ufeff1")),
            (b"data: \xff\xfe\n\n", sse.ServerSentEvent(None, "\ufffd\ufffd")),
            (b"", sse.ServerSentEvent(None, "", has_data=False)),
        ],
    )
    def test_fields(self, block: bytes, expected: sse.ServerSentEvent) -> None:
        assert sse.parse(block) == expected


class TestIsEventStream:
    @pytest.mark.parametrize(
        ("content_type", "start", "expected"),
        [
            ("text/event-stream", b"data: 1\n\n", True),
            ("Text/Event-Stream; charset=utf-8", b": ping\n", True),
            ("text/event-stream", b"", True),
            ("text/event-stream", b'{"_meta": {}}', False),
            ("text/event-stream", b" \n[1]", False),
            ("text/event-stream", b"<html>", False),
            ("text/plain", b"data: 1\n\n", True),
            ("", b"\xef\xbb\xbfevent: start\n", True),
            ("application/json", b": ping\n", True),
            ("text/plain", b"database is down", False),
            ("application/json", b'{"data": 1}', False),
            ("", b"", False),
        ],
    )
    def test_the_bytes_have_the_last_word(
        self, content_type: str, start: bytes, expected: bool
    ) -> None:
        assert sse.is_event_stream(content_type, start) is expected


# Streams that are dense in what matters: line ends, field names, marks, broken UTF-8.
PIECES = st.one_of(
    st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b":", b" ", b"x", b"7", b"\0", b"\xff"]),
    st.sampled_from([b"data: ", b"data", b"event: ", b"id: ", b"retry: "]),
    st.sampled_from([b"\xef\xbb\xbf", b"\xef", "\u2028".encode(), b"\xc2\x85"]),
)
STREAMS = st.lists(PIECES, max_size=40).map(b"".join)


@st.composite
def chunked(draw: st.DrawFn) -> list[bytes]:
    stream = draw(STREAMS)
    cuts = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    return [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


class TestProperties:
    @given(chunked())
    def test_no_byte_is_lost(self, chunks: list[bytes]) -> None:
        blocks, rest = split(*chunks)
        assert b"".join(blocks) + rest == b"".join(chunks)

    @given(chunked())
    def test_events_do_not_depend_on_the_cuts(self, chunks: list[bytes]) -> None:
        (cut, cut_rest), (whole, whole_rest) = split(*chunks), split(b"".join(chunks))
        assert messages(cut) == messages(whole)
        assert sse.parse(cut_rest) == sse.parse(whole_rest)

    @given(STREAMS)
    def test_nor_where_it_is_cut_once(self, stream: bytes) -> None:
        expected = messages(split(stream)[0])
        for chunks in every_cut(stream):
            assert messages(split(*chunks)[0]) == expected

    @given(STREAMS)
    def test_the_same_as_httpx_sse(self, stream: bytes) -> None:
        """httpx-sse as an oracle, where the two mean to do the same.

        Known differences: httpx-sse does not know the byte order mark, keeps the last id for
        the events that follow (as a browser must), reads digits of any script in `retry`, and
        also dispatches events that have a name, an id or a retry but no data.
        """
        stream = stream.replace(b"\xef\xbb\xbf", b"")
        response = httpx.Response(
            200, headers={"Content-Type": "text/event-stream"}, content=stream
        )
        theirs = [
            (event.event, event.data)
            for event in httpx_sse.EventSource(response).iter_sse()
            if event.data
        ]
        ours = [
            (message.event or "message", message.data)
            for message in messages(split(stream)[0])
            if message.data
        ]
        assert ours == theirs


@pytest.mark.timeout(30)
def test_a_long_comment_is_not_read_again_with_every_piece() -> None:
    """In linear time: to read it again with every piece exceeds the timeout of this test."""
    splitter = sse.Splitter()
    assert splitter.feed(b":" + b"x" * 8 * 1024 * 1024 + b"\r") == []
    for _ in range(2_000):
        assert splitter.feed(b"a\r") == []
