"""What the agents of the benchmarks share: a server as small as one can be, in its own process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def request(reader: asyncio.StreamReader) -> tuple[str, Mapping[str, str], bytes]:
    """The first line, the headers by their names in lower case, and the body of a request.

    Raises `asyncio.IncompleteReadError` where there is none any more.
    """
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    pairs = (line.partition(": ") for line in lines if line)
    fields = {name.lower(): value for name, _, value in pairs}
    return first, fields, await reader.readexactly(int(fields.get("content-length", "0")))


def serve(handle: Handler) -> None:
    """Print the port and serve until ended; a client that goes is no failure."""
    asyncio.run(_serve(handle))


async def _serve(handle: Handler) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handle(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
