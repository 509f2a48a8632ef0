"""Steps that wait for a slot, and what they hold and read meanwhile."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from playground.engine import concurrency
from playground.engine.collection_runs import runner, steps
from playground.engine.collection_runs.plan import CollectionRunOptions, record
from playground.engine.collection_runs.runner import FAILED_STEP_REASON
from playground.models import Agent, Environment, Run, Variable, driving, storage
from tests.support.collection_runs import (
    OK,
    answer,
    new_collection,
    request,
    run_to_end,
    start,
    steps_of,
    texts,
    verdicts,
)
from tests.support.servers import HOLD, STREAM_HEAD, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
def narrow(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_runs=3)


async def others(count: int) -> list[Run]:
    """Runs of another process that are under way."""
    return [
        await Run.objects.acreate(
            agent_name="x", url="http://x.example", protocol="nlweb", binding="http",
            version="0.55", request={}, driver="elsewhere:1:1", heartbeat_at=timezone.now(),
        )
        for _ in range(count)
    ]  # fmt: skip


async def test_runs_of_one_owner_never_pass_the_limit_together(narrow: None) -> None:
    async with serve(STREAM_HEAD, HOLD) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        started = [await start(found, iterations=6, parallel=number) for number in (2, 3)]
        async with asyncio.timeout(20):
            while len(server.requests) < 3:
                await asyncio.sleep(0.05)
        await asyncio.sleep(2 * concurrency.CHECK_INTERVAL)
        assert await Run.objects.unfinished().acount() == 3
        for run, _ in started:
            runner.stop(run)
        await asyncio.wait_for(asyncio.gather(*[task for _, task in started]), 20)
        assert len(server.requests) == 3


async def test_without_room_no_run_is_stored(settings: Any) -> None:
    storage._counts.clear()
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        settings.QUOTA = 1
        fills = await Run.objects.acreate(agent_name="A", request={}, state="completed")
        run, task = await start(found, iterations=3)
        await task
        assert server.requests == []
    assert await verdicts(run) == ["unsent"] * 3
    assert (await steps_of(run))[0].reason.startswith("No room left: ")
    assert await Run.objects.aget() == fills


async def test_an_end_here_wakes_who_waits(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "CHECK_INTERVAL", 600)
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_runs=1)
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        started = [await start(found, iterations=3) for _ in range(2)]
        await asyncio.wait_for(asyncio.gather(*[task for _, task in started]), 60)
        assert len(server.requests) == 6
    for run, _ in started:
        assert await verdicts(run) == ["met"] * 3


@pytest.mark.usefixtures("heartbeats_count")
async def test_runs_of_a_dead_process_take_up_no_room(narrow: None) -> None:
    await others(3)
    await Run.objects.aupdate(heartbeat_at=timezone.now() - 2 * driving.HEARTBEAT_TIMEOUT)
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        assert await verdicts(await asyncio.wait_for(run_to_end(found), 20)) == ["met"]


async def test_who_waits_for_long_says_so(narrow: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "WAIT_NOTICE_SECONDS", 0.1)
    said = asyncio.Event()
    await others(3)
    found = await new_collection("http://127.0.0.1:9", request("a", expectations=OK))
    planned = await sync_to_async(found.plan)()
    run = await sync_to_async(record)(planned)
    task = runner.start(run, planned, None, said.set)
    await asyncio.wait_for(said.wait(), 20)
    runner.stop(run)
    await asyncio.wait_for(task, 20)


async def test_what_waits_for_its_turn_when_all_is_halted_is_not_sent() -> None:
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("{{city}}"))
        run = await run_to_end(found, rows=[{}, {"city": "Oslo"}], parallel=2, bail=True)
        assert not server.requests
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["unsent", "skipped"]
    assert steps[1].reason == f"Not started: {FAILED_STEP_REASON}."


async def test_an_agent_that_is_deleted_meanwhile_is_named() -> None:
    async with serve(answer()) as server:
        found = await new_collection("", request("a", expectations=OK))
        agent = await Agent.objects.acreate(name="Gone", url=server.url)
        planned = await sync_to_async(found.plan)(CollectionRunOptions(agent=agent))
        run = await sync_to_async(record)(planned)
        await Agent.objects.filter(pk=agent.pk).adelete()
        await runner.start(run, planned)
        assert not server.requests
    (step,) = await steps_of(run)
    assert (step.verdict, step.reason) == ("unsent", "The agent “Gone” was deleted.")


async def test_what_is_revoked_meanwhile_is_not_sent_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "CACHE_SECONDS", -1.0)
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("{{city}}"), request("{{city}}"))
        environment = await Environment.objects.acreate(name="E")
        await environment.variables.acreate(name="city", value="Oslo")
        planned = await sync_to_async(found.plan)(CollectionRunOptions(environment=environment))
        run = await sync_to_async(record)(planned)

        def after(*_: Any) -> None:
            thread = threading.Thread(target=Variable.objects.all().delete)
            thread.start()
            thread.join()

        await runner.start(run, planned, after)
        assert texts(server.requests) == ["Oslo"]
    assert await verdicts(run) == ["met", "unsent"]
