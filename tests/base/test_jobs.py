"""Background tasks and their registry."""

from __future__ import annotations

import asyncio
import contextvars
import gc

import pytest

from playground.base.jobs import SingleTask, TaskRegistry, start_task

SEEN: contextvars.ContextVar[str] = contextvars.ContextVar("SEEN", default="nothing")


async def seen() -> str:
    await asyncio.sleep(0)
    gc.collect(1)  # What is new, the task among it.
    return SEEN.get()


async def test_a_task_knows_nothing_of_whoever_began_it() -> None:
    SEEN.set("a request")
    task = start_task(seen(), "look")
    assert (await task, task.get_name()) == ("nothing", "look")


def test_one_at_a_time_and_anew_after_its_end_and_in_another_loop() -> None:
    single = SingleTask(seen, "look")

    async def twice() -> asyncio.Task[str]:
        first = single.begin()
        assert single.begin() is first
        await first
        second = single.begin()
        assert second is not first
        return second

    left = asyncio.run(twice())
    assert asyncio.run(twice()) is not left


async def fail() -> None:
    raise ZeroDivisionError


class TestRegistry:
    async def test_an_exception_is_logged_once_and_a_cancellation_is_not(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        registry: TaskRegistry[int, None] = TaskRegistry("job")
        failing = registry.begin(1, None, fail())
        cancelled = registry.begin(2, None, asyncio.sleep(60))
        cancelled.cancel()
        await asyncio.wait({failing, cancelled})
        await asyncio.sleep(0)
        assert [record.getMessage() for record in caplog.records] == ["job 1 was left unfinished"]
        assert caplog.records[0].exc_info
        assert caplog.records[0].exc_info[0] is ZeroDivisionError
