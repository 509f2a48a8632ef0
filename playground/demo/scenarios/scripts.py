"""Scenarios whose response takes more than a row: bytes, clocks, sizes and time without end."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from itertools import count

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import http_date

from playground.demo.failures import FailureError
from playground.demo.http import event_stream, json_response
from playground.demo.responses import encode, failure
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.parts import (
    VERSION,
    ScenarioRequest,
    complete,
    dish,
    document,
    paced,
    respond,
    result,
    start,
)
from playground.demo.scenarios.scenario import asked, script

_PAUSE = 0.2
_DEPTH = 1000
_GZIP = 31
#: Events of a flood in one chunk, as of a fast server.
_CHUNK = 64
_HUGE = 5_000_000
_MEGABYTE = 1_000_000
_MANY = 500
_RETRY_AFTER = 30


@script("slow")
async def slow(request: ScenarioRequest) -> HttpResponseBase:
    total = 8 if request.count is None else request.count
    return respond(request, *range(total), pause=1.0)


@script("line-separators")
async def line_separators(request: ScenarioRequest) -> HttpResponseBase:
    # Escapes that an editor shows.
    item = dish(0, name="One\u2028line", description="Still\u0085the\u2029same line")
    return respond(request, item, 1)


@script("bad-utf8")
async def bad_utf8(request: ScenarioRequest) -> HttpResponseBase:
    item = result(0, dish(0, name="Cr@me br@l@e"))
    broken = item.replace(b"Cr@me br@l@e", b"Cr\xe8me br\xc3l\xff\xfee")
    return event_stream(paced((start(), broken, result(1), complete()), request.pause(_PAUSE)))


@script("deep")
async def deep(request: ScenarioRequest) -> HttpResponseBase:
    nested = b"[" * _DEPTH + b"]" * _DEPTH
    # No result follows: a client that stops shows it if it has arrived in the same piece.
    too_deep = result(1, dish(1, nested="@")).replace(b'"@"', nested)
    return event_stream(paced((start(), result(0), too_deep, complete()), request.pause(_PAUSE)))


@script("gzip")
async def gzip(request: ScenarioRequest) -> HttpResponseBase:
    encoding = {"Content-Encoding": "gzip"}
    if not request.streaming:
        body = zlib.compress(encode(document("answer", results=[dish(0), dish(1)])), wbits=_GZIP)
        return HttpResponse(body, "application/json", headers=encoding)

    async def compressed() -> AsyncIterator[bytes]:
        compressor = zlib.compressobj(wbits=_GZIP)
        events = (start(), result(0), result(1), result(2), complete())
        async for chunk in paced(events, request.pause(_PAUSE)):
            yield compressor.compress(chunk) + compressor.flush(zlib.Z_SYNC_FLUSH)
        yield compressor.flush()

    return event_stream(compressed(), headers=encoding)


@script("rate-limited-date")
async def rate_limited_date(request: ScenarioRequest) -> HttpResponseBase:
    error = FailureError("RATE_LIMITED", "Too many requests; try again when the clock says so.")
    headers = {"Retry-After": http_date(time.time() + _RETRY_AFTER)}
    return json_response(failure(error, VERSION, None), error.status(VERSION), headers)


@script("many-questions")
async def many_questions(request: ScenarioRequest) -> HttpResponseBase:
    questions = [
        {"id": f"q{number}", "text": f"Question number {number}?", "type": "free_text"}
        for number in range(1, _MANY + 1)
    ]
    return asked(request, {"text": f"Just {_MANY} quick questions.", "questions": questions})


@script("long-question")
async def long_question(request: ScenarioRequest) -> HttpResponseBase:
    text = "Before I ask, a word. " + "It is a long word. " * (_MEGABYTE // 19)
    question = {"id": "patience", "text": "Are you still there?", "type": "boolean"}
    return asked(request, {"text": text, "questions": [question]})


@script("endless")
async def endless(request: ScenarioRequest) -> HttpResponseBase:

    async def events() -> AsyncIterator[bytes]:
        yield start()
        for index in count():
            yield result(index)
            await asyncio.sleep(request.pause(0.1))

    return event_stream(_until_hang_up(request, events()))


@script("heartbeats")
async def heartbeats(request: ScenarioRequest) -> HttpResponseBase:

    async def comments() -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(request.pause(1.0))

    return event_stream(_until_hang_up(request, comments()))


@script("silent")
async def silent(request: ScenarioRequest) -> HttpResponseBase:
    # Django cancels the wait when the client disconnects.
    if request.seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(request.seconds)
    await hang_up(request.http_request, reset=False)


async def _until_hang_up(
    request: ScenarioRequest, chunks: AsyncIterator[bytes]
) -> AsyncIterator[bytes]:
    """Yield the chunks; with `?for=`, close the connection after so many seconds."""
    loop = asyncio.get_running_loop()
    until = None if request.seconds is None else loop.time() + request.seconds
    async for chunk in chunks:
        yield chunk
        if until is not None and loop.time() >= until:
            await hang_up(request.http_request, reset=False)


@script("flood")
async def flood(request: ScenarioRequest) -> HttpResponseBase:
    total = 20_000 if request.count is None else request.count
    if not request.streaming:
        return respond(request, *range(total))

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


def _template(number: int) -> bytes:
    """Return a result event with `%d` for its number: encoding 20,000 of them would be slow."""
    item = dish(number, url="https://recipes.example/scenario/%d")
    item["name"] = f"{item['name']} no. %d"
    return b'event: result\ndata: {"index": %d, "item": ' + json.dumps(item).encode() + b"}\n\n"


@script("huge")
async def huge(request: ScenarioRequest) -> HttpResponseBase:
    item = dish(0, description="All about salmon. " * (_HUGE // 18))
    if not request.streaming:
        return json_response(document("answer", results=[item]))
    events = (start(), result(0), result(1, item), complete())
    return event_stream(paced(events, request.pause(0.05)))
