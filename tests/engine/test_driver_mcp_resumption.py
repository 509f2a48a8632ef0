"""Resumption of MCP streams through engine and database: every request is a call of the run."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.conf import settings

from playground.models import Run
from tests.engine.conftest import Send, calls_of
from tests.support.servers import (
    HOLD,
    LAST_CHUNK,
    RESET,
    STREAM_HEAD,
    Script,
    chunk,
    reply,
    serve,
)

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}
RESULT = {"results": [{"name": "Soup"}]}


def rpc(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def priming(event_id: str = "e1", retry: int = 1) -> bytes:
    return chunk(f"id: {event_id}\nretry: {retry}\ndata: \n\n".encode())


def server_with(
    call: Callable[[], Iterable[Any]], resumed: Callable[[int], Iterable[Any]]
) -> Callable[[bytes], Script]:
    """A server with a session; `call` answers the tool call, `resumed` the GET of a resumption.

    `resumed` gets the id of the tool call.
    """
    ids: list[Any] = []

    def answer(request: bytes) -> Script:
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"GET "):
            return [*resumed(ids[-1])]
        if head.startswith(b"DELETE "):
            return [reply(b"")]
        message = json.loads(body)
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "soup"}}
            session = b"\r\nMcp-Session-Id: s1\r\n\r\n"
            response = reply(rpc(id=message["id"], result=result))
            return [response.replace(b"\r\n\r\n", session, 1)]
        if message["method"] == "tools/list":
            return [reply(rpc(id=message["id"], result={"tools": [{"name": "ask"}]}))]
        if message["method"] == "tools/call":
            ids.append(message["id"])
            return [STREAM_HEAD, *call()]
        if "id" not in message:
            return [reply(b"", status="202 Accepted")]
        return [reply(rpc(id=message["id"], error={"code": -32601, "message": "No."}))]

    return answer


def answered(own_id: Any) -> bytes:
    return chunk(b"event: message\nid: e9\ndata: " + rpc(id=own_id, result=RESULT) + b"\n\n")


async def resumed(run: Run) -> list[bytes]:
    """The `Last-Event-ID` of each resumption of a run."""
    calls = (re.search(rb"^GET .*\r\nLast-Event-ID: (\w+)", c, re.S) for c in await calls_of(run))
    return [found[1] for found in calls if found]


@pytest.mark.parametrize("ending", [LAST_CHUNK, RESET], ids=["closed", "broken"])
async def test_a_stream_without_its_response_is_resumed(send: Send, ending: Any) -> None:
    answer = server_with(
        lambda: [priming(), ending],
        # The stream stays open: with the response the run is over.
        lambda own_id: [STREAM_HEAD, priming("e2"), answered(own_id), HOLD],
    )
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"})
    assert (run.state, run.outcome, run.problem, run.results) == ("completed", "answer", None, 1)
    assert await resumed(run) == [b"e1"]
    assert len(await calls_of(run)) == 6


async def test_a_server_that_resumes_for_ever_is_left(send: Send) -> None:
    answer = server_with(
        lambda: [priming(), LAST_CHUNK], lambda _: [STREAM_HEAD, priming("e2"), LAST_CHUNK]
    )
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"})
    assert (run.state, run.outcome) == ("truncated", "none")
    assert run.problem is not None
    assert "10 resumptions in a row" in run.problem["cause"]
    assert await resumed(run) == [b"e1"] + [b"e2"] * 9


async def test_waiting_for_a_resumption_ends_with_the_time_of_the_run(send: Send) -> None:
    answer = server_with(lambda: [priming(retry=50_000), LAST_CHUNK], lambda _: [HOLD])
    limits = dataclasses.replace(settings.RUN_LIMITS, total_timeout=0.5)
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"}, limits=limits)
    assert run.problem is not None
    assert run.problem["limit"] == "total_timeout"


async def test_priming_events_without_end_reach_the_limit_of_frames(send: Send) -> None:
    many = chunk(b"id: e1\ndata: \n\n" * 1_000)
    answer = server_with(lambda: [many, many, HOLD], lambda _: [HOLD])
    limits = dataclasses.replace(settings.RUN_LIMITS, max_frames=1_500)
    async with serve(answer=answer) as server:
        run = await send(server.url, DOCUMENT, agent={"binding": "mcp"}, limits=limits)
    assert run.state == "refused"
    assert run.problem is not None
    assert run.problem["limit"] == "max_frames"
    assert run.frames >= 1_500
    assert (run.results, run.outcome) == (0, "none")
