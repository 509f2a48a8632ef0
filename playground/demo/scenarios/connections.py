"""Scenarios in which the transfer itself breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from django.http.response import HttpResponseBase

from playground.demo.http import event_stream
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.scene import ScenarioRequest, paced, result, start

_PAUSE = 0.2


async def truncated(scene: ScenarioRequest) -> HttpResponseBase:
    """The body ends as HTTP says it should, in the middle of an event."""
    half = result(2)[:60]
    return event_stream(paced((start(), result(0), result(1), half), scene.pause(_PAUSE)))


async def dirty_close(scene: ScenarioRequest) -> HttpResponseBase:
    """The connection is closed without the chunk that ends the body."""
    return event_stream(_until_hang_up(scene, reset=False))


async def reset(scene: ScenarioRequest) -> HttpResponseBase:
    """The connection is reset, as when a process is killed."""
    return event_stream(_until_hang_up(scene, reset=True))


async def _until_hang_up(scene: ScenarioRequest, *, reset: bool) -> AsyncIterator[bytes]:
    for chunk in (start(), result(0), result(1), result(2)[:60]):
        yield chunk
        # A reset throws away what has not been sent yet: let it go out first.
        await asyncio.sleep(scene.pause(_PAUSE))
    hang_up(scene.request, reset=reset)
    # The server now notices that the connection is gone and cancels this wait.
    await asyncio.Event().wait()
