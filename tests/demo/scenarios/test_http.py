"""Scenarios about HTTP, byte for byte."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib

from tests.demo.conftest import read_events
from tests.demo.scenarios.wire import calling, play
from tests.support.playground_server import PlaygroundServer


class TestHttp:
    async def test_gzip(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "gzip", "?every=0", accept_encoding="identity")
        assert raw.headers["content-encoding"] == "gzip"
        assert len(read_events(gzip.decompress(raw.body))) == 5

    async def test_gzip_is_flushed_after_each_event(self, playground: PlaygroundServer) -> None:
        async with calling(playground, "/demo/scenarios/gzip/ask?every=60") as reader:
            await reader.readuntil(b"\r\n\r\n")
            size = int(await asyncio.wait_for(reader.readline(), 10), 16)
            text = zlib.decompressobj(wbits=31).decompress(await reader.readexactly(size))
        assert text.startswith(b"event: start\n")
        assert text.endswith(b"\n\n")

    async def test_wrong_type(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "wrong-type", "?every=0")
        assert raw.headers["content-type"].startswith("text/plain")
        assert len(raw.events) == 5

    async def test_json_as_stream(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "json-as-stream")
        assert raw.headers["content-type"] == "text/event-stream"
        assert len(json.loads(raw.body)["results"]) == 3

    async def test_html_error(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "html-error")
        assert raw.status == 502
        assert raw.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert raw.body.startswith(b"<!doctype html>")

    async def test_unauthorized(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "unauthorized", authorization="Bearer wrong")
        assert raw.status == 401
        assert raw.headers["www-authenticate"].startswith("Bearer ")
        raw = await play(playground, "unauthorized", "?every=0", authorization="Bearer demo")
        assert raw.status == 200
        assert len(raw.events) == 5

    async def test_rate_limited(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "rate-limited")
        assert (raw.status, raw.headers["retry-after"]) == (429, "30")
        assert json.loads(raw.body)["error"]["code"] == "RATE_LIMITED"

    async def test_server_error(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "server-error")
        assert raw.status == 500
        assert json.loads(raw.body)["error"]["code"] == "INTERNAL_ERROR"

    async def test_redirect(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "redirect")
        assert (raw.status, raw.headers["location"]) == (307, "https://agent.example/ask")

    async def test_empty(self, playground: PlaygroundServer) -> None:
        raw = await play(playground, "empty")
        assert (raw.status, raw.body) == (200, b"")
