"""Scenarios about the events of a stream, byte for byte."""

from __future__ import annotations

import json

import pytest

from tests.demo.scenarios.wire import play
from tests.support.playground_server import PlaygroundServer


class TestEvents:
    async def indexes(self, playground: PlaygroundServer, slug: str) -> list[int]:
        raw = await play(playground, slug, "?every=0")
        return [data["index"] for name, data in raw.events if name == "result"]

    async def test_out_of_order(self, playground: PlaygroundServer) -> None:
        assert await self.indexes(playground, "out-of-order") == [3, 0, 4, 1, 2]

    async def test_duplicate_index(self, playground: PlaygroundServer) -> None:
        assert await self.indexes(playground, "duplicate-index") == [0, 1, 1, 2]

    async def test_missing_complete(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "missing-complete", "?every=0")
        assert [name for name, _ in raw.events] == ["start", "result", "result", "result"]

    async def test_error_then_on(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "error-then-on", "?every=0")
        names = [name for name, _ in raw.events]
        assert names == ["start", "result", "result", "error", "result", "result", "complete"]
        assert raw.events[3][1]["error"]["code"] == "TIMEOUT"

    async def test_capitalised(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "capitalised", "?every=0")
        assert raw.events[0][1]["_meta"]["response_type"] == "Answer"

    async def test_unnamed(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "unnamed", "?every=0")
        assert b"event:" not in raw.body
        meta, results = raw.body.split(b"\n\n")[:2]
        assert json.loads(meta.removeprefix(b"data: "))["_meta"]["version"] == "0.54"
        assert len(json.loads(results.removeprefix(b"data: "))["results"]) == 3

    async def test_line_separators(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "line-separators", "?every=0")
        for character in ("\u2028", "\u2029", "\u0085"):
            assert character.encode() in raw.body
        assert len(raw.events) == 4

    async def test_bad_utf8(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "bad-utf8", "?every=0")
        assert b"Cr\xe8me br\xc3l\xff\xfee" in raw.body
        with pytest.raises(UnicodeDecodeError):
            raw.body.decode()
        assert b"event: complete" in raw.body

    async def test_deep(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "deep", "?every=0")
        assert b"[" * 1000 + b"]" * 1000 in raw.body
