"""Shutdown of the engine: what is refused, what may end, and what is interrupted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from playground import engine
from playground.engine import promise_polling, runs, shutdown
from playground.engine.shutdown import begin_shutdown, finish_shutdown
from playground.models import Agent, CollectionRun, PolledPromise, Run, RunKind
from playground.models.liveness import this_driver
from tests.support.collection_runs import new_collection, start, steps_of, verdicts
from tests.support.servers import HOLD, LAST_CHUNK, STREAM_HEAD, chunk, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

RESULT = chunk(
    b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
    b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Eggs"}}\n\n'
)
COMPLETE = chunk(b"event: complete\ndata: {}\n\n") + LAST_CHUNK


@pytest.fixture(autouse=True)
def _accepting_again() -> Iterator[None]:
    yield
    runs._refusing.clear()


def create_run(kind: RunKind = RunKind.ASK) -> Run:
    prepared = engine.request_to(Agent(name="a", url="http://127.0.0.1:9"), {"query": {}})
    return engine.create_run(prepared, None, engine.RunParent(kind))


async def test_a_run_that_ends_in_time_is_completed(begin: Callable[..., Any]) -> None:
    may_end = asyncio.Event()
    async with serve(STREAM_HEAD, RESULT, may_end, COMPLETE) as server:
        run, _ = await begin(server.url)
        await server.asked.wait()
        assert begin_shutdown() == 1
        finishing = asyncio.ensure_future(finish_shutdown(20))
        await asyncio.sleep(0)
        may_end.set()
        result = await finishing
    await run.arefresh_from_db()
    assert (run.state, result.ended, result.interrupted) == ("completed", 1, 0)
    assert result.keys == {run.pk}


async def test_one_that_does_not_is_interrupted_with_its_frames(begin: Callable[..., Any]) -> None:
    async with serve(STREAM_HEAD, RESULT, chunk(b"data: half"), HOLD) as server:
        run, task = await begin(server.url)
        while not await Run.objects.filter(pk=run.pk, frames__gte=3).aexists():
            await asyncio.sleep(0.01)
        begin_shutdown()
        result = await finish_shutdown(0)
        assert task.done()
        await asyncio.wait_for(server.gone.wait(), 5)
    await run.arefresh_from_db()
    assert (run.state, run.problem, result.interrupted) == ("interrupted", None, 1)
    assert run.ended_us is not None
    frames = await sync_to_async(lambda: list(run.read_frames()))()
    assert any(b"half" in frame.data for frame in frames)
    assert [frame.seq for frame in frames] == list(range(1, run.frames + 1))


async def test_nothing_in_progress_ends_at_once() -> None:
    assert begin_shutdown() == 0
    started = time.monotonic()
    assert (await finish_shutdown(20)).keys == frozenset()
    assert time.monotonic() - started < 10


async def test_a_run_that_was_recorded_and_not_started_is_interrupted() -> None:
    mine = await sync_to_async(create_run)()
    other = await sync_to_async(create_run)()
    await Run.objects.filter(pk=other.pk).aupdate(driver="elsewhere:1:")
    begin_shutdown()
    await finish_shutdown(0)
    found = {run.pk: run.state async for run in Run.objects.all()}
    assert found == {mine.pk: "interrupted", other.pk: "queued"}


async def test_new_runs_are_refused() -> None:
    begin_shutdown()
    with pytest.raises(engine.ShuttingDownError):
        await sync_to_async(create_run)()
    # The call of another run waits for it.
    await sync_to_async(create_run)(RunKind.CLIENT_RESPONSE)
    found = await new_collection("http://127.0.0.1:9")
    await sync_to_async(found.ask)("first")
    with pytest.raises(engine.ShuttingDownError):
        await start(found)
    assert not await CollectionRun.objects.aexists()


async def test_a_collection_run_starts_no_further_steps() -> None:
    may_end = asyncio.Event()
    async with serve(STREAM_HEAD, RESULT, may_end, COMPLETE) as server:
        found = await new_collection(server.url)
        for text in ("first", "second"):
            await sync_to_async(found.ask)(text)
        run, task = await start(found)
        await server.asked.wait()
        begin_shutdown()
        finishing = asyncio.ensure_future(finish_shutdown(20))
        may_end.set()
        result = await finishing
        assert task.done()
        assert len(server.requests) == 1
    await run.arefresh_from_db()
    assert (run.state, run.pk in result.keys) == ("interrupted", True)
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["met", "skipped"]
    assert steps[1].reason == "Not started: the playground stopped."


async def test_a_step_that_does_not_end_is_stopped() -> None:
    async with serve(STREAM_HEAD, RESULT, HOLD) as server:
        found = await new_collection(server.url)
        await sync_to_async(found.ask)("first")
        run, _ = await start(found)
        await server.asked.wait()
        begin_shutdown()
        await finish_shutdown(0)
    await run.arefresh_from_db()
    assert run.state == "interrupted"
    (step,) = await steps_of(run)
    assert (step.verdict, step.reason) == ("stopped", "Not completed: the playground stopped.")
    assert step.run.state == "interrupted"


async def test_a_collection_run_whose_last_steps_end_in_time_is_completed() -> None:
    may_end = asyncio.Event()
    async with serve(STREAM_HEAD, RESULT, may_end, COMPLETE) as server:
        found = await new_collection(server.url)
        await sync_to_async(found.ask)("first")
        run, _ = await start(found)
        await server.asked.wait()
        begin_shutdown()
        finishing = asyncio.ensure_future(finish_shutdown(20))
        may_end.set()
        await finishing
    await run.arefresh_from_db()
    assert run.state == "completed"
    assert await verdicts(run) == ["met"]


async def test_promises_are_not_polled_any_more() -> None:
    run = await sync_to_async(create_run)()
    promise = await PolledPromise.objects.acreate(
        run=run, entry_seq=1, token="t", polling_seconds=900
    )
    begin_shutdown()
    await promise_polling.start_promise_poller()  # It ends.
    for refused in (engine.poll_now, engine.cancel_promise):
        with pytest.raises(engine.ShuttingDownError):
            await refused(promise.pk)
    await promise.arefresh_from_db()
    assert (promise.leased_until, promise.cancel_requested) == (None, False)


async def test_a_poll_that_comes_too_late_releases_its_lease() -> None:
    agent = await Agent.objects.acreate(name="a", url="http://127.0.0.1:9")
    run = await sync_to_async(create_run)()
    await Run.objects.filter(pk=run.pk).aupdate(agent=agent)
    promise = await PolledPromise.objects.acreate(
        run=run, entry_seq=1, token="t", polling_seconds=900
    )
    begin_shutdown()
    assert await promise_polling.poll(promise.pk)
    await promise.arefresh_from_db()
    assert (promise.leased_until, promise.status, promise.status_message) == (None, "polling", "")
    assert await PolledPromise.objects.due().acount() == 1
    assert not promise_polling.sending


async def test_without_a_database_it_ends_all_the_same(
    begin: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "STORING_SECONDS", 0.2)
    async with serve(STREAM_HEAD, RESULT, HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        begin_shutdown()
        away = mock.Mock(side_effect=OperationalError("away"))
        monkeypatch.setattr("playground.engine.writer._store", away)
        monkeypatch.setattr("playground.engine.shutdown._mark_interrupted", away)
        assert (await finish_shutdown(0)).interrupted == 1
        monkeypatch.undo()
        await task
    assert run.driver == this_driver()
