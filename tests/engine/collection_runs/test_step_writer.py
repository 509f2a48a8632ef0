"""Rows of steps where the database fails or refuses a row."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import CollectionRunOptions, plan_run, record
from playground.engine.collection_runs.runner import NOT_STORED
from playground.models import Collection, CollectionRun, SavedRequest, Step
from playground.models.columns import storable
from tests.engine.conftest import until
from tests.support.collection_runs import (
    OK,
    answer,
    new_collection,
    request,
    run_to_end,
    start,
    steps_of,
)
from tests.support.outages import Outage
from tests.support.servers import serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


async def test_a_reason_that_no_database_takes_costs_only_itself() -> None:
    async with serve(answer()) as server:
        # Two names of an object that are one once the variable has its value.
        document = {"query": {"text": "b"}, "\ud800{{x}}": {"b": 1, "{{x}}": 2}}
        found = await new_collection(
            server.url,
            request("a", expectations=OK),
            request("b", document=document),
            request("c", expectations=OK),
        )
        run = await run_to_end(found, variables={"x": "b"})
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["met", "unsent", "met"]
    assert "duplicate name after variable substitution" in steps[1].reason
    assert [step.run is None for step in steps] == [False, True, False]


async def test_names_that_no_database_takes() -> None:
    """As a file may hold them, whose collection was is not saved."""
    saved = SavedRequest(collection=Collection(name="x"), name="a\0\ud800", document={})
    planned = plan_run("x\ud800", [saved], CollectionRunOptions())
    run = await sync_to_async(record)(planned)
    await runner.start(run, planned)
    (step,) = await steps_of(run)
    assert (step.name, step.verdict) == (storable("a\0\ud800"), "unsent")
    assert (await CollectionRun.objects.aget(pk=run.pk)).name == storable("x\ud800")


async def test_a_row_that_is_refused_keeps_its_verdict_and_takes_no_other_along(
    outage: Outage,
) -> None:
    wanted = [{"type": "json", "path": "$.refused", "exists": False}]
    async with serve(answer()) as server:
        asked = (request("a", expectations=OK), request("b", expectations=wanted))
        found = await new_collection(server.url, *asked)
        run, task = await start(found)
        outage.begin("playground_step", "$.refused", error=ValueError("no such text"))
        await task
    steps = await steps_of(run)
    assert [step.verdict for step in steps] == ["met", "met"]
    assert [(len(step.checks), step.reason) for step in steps] == [(1, ""), (0, NOT_STORED)]


async def test_a_database_that_is_busy_loses_nothing(outage: Outage) -> None:
    """Neither at the end, nor while a step hangs."""
    go_on = asyncio.Event()
    async with serve(go_on, answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        run, task = await start(found)
        outage.begin("playground_step", "running", times=3)
        running = Step.objects.filter(verdict="running", run__isnull=False)
        await until(running.aexists)
        assert outage.failures == 3
        outage.begin("playground_step", "met", times=3)
        go_on.set()
        await task
    assert outage.failures == 6
    await run.arefresh_from_db()
    assert run.state == "completed"
    assert [(step.verdict, step.reason) for step in await steps_of(run)] == [("met", "")]


async def test_what_can_never_be_stored_is_not_called_skipped(
    outage: Outage, settings: Any
) -> None:
    settings.DATABASE_PATIENCE = 0.1
    async with serve(answer()) as server:
        found = await new_collection(server.url, request("a", expectations=OK))
        run, task = await start(found)
        outage.begin("playground_step", "met")
        with pytest.raises(OperationalError):
            await task
        outage.end()
    await run.arefresh_from_db()
    # It is left as it is, and shows as interrupted before long.
    assert run.state == "running"
    assert [step.verdict for step in await steps_of(run)] != ["skipped"]
