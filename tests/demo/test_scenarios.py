"""Scripted misbehaviour, byte for byte: what a scenario is for must really be on the wire."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import AsyncClient, RequestFactory

from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.hangup import hang_up
from tests.demo.conftest import read_events
from tests.playground_server import PlaygroundServer

BODY = {"query": {"text": "x"}, "prefer": {"streaming": True}}
#: Scenarios that never end by themselves.
FOREVER = {"endless", "heartbeats", "silent"}


@dataclass
class Raw:
    """A reply as it crossed the wire, read until the connection closed."""

    head: str
    #: The payload of the chunks, complete or not.
    body: bytes
    #: Whether the body ended as its framing says.
    whole: bool
    #: Whether the connection was reset.
    reset: bool = False

    @property
    def status(self) -> int:
        return int(self.head.split()[1])

    @property
    def headers(self) -> dict[str, str]:
        pairs = (line.partition(": ") for line in self.head.split("\r\n")[1:])
        return {name.lower(): value for name, _, value in pairs}

    @property
    def events(self) -> list[tuple[str, Any]]:
        return read_events(self.body)


def request(path: str, body: Any = BODY, **headers: str) -> bytes:
    data = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(data)}"]
    lines += ["Connection: close", "Content-Type: application/json"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


@asynccontextmanager
async def calling(
    server: PlaygroundServer, path: str, **options: Any
) -> AsyncIterator[asyncio.StreamReader]:
    """Send a request; the connection is closed on the way out."""
    port = urlsplit(server.url).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    writer.write(request(path, **options))
    try:
        yield reader
    finally:
        writer.transport.abort()


async def play(server: PlaygroundServer, slug: str, query: str = "", **options: Any) -> Raw:
    """Play a scenario to its end."""
    async with calling(server, f"/demo/scenarios/{slug}/ask{query}", **options) as reader:
        data, reset = bytearray(), False
        try:
            while piece := await reader.read(2**16):
                data += piece
        except ConnectionResetError:
            reset = True
    head, _, rest = bytes(data).partition(b"\r\n\r\n")
    raw = Raw(head.decode("latin-1"), rest, True, reset)
    if raw.headers.get("transfer-encoding") == "chunked":
        raw.body, raw.whole = unchunk(rest)
    else:
        raw.whole = len(rest) == int(raw.headers["content-length"])
    return raw


def unchunk(data: bytes) -> tuple[bytes, bool]:
    """The payload of a chunked body, and whether its last chunk is there."""
    body = b""
    while data:
        size, _, rest = data.partition(b"\r\n")
        if int(size, 16) == 0:
            return body, rest == b"\r\n"
        body, data = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body, False


class TestEveryScenario:
    @pytest.mark.parametrize("slug", [slug for slug in SCENARIOS if slug not in FOREVER])
    async def test_is_data_and_not_a_page(self, playground: PlaygroundServer, slug: str) -> None:
        raw = await play(playground, slug, "?every=0.01&n=20")
        assert raw.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in raw.headers["content-security-policy"]
        assert "default-src 'none'" in raw.headers["content-security-policy"]
        assert ("html" in raw.headers["content-type"]) == (slug == "html-error")

    @pytest.mark.parametrize("slug", [slug for slug in SCENARIOS if slug not in FOREVER])
    async def test_is_whole_unless_it_is_to_break(
        self, playground: PlaygroundServer, slug: str
    ) -> None:
        raw = await play(playground, slug, "?every=0.01&n=20")
        assert raw.whole == (slug not in {"dirty-close", "reset"})

    @pytest.mark.parametrize("slug", sorted(FOREVER))
    async def test_what_has_no_end_can_be_given_one(
        self, playground: PlaygroundServer, slug: str
    ) -> None:
        async with calling(playground, f"/demo/scenarios/{slug}/ask?every=0.01&for=0.2") as reader:
            data = await asyncio.wait_for(reader.read(-1), 20)
        assert bool(data) == (slug != "silent")
        assert not data.endswith(b"0\r\n\r\n")

    @pytest.mark.parametrize("slug", SCENARIOS)
    def test_is_described(self, slug: str) -> None:
        scenario = SCENARIOS[slug]
        assert scenario.slug == slug
        assert scenario.title
        assert scenario.description.endswith(".")
        assert scenario.demonstrates.endswith(".")
        assert scenario.state in {"completed", "truncated", "failed", "refused"}
        assert scenario.outcome in {"answer", "elicitation", "promise", "failure", "none"}

    async def test_others_are_not_found(self) -> None:
        reply = await AsyncClient().post("/demo/scenarios/nonsense/ask")
        assert reply.status_code == 404
        assert reply.json()["error"]["code"] == "INVALID_QUERY"

    @pytest.mark.parametrize("query", ["n=x", "n=-1", "n=100001", "every=61", "every=nan", "for=x"])
    async def test_impossible_knobs(self, query: str) -> None:
        reply = await AsyncClient().post(f"/demo/scenarios/slow/ask?{query}")
        assert reply.status_code == 400
        assert reply.json()["error"]["code"] == "INVALID_PARAMETER"


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


class TestOrder:
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


class TestBreaking:
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


class TestGoneClients:
    """Streams stop when nobody listens: the generator is closed, not left to run for ever."""

    @pytest.mark.parametrize("slug", ["endless", "heartbeats", "slow", "silent"])
    async def test_a_stream_is_cancelled(self, slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The ASGI server says that the client has left; the application must return."""
        from django.core.handlers.asgi import ASGIHandler

        begun, left = asyncio.Event(), asyncio.Event()
        sent: list[dict[str, Any]] = []
        data = json.dumps(BODY).encode()
        messages = [{"type": "http.request", "body": data, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)
            begun.set()

        scope = {
            "type": "http", "method": "POST", "path": f"/demo/scenarios/{slug}/ask",
            "query_string": b"", "headers": [(b"host", b"testserver")],
        }  # fmt: skip
        running = asyncio.create_task(ASGIHandler()(scope, receive, send))
        if slug != "silent":
            await asyncio.wait_for(begun.wait(), 10)
        left.set()
        await asyncio.wait_for(running, 10)
        assert all(message.get("more_body", True) for message in sent)
