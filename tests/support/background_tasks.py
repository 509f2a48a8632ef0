"""Background tasks of the engine in tests."""

from __future__ import annotations

import asyncio

from playground.base.jobs import running_tasks


async def wait_for_tasks() -> None:
    """Wait until the background tasks that are running now have ended. Raises their exceptions.

    Those that run as long as there is something to do for them, such as heartbeats, are cancelled.
    """
    if tasks := running_tasks():
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
