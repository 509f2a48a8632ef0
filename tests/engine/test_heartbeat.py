"""The heartbeats of runs and collection runs, with a clock that does not wait."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from playground import processes
from playground.engine import heartbeat
from playground.engine.heartbeat import STOP_REQUEST_INTERVAL, DrivenRecords
from playground.models import Agent, Collection, CollectionRun, Run, liveness
from playground.models.liveness import HEARTBEAT_INTERVAL
from playground.task_registry import running_tasks

Record = Run | CollectionRun


def create(model: type[Record], name: str) -> Record:
    if model is Run:
        agent = Agent.objects.create(name=name, url="http://agent.test")
        return Run.objects.create(agent=agent, url=agent.url, request={})
    return CollectionRun.objects.create(collection=Collection.objects.create(name=name))


@pytest.fixture(params=[Run, CollectionRun])
def record(request: pytest.FixtureRequest, transactional_db: None) -> Record:
    return create(request.param, "Any")


class Driver:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def stop(self) -> None:
        self.told.append("stop")

    def give_up(self) -> None:
        self.told.append("give up")


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


@pytest.fixture
async def driven(monkeypatch: pytest.MonkeyPatch) -> DrivenRecords:
    """Records whose task the test runs itself."""
    monkeypatch.setattr(heartbeat, "start_task", lambda work, name: work.close())
    return DrivenRecords()


async def run_for(driven: DrivenRecords, seconds: float, patch: pytest.MonkeyPatch) -> None:
    with patch.context() as patched:
        patched.setattr(heartbeat, "asyncio", Clock(seconds))
        with pytest.raises(asyncio.CancelledError):
            await driven.keep()


async def time_of(record: Record) -> datetime | None:
    await record.arefresh_from_db()
    return record.heartbeat_at


@pytest.mark.parametrize(
    ("seconds", "is_stored"),
    [(HEARTBEAT_INTERVAL - STOP_REQUEST_INTERVAL, False), (HEARTBEAT_INTERVAL, True)],
)
async def test_the_time_is_stored_every_few_seconds(
    driven: DrivenRecords,
    record: Record,
    seconds: float,
    is_stored: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Driver()
    driven.add(record, driver)
    await run_for(driven, seconds, monkeypatch)
    assert not driver.told
    first = await time_of(record)
    assert (first is not None) is is_stored
    await run_for(driven, HEARTBEAT_INTERVAL, monkeypatch)
    second = await time_of(record)
    assert second
    assert first is None or second > first


async def test_a_record_that_has_ended_keeps_its_last_time(
    driven: DrivenRecords, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven.add(record, Driver())
    await type(record).objects.aupdate(state="interrupted")
    await run_for(driven, HEARTBEAT_INTERVAL, monkeypatch)
    assert await time_of(record) is None


@pytest.mark.parametrize("change", ["ended", "deleted"])
async def test_the_driver_of_a_record_that_has_ended_gives_up(
    driven: DrivenRecords, record: Record, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, others = Driver(), Driver()
    other = await sync_to_async(create)(type(record), "Other")
    driven.add(record, driver)
    driven.add(other, others)
    await run_for(driven, HEARTBEAT_INTERVAL, monkeypatch)
    assert not driver.told
    this = type(record).objects.filter(pk=record.pk)
    if change == "deleted":
        await this.adelete()
    else:
        await this.aupdate(state="interrupted")
    await run_for(driven, HEARTBEAT_INTERVAL, monkeypatch)
    assert (driver.told, others.told) == (["give up"], [])


async def test_a_stop_of_another_process_is_seen_at_the_next_look(
    driven: DrivenRecords, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, others = Driver(), Driver()
    other = await sync_to_async(create)(type(record), "Other")
    driven.add(record, driver)
    driven.add(other, others)
    record.stop_requested = True
    await record.asave()
    await run_for(driven, STOP_REQUEST_INTERVAL, monkeypatch)
    assert (driver.told, others.told) == (["stop"], [])


async def test_a_stop_of_a_record_that_is_driven_elsewhere_is_ignored(
    driven: DrivenRecords, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = await sync_to_async(create)(type(record), "Elsewhere")
    elsewhere.stop_requested = True
    await elsewhere.asave()
    driver = Driver()
    driven.add(record, driver)
    await run_for(driven, STOP_REQUEST_INTERVAL, monkeypatch)
    assert not driver.told


async def test_many_records_take_as_many_queries_as_one(
    driven: DrivenRecords, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def count() -> int:
        found = []

        def run(function: Any, *args: Any, **kwargs: Any) -> Any:
            with CaptureQueriesContext(connection) as queries:
                result = function(*args, **kwargs)
            found.append(len(queries))
            return result

        for name in ("run_in_reader", "run_in_writer"):
            monkeypatch.setattr(heartbeat, name, sync_to_async(run))
        await run_for(driven, HEARTBEAT_INTERVAL, monkeypatch)
        return sum(found)

    driven.add(record, Driver())
    alone = await count()
    for number in range(20):
        each = await sync_to_async(create)(type(record), f"Record {number}")
        driven.add(each, Driver())
    assert await count() == alone == HEARTBEAT_INTERVAL / STOP_REQUEST_INTERVAL + 1
    assert await time_of(each)


async def test_a_database_that_fails_does_not_end_it(
    driven: DrivenRecords, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[int] = []

    async def fail(*_: Any, **__: Any) -> bool:
        failures.append(1)
        raise DatabaseError("away")

    driven.add(record, Driver())
    with monkeypatch.context() as patch:
        patch.setattr(heartbeat, "run_in_reader", fail)
        patch.setattr(heartbeat, "run_in_writer", fail)
        await run_for(driven, HEARTBEAT_INTERVAL, patch)
    assert len(failures) == HEARTBEAT_INTERVAL / STOP_REQUEST_INTERVAL + 1
    await run_for(driven, HEARTBEAT_INTERVAL, monkeypatch)
    assert await time_of(record)


async def test_no_task_is_left(record: Record) -> None:
    def names() -> list[str]:
        return [task.get_name() for task in running_tasks()]

    with heartbeat.heartbeat(record, Driver()):
        assert names() == ["heartbeat"]
        other = await sync_to_async(create)(Run, "Other")
        with heartbeat.heartbeat(other, Driver()):
            assert names() == ["heartbeat"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert names() == []


async def test_a_server_looks_for_runs_of_dead_processes(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if nobody reads them, and after an error."""
    await type(record).objects.aupdate(driver=f"{processes._this_host()}:4194305:1")
    calls: list[int] = []

    def mark_interrupted() -> int:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("a defect")
        return liveness.mark_interrupted()

    monkeypatch.setattr(heartbeat, "mark_interrupted", mark_interrupted)
    monkeypatch.setattr(heartbeat, "HEARTBEAT_INTERVAL", 0.01)
    task = heartbeat.start_liveness_checks()
    assert heartbeat.start_liveness_checks() is task
    try:
        async with asyncio.timeout(20):
            while record.state != "interrupted":
                await asyncio.sleep(0.01)
                await record.arefresh_from_db()
    finally:
        task.cancel()
        await asyncio.wait({task})
