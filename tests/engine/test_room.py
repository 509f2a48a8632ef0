"""The queue of those who wait for room."""

from __future__ import annotations

import asyncio
import contextlib

from playground.engine.room import Room


async def test_who_is_cancelled_in_the_queue_keeps_nobody_waiting() -> None:
    room, stopped = Room(None), asyncio.Event()

    async def wait_in_line() -> None:
        async with room.turn(stopped):
            pass

    async with room.turn(stopped):
        second = asyncio.create_task(wait_in_line())
        third = asyncio.create_task(wait_in_line())
        await asyncio.sleep(0.01)
        second.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await second
    await asyncio.wait_for(third, 5)


async def test_who_is_stopped_enters_without_a_turn() -> None:
    room, stopped = Room(None), asyncio.Event()
    async with room.turn(stopped):
        stopped.set()
        async with asyncio.timeout(5), room.turn(stopped):
            pass
    async with asyncio.timeout(5), room.turn(asyncio.Event()):
        pass
