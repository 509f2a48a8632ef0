"""Scenarios in which the transfer breaks off, byte for byte."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from playground.demo.scenarios.hangup import hang_up
from tests.demo.scenarios.wire import play
from tests.support.playground_server import PlaygroundServer


class TestConnections:
    async def test_truncated(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "truncated", "?every=0.01")
        assert raw.whole
        last = raw.body.rpartition(b"\n\n")[2]
        assert last.startswith(b"event: result\ndata: {")
        assert not last.endswith(b"}")

    async def test_dirty_close(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "dirty-close", "?every=0.01")
        assert not raw.whole
        assert not raw.reset
        assert raw.body.count(b"event: result\n") == 3
        assert not raw.body.endswith(b"\n\n")

    async def test_reset(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "reset", "?every=0.05")
        assert raw.reset
        assert not raw.whole
        assert raw.body.count(b"event: result\n") == 3

    async def test_the_server_survives(self, playground: PlaygroundServer) -> None:
        for slug in ("dirty-close", "reset") * 3:
            await play(playground, slug, "?every=0")
        assert (await play(playground, "slow", "?every=0&n=1")).whole

    def test_elsewhere_it_raises(self, rf: RequestFactory) -> None:
        with pytest.raises(ConnectionResetError):
            hang_up(rf.post("/"), reset=False)
