"""Scenarios about time and size, byte for byte."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.demo.scenarios.wire import calling, play
from tests.support.playground_server import PlaygroundServer


class TestTiming:
    async def test_slow(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "slow", "?n=3&every=0.01")
        assert [name for name, _ in raw.events] == ["start", *["result"] * 3, "complete"]

    async def test_slow_sends_each_event_when_it_is_due(self, playground: PlaygroundServer) -> None:
        """With a minute between events, the first must not wait for the second."""
        async with calling(playground, "/demo/scenarios/slow/ask?every=60") as reader:
            await asyncio.wait_for(reader.readuntil(b"event: start"), 10)

    @pytest.mark.parametrize("slug", ["endless", "heartbeats"])
    async def test_goes_on(self, playground: PlaygroundServer, slug: str) -> None:
        mark = b"event: result" if slug == "endless" else b": still here\n\n"
        async with calling(playground, f"/demo/scenarios/{slug}/ask?every=0.001") as reader:
            for _ in range(200):
                await asyncio.wait_for(reader.readuntil(mark), 10)

    async def test_silent(self, playground: PlaygroundServer) -> None:
        async with calling(playground, "/demo/scenarios/silent/ask") as reader:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 0.3)

    async def test_flood(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "flood", "?n=1001")
        results = [data for name, data in raw.events if name == "result"]
        assert [data["index"] for data in results] == list(range(1001))
        assert len({data["item"]["url"] for data in results}) == 1001
        assert raw.events[-1][1]["_meta"]["total_items"] == 1001

    async def test_a_flood_is_of_20_000(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "flood")
        assert raw.body.count(b"event: result\n") == 20_000

    async def test_huge(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "huge")
        assert max(map(len, raw.body.split(b"\n"))) > 5_000_000
        whole = await play(playground, "huge", body={"prefer": {"streaming": False}})
        assert whole.headers["content-type"] == "application/json"
        assert len(json.loads(whole.body)["results"][0]["description"]) > 4_900_000
