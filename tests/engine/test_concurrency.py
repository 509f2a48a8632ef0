"""The queue of tasks that wait for a slot."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

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


async def test_who_is_stopped_enters_without_a_turn() -> None:
    concurrency, stopped = ConcurrencyLimit(None), asyncio.Event()
    async with concurrency.slot(stopped):
        stopped.set()
        async with asyncio.timeout(5), concurrency.slot(stopped):
            pass
    async with asyncio.timeout(5), concurrency.slot(asyncio.Event()):
        pass
