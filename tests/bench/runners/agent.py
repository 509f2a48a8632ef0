"""The fast agent of `tests.bench.runners`: answers any POST at once, and keeps connections open.

`python -m tests.bench.runners.agent` prints its port. Every answer is the same small document,
so that what is measured is the runner.
"""

from __future__ import annotations

import asyncio
import json

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
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
            await reader.readexactly(int(fields.get("content-length", "0")))
            writer.write(REPLY)
            await writer.drain()
            if fields.get("connection") == "close":
                return
    except (ConnectionError, asyncio.IncompleteReadError):
        return
    finally:
        writer.close()


async def main() -> None:
    """Serve until ended."""
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
