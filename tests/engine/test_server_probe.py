"""Probes of a server before a run."""

from __future__ import annotations

import asyncio

from playground.engine.calls import MAX_PROBES, probe
from playground.protocols import mcp
from playground.protocols.exchange import Target
from tests.support.servers import HOLD, serve


async def test_one_user_has_a_few_at_once_and_nobody_else_waits_for_them() -> None:
    async with serve(HOLD) as server:
        looks = [
            asyncio.create_task(probe(mcp.list_tools(Target(server.url)), owner=1))
            for _ in range(MAX_PROBES)
        ]
        await server.asked.wait()
        _, refused = await probe(mcp.list_tools(Target(server.url)), owner=1)
        assert refused
        assert (refused.state, refused.stage) == ("refused", "limit")
        _, other = await probe(mcp.list_tools(Target("http://127.0.0.1:1/mcp")), owner=2)
        assert other
        assert other.stage == "connect"
        for look in looks:
            look.cancel()
        await asyncio.gather(*looks, return_exceptions=True)
        _, again = await probe(mcp.list_tools(Target("http://127.0.0.1:1/mcp")), owner=1)
        assert again
        assert again.stage == "connect"
