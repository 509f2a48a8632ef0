"""Scenarios with interrupted transfers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from django.http.response import HttpResponseBase

from playground.demo.http import event_stream
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.scenario import Scenario, ScenarioRequest, paced, result, start

_PAUSE = 0.2


async def truncated(request: ScenarioRequest) -> HttpResponseBase:
    """End the body in the middle of an event, with correct HTTP framing."""
    half = result(2)[:60]
    return event_stream(paced((start(), result(0), result(1), half), request.pause(_PAUSE)))


async def dirty_close(request: ScenarioRequest) -> HttpResponseBase:
    """Close the connection without the chunk that ends the body."""
    return event_stream(_until_hang_up(request, reset=False))


async def reset(request: ScenarioRequest) -> HttpResponseBase:
    """Reset the connection, as when a process is killed."""
    return event_stream(_until_hang_up(request, reset=True))


async def _until_hang_up(request: ScenarioRequest, *, reset: bool) -> AsyncIterator[bytes]:
    for chunk in (start(), result(0), result(1), result(2)[:60]):
        yield chunk
        # A reset discards what has not been sent yet: let it be sent first.
        await asyncio.sleep(request.pause(_PAUSE))
    hang_up(request.http_request, reset=reset)
    # The server now notices that the connection is gone and cancels this wait.
    await asyncio.Event().wait()


ROWS = (
    Scenario(
        "truncated",
        "Truncated",
        "The stream ends in the middle of an event, although the HTTP framing is complete.",
        "Two results and the incomplete event are shown; the run is truncated.",
        "truncated",
        "answer",
        truncated,
        results=2,
        problem="body",
    ),
    Scenario(
        "dirty-close",
        "Dirty close",
        "The connection closes without the final chunk.",
        "Two results are shown, then a lost connection.",
        "truncated",
        "answer",
        dirty_close,
        results=2,
        problem="body",
    ),
    Scenario(
        "reset",
        "Reset",
        "The connection is reset mid-stream.",
        "Two results are shown, then a lost connection.",
        "truncated",
        "answer",
        reset,
        results=2,
        problem="body",
    ),
)
