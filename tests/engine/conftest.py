"""Runs through engine, transport and database against scripted servers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.engine import runs, tasks
from playground.engine.request import PreparedRequest, request_to
from playground.models import Agent, Run
from playground.protocols.events import Event
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import read_events
from tests.support.outages import Outage

Send = Callable[..., Awaitable[Run]]
Begin = Callable[..., Awaitable[tuple[Run, asyncio.Task[None]]]]


@pytest.fixture
def begin(transactional_db: None) -> Begin:
    """Start a run of a request to an address: (url, document) to the run and its task."""

    async def start(url: str, document: dict[str, Any] | None = None, **options: Any) -> Any:
        def record() -> tuple[Run, PreparedRequest]:
            agent = Agent(name="scripted", url=url, **options.pop("agent", {}))
            prepared = request_to(
                agent,
                document or {"query": {"text": "eggs"}},
                other_credentials=options.pop("redact", ()),
            )
            return runs.create_run(prepared), prepared

        run, prepared = await sync_to_async(record)()
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


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.01)
