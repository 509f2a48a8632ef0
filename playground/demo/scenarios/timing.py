"""Scenarios about time and size: slow, endless, silent, very many, very large."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from itertools import count

from django.http.response import HttpResponseBase

from playground.demo.http import event_stream, json_response
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.scenario import (
    VERSION,
    ScenarioRequest,
    Scenarios,
    complete,
    dish,
    paced,
    respond,
    result,
    start,
)

#: Events of a flood in one chunk, as of a fast server.
_CHUNK = 64
_HUGE = 5_000_000

ROWS = Scenarios()


@ROWS.add(
    "endless",
    "Endless",
    "Ten results per second, forever (change with ?every=; ?for= closes the connection after"
    " that many seconds).",
    "The counters rise until you press Stop or a limit is reached.",
    state="failed",
    results=None,
    problem="body total_timeout",
    query="?every=0.1&for=2",
    closed_state="truncated",
)
async def endless(request: ScenarioRequest) -> HttpResponseBase:

    async def events() -> AsyncIterator[bytes]:
        yield start()
        for index in count():
            yield result(index)
            await asyncio.sleep(request.pause(0.1))

    return event_stream(_until_hang_up(request, events()))


@ROWS.add(
    "heartbeats",
    "Heartbeats only",
    "One comment per second and no events (?for= closes the connection after that many seconds).",
    "The stream has no events, until you press Stop or the time limit is reached.",
    state="failed",
    outcome="none",
    problem="body total_timeout",
    query="?every=0.2&for=2",
    closed_state="truncated",
)
async def heartbeats(request: ScenarioRequest) -> HttpResponseBase:

    async def comments() -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(request.pause(1.0))

    return event_stream(_until_hang_up(request, comments()))


@ROWS.add(
    "silent",
    "Silent",
    "The request is accepted and never answered (?for= closes the connection after that many"
    " seconds).",
    "The run waits until you press Stop or the idle timeout is reached.",
    state="failed",
    outcome="none",
    problem="headers total_timeout",
    query="?for=2",
)
async def silent(request: ScenarioRequest) -> HttpResponseBase:
    # Django cancels the wait when the client disconnects.
    await _wait(request)
    hang_up(request.http_request, reset=False)
    await asyncio.Event().wait()
    raise AssertionError("this event is never set")


async def _until_hang_up(
    request: ScenarioRequest, chunks: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """Yield the chunks; with `?for=`, close the connection after so many seconds."""
    loop = asyncio.get_running_loop()
    until = None if request.seconds is None else loop.time() + request.seconds
    async for chunk in chunks:
        yield chunk
        if until is not None and loop.time() >= until:
            hang_up(request.http_request, reset=False)
            # The server now notices that the connection is gone and cancels this wait.
            await asyncio.Event().wait()


async def _wait(request: ScenarioRequest) -> None:
    if request.seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(request.seconds)


@ROWS.add(
    "flood",
    "Flood",
    "20,000 results as fast as possible (change with ?n=).",
    "The counts are exact; cards are loaded while scrolling.",
    results=20_000,
    query="?n=5000",
)
async def flood(request: ScenarioRequest) -> HttpResponseBase:
    total = 20_000 if request.count is None else request.count
    if not request.streaming:
        return await respond(request, *(dish(index) for index in range(total)))

    def chunks() -> Iterator[bytes]:
        yield start()
        templates = [_template(number) for number in range(8)]
        for first in range(0, total, _CHUNK):
            numbers = range(first, min(first + _CHUNK, total))
            yield b"".join(templates[n % 8].replace(b"%d", str(n).encode()) for n in numbers)
        yield complete(total_items=total)

    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks():
            yield chunk
            # Lets other tasks run, and a disconnect be noticed.
            await asyncio.sleep(0)

    return event_stream(stream())


@ROWS.add(
    "huge",
    "Huge",
    "One 5 MB result; sent as JSON if no stream is preferred.",
    "The beginning of its description is shown; the Wire tab has all of it.",
    results=2,
)
async def huge(request: ScenarioRequest) -> HttpResponseBase:
    item = {**dish(0), "description": "All about salmon. " * (_HUGE // 18)}
    if not request.streaming:
        meta = {"response_type": "answer", "version": VERSION}
        return json_response({"_meta": meta, "results": [item]})
    return event_stream(paced((start(), result(0), result(1, item), complete()), 0.05))


def _template(number: int) -> bytes:
    """Return a result event with `%d` for its number: encoding 20,000 of them would be slow."""
    item = {**dish(number), "url": "https://recipes.example/scenario/%d"}
    item["name"] = f"{item['name']} no. %d"
    return b'event: result\ndata: {"index": %d, "item": ' + json.dumps(item).encode() + b"}\n\n"
