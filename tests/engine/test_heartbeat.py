"""The heartbeat of runs and collection runs, with a clock that does not wait."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError

from playground.engine import heartbeat
from playground.engine.heartbeat import STOP_REQUEST_INTERVAL, send_heartbeats
from playground.models import Agent, Collection, CollectionRun, Run
from playground.models.liveness import HEARTBEAT_INTERVAL

Record = Run | CollectionRun


def create(model: type[Record], name: str) -> Record:
    if model is Run:
        agent = Agent.objects.create(name=name, url="http://agent.test")
        return Run.objects.create(agent=agent, url=agent.url, request={})
    return CollectionRun.objects.create(collection=Collection.objects.create(name=name))


@pytest.fixture(params=[Run, CollectionRun])
def record(request: pytest.FixtureRequest, transactional_db: None) -> Record:
    return create(request.param, "Any")


class Clock:
    """Stands in for asyncio in the heartbeat: counts the seconds that it sleeps, to an end."""

    CancelledError = asyncio.CancelledError

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.slept = 0.0

    async def sleep(self, seconds: float) -> None:
        if self.slept >= self.seconds:
            raise asyncio.CancelledError
        self.slept += seconds


async def run_for(
    seconds: float,
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception | None = None,
) -> tuple[int, list[datetime]]:
    """Let the heart beat; returns how often it was told to stop, and the times it noted."""
    stops: list[int] = []
    times: list[datetime] = []

    async def store_heartbeat(now: datetime) -> None:
        times.append(now)
        if failure:
            raise failure

    monkeypatch.setattr(heartbeat, "asyncio", Clock(seconds))
    with pytest.raises(asyncio.CancelledError):
        await send_heartbeats(record, lambda: stops.append(1), store_heartbeat)
    return len(stops), times


@pytest.mark.parametrize(
    ("seconds", "beats"),
    [
        (HEARTBEAT_INTERVAL - STOP_REQUEST_INTERVAL, 0),
        (HEARTBEAT_INTERVAL, 1),
        (2 * HEARTBEAT_INTERVAL - STOP_REQUEST_INTERVAL, 1),
        (3 * HEARTBEAT_INTERVAL, 3),
    ],
)
async def test_the_time_is_noted_every_few_seconds(
    record: Record, seconds: float, beats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops, times = await run_for(seconds, record, monkeypatch)
    assert (stops, len(times)) == (0, beats)
    assert all(time.tzinfo for time in times)


async def test_a_stop_of_another_process_is_seen_at_the_next_look(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.stop_requested = True
    await record.asave()
    assert (await run_for(STOP_REQUEST_INTERVAL, record, monkeypatch))[0] == 1


async def test_a_stop_of_another_record_is_not(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await sync_to_async(create)(type(record), "Other")
    other.stop_requested = True
    await other.asave()
    assert (await run_for(STOP_REQUEST_INTERVAL, record, monkeypatch))[0] == 0


async def test_a_database_that_fails_does_not_end_it(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> bool:
        raise DatabaseError("away")

    monkeypatch.setattr(heartbeat, "run_in_reader", fail)
    stops, times = await run_for(3 * HEARTBEAT_INTERVAL, record, monkeypatch, DatabaseError("away"))
    assert (stops, len(times)) == (0, 3)
