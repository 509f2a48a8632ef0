"""Limits of a run: each ends it with its name, and earlier frames stay."""

from __future__ import annotations

import asyncio

import pytest

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import OutboundPolicy, Transport
from tests.support.servers import HOLD, LAST_CHUNK, STREAM_HEAD, chunk, head, reply, serve
from tests.transport.conftest import Recording, counter, record


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
            async with asyncio.timeout(20):
                await server.gone.wait()
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
            async with asyncio.timeout(20):
                await server.gone.wait()
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
            async for batch in transport.send(HttpCall("GET", server.url), counter()):
                frames += batch
                if batch[-1].kind is FrameKind.EVENT:
                    await server.gone.wait()  # the time runs out while the frames are saved
        assert frames.problem.limit == "total_timeout"
