"""Scenarios about time and amount: slow, endless, silent, very many, very large."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from itertools import count

from django.http.response import HttpResponseBase

from playground.demo.http import event_stream, json_response
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.scene import (
    VERSION,
    ScenarioRequest,
    complete,
    dish,
    paced,
    result,
    start,
)

#: Events of a flood go out in pieces of about this many, as a fast server's would.
_PIECE = 64
_HUGE = 5_000_000


async def slow(scene: ScenarioRequest) -> HttpResponseBase:
    """An event each second."""
    wanted = 8 if scene.count is None else scene.count
    events = (start(), *(result(index) for index in range(wanted)), complete())
    return event_stream(paced(events, scene.pause(1.0)))


async def endless(scene: ScenarioRequest) -> HttpResponseBase:
    """Results until the client has had enough."""

    async def events() -> AsyncIterator[bytes]:
        yield start()
        for index in count():
            yield result(index)
            await asyncio.sleep(scene.pause(0.1))

    return event_stream(_for_a_while(scene, events()))


async def heartbeats(scene: ScenarioRequest) -> HttpResponseBase:
    """Comments that keep the connection open, and never an event."""

    async def comments() -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(scene.pause(1.0))

    return event_stream(_for_a_while(scene, comments()))


async def silent(scene: ScenarioRequest) -> HttpResponseBase:
    """Takes the request and never answers. Django cancels the wait when the client leaves."""
    await _patience(scene)
    hang_up(scene.request, reset=False)
    await asyncio.Event().wait()
    raise AssertionError("nobody sets this event")


async def _for_a_while(
    scene: ScenarioRequest, chunks: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """The chunks; where `?for=` says how long, the connection is closed beneath them then."""
    loop = asyncio.get_running_loop()
    until = None if scene.seconds is None else loop.time() + scene.seconds
    async for chunk in chunks:
        yield chunk
        if until is not None and loop.time() >= until:
            hang_up(scene.request, reset=False)
            # The server now notices that the connection is gone and cancels this wait.
            await asyncio.Event().wait()


async def _patience(scene: ScenarioRequest) -> None:
    if scene.seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(scene.seconds)


async def flood(scene: ScenarioRequest) -> HttpResponseBase:
    """Very many small results, as fast as they can be sent."""
    wanted = 20_000 if scene.count is None else scene.count

    def pieces() -> Iterator[bytes]:
        yield start()
        templates = [_template(number) for number in range(8)]
        for first in range(0, wanted, _PIECE):
            numbers = range(first, min(first + _PIECE, wanted))
            yield b"".join(templates[n % 8].replace(b"%d", str(n).encode()) for n in numbers)
        yield complete(total_items=wanted)

    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces():
            yield piece
            # Lets everyone else run, and a client that went away be noticed.
            await asyncio.sleep(0)

    return event_stream(stream())


async def huge(scene: ScenarioRequest) -> HttpResponseBase:
    """One result of 5 MB: too long a line for a stream, though not for a JSON reply."""
    item = {**dish(0), "description": "All about salmon. " * (_HUGE // 18)}
    if not scene.streaming:
        meta = {"response_type": "answer", "version": VERSION}
        return json_response({"_meta": meta, "results": [item]})
    return event_stream(paced((start(), result(0), result(1, item), complete()), 0.05))


def _template(number: int) -> bytes:
    """A result event with `%d` for its number: encoding 20,000 of them is what would be slow."""
    item = {**dish(number), "url": "https://recipes.example/scenario/%d"}
    item["name"] = f"{item['name']} no. %d"
    return b'event: result\ndata: {"index": %d, "item": ' + json.dumps(item).encode() + b"}\n\n"
