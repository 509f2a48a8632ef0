"""The heartbeats of runs and collection runs that this process drives, as their rows show them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.base import processes
from playground.base.jobs import running_tasks
from playground.engine import heartbeat
from playground.models import CollectionRun, Run
from tests.engine.conftest import Begin, until, working
from tests.support.collection_runs import new_collection, start
from tests.support.outages import Outage
from tests.support.servers import HOLD, STREAM_HEAD, serve

Record = Run | CollectionRun
Driven = tuple[Record, asyncio.Task[None]]
Drive = Callable[[], Awaitable[Driven]]


@pytest.fixture
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEARTBEAT_INTERVAL", "STOP_REQUEST_INTERVAL"):
        monkeypatch.setattr(heartbeat, name, 0.02)


@pytest.fixture(params=["run", "collection run"])
async def drive(
    request: pytest.FixtureRequest, begin: Begin, short_intervals: None
) -> AsyncIterator[Drive]:
    """Start a run, or a collection run, whose agent never responds."""
    async with serve(STREAM_HEAD, HOLD) as server:

        async def one() -> Driven:
            if request.param == "run":
                return await begin(server.url)
            builder = await new_collection(server.url)
            await sync_to_async(builder.ask)("a")
            return await start(builder)

        yield one
        tasks = running_tasks()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def stored(record: Record, **fields: Any) -> Any:
    return type(record).objects.filter(pk=record.pk, **fields)


async def beats(record: Record) -> None:
    """Wait for another heartbeat."""
    await record.arefresh_from_db()
    before = record.heartbeat_at
    await until(stored(record, heartbeat_at__isnull=False).exclude(heartbeat_at=before).aexists)


async def test_they_are_stored_again_and_again_also_after_an_outage(
    drive: Drive, outage: Outage
) -> None:
    record, _ = await drive()
    await beats(record)
    await beats(record)
    outage.begin("heartbeat", times=3)
    await beats(record)


@pytest.mark.parametrize("change", ["interrupted", "deleted", "stop requested"])
async def test_what_has_ended_or_is_to_stop_elsewhere_ends_here_alone(
    drive: Drive, change: str
) -> None:
    (record, task), (other, goes_on) = await drive(), await drive()
    await beats(record)
    if change == "deleted":
        await stored(record).adelete()
    elif change == "interrupted":
        await stored(record).aupdate(state="interrupted")
    else:
        await stored(record).aupdate(stop_requested=True)
    await asyncio.wait_for(task, 20)
    assert not goes_on.done()
    await beats(other)
    if change != "deleted":
        await record.arefresh_from_db()
        expected = "cancelled" if isinstance(record, Run) else "stopped"
        assert record.state == ("interrupted" if change == "interrupted" else expected)


async def test_a_server_looks_for_runs_of_dead_processes(
    transactional_db: None, short_intervals: None
) -> None:
    """Also if nobody reads them."""
    dead = f"{processes._this_host()}:4194305:1"
    run = await Run.objects.acreate(agent_name="A", request={}, state="streaming", driver=dead)
    async with working(heartbeat.liveness_checks):
        await until(Run.objects.filter(pk=run.pk, state="interrupted").aexists)
