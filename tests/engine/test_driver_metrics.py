"""Metrics of runs: what a run that is driven adds to them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from playground.broadcast import run_feeds
from playground.limits import RunLimits
from playground.rendering.live import RunUpdates
from tests.engine.conftest import Send
from tests.support.metrics import Growth, value
from tests.support.servers import HOLD, LAST_CHUNK, STREAM_HEAD, chunk, free_port, reply, serve

pytestmark = pytest.mark.database

Begin = Callable[..., Awaitable[Any]]

START = b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
RESULT = b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Eggs"}}\n\n'
COMPLETE = b'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'


@pytest.fixture
def growth() -> Growth:
    return Growth()


class TestRuns:
    async def test_a_run_that_completes(self, send: Send, growth: Growth) -> None:
        script = (STREAM_HEAD, chunk(START), chunk(RESULT), chunk(COMPLETE), LAST_CHUNK)
        async with serve(*script) as server:
            run = await send(server.url)
        assert growth.of("playground_runs_ended_total", state="completed") == 1
        assert growth.of("playground_stored_frames_total") == run.frames
        assert growth.of("playground_stored_events_total") == run.events == 3
        assert growth.of("playground_stored_bytes_total") == run.bytes + run.other_bytes
        assert value("playground_runs_in_progress") == 0

    async def test_one_in_progress(self, begin: Begin, growth: Growth) -> None:
        async with serve(STREAM_HEAD, chunk(START), HOLD) as server:
            _, task = await begin(server.url)
            while not growth.of("playground_stored_frames_total"):
                await asyncio.sleep(0.01)
            assert value("playground_runs_in_progress") == 1
            task.cancel()
            await asyncio.wait({task})
        assert value("playground_runs_in_progress") == 0

    async def test_one_that_a_limit_ends(self, send: Send, growth: Growth) -> None:
        async with serve(reply(b'{"_meta": {}}' + b" " * 100)) as server:
            await send(server.url, limits=RunLimits(max_bytes=50))
        assert growth.of("playground_runs_ended_total", state="refused") == 1
        assert growth.of("playground_limits_exceeded_total", limit="max_bytes") == 1

    async def test_one_that_cannot_connect(self, send: Send, growth: Growth) -> None:
        await send(f"http://127.0.0.1:{free_port()}")
        assert growth.of("playground_runs_ended_total", state="failed") == 1
        assert growth.of("playground_stored_events_total") == 0


class Viewer:
    """A page that watches a run, without a socket."""

    token = ""

    def __init__(self) -> None:
        self.is_current = asyncio.Event()
        self.ended = asyncio.Event()

    def send_html(self, html: str) -> None:
        self.is_current.set()

    def end(self, error: BaseException | None = None) -> None:
        self.ended.set()


async def test_delays_of_a_run_with_a_viewer(begin: Begin, growth: Growth) -> None:
    """A flush whose frames are handed over is one observation, the last one included.

    Frames that the viewer reads from the database when it joins are none.
    """
    viewer = Viewer()
    script = (chunk(START), viewer.is_current, chunk(RESULT), chunk(COMPLETE), LAST_CHUNK)
    async with serve(STREAM_HEAD, *script) as server:
        run, task = await begin(server.url)
        await run_feeds().join(viewer, RunUpdates(run.pk, 0))
        await task
        await asyncio.wait_for(viewer.ended.wait(), 10)
    assert growth.of("playground_delivery_seconds_count") >= 1
    assert 0 < growth.of("playground_delivery_seconds_sum") < 10
