"""Failed calls: state, stage, helpful texts, and everything received is kept."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import OutboundPolicy, Transport
from tests.support.servers import (
    RESET,
    STREAM_HEAD,
    Step,
    chunk,
    free_port,
    head,
    serve,
)
from tests.transport.conftest import record

CAPTURES = Path(__file__).parent.parent / "captures"


def verdict(problem: Problem) -> tuple[str, Stage]:
    assert problem.cause.endswith(".")
    assert problem.fix.endswith(".")
    return problem.state, problem.stage


class TestConnecting:
    async def test_refused_connection(self) -> None:
        port = free_port()
        frames = await record(f"http://127.0.0.1:{port}/ask")
        assert frames.kinds == ["CALL", "ERROR"]
        assert verdict(frames.problem) == ("failed", Stage.CONNECT)
        assert f"Nothing listens on 127.0.0.1:{port}" in frames.problem.cause

    @pytest.mark.parametrize(
        ("error", "words"),
        [
            (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "could not be"),
            (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "did not respond"),
            (UnicodeError("label too long"), "could not be"),
        ],
    )
    async def test_a_name_without_address(self, resolver, error: Exception, words: str) -> None:  # type: ignore[no-untyped-def]
        resolver(error)
        frames = await record("http://nowhere.invalid/ask")
        assert frames.kinds == ["CALL", "ERROR"]
        assert verdict(frames.problem) == ("failed", Stage.RESOLVE)
        assert "nowhere.invalid" in frames.problem.cause
        assert words in frames.problem.cause

    @pytest.mark.parametrize(
        "url", ["ftp://agent.example/", "http://u:hunter2@agent.example/", "x"]
    )
    async def test_a_url_that_is_none(self, url: str) -> None:
        frames = await record(url)
        assert frames.kinds == ["CALL", "ERROR"]
        assert verdict(frames.problem) == ("refused", Stage.POLICY)
        assert b"hunter2" not in b"".join(frame.data for frame in frames)

    @pytest.mark.parametrize(
        "call",
        [
            HttpCall("GET", "/", (("X-Bad", "a\r\nX-Injected: b"),)),
            HttpCall("GET", "/", (("X Bad", "a"),)),
            HttpCall("GET", "/", (("X-Ünicode", "a"),)),
            HttpCall("GE T", "/"),
            HttpCall("POST", "/", (("Content-Length", "1"),), b"abc"),
            HttpCall("POST", "/", (("Content-Length", "9"),), b"abc"),
            HttpCall("POST", "/", (("Transfer-Encoding", "chunked"),), b"abc"),
        ],
        ids=["line break", "space", "not ascii", "method", "too short", "too long", "chunked"],
    )
    async def test_a_request_that_is_not_http(self, call: HttpCall) -> None:
        async with serve(head()) as server:
            frames = await record(
                "", call=HttpCall(call.method, server.url + call.url, call.headers, call.body)
            )
        assert verdict(frames.problem) == ("failed", Stage.SEND)
        assert not any(b"\r\nX-Injected" in request for request in server.requests)


class TestHead:
    @pytest.mark.parametrize(
        ("script", "words"),
        [
            ((), "without a response"),
            ((RESET,), "without a response"),
            ((b"HTTP/1.1 200 OK\r\nContent-",), "not an HTTP/1.1 response"),
            ((b"SSH-2.0-OpenSSH_9.6\r\n",), "not an HTTP/1.1 response"),
            ((b"\x15\x03\x01\x00\x02\x02\x0a",), "speaks TLS"),
            ((b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,), "not an HTTP/1.1 response"),
        ],
        ids=["closed", "reset", "cut", "other protocol", "tls", "endless"],
    )
    async def test_no_head(self, script: tuple[Step, ...], words: str) -> None:
        async with serve(*script) as server:
            frames = await record(server.url)
        assert frames.kinds == ["CALL", "OPEN", "ERROR"]
        assert verdict(frames.problem) == ("failed", Stage.HEADERS)
        assert words in frames.problem.cause

    async def test_what_came_instead_of_a_head_is_shown(self) -> None:
        async with serve(b"SSH-2.0-OpenSSH_9.6\r\n\x00\x07") as server:
            frames = await record(server.url)
        assert "SSH-2.0-OpenSSH_9.6" in frames.problem.detail
        assert frames.problem.detail.isprintable() or "\x00" not in frames.problem.detail


class TestBody:
    EVENT = b"data: 1\n\n"

    @pytest.mark.parametrize(
        "end",
        [
            (chunk(b"data: 2\n\n")[:-6],),
            (b"zz\r\n",),
            (),
            (0.05, RESET),
            (b"5",),
        ],
        ids=["cut chunk", "broken chunk", "no last chunk", "reset", "cut chunk size"],
    )
    async def test_a_stream_that_breaks_off(self, end: tuple[Step, ...]) -> None:
        async with serve(STREAM_HEAD, chunk(self.EVENT), *end) as server:
            frames = await record(server.url)
        assert frames.of(FrameKind.EVENT) == [self.EVENT]
        assert verdict(frames.problem) == ("truncated", Stage.BODY)

    async def test_what_came_of_the_next_event_is_kept(self) -> None:
        async with serve(STREAM_HEAD, chunk(self.EVENT), b"20\r\ndata: 2") as server:
            frames = await record(server.url)
        assert frames.kinds[3:] == ["EVENT", "TAIL", "ERROR"]
        assert frames.of(FrameKind.TAIL) == [b"data: 2"]

    async def test_a_content_length_that_is_not_reached(self) -> None:
        start = head(content_type="application/json", content_length="100")
        async with serve(start + b'{"a": 1') as server:
            frames = await record(server.url)
        assert frames.body == b'{"a": 1'
        assert verdict(frames.problem) == ("truncated", Stage.BODY)
        assert "connection was lost" in frames.problem.cause

    @pytest.mark.parametrize("size", [1, 7, 100_000])
    async def test_a_second_head_inside_the_body(self, size: int) -> None:
        capture = CAPTURES / "ask_agent" / "rawsocket_stream_failure_midstream.txt"
        raw = capture.read_bytes()
        pieces = [raw[start : start + size] for start in range(0, len(raw), size)]
        async with serve(*pieces) as server:
            frames = await record(server.url)
        assert frames.kinds == ["CALL", "OPEN", "HEAD", "EVENT", "ERROR"]
        assert b'"response_type": "Answer"' in frames.body
        assert verdict(frames.problem) == ("truncated", Stage.BODY)
        assert "HTTP/1.1 200 OK" in frames.problem.detail
        assert "second response" in frames.problem.fix

    @pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br", "nonsense"])
    async def test_an_unknown_encoding(self, encoding: str) -> None:
        start = head(content_type="application/json", content_encoding=encoding)
        async with serve(start + b"\x0b\x02\x80{}\x03") as server:
            frames = await record(server.url)
        assert frames.kinds == ["CALL", "OPEN", "HEAD", "ERROR"]
        assert verdict(frames.problem) == ("failed", Stage.DECODE)
        assert encoding in frames.problem.cause

    async def test_an_unknown_encoding_of_nothing(self) -> None:
        async with serve(head("204 No Content", content_encoding="br")) as server:
            frames = await record(server.url)
        assert frames[-1].kind is FrameKind.END

    async def test_a_failed_call_does_not_spoil_the_next(self) -> None:
        transport = Transport(OutboundPolicy(), RunLimits())
        scripts = iter([(RESET,), (head(content_length="0"),)])
        async with serve(answer=lambda _: next(scripts)) as server:
            assert (await record(server.url, transport=transport)).problem.stage == "headers"
            frames = await record(server.url, transport=transport)
        assert frames[-1].kind is FrameKind.END
