"""Tasks that nobody waits for."""

from __future__ import annotations

import asyncio
import contextvars
import gc

import pytest

from playground.engine.background import Single, begin

SEEN: contextvars.ContextVar[str] = contextvars.ContextVar("SEEN", default="nothing")


async def seen() -> str:
    await asyncio.sleep(0)
    gc.collect()
    return SEEN.get()


async def test_a_task_knows_nothing_of_whoever_began_it() -> None:
    SEEN.set("a request")
    task = begin(seen(), "look")
    assert (await task, task.get_name()) == ("nothing", "look")


def test_one_at_a_time_and_anew_after_its_end_and_in_another_loop() -> None:
    single = Single(seen, "look")

    async def twice() -> asyncio.Task[str]:
        first = single.begin()
        assert single.begin() is first
        await first
        second = single.begin()
        assert second is not first
        return second

    left = asyncio.run(twice())
    assert asyncio.run(twice()) is not left


async def test_one_that_failed_is_begun_anew() -> None:
    results = iter([ZeroDivisionError, None])

    async def work() -> None:
        if error := next(results):
            raise error

    single = Single(work, "fail")
    with pytest.raises(ZeroDivisionError):
        await single.begin()
    await single.begin()
