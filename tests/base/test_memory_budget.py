"""What all runs may hold together, and who waits for whom."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from playground.base.limits import RunLimits
from playground.base.memory_budget import MINIMUM, RunMemory
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.transport import OutboundPolicy, Transport
from tests.support.servers import STREAM_HEAD, chunk, head, serve
from tests.transport.conftest import Recording, counter

MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def little_memory(settings: Any) -> None:
    settings.MAX_MEMORY = MIB // 4


async def test_a_run_waits_while_all_of_them_hold_too_much() -> None:
    large, other, small = RunMemory(), RunMemory(), RunMemory()
    large.add(200_000)
    other.add(MINIMUM + 1)
    small.add(MINIMUM)
    waiting = asyncio.create_task(other.wait_for_room())
    # A slow stream holds little, and goes on.
    await asyncio.wait_for(small.wait_for_room(), 5)
    await asyncio.sleep(0)
    assert not waiting.done()
    large.release(10)
    await asyncio.sleep(0)
    assert not waiting.done()
    large.close()
    await asyncio.wait_for(waiting, 5)
    assert large.held == 0


@pytest.mark.parametrize("is_stream", [True, False])
async def test_no_more_is_read_from_the_agents(is_stream: bool) -> None:
    """Nobody takes what the first one sends; the second one has to wait, and misses nothing."""
    event = b"data: " + b"x" * 1000 + b"\n\n"
    pieces = [chunk(event * 20)] * 100 + [b"0\r\n\r\n"]
    start = STREAM_HEAD if is_stream else head(content_type="a/b", transfer_encoding="chunked")
    async with serve(start, *pieces) as server:
        calls = []
        for _ in range(2):
            memory = RunMemory()
            transport = Transport(OutboundPolicy(), RunLimits(), memory=memory)
            frames = transport.send(HttpCall("GET", server.url), counter())
            calls.append((memory, frames, await anext(frames)))
        async with asyncio.timeout(20):
            while sum(memory.held for memory, *_ in calls) <= 200_000:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        # One slice each above it, at most.
        assert sum(memory.held for memory, *_ in calls) < MIB / 4 + 2 * 128 * 1024
        for memory, frames, first in calls:
            got = Recording(first)
            async with asyncio.timeout(20):
                async for batch in frames:
                    got += batch
            assert got[-1].kind is FrameKind.END
            assert got.body == event * 2000
            assert memory.held == 0
