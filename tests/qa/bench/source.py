"""The agent of the benchmarks: a process of its own that streams as fast as it is read.

`python -m tests.qa.bench.source` prints its port. `query.n` says how many results, `query.pace`
how many seconds apart. Each result carries the moment at which it was written, so that a
reader on the same machine can tell how long it took to arrive. `POST /process` speaks the
Agent API: one message whose text comes in as many pieces as the user's text begins with.
`GET /bare` is a page that fetches the stream without a playground.

With `query.hold` a response stops after its start. `GET /held` returns the number of such
responses; `POST /go` continues them, spread over one pace, so that they are not in step, and
`query.delay` seconds later. `query.size` is the size of each result in bytes, more or less, and
`query.lines` the number of lines of 300 characters that its card shows besides.
`GET /requests` returns the number of requests with each `query.key`.
`query.promise` is the number of seconds until a promise is fulfilled with an answer.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.qa.bench.serving import request, serve

META = {"response_type": "answer", "version": "0.55"}
MESSAGE = "msg_e8cd0967-7a8b-4094-a65a-07b4502d8414"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n"
#: Events in one chunk: one, as every framework sends what an agent yields.
BURST = 1
INGREDIENT = "egg " * 75
#: Responses that wait for `POST /go`; the result is the share of a pace by which to delay them.
held: list[asyncio.Future[float]] = []
#: Requests by their keys.
requests: Counter[str] = Counter()


def event(name: str, data: object) -> bytes:
    """One server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def result(index: int, size: int = 0, lines: int = 0) -> bytes:
    """One result, a small recipe stamped with the moment of its writing."""
    return event(
        "result",
        {
            "index": index,
            "item": {
                "@type": "Recipe",
                "name": f"Recipe number {index}",
                "url": f"https://recipes.example/{index}",
                "description": f"sent@{time.monotonic_ns()}@ A plain dish of eggs and greens.",
                "cookTime": "PT20M",
                "recipeYield": "2 servings",
                **({"recipeInstructions": "x" * size} if size else {}),
                **({"recipeIngredient": [INGREDIENT] * lines} if lines else {}),
            },
        },
    )


def frame(**members: object) -> bytes:
    """One object of an Agent API stream, with all that running agents write into it."""
    start = {"sequence_number": 0, "object": "content", "status": "in_progress", "error": None}
    return f"data: {json.dumps({**start, **members})}\n\n".encode()


def piece(number: int) -> bytes:
    """One piece of the text."""
    where = {"type": "text", "index": 0, "delta": True, "msg_id": MESSAGE}
    return frame(sequence_number=number, **where, text=f"word {number}, ")


async def stream_text(writer: asyncio.StreamWriter, count: int) -> None:
    """Write a whole response of the Agent API, chunk by chunk."""

    def chunk(data: bytes) -> None:
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    whole = "".join(f"word {number}, " for number in range(count))
    said = {"object": "message", "id": MESSAGE, "type": "message", "role": "assistant"}
    done = {"status": "completed", "type": "text", "index": 0, "delta": None, "text": whole}
    writer.write(HEAD % b"text/event-stream" + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk(frame(object="response", id="response_1", status="created"))
    chunk(frame(**said))
    for number in range(count):
        chunk(piece(number))
        await writer.drain()
    chunk(frame(**done, msg_id=MESSAGE))
    chunk(frame(**{**said, "status": "completed", "content": [done]}))
    chunk(frame(object="response", id="response_1", status="completed", session_id="s"))
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def stream(writer: asyncio.StreamWriter, query: dict[str, Any]) -> None:
    """Write a whole answer, chunk by chunk."""
    count, pace = int(query.get("n", 10)), float(query.get("pace", 0))
    size, lines = int(query.get("size", 0)), int(query.get("lines", 0))

    def chunk(data: bytes) -> None:
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    writer.write(HEAD % b"text/event-stream" + b"Transfer-Encoding: chunked\r\n\r\n")
    chunk(event("start", {"_meta": {**META, "streaming": True}}))
    loop = asyncio.get_running_loop()
    if query.get("hold"):
        released = loop.create_future()
        held.append(released)
        await asyncio.sleep(await released * pace + float(query.get("delay", 0)))
    began = loop.time()
    burst = 1 if pace else BURST
    for first in range(0, count, burst):
        indexes = range(first, min(count, first + burst))
        chunk(b"".join(result(index, size, lines) for index in indexes))
        await writer.drain()
        if pace:
            # Without drift: the load stays the same on a machine that is late.
            await asyncio.sleep(began + (first + 1) * pace - loop.time())
    chunk(event("complete", {"_meta": META}))
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def release() -> int:
    """Continue the responses that are held, and return their number."""
    released = len(held)
    for place, future in enumerate(held):
        future.set_result(place / released)
    held.clear()
    return released


async def write_json(writer: asyncio.StreamWriter, data: object) -> None:
    """Write a JSON response."""
    body = json.dumps(data).encode()
    writer.write(HEAD % b"application/json" + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    await writer.drain()


async def promise(writer: asyncio.StreamWriter, moment: float) -> None:
    """Write an answer without results once that moment has come, and a promise before it."""
    left = moment - time.monotonic()
    meta = {**META, "response_type": "promise" if left > 0 else "answer"}
    block = {"token": str(moment), "estimated_time": left, "message": "Soon."}
    content = {"promise": block} if left > 0 else {"results": []}
    await write_json(writer, {"_meta": meta, **content})


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request and close."""
    first, _, body = await request(reader)
    if first.startswith("GET /held"):
        await write_json(writer, len(held))
        return
    if first.startswith("GET /requests"):
        await write_json(writer, requests)
        return
    if first.startswith("POST /go"):
        await write_json(writer, release())
        return
    if first.startswith("GET"):
        page = (Path(__file__).parent / "bare.html").read_bytes()
        writer.write(HEAD % b"text/html" + b"Content-Length: %d\r\n\r\n" % len(page) + page)
        await writer.drain()
        return
    document = json.loads(body)
    if first.startswith("POST /process"):
        text = document["input"][0]["content"][0]["text"]
        await stream_text(writer, int(text.split()[0]))
        return
    if token := document.get("promise_token"):
        await promise(writer, float(token))
        return
    query = document["query"]
    if key := query.get("key"):
        requests[key] += 1
    if "promise" in query:
        await promise(writer, time.monotonic() + float(query["promise"]))
        return
    await stream(writer, query)


if __name__ == "__main__":
    serve(handle)
