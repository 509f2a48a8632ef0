"""What scenarios put on the wire: statuses, headers, bodies, and connections that end early."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.test import RequestFactory

from playground.demo.scenarios.hangup import hang_up
from tests.demo.client import read_events
from tests.demo.scenarios.wire import BODY, Raw, calling, play
from tests.support.playground_server import PlaygroundServer

JSON = {"query": {"text": "soup"}, "prefer": {"streaming": False}}


def document(raw: Raw) -> Any:
    return json.loads(raw.body)


def error_code(raw: Raw) -> str:
    return str(document(raw)["error"]["code"])


def names(raw: Raw) -> list[str]:
    return [name for name, _ in raw.events]


def indexes(raw: Raw) -> list[int]:
    return [data["index"] for name, data in raw.events if name == "result"]


def messages(raw: Raw) -> list[Any]:
    """The data of events without names."""
    assert b"event:" not in raw.body
    return [json.loads(each.removeprefix(b"data: ")) for each in raw.body.split(b"\n\n")[:-1]]


R = "result"
#: A scenario and its parameters; the status; headers; what the body has to be.
PLAYED: list[tuple[str, str, int, dict[str, str], Callable[[Raw], bool]]] = [
    # Events
    ("out-of-order", "", 200, {}, lambda raw: indexes(raw) == [3, 0, 4, 1, 2]),
    ("error-then-on", "", 200, {}, lambda raw: (
        names(raw) == ["start", R, R, "error", R, R, "complete"]
        and raw.events[3][1]["error"]["code"] == "TIMEOUT")),
    ("unnamed", "", 200, {}, lambda raw: (
        messages(raw)[0]["_meta"]["version"] == "0.54"
        and len(messages(raw)[1]["results"]) == 3)),
    ("line-separators", "", 200, {}, lambda raw: (
        all(each.encode() in raw.body for each in "\u2028\u2029\u0085")
        and len(raw.events) == 4)),
    ("bad-utf8", "", 200, {}, lambda raw: (
        b"Cr\xe8me br\xc3l\xff\xfee" in raw.body and b"event: complete" in raw.body)),
    ("deep", "", 200, {}, lambda raw: b"[" * 1000 + b"]" * 1000 in raw.body),
    # HTTP
    ("gzip", "", 200, {"content-encoding": "gzip"}, lambda raw: (
        len(read_events(gzip.decompress(raw.body))) == 5)),
    ("wrong-type", "", 200, {"content-type": "text/plain"}, lambda raw: len(raw.events) == 5),
    ("json-as-stream", "", 200, {"content-type": "text/event-stream"}, lambda raw: (
        len(document(raw)["results"]) == 3)),
    ("html-error", "", 502, {"content-security-policy": "sandbox; default-src 'none'"},
     lambda raw: raw.body.startswith(b"<!doctype html>")),
    ("unauthorized", "", 401, {"www-authenticate": "Bearer "}, lambda raw: True),
    ("members", "", 401, {"www-authenticate": "Bearer "}, lambda raw: (
        error_code(raw) == "UNAUTHORIZED")),
    ("rate-limited-date", "", 429, {}, lambda raw: (
        parsedate_to_datetime(raw.headers["retry-after"]).tzinfo is not None)),
    ("failure-details", "", 400, {}, lambda raw: (
        document(raw)["error"]["details"]["parameter"] == "max_cooking_time")),
    ("foreign-error", "", 500, {}, lambda raw: not {"_meta", "error"} & {*document(raw)}),
    ("empty-error", "", 503, {}, lambda raw: raw.body == b""),
    ("redirect", "", 307, {"location": "https://agent.example/ask"}, lambda raw: True),
    ("empty", "", 200, {}, lambda raw: raw.body == b""),
    # Time and size
    ("slow", "&n=3", 200, {}, lambda raw: names(raw) == ["start", R, R, R, "complete"]),
    ("flood", "&n=1001", 200, {}, lambda raw: (
        indexes(raw) == [*range(1001)]
        and len({data["item"]["url"] for name, data in raw.events if name == R}) == 1001
        and raw.events[-1][1]["_meta"]["total_items"] == 1001)),
    ("flood", "", 200, {}, lambda raw: raw.body.count(b"event: result\n") == 20_000),
    ("huge", "", 200, {}, lambda raw: max(map(len, raw.body.split(b"\n"))) > 5_000_000),
    # Connections
    ("truncated", "", 200, {}, lambda raw: (
        raw.whole and raw.body.rpartition(b"\n\n")[2].startswith(b"event: result\ndata: {")
        and not raw.body.endswith(b"}"))),
    ("dirty-close", "", 200, {}, lambda raw: (
        not raw.whole and not raw.reset and not raw.body.endswith(b"\n\n")
        and raw.body.count(b"event: result\n") == 3)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("slug", "query", "status", "headers", "holds"), PLAYED, ids=[row[0] for row in PLAYED]
)
async def test_scenarios(
    playground: PlaygroundServer,
    slug: str,
    query: str,
    status: int,
    headers: dict[str, str],
    holds: Callable[[Raw], bool],
) -> None:
    raw = await play(playground, slug, f"?every=0{query}")
    assert raw.status == status
    assert all(raw.headers[name].startswith(value) for name, value in headers.items())
    assert holds(raw)


@pytest.mark.parametrize(("slug", "key"), [("unauthorized", "demo"), ("members", "demo-token")])
async def test_with_the_right_key(playground: PlaygroundServer, slug: str, key: str) -> None:
    refused = await play(playground, slug, "?every=0", authorization="Bearer wrong")
    raw = await play(playground, slug, "?every=0", authorization=f"Bearer {key}")
    assert (refused.status, raw.status) == (401, 200)
    assert names(raw)[-1] == "complete"


async def test_huge_as_a_document(playground: PlaygroundServer) -> None:
    whole = await play(playground, "huge", body=JSON)
    assert whole.headers["content-type"] == "application/json"
    assert len(document(whole)["results"][0]["description"]) > 4_900_000


async def test_reset(playground: PlaygroundServer) -> None:
    raw = await play(playground, "reset", "?every=0.05")
    assert raw.reset
    assert not raw.whole
    assert raw.body.count(b"event: result\n") == 3


async def test_the_server_survives(playground: PlaygroundServer) -> None:
    for slug in ("dirty-close", "reset") * 3:
        await play(playground, slug, "?every=0")
    assert (await play(playground, "slow", "?every=0&n=1")).whole


async def test_elsewhere_a_hang_up_is_an_error(rf: RequestFactory) -> None:
    with pytest.raises(ConnectionResetError):
        await hang_up(rf.post("/"), reset=False)


async def test_gzip_is_flushed_after_each_event(playground: PlaygroundServer) -> None:
    async with calling(playground, "/demo/scenarios/gzip/ask?every=60") as reader:
        await reader.readuntil(b"\r\n\r\n")
        size = int(await asyncio.wait_for(reader.readline(), 10), 16)
        text = zlib.decompressobj(wbits=31).decompress(await reader.readexactly(size))
    assert text.startswith(b"event: start\n")
    assert text.endswith(b"\n\n")


async def test_slow_sends_each_event_when_it_is_due(playground: PlaygroundServer) -> None:
    """With a minute between events, the first must not wait for the second."""
    async with calling(playground, "/demo/scenarios/slow/ask?every=60") as reader:
        await asyncio.wait_for(reader.readuntil(b"event: start"), 10)


@pytest.mark.parametrize(
    ("slug", "mark"), [("endless", b"event: result"), ("heartbeats", b": still here\n\n")]
)
async def test_goes_on(playground: PlaygroundServer, slug: str, mark: bytes) -> None:
    async with calling(playground, f"/demo/scenarios/{slug}/ask?every=0.001") as reader:
        for _ in range(200):
            await asyncio.wait_for(reader.readuntil(mark), 10)


async def test_silent(playground: PlaygroundServer) -> None:
    async with calling(playground, "/demo/scenarios/silent/ask") as reader:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.3)


@pytest.mark.parametrize("slug", ["endless", "heartbeats", "slow", "silent"])
async def test_a_stream_is_cancelled(slug: str) -> None:
    """The ASGI server says that the client has left: the generator is closed."""
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
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-type", b"application/json")],
    }  # fmt: skip
    running = asyncio.create_task(ASGIHandler()(scope, receive, send))
    if slug != "silent":
        await asyncio.wait_for(begun.wait(), 10)
    left.set()
    await asyncio.wait_for(running, 10)
    assert all(message.get("more_body", True) for message in sent)
