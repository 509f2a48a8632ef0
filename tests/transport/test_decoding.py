"""Compressed responses, decoded in bounded steps; event streams as a standard client reads them."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib

import pytest

from playground.base.limits import RunLimits
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Stage
from playground.transport.decoding import DecodeError, decoder_for
from playground.transport.sse_reference import NotAStreamError, standard_client
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, chunk, head, serve
from tests.transport.conftest import record, sending

TEXT = b'{"name": "' + b"soup " * 1000 + b'"}'
GZIP_STREAM = STREAM_HEAD[:-2] + b"Content-Encoding: gzip\r\n\r\n"


def raw_deflate(data: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return coder.compress(data) + coder.flush()


CODED = [
    ("gzip", gzip.compress(TEXT, mtime=0)),
    ("x-gzip", gzip.compress(TEXT, mtime=0)),
    ("GZIP", gzip.compress(TEXT, mtime=0)),
    ("identity, gzip", gzip.compress(TEXT, mtime=0)),
    ("gzip", gzip.compress(TEXT[:100], mtime=0) + gzip.compress(TEXT[100:], mtime=0)),
    ("deflate", zlib.compress(TEXT)),
    ("deflate", raw_deflate(TEXT)),
    ("identity", TEXT),
    ("", TEXT),
]


@pytest.mark.parametrize(("coding", "data"), CODED)
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_pieces_of_any_size(coding: str, data: bytes, size: int) -> None:
    decoder = decoder_for(coding)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert b"".join(decoder.decode(piece, 10_000) for piece in pieces) == TEXT
    assert decoder.complete


@pytest.mark.parametrize(("coding", "data"), CODED)
def test_output_is_bounded(coding: str, data: bytes) -> None:
    assert decoder_for(coding).decode(data, 50) == TEXT[:50]


@pytest.mark.parametrize(("coding", "data"), CODED[:-2])
def test_an_early_end_is_noticed(coding: str, data: bytes) -> None:
    decoder = decoder_for(coding)
    assert decoder.complete
    decoder.decode(data[:-1], 10_000)
    assert not decoder.complete


@pytest.mark.parametrize("size", [1, 100_000])
def test_what_comes_before_an_error_is_readable(size: int) -> None:
    data = gzip.compress(TEXT, mtime=0)
    data = data[:-8] + b"\0\0\0\0" + data[-4:]  # a wrong checksum
    decoder = decoder_for("gzip")
    readable = b""
    with pytest.raises(DecodeError) as caught:  # noqa: PT012
        for start in range(0, len(data), size):
            readable += decoder.decode(data[start : start + size], 10_000)
    assert readable + caught.value.readable == TEXT


async def test_events_show_one_by_one() -> None:
    coder = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    events = [b"data: %d\n\n" % number for number in range(3)]
    pieces = [chunk(coder.compress(event) + coder.flush(zlib.Z_SYNC_FLUSH)) for event in events]
    gates = [asyncio.Event() for _ in events]
    script = [step for pair in zip(pieces, gates, strict=True) for step in pair]
    got: list[bytes] = []
    async with serve(GZIP_STREAM, *script, chunk(coder.flush()), LAST_CHUNK) as server:
        async for batch in sending(server.url):
            for frame in batch:
                if frame.kind is FrameKind.EVENT:
                    gates[len(got)].set()
                    got.append(frame.data)
    assert got == events


async def test_a_bomb() -> None:
    bomb = gzip.compress(b"\0" * 200_000_000, 9, mtime=0)
    start = head(content_encoding="gzip", content_type="application/json")
    async with serve(start, bomb) as server:
        tracemalloc.start()
        frames = await record(server.url, limits=RunLimits(max_bytes=1_000_000))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert frames.problem.limit == "max_bytes"
    assert len(frames.body) == 1_000_000
    assert peak < 20_000_000


async def test_a_body_that_is_not_what_it_says() -> None:
    start = head(content_encoding="gzip", content_type="application/json", content_length="2")
    async with serve(start + b"{}") as server:
        frames = await record(server.url)
    assert (frames.problem.state, frames.problem.stage) == ("failed", Stage.DECODE)
    assert frames.problem.detail


async def test_compressed_data_that_ends_early() -> None:
    data = gzip.compress(TEXT, mtime=0)[:-4]
    start = head(
        content_encoding="gzip", content_type="application/json", content_length=str(len(data))
    )
    async with serve(start + data) as server:
        frames = await record(server.url)
    assert frames.body == TEXT
    assert (frames.problem.state, frames.problem.stage) == ("truncated", Stage.DECODE)


async def test_a_bomb_of_tiny_events() -> None:
    bomb = gzip.compress(b"data\n\n" * 1_300_000, mtime=0)
    start = head(content_encoding="gzip", content_type="text/event-stream")
    async with serve(start, bomb) as server:
        tracemalloc.start()
        frames = await record(server.url, limits=RunLimits(max_bytes=8_000_000, max_frames=1000))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert frames.problem.limit == "max_frames"
    assert len(frames) == 1001
    assert peak < 40_000_000


STREAM = "text/event-stream"


@pytest.mark.parametrize("media_type", [STREAM, STREAM + "; charset=utf-8"])
def test_a_standard_client_reads_events(media_type: str) -> None:
    """Without comments and an unfinished event; other separators in data do not split."""
    stream = ": ping\n\nevent: result\nid: 7\ndata: a\ndata: b\n\ndata: c\u2028d\u0085e\n\ndata: 2"
    events = standard_client(media_type, stream.encode())
    assert [(event.event, event.id, event.data) for event in events] == [
        ("result", "7", "a\nb"),
        ("message", "7", "c\u2028d\u0085e"),
    ]


@pytest.mark.parametrize("media_type", ["text/plain", "application/json", "", "bad type"])
def test_another_media_type_is_an_error_for_a_standard_client(media_type: str) -> None:
    with pytest.raises(NotAStreamError) as caught:
        standard_client(media_type, b"data: 1\n\n")
    assert "text/event-stream" in str(caught.value)
