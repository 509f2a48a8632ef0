"""Chunked bodies: cut beside h11, they are read as by httpcore, which leaves all to h11."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import httpcore
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from playground.transport.backend import Connection, Tap, TappedStream
from playground.transport.chunks import ChunkCutter

ORIGIN = httpcore.Origin(b"http", b"agent.example", 80)
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Reads(httpcore.AsyncNetworkStream):
    """A connection whose reads return these pieces, and then its end."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = iter([*pieces, b""])

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return next(self._pieces)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def get_extra_info(self, info: str) -> Any:
        return None


async def _no_wait() -> None:
    pass


def ours(pieces: list[bytes]) -> Connection:
    tap = Tap(lambda _tls, _reused: None, _no_wait, lambda _size: None, lambda: 0)
    return Connection(ORIGIN, "192.0.2.1", TappedStream(Reads(pieces), tap))


def httpcores(pieces: list[bytes]) -> httpcore.AsyncHTTP11Connection:
    return httpcore.AsyncHTTP11Connection(ORIGIN, Reads(pieces))


def read(connection: httpcore.AsyncHTTP11Connection, method: str = "GET") -> tuple[object, ...]:
    """What a caller sees of a response: its body, its error, whether the connection is kept."""

    async def body() -> tuple[object, ...]:
        data, error = bytearray(), ""
        try:
            async with connection.stream(method, "http://agent.example/") as response:
                async for piece in response.aiter_stream():
                    data += piece
        except httpcore.RemoteProtocolError as refused:
            error = str(refused)
        return bytes(data), error, connection.is_idle()

    return asyncio.run(body())


def at_each(data: bytes, cuts: list[int]) -> list[bytes]:
    """The pieces of `data` between the cuts."""
    edges = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]


def check(body: bytes, cuts: list[int], head: bytes = HEAD) -> None:
    whole = head + body
    for pieces in ([whole], [head, body], [bytes([byte]) for byte in whole], at_each(whole, cuts)):
        pieces = [piece for piece in pieces if piece]
        assert read(ours(pieces)) == read(httpcores(pieces)), pieces


data = st.one_of(
    st.binary(max_size=12), st.sampled_from((b"\r\n", b"0\r\n\r\n", b"5\r\n", b"x" * 300))
)
sizes = st.sampled_from(("%x", "%X", "%04x", "%020x"))
chunks = st.builds(
    lambda each, form: b"%b\r\n%b\r\n" % ((form % len(each)).encode(), each), data, sizes
)
ends = st.sampled_from(
    (b"0\r\n\r\n", b"0\r\nTrailer: x\r\n\r\n", b"000\r\n\r\n", b"0;x\r\n\r\n", b"")
)
bodies = st.builds(lambda each, end: b"".join(each) + end, st.lists(chunks, max_size=8), ends)
#: Bytes that replace others in a valid body.
faults = st.sampled_from(
    (b"", b"\n", b"\r", b"\r\n", b"\r\r\n", b" ", b"+", b"-1", b"0x5", b"5_0", b";a=b", b"g", b"\0",
     b"f" * 20, b"f" * 21, b"0" * 21, b"\xff", b"5 \r\n", b"5;\r\nabcde\r\n", b"5\nabcde\n")
)  # fmt: skip
positions = st.integers(0, 400)


class TestHttpcoreReadsTheSame:
    @given(bodies, st.lists(positions, max_size=6))
    def test_valid_bodies(self, body: bytes, cuts: list[int]) -> None:
        check(body, cuts)

    @given(bodies, st.lists(positions, max_size=6), positions, st.integers(0, 4), faults)
    @example(b"5\r\nabcde\r\n0\r\n\r\n", [], 8, 1, b"")
    def test_mutated_bodies(
        self, body: bytes, cuts: list[int], position: int, replaced: int, fault: bytes
    ) -> None:
        position = min(position, len(body))
        check(body[:position] + fault + body[position + replaced :], cuts)

    @pytest.mark.parametrize(
        "body",
        [
            b"5\r\nabcde\r\n" * 3 + b"0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",  # Another response.
            b"5\r\nabcdeX\r\n0\r\n\r\n",  # More data than the size.
            b"5\r\nabcde5\r\nabcde\r\n",  # Without the end of a chunk.
            b"5\nabcde\n0\n\n",  # Bare line feeds.
            b"-5\r\nabcde\r\n",
            b"+5\r\nabcde\r\n",
            b"0x5\r\nabcde\r\n",
            b"5_0\r\n" + b"x" * 80 + b"\r\n",
            b" 5\r\nabcde\r\n0\r\n\r\n",
            b"5 \r\nabcde\r\n0\r\n\r\n",
            b"5;name=value\r\nabcde\r\n5\r\nabcde\r\n0\r\n\r\n",
            b"5\r\nabcde\r\n" + b"f" * 20 + b"\r\nabc",
            b"5\r\nabcde\r\n" + b"f" * 21 + b"\r\nabc",
            b"5\r\nabcde\r\n" + b"1" * 200_000,
            b"5\r\nabcde\r\n5;" + b"x" * 200_000,
            b"5\r\nabcde\r\n0\r\nX: " + b"x" * 200_000,
            b"5\r\nabcde\r\n0\r\nX: 1\r\n bad\r\nline\r\n\r\n",
            b"5\r\nabcde\r\n\r\n5\r\nabcde\r\n",  # An empty size line.
            b"5\r\nabcde\r",
            b"5\r\nabc",
            b"5\r",
        ],
    )
    def test_refused_bodies(self, body: bytes) -> None:
        if len(body) < 1000:
            check(body, [])
        pieces = [HEAD, *at_each(body, list(range(0, len(body), 50_000)))]
        assert read(ours(pieces)) == read(httpcores(pieces))

    @pytest.mark.parametrize(
        "head",
        [
            b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 3\r\n\r\n",
            b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\n",
        ],
    )
    def test_other_framings(self, head: bytes) -> None:
        check(b"5\r\nabcde\r\n5\r\nabcde\r\n0\r\n\r\n", [], head)


def test_h11_gets_no_complete_chunk() -> None:
    cutter = ChunkCutter(b"5\r\nab")
    assert cutter.cut(b"cde\r\n1\r\nx\r\n2\r\nyz\r\n3") == (b"cde\r\n", [b"x", b"yz"], b"3")
    assert cutter.cut(b"\r\nabc\r\n1\r\nx\r\n0\r\n") == (b"\r\nabc\r\n", [b"x"], b"0\r\n")
    assert cutter.cut(b"\r\n") == (b"\r\n", [], b"")
