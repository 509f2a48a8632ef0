"""The queue of tasks that wait for a slot."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from playground.engine import concurrency
from playground.engine.concurrency import ConcurrencyLimit

pytestmark = pytest.mark.database


async def test_who_is_cancelled_in_the_queue_keeps_nobody_waiting() -> None:
    concurrency, stopped = ConcurrencyLimit(None), asyncio.Event()

    async def wait_in_line() -> None:
        async with concurrency.slot(stopped):
            pass

    async with concurrency.slot(stopped):
        second = asyncio.create_task(wait_in_line())
        third = asyncio.create_task(wait_in_line())
        await asyncio.sleep(0.01)
        second.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await second
    await asyncio.wait_for(third, 5)


@pytest.mark.parametrize(("answers", "looks"), [([False], 1), ([True, True, True, False], 4)])
async def test_it_looks_no_more_often_than_it_has_to(
    monkeypatch: pytest.MonkeyPatch, answers: list[bool], looks: int
) -> None:
    """Once for each look, and once more where runs of the dead were taken away."""
    asked: list[None] = []
    tidied: list[None] = []

    def is_full(_: object) -> bool:
        asked.append(None)
        return answers[len(asked) - 1]

    monkeypatch.setattr(concurrency, "is_at_run_limit", is_full)
    monkeypatch.setattr(concurrency, "mark_interrupted", lambda: tidied.append(None))
    monkeypatch.setattr(concurrency, "CHECK_INTERVAL", 0.001)
    await asyncio.wait_for(ConcurrencyLimit(None).wait(asyncio.Event(), lambda: None), 5)
    assert len(asked) == looks
    assert len(tidied) == (looks > 1)


async def test_who_is_stopped_enters_without_a_turn() -> None:
    concurrency, stopped = ConcurrencyLimit(None), asyncio.Event()
    async with concurrency.slot(stopped):
        stopped.set()
        async with asyncio.timeout(5), concurrency.slot(stopped):
            pass
    async with asyncio.timeout(5), concurrency.slot(asyncio.Event()):
        pass
