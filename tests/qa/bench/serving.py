"""What the agents of the benchmarks share: a server as small as one can be, in its own process."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Served:
    """A server in a process of its own."""

    url: str
    pid: int


@contextlib.contextmanager
def served(module: str, *arguments: str) -> Iterator[Served]:
    """Run a module that prints its port, and yield the server."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        yield Served(f"http://127.0.0.1:{int(process.stdout.readline())}", process.pid)
    finally:
        process.terminate()
        process.wait()
