"""Successful calls: what is sent and recorded; cancellation; limits, each of which ends a run."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import OutboundPolicy, Transport
from tests.support.servers import HOLD, LAST_CHUNK, STREAM_HEAD, chunk, head, reply, serve
from tests.transport.conftest import Recording, is_gone, record, sending

OK = reply(b"{}")
GZIP_HEAD = head(content_type="text/event-stream", content_encoding="gzip")


class TestRequest:
    @pytest.mark.parametrize(
        "call",
        [
            HttpCall("GET", "/ask?query=caf%C3%A9&x=a+b"),
            HttpCall("POST", "/ask", (("content-TYPE", "application/json"),), b'{"a": "\xc3\xa9"}'),
            HttpCall("POST", "/ask"),
            HttpCall("DELETE", "/session", (("Mcp-Session-Id", "1"), ("X-Twice", "a"))),
            HttpCall(
                "POST",
                "/ask",
                (("X-Twice", "a"), ("B", ""), ("x-twice", "b"), ("Accept-Encoding", "gzip")),
                b"x" * 100_000,
            ),
            HttpCall("GET", "/ask", (("X-Name", "é"), ("Host", "other.example"))),
        ],
        ids=["query", "body", "empty post", "delete", "order and spelling", "own host"],
    )
    async def test_the_call_frame_is_what_was_sent(self, call: HttpCall) -> None:
        async with serve(OK) as server:
            call = HttpCall(call.method, server.url + call.url, call.headers, call.body)
            frames = await record("", call=call)
        assert frames.of(FrameKind.CALL) == server.requests
        assert frames.kinds == ["CALL", "OPEN", "HEAD", "BODY", "END"]

    async def test_only_what_http_demands_is_added(self) -> None:
        async with serve(OK) as server:
            await record("", call=HttpCall("POST", f"{server.url}/ask", (("A", "1"),), b"{}", True))
        assert server.requests == [
            b"POST /ask HTTP/1.1\r\n"
            b"Host: 127.0.0.1:%d\r\n"
            % server.port
            + b"A: 1\r\nAccept-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}"
        ]

    async def test_a_path_is_written_as_a_url_demands(self) -> None:
        async with serve(OK) as server:
            frames = await record(f"{server.url}/é?q=ü#part")
        assert server.requests[0].startswith(b"GET /%C3%A9?q=%C3%BC HTTP/1.1\r\n")
        assert frames.of(FrameKind.CALL) == server.requests

    async def test_cookies_and_proxies_are_ignored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
        transport = Transport(OutboundPolicy(), RunLimits())
        cookie = head("204 No Content", set_cookie="session=abc; Path=/")
        async with serve(cookie) as server:
            await record(server.url, transport=transport)
            frames = await record(server.url, transport=transport)
        assert frames.kinds == ["CALL", "OPEN", "HEAD", "END"]
        assert b"ookie" not in server.requests[1]


class TestResponse:
    async def test_the_head_keeps_its_spelling(self) -> None:
        start = b"HTTP/1.1 418 I'm a  Teapot\r\nx-LOWER: a\r\nX-Two: 1\r\nx-two: 2\r\n\r\n"
        async with serve(start) as server:
            frames = await record(server.url)
        assert frames.of(FrameKind.HEAD) == [start]

    async def test_events_heartbeats_and_the_unfinished_end(self) -> None:
        events = [b"event: start\ndata: 1\n\n", b": ping\n\n", b"data: 2\r\n\r\n", b"data: 3\n"]
        async with serve(STREAM_HEAD, *map(chunk, events), LAST_CHUNK) as server:
            frames = await record(server.url)
        assert frames.kinds[3:] == ["EVENT", "COMMENT", "EVENT", "TAIL", "END"]
        assert [frame.data for frame in frames[3:-1]] == events

    async def test_an_event_shows_before_the_next_one_comes(self) -> None:
        seen = asyncio.Event()
        script = (STREAM_HEAD, chunk(b"data: 1\n\n"), seen, chunk(b"data: 2\n\n"), LAST_CHUNK)
        got: list[bytes] = []
        async with serve(*script) as server:
            async for batch in sending(server.url):
                got += [frame.data for frame in batch if frame.kind is FrameKind.EVENT]
                if got:
                    seen.set()
        assert got == [b"data: 1\n\n", b"data: 2\n\n"]

    async def test_one_read_gives_one_list(self) -> None:
        body = b"".join(chunk(b"data: %d\n\n" % number) for number in range(500))
        async with serve(STREAM_HEAD + body + LAST_CHUNK) as server:
            batches = sending(server.url)
            sizes = [
                sum(frame.kind is FrameKind.EVENT for frame in batch) async for batch in batches
            ]
        assert sum(sizes) == 500
        assert max(sizes) > 100

    async def test_open_names_the_peer_as_the_url_does(self, resolver) -> None:  # type: ignore[no-untyped-def]
        resolver(["127.0.0.1"])
        async with serve(OK) as server:
            frames = await record(f"http://agent.example:{server.port}/")
        (opened,) = frames.of(FrameKind.OPEN)
        assert json.loads(opened) == {"tls": None, "peer": f"agent.example:{server.port}"}
        assert b"Host: agent.example:%d\r\n" % server.port in server.requests[0]

    @pytest.mark.parametrize(
        "status", ["301 Moved", "302 Found", "303 See Other", "307 T", "308 P"]
    )
    @pytest.mark.parametrize("location", ["/elsewhere", "https://other.example/", "http://[:x"])
    async def test_redirects_are_shown_and_not_followed(self, status: str, location: str) -> None:
        async with serve(head(status, location=location, content_length="0")) as server:
            frames = await record(server.url)
        assert frames.kinds == ["CALL", "OPEN", "HEAD", "END"]
        assert f"Location: {location}".encode() in frames[2].data
        assert len(server.requests) == 1

    async def test_a_body_that_ends_with_the_connection(self) -> None:
        async with serve(head(content_type="text/plain"), b"hello ", b"world") as server:
            frames = await record(server.url)
        assert frames.body == b"hello world"
        assert frames[-1].kind is FrameKind.END

    async def test_early_answers_and_interim_heads(self) -> None:
        async with serve(b"HTTP/1.1 100 Continue\r\n\r\n" + OK) as server:
            frames = await record("", call=HttpCall("POST", server.url, (), b"x"))
        assert frames.of(FrameKind.HEAD)[0].startswith(b"HTTP/1.1 200")

    async def test_json_labelled_as_a_stream_is_a_body(self) -> None:
        async with serve(STREAM_HEAD, chunk(b'{"a":'), chunk(b" 1}"), LAST_CHUNK) as server:
            frames = await record(server.url)
        assert set(frames.kinds[3:-1]) == {"BODY"}
        assert frames.body == b'{"a": 1}'


class TestStop:
    @pytest.mark.parametrize(
        "script",
        [(HOLD,), (STREAM_HEAD, HOLD), (STREAM_HEAD, chunk(b"data: 1\n\n"), HOLD)],
        ids=["before the head", "before an event", "between events"],
    )
    async def test_cancelling_closes_the_connection(self, script: tuple[object, ...]) -> None:
        async with serve(*script) as server:  # type: ignore[arg-type]
            task = asyncio.create_task(record(server.url))
            await server.asked.wait()
            task.cancel()
            async with asyncio.timeout(20):
                await server.gone.wait()
                with pytest.raises(asyncio.CancelledError):
                    await task

    async def test_closing_the_generator_closes_the_connection(self) -> None:
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\n"), HOLD) as server:
            frames = sending(server.url)
            async for batch in frames:
                if batch[-1].kind is FrameKind.EVENT:
                    break
            await frames.aclose()
            await is_gone(server)

    async def test_what_had_come_is_not_lost(self) -> None:
        body = b"".join(b"data: %d\n\n" % number for number in range(2000)) + b"data: cut"
        transport = Transport(OutboundPolicy(), RunLimits())
        frames = Recording()
        async with serve(STREAM_HEAD, chunk(body), HOLD) as server:
            batches = sending(server.url, transport)
            async for batch in batches:
                frames += batch
                if FrameKind.EVENT in {frame.kind for frame in batch}:
                    break
            await batches.aclose()
            await is_gone(server)
        assert len(frames) < 2000
        lists = list(transport.unread_frames())
        assert max(map(len, lists)) <= 500
        for left in lists:
            frames += left
        assert frames.body == body
        assert frames.kinds[-2:] == ["EVENT", "TAIL"]
        assert [frame.at_us for frame in frames] == sorted(frame.at_us for frame in frames)
        assert list(transport.unread_frames()) == []

    async def test_what_was_still_compressed_is_not_lost(self) -> None:
        events = b"data: 1\n\n" * 90_000
        script = GZIP_HEAD + gzip.compress(events)
        transport = Transport(OutboundPolicy(), RunLimits())
        frames = Recording()

        async def read() -> None:
            async for batch in sending(server.url, transport):
                frames.extend(batch)
                if batch[-1].kind is FrameKind.EVENT:
                    reading.set()
                    await asyncio.Event().wait()

        reading = asyncio.Event()
        async with serve(script, HOLD) as server:
            task = asyncio.create_task(read())
            await reading.wait()
            task.cancel()
            await asyncio.wait([task])
            await is_gone(server)
        assert len(frames) <= 1000
        for left in transport.unread_frames():
            frames += left
        assert frames.body == events

    async def test_a_limit_ends_what_is_left(self) -> None:
        transport = Transport(OutboundPolicy(), RunLimits(max_frames=100))
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\n" * 200), HOLD) as server:
            batches = sending(server.url, transport)
            await anext(batches)
            await server.asked.wait()
            await batches.aclose()
        assert sum(map(len, transport.unread_frames())) <= 100


async def test_the_event_loop_breathes_while_much_is_unpacked() -> None:
    """A few kilobytes that become 90,000 events, and as many chunks of one byte."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    events = b"data: 1\n\n" * 90_000
    tiny = head(content_type="text/plain", transfer_encoding="chunked") + chunk(b"x") * 5000
    for script, least in ((GZIP_HEAD + gzip.compress(events), 180), (tiny + LAST_CHUNK, 20)):
        async with serve(script) as server:
            task = asyncio.create_task(other())
            turns = 0
            batches = sending(server.url)
            lists = [len(batch) async for batch in batches]
            task.cancel()
        assert max(lists) <= 500
        assert turns >= least


def crossed(problem: Problem) -> tuple[str, Stage, str | None]:
    assert problem.fix
    return problem.state, problem.stage, problem.limit


class TestSize:
    async def test_bytes_of_a_body(self) -> None:
        async with serve(reply(b"x" * 5000, "text/plain")) as server:
            frames = await record(server.url, limits=RunLimits(max_bytes=1000))
        assert frames.body == b"x" * 1000
        assert crossed(frames.problem) == ("refused", Stage.LIMIT, "max_bytes")
        assert "1,000" in frames.problem.cause

    async def test_bytes_of_a_stream(self) -> None:
        event = b"data: 0123456789\n\n"
        async with serve(STREAM_HEAD, chunk(event * 10), HOLD) as server:
            frames = await record(server.url, limits=RunLimits(max_bytes=len(event) * 2 + 5))
            await is_gone(server)
        assert frames.of(FrameKind.EVENT) == [event, event]
        assert frames.of(FrameKind.TAIL) == [event[:5]]
        assert frames.problem.limit == "max_bytes"

    async def test_frames(self) -> None:
        events = [b"data: %d\n\n" % number for number in range(50)]
        async with serve(STREAM_HEAD, chunk(b"".join(events)), LAST_CHUNK) as server:
            frames = await record(server.url, limits=RunLimits(max_frames=10))
        assert len(frames) == 11
        assert frames.of(FrameKind.EVENT) == events[:7]
        assert crossed(frames.problem) == ("refused", Stage.LIMIT, "max_frames")

    @pytest.mark.parametrize(("limit", "most"), [("max_bytes", 1000), ("max_frames", 6)])
    async def test_those_of_a_run_are_for_all_its_calls(self, limit: str, most: int) -> None:
        transport = Transport(OutboundPolicy(), RunLimits(**{limit: most}))
        async with serve(reply(b"x" * 600, "text/plain")) as server:
            assert (await record(server.url, transport=transport))[-1].kind is FrameKind.END
            second = await record(server.url, transport=transport)
        assert second.problem.limit == limit
        assert limit == "max_frames" or len(second.body) == 400

    async def test_a_line_of_five_megabytes(self) -> None:
        line = b"data: " + b"x" * 5 * 1024 * 1024
        script = (STREAM_HEAD, chunk(b"data: 1\n\n" + line + b"\n\n"), LAST_CHUNK)
        async with serve(*script) as server:
            frames = await record(server.url)
        assert frames.of(FrameKind.EVENT) == [b"data: 1\n\n", line + b"\n\n"]
        async with serve(*script) as server:
            frames = await record(server.url, limits=RunLimits(max_bytes=1024 * 1024))
        assert crossed(frames.problem) == ("refused", Stage.LIMIT, "max_bytes")
        (tail,) = frames.of(FrameKind.TAIL)
        assert line.startswith(tail)
        assert len(tail) == 1024 * 1024 - len(b"data: 1\n\n")

    async def test_interim_responses(self) -> None:
        most = RunLimits().max_interim_responses
        async with serve(head("103 Early Hints") * most, reply(b"{}")) as server:
            assert (await record(server.url))[-1].kind is FrameKind.END
        async with serve(head("100 Continue") * (most + 1), HOLD) as server:
            frames = await record(server.url)
            await is_gone(server)
        assert crossed(frames.problem) == ("refused", Stage.LIMIT, "max_interim_responses")

    async def test_interim_responses_count_as_frames_and_bytes(self) -> None:
        interim = head("103 Early Hints", link="x" * 1000)
        async with serve(interim * 10, reply(b"{}")) as server:
            few_bytes = await record(server.url, limits=RunLimits(max_bytes=9000))
            few_frames = await record(server.url, limits=RunLimits(max_frames=9))
        assert crossed(few_bytes.problem) == ("refused", Stage.LIMIT, "max_bytes")
        assert crossed(few_frames.problem) == ("refused", Stage.LIMIT, "max_frames")

    @pytest.mark.parametrize("status", ["103 Early Hints", "200 OK"])
    async def test_lines_of_a_head(self, status: str) -> None:
        heads = [head(status)[:-2] + b"a:\r\n" * lines + b"\r\n" for lines in (998, 999)]
        async with serve(heads[0] * 2, reply(b"{}")) as server:
            assert (await record(server.url))[-1].kind is FrameKind.END
        async with serve(heads[1], HOLD) as server:
            problem = (await record(server.url)).problem
        assert problem
        assert "more than 1,000 lines" in problem.detail


class TestTime:
    async def test_no_head(self) -> None:
        async with serve(HOLD) as server:
            frames = await record(server.url, limits=RunLimits(idle_timeout=0.2))
        assert frames.kinds == ["CALL", "OPEN", "ERROR"]
        assert crossed(frames.problem) == ("failed", Stage.HEADERS, "idle_timeout")

    async def test_silence_in_the_body(self) -> None:
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\ndata: 2\n"), HOLD) as server:
            frames = await record(server.url, limits=RunLimits(idle_timeout=1.0))
        assert frames.kinds[3:] == ["EVENT", "TAIL", "ERROR"]
        assert crossed(frames.problem) == ("failed", Stage.BODY, "idle_timeout")

    async def test_heartbeats_do_not_stretch_the_whole(self) -> None:
        beats = (chunk(b": ping\n\n"), 0.05) * 1000
        async with serve(STREAM_HEAD, *beats) as server:
            frames = await record(server.url, limits=RunLimits(total_timeout=0.5))
        assert "COMMENT" in frames.kinds
        assert crossed(frames.problem) == ("failed", Stage.BODY, "total_timeout")

    async def test_the_whole_is_that_of_all_calls(self) -> None:
        transport = Transport(OutboundPolicy(), RunLimits(total_timeout=0.3))
        async with serve(head(), HOLD) as server:
            await record(server.url, transport=transport)
            frames = await record(server.url, transport=transport)
        assert frames.kinds == ["CALL", "ERROR"]
        assert crossed(frames.problem) == ("failed", Stage.CONNECT, "total_timeout")

    async def test_a_request_that_is_not_read(self) -> None:
        async with serve(10.0, read=False) as server:
            call = HttpCall("POST", server.url, (), b"x" * 50_000_000)
            frames = await record("", call=call, limits=RunLimits(idle_timeout=0.3))
        assert crossed(frames.problem) == ("failed", Stage.SEND, "idle_timeout")

    async def test_a_limit_does_not_cancel_whoever_reads_the_frames(self) -> None:
        transport = Transport(OutboundPolicy(), RunLimits(total_timeout=0.2))
        frames = Recording()
        async with serve(STREAM_HEAD, chunk(b"data: 1\n\n"), HOLD) as server:
            async for batch in sending(server.url, transport):
                frames += batch
                if batch[-1].kind is FrameKind.EVENT:
                    await server.gone.wait()  # the time runs out while the frames are saved
        assert frames.problem.limit == "total_timeout"
