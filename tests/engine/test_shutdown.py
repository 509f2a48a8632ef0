"""Shutdown of the engine: what is refused, what may end, and what is interrupted."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from playground.base.processes import this_process
from playground.composer import views as run_views
from playground.engine import process, promise_polling, runs, tasks
from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import record
from playground.engine.process import begin_shutdown, finish_shutdown
from playground.engine.request import request_to
from playground.models import Agent, CollectionRun, PolledPromise, Run, RunKind
from tests.engine.conftest import Begin, until
from tests.support.collection_runs import new_collection, request, start, steps_of
from tests.support.outages import Outage
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
    prepared = request_to(Agent(name="a", url="http://127.0.0.1:9"), {"query": {}})
    return runs.create_run(prepared, None, runs.RunParent(kind))


async def test_a_run_that_ends_in_time_is_completed(begin: Begin) -> None:
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


async def test_one_that_does_not_is_interrupted_with_its_frames(begin: Begin) -> None:
    async with serve(STREAM_HEAD, RESULT, chunk(b"data: half"), HOLD) as server:
        run, task = await begin(server.url)
        await until(Run.objects.filter(pk=run.pk, frames__gte=3).aexists)
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


async def test_a_run_that_was_recorded_and_not_started_is_interrupted() -> None:
    mine = await sync_to_async(create_run)()
    other = await sync_to_async(create_run)()
    await Run.objects.filter(pk=other.pk).aupdate(driver="elsewhere:1:")
    begin_shutdown()
    await finish_shutdown(0)
    found = {run.pk: run.state async for run in Run.objects.all()}
    assert found == {mine.pk: "interrupted", other.pk: "queued"}


async def test_a_run_that_is_started_too_late_is_interrupted_and_not_sent() -> None:
    async with serve(STREAM_HEAD, RESULT, COMPLETE) as server:
        agent = Agent(name="a", url=server.url)
        prepared = request_to(agent, {"query": {"text": "eggs"}})
        run = await sync_to_async(runs.create_run)(prepared)
        begin_shutdown()
        await tasks.send_here(run, prepared)
        assert server.requests == []
    await run.arefresh_from_db()
    assert (run.state, run.frames, run.ended_us is not None) == ("interrupted", 0, True)


async def test_a_run_that_is_recorded_while_the_shutdown_begins_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save = Run.save

    def save_slowly(run: Run, *args: Any, **options: Any) -> None:
        save(run, *args, **options)
        runs.refuse_new_runs()

    monkeypatch.setattr(Run, "save", save_slowly)
    run = await sync_to_async(create_run)()
    assert run.state == "interrupted"
    await run.arefresh_from_db()
    assert run.state == "interrupted"


async def test_a_request_under_way_is_waited_for_before_the_last_marking(
    monkeypatch: pytest.MonkeyPatch, async_client: AsyncClient
) -> None:
    recorded, may_go_on = threading.Event(), threading.Event()
    record, mark = run_views._record, process._mark_interrupted
    unfinished: list[bool] = []

    def record_slowly(request: Any) -> Any:
        found = record(request)
        recorded.set()
        may_go_on.wait(20)
        return found

    def note_and_mark() -> None:
        unfinished.append(Run.objects.unfinished().exists())
        mark()

    monkeypatch.setattr(run_views, "_record", record_slowly)
    monkeypatch.setattr(process, "_mark_interrupted", note_and_mark)
    async with serve(STREAM_HEAD, RESULT, HOLD) as server:
        agent = await Agent.objects.acreate(name="a", url=server.url)
        sent = {"agent": agent.slug, "document": '{"query": {"text": "eggs"}}'}
        posting = asyncio.ensure_future(async_client.post("/runs/", sent))
        await asyncio.to_thread(recorded.wait, 20)
        begin_shutdown()
        finishing = asyncio.ensure_future(finish_shutdown(0))
        await asyncio.wait({finishing}, timeout=0.05)
        may_go_on.set()
        await finishing
        response = await posting
        assert server.requests == []
    run = await Run.objects.aget()
    assert (unfinished, run.state) == ([False], "interrupted")
    assert response.headers["Location"] == run.get_absolute_url()


async def test_a_request_that_does_not_end_is_not_waited_for_without_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "STORING_SECONDS", 0.1)
    begin_shutdown()
    with process.request_in_progress():
        await asyncio.wait_for(finish_shutdown(0), 20)


async def test_new_runs_are_refused() -> None:
    begin_shutdown()
    with pytest.raises(runs.ShuttingDownError):
        await sync_to_async(create_run)()
    # The call of another run waits for it.
    await sync_to_async(create_run)(RunKind.CLIENT_RESPONSE)
    found = await new_collection("http://127.0.0.1:9", request("first"))
    with pytest.raises(runs.ShuttingDownError):
        await start(found)
    assert not await CollectionRun.objects.aexists()


async def test_a_collection_run_starts_no_further_steps() -> None:
    may_end = asyncio.Event()
    async with serve(STREAM_HEAD, RESULT, may_end, COMPLETE) as server:
        found = await new_collection(server.url, *map(request, ("first", "second")))
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


async def test_a_collection_run_that_is_started_too_late_is_interrupted() -> None:
    async with serve(STREAM_HEAD, RESULT, COMPLETE) as server:
        found = await new_collection(server.url, *map(request, ("first", "second")))
        plan = await sync_to_async(found.plan)()
        run = await sync_to_async(record)(plan)
        begin_shutdown()
        await runner.start(run, plan)
        assert server.requests == []
    await run.arefresh_from_db()
    assert (run.state, run.ended_at is not None) == ("interrupted", True)
    reason = "Not started: the playground stopped."
    assert [(step.verdict, step.reason) for step in await steps_of(run)] == [
        ("skipped", reason)
    ] * 2


async def test_a_collection_run_that_bailed_out_is_interrupted_with_its_last_step() -> None:
    async with serve(STREAM_HEAD, RESULT, HOLD) as server:
        found = await new_collection(server.url)
        await sync_to_async(found.ask)("held", "a")
        await sync_to_async(found.ask)("{{missing}}", "b")
        await sync_to_async(found.ask)("later", "c")
        run, _ = await start(found, parallel=2, bail=True)
        await server.asked.wait()
        await until(run.steps.filter(verdict="unsent").aexists)
        begin_shutdown()
        await finish_shutdown(0)
    await run.arefresh_from_db()
    assert run.state == "interrupted"
    held, _, later = await steps_of(run)
    assert (held.verdict, held.reason) == ("stopped", "Not completed: the playground stopped.")
    assert (later.verdict, later.reason) == ("skipped", "Not started: an earlier request failed.")


async def test_promises_are_not_polled_any_more() -> None:
    run = await sync_to_async(create_run)()
    promise = await PolledPromise.objects.acreate(
        run=run, entry_seq=1, token="t", polling_seconds=900
    )
    begin_shutdown()
    await promise_polling.poller.begin()  # It ends.
    for refused in (promise_polling.poll_now, promise_polling.cancel_promise):
        with pytest.raises(runs.ShuttingDownError):
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
    begin: Begin, outage: Outage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STORING_SECONDS", 0.2)
    async with serve(STREAM_HEAD, RESULT, HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        begin_shutdown()
        outage.begin()
        assert (await finish_shutdown(0)).interrupted == 1
        outage.end()
        await task
    assert run.driver == this_process()
