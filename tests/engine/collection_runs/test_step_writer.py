"""Rows of steps where the database fails or refuses a row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from playground.engine import collection_runs
from playground.engine.collection_runs import CollectionRunOptions, plan_run, record
from playground.engine.collection_runs import step_writer as step_rows
from playground.engine.collection_runs.step_writer import NOT_STORED
from playground.models import Collection, CollectionRun, SavedRequest, Step
from playground.models.json_text import storable
from tests.support.collection_runs import OK, answer, new_collection, run_to_end, start, steps_of
from tests.support.servers import HOLD, STREAM_HEAD, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

Rows = list[tuple[int, dict[str, Any]]]


def failing(monkeypatch: pytest.MonkeyPatch, fails: Callable[[Rows], bool]) -> list[Rows]:
    """Have rows stored by a database that is busy whenever `fails` says so; what it was given."""
    real, stored_rows = step_rows._store, []

    def store(key: UUID, rows: Rows) -> None:
        stored_rows.append(rows)
        if fails(rows):
            raise OperationalError("database is locked")
        real(key, rows)

    monkeypatch.setattr(step_rows, "_store", store)
    return stored_rows


def are_final(rows: Rows) -> bool:
    return all(columns["verdict"] != "running" for _, columns in rows)


async def test_a_reason_that_no_database_takes_costs_only_itself() -> None:
    async with serve(answer()) as server:
        found = await new_collection(server.url)

        def fill() -> None:
            found.ask("a", expectations=OK)
            # Two names of an object that are one once the variable has its value.
            found.ask("b", document={"query": {"text": "b"}, "\ud800{{x}}": {"b": 1, "{{x}}": 2}})
            found.ask("c", expectations=OK)

        await sync_to_async(fill)()
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
    await collection_runs.start(run, planned)
    (step,) = await steps_of(run)
    assert (step.name, step.verdict) == (storable("a\0\ud800"), "unsent")
    assert (await CollectionRun.objects.aget(pk=run.pk)).name == storable("x\ud800")


async def test_a_row_that_is_refused_keeps_its_verdict_and_takes_no_other_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = step_rows._store

    def refusing(key: UUID, rows: Rows) -> None:
        for _, columns in rows:
            if "refused" in json.dumps(columns["checks"]):
                raise ValueError("no such text")
        real(key, rows)

    monkeypatch.setattr(step_rows, "_store", refusing)
    async with serve(answer()) as server:
        found = await new_collection(server.url)
        wanted = [{"type": "json", "path": "$.refused", "exists": False}]

        def fill() -> None:
            found.ask("a", expectations=OK)
            found.ask("b", expectations=wanted)

        await sync_to_async(fill)()
        steps = await steps_of(await run_to_end(found))
    assert [step.verdict for step in steps] == ["met", "met"]
    assert [(len(step.checks), step.reason) for step in steps] == [(1, ""), (0, NOT_STORED)]
    assert all(step.run for step in steps)


async def test_a_database_that_is_busy_at_the_end_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = [1]
    failing(monkeypatch, lambda rows: are_final(rows) and bool(left and left.pop()))
    async with serve(answer()) as server:
        found = await new_collection(server.url)
        await sync_to_async(found.ask)("a", expectations=OK)
        run = await run_to_end(found)
    assert not left
    assert run.state == "completed"
    assert [(step.verdict, step.reason) for step in await steps_of(run)] == [("met", "")]


async def test_what_can_never_be_stored_is_not_called_skipped(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.DATABASE_PATIENCE = 0.1
    failing(monkeypatch, are_final)
    async with serve(answer()) as server:
        found = await new_collection(server.url)
        await sync_to_async(found.ask)("a", expectations=OK)
        run, task = await start(found)
        with pytest.raises(OperationalError):
            await task
    await run.arefresh_from_db()
    # It is left as it is, and shows as interrupted before long.
    assert run.state == "running"
    assert [step.verdict for step in await steps_of(run)] != ["skipped"]


async def test_what_was_not_stored_is_tried_again_while_a_step_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = [1]
    stored_rows = failing(monkeypatch, lambda rows: bool(left and left.pop()))
    async with serve(STREAM_HEAD, HOLD) as server:
        found = await new_collection(server.url)
        await sync_to_async(found.ask)("a")
        run, task = await start(found)
        async with asyncio.timeout(20):
            while not await Step.objects.filter(verdict="running", run__isnull=False).aexists():
                await asyncio.sleep(0.05)
        assert not left
        assert len(stored_rows) > 1
        collection_runs.stop(run)
        await task
