"""Runs through engine, transport and database against scripted servers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.base.jobs import SingleTask
from playground.base.limits import RunLimits
from playground.engine import runs, tasks
from playground.engine.request import PreparedRequest, request_to
from playground.models import Agent, Run
from playground.protocols.events import Event
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import read_events
from tests.support.outages import Outage
from tests.support.servers import HOLD, Script, reply

Send = Callable[..., Awaitable[Run]]
Begun = tuple[Run, asyncio.Task[None]]
Begin = Callable[..., Awaitable[Begun]]

#: The events of a stream of NLWeb.
START = b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
RESULT = b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Eggs"}}\n\n'
COMPLETE = (
    b'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55", '
    b'"session_context": {"conversation_id": "c1"}}}\n\n'
)


@sync_to_async
def record_run(
    agent: Agent,
    document: dict[str, Any] | None = None,
    link: runs.RunParent | None = None,
    *,
    resume: Any = None,
    **options: Any,
) -> tuple[Run, PreparedRequest]:
    """Record a run of a request; a saved agent is used as it is stored now."""
    stored = Agent.objects.get(pk=agent.pk) if agent.pk else agent
    prepared = request_to(stored, document or {"query": {"text": "eggs"}}, **options)
    prepared = prepared.with_target(resume=resume)
    return runs.create_run(prepared, link=link), prepared


async def begin_run(*request: Any, limits: RunLimits | None = None, **options: Any) -> Begun:
    """Start a run: the arguments of `record_run` to the run and its task."""
    run, prepared = await record_run(*request, **options)
    return run, tasks.send_here(run, prepared, limits=limits)


async def finish_run(*request: Any, **options: Any) -> Run:
    """Drive a run to its end; return it as it is stored."""
    run, task = await begin_run(*request, **options)
    await task
    await run.arefresh_from_db()
    return run


@pytest.fixture
def begin(transactional_db: None) -> Begin:
    """Start a run of a request to an address: (url, document) to the run and its task."""

    async def start(
        url: str,
        document: dict[str, Any] | None = None,
        *,
        agent: dict[str, Any] | None = None,
        redact: Sequence[str] = (),
        **options: Any,
    ) -> Begun:
        scripted = Agent(name="scripted", url=url, **agent or {})
        run, prepared = await record_run(scripted, document, other_credentials=redact)
        return run, tasks.send_here(run, prepared, **options)

    return start


@pytest.fixture
def send(begin: Begin) -> Send:
    """Run a request to its end: (url, document) to the run as it was stored."""

    async def to_end(url: str, document: dict[str, Any] | None = None, **options: Any) -> Run:
        run, task = await begin(url, document, **options)
        await task
        await run.arefresh_from_db()
        return run

    return to_end


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    """A database that can go away."""
    return Outage(monkeypatch)


@sync_to_async
def frames_of(run: Run) -> list[Frame]:
    """The stored frames, whose numbers have no gap."""
    frames = list(run.read_frames())
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    return frames


async def calls_of(run: Run) -> list[bytes]:
    """The requests that a run sent, as they are stored."""
    return [frame.data for frame in await frames_of(run) if frame.kind is FrameKind.CALL]


@sync_to_async
def events_of(run: Run) -> list[Event]:
    """The events that are read from the stored frames."""
    return [event for _, events in read_events(run) for event in events]


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    """The events of a type."""
    return [event for event in events if isinstance(event, kind)]


async def until(condition: Callable[[], bool | Awaitable[bool]]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(60):
        while not (await found if isinstance(found := condition(), Awaitable) else found):
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def working(loop: SingleTask[None]) -> AsyncIterator[None]:
    """Let a background loop, of which there is one at most, work in the block."""
    task = loop.begin()
    assert loop.begin() is task
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


def rpc(own_id: Any, **members: Any) -> bytes:
    """A message of JSON-RPC as the body of a response."""
    return json.dumps({"jsonrpc": "2.0", "id": own_id, **members}).encode()


def mcp_server(
    call: Callable[[Any], Script],
    resumed: Callable[[Any], Script] = lambda _: [HOLD],
    sessions: Iterable[str] = itertools.repeat("s1"),
) -> Callable[[bytes], Script]:
    """The answers of an MCP server that numbers its sessions, and has the tool `ask`.

    `call` is the script of a tool call, `resumed` that of the GET of a resumption; both get the id
    of the call.
    """
    ids: list[Any] = []
    sessions = iter(sessions)

    def answer(request: bytes) -> Script:
        line, _, rest = request.partition(b"\r\n")
        if line.startswith(b"GET "):
            return resumed(ids[-1])
        if line.startswith(b"DELETE "):
            return [reply(b"")]
        message = json.loads(rest.partition(b"\r\n\r\n")[2])
        own_id = message.get("id")
        match message["method"]:
            case "initialize":
                result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "soup"}}
                session = f"\r\nMcp-Session-Id: {next(sessions)}\r\n\r\n".encode()
                return [reply(rpc(own_id, result=result)).replace(b"\r\n\r\n", session, 1)]
            case "tools/list":
                return [reply(rpc(own_id, result={"tools": [{"name": "ask"}]}))]
            case "tools/call":
                ids.append(own_id)
                return call(own_id)
            case "server/discover":
                return [reply(rpc(own_id, error={"code": -32601, "message": "No."}))]
            case _:
                return [reply(b"", status="202 Accepted")]

    return answer
