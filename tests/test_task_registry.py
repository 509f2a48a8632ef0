"""Background tasks and their registry."""

from __future__ import annotations

import asyncio
import contextvars
import gc

import pytest

from playground.task_registry import SingleTask, TaskRegistry, running_tasks, start_task

SEEN: contextvars.ContextVar[str] = contextvars.ContextVar("SEEN", default="nothing")


async def seen() -> str:
    await asyncio.sleep(0)
    gc.collect()
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


async def test_those_of_the_running_loop_are_listed_until_they_have_ended() -> None:
    async def end_elsewhere() -> list[str]:
        task = start_task(asyncio.sleep(0), "elsewhere")
        names = [each.get_name() for each in running_tasks()]
        await task
        return names

    one = start_task(asyncio.sleep(60), "one")
    two = TaskRegistry[int, None]("job").begin(2, None, asyncio.sleep(60))
    assert set(running_tasks()) == {one, two}
    assert await asyncio.to_thread(asyncio.run, end_elsewhere()) == ["elsewhere"]
    one.cancel()
    two.cancel()
    await asyncio.wait({one, two})
    assert running_tasks() == []


async def fail() -> None:
    raise ZeroDivisionError


class TestRegistry:
    async def test_a_task_is_found_by_its_key_until_it_has_ended(self) -> None:
        ended: list[tuple[int, str]] = []
        registry: TaskRegistry[int, str] = TaskRegistry("job", lambda *end: ended.append(end))
        go_on = asyncio.Event()

        async def work() -> None:
            await go_on.wait()

        one = registry.begin(1, "one", work())
        registry.begin(2, "two", work())
        gc.collect()
        assert (1 in registry, 3 in registry) == (True, False)
        assert (registry.get(1), registry.get(3)) == (("one", one), None)
        assert registry.values() == ["one", "two"]
        assert one.get_name() == "job 1"
        one.cancel()
        await asyncio.wait({one})
        assert (registry.values(), ended) == (["two"], [(1, "one")])
        go_on.set()
        await asyncio.sleep(0.01)
        assert (registry.values(), ended) == ([], [(1, "one"), (2, "two")])

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
