"""The fast agent of `tests.qa.bench.runners`: answers any POST at once, and keeps connections open.

`python -m tests.qa.bench.runners.agent` prints its port. Every answer is the same small document,
so that what is measured is the runner.
"""

from __future__ import annotations

import asyncio
import json

from tests.qa.bench.serving import request, serve

ANSWER = json.dumps(
    {
        "_meta": {"response_type": "answer", "version": "0.55"},
        "results": [
            {"@type": "Recipe", "name": f"Recipe {number}", "url": f"https://example.com/{number}"}
            for number in range(3)
        ],
    }
).encode()
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)
) + ANSWER


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one request after another."""
    while True:
        _, fields, _ = await request(reader)
        writer.write(REPLY)
        await writer.drain()
        if fields.get("connection", "").lower() == "close":
            return


if __name__ == "__main__":
    serve(handle)
