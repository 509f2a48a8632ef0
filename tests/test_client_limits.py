"""Limits of clients that send half a request, send too much, or do not read."""

from __future__ import annotations

import asyncio
import contextlib
import re
import select
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest
from websockets.asyncio.client import connect

from playground.client_limits import MAX_BODY
from tests.support.client_limits_app import CHUNK
from tests.support.flooding_app import slow_connection
from tests.support.playground_server import ROOT

#: Seconds after which a test gives up.
SECONDS = 20
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module", params=["daphne", "uvicorn"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a process that serves the application with each of the servers."""
    command = [sys.executable, "-m", "tests.support.client_limits_app", request.param]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.terminate()


@contextlib.asynccontextmanager
async def opened(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connect to the server."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def received(port: int, sent: bytes, drip: bytes = b"", every: float = 0.2) -> bytes:
    """Send bytes, then `drip` again and again; return all that was received until the close."""
    async with asyncio.timeout(SECONDS), opened(port) as (reader, writer):
        writer.write(sent)
        reading = asyncio.ensure_future(reader.read())
        while drip and not reading.done():
            writer.write(drip)
            await asyncio.wait({reading}, timeout=every)
        try:
            return await reading
        except ConnectionResetError:
            return b"reset"


async def is_reset(client: socket.socket) -> bool:
    """Whether the connection is reset before anything is read."""
    poll = select.poll()
    poll.register(client, 0)  # Errors only.
    return bool(await asyncio.to_thread(poll.poll, SECONDS * 1000))


async def flooded(port: int) -> bool:
    """Whether a client that reads nothing of a long response is disconnected."""
    with slow_connection(port) as client:
        client.sendall(b"GET /flood HTTP/1.1\r\nHost: a\r\n\r\n")
        return await is_reset(client)


@pytest.mark.process
class TestServers:
    async def test_half_requests(self, port: int) -> None:
        complete = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        clients = {
            "nothing": received(port, b""),
            "half a line": received(port, b"GET / HT"),
            "a header again and again": received(port, b"GET / HTTP/1.1\r\n", b"A: b\r\n"),
            "half a body": received(port, POST % 1000 + b"x"),
            "a byte again and again": received(port, POST % 1000, b"x"),
            "half a chunk": received(port, CHUNKED + b"5\r\nab"),
            "no second request": received(port, complete),
            "half a second request": received(port, complete + b"GE"),
            "half a second body": received(port, complete + POST % 1000 + b"x"),
            "half a third chunk": received(port, complete * 2 + CHUNKED + b"5\r\nab"),
        }
        results = await asyncio.gather(*clients.values())
        found = dict(zip(clients, results, strict=True))
        assert found.pop("nothing") == b""
        for name in [name for name in found if " second " in name or " third " in name]:
            assert found.pop(name).startswith(b"HTTP/1.1 200 OK\r\n")
        for name, response in found.items():
            assert response.startswith(b"HTTP/1.1 408 Request Timeout\r\n"), name

    async def test_clients_that_are_slow_and_not_cut(self, port: int) -> None:
        url = f"ws://127.0.0.1:{port}/"
        slow = b"GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        body = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 40960\r\n\r\n"
        async with connect(url, ping_interval=None) as silent:
            stream, upload, _ = await asyncio.gather(
                received(port, slow),
                # Longer than the timeout, but fast enough.
                received(port, body, b"x" * 4096, 0.15),
                received(port, b""),  # Longer than the timeout.
            )
            assert b"begin" in stream
            assert b"0 0" in stream
            assert b"40960 0" in upload
            await silent.send("still here")
            assert await asyncio.wait_for(silent.recv(), SECONDS) == "still here"

    async def test_a_client_that_reads_nothing(self, port: int) -> None:
        assert await flooded(port)
        # The application has waited: the response did not fill the memory.
        response = await received(port, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        chunks = int(re.findall(rb"\d+ (\d+)", response.partition(b"\r\n\r\n")[2])[0])
        assert chunks * len(CHUNK) < 16 * 2**20

    async def test_bodies_that_are_too_large(self, port: int) -> None:
        refused = await received(port, POST % (MAX_BODY + 1))
        assert refused.startswith(b"HTTP/1.1 413 Content Too Large\r\n")
        # The client may have no time to read the response.
        mebibyte = b"100000\r\n" + b"x" * 2**20 + b"\r\n"
        async with asyncio.timeout(SECONDS), opened(port) as (_, writer):
            writer.write(CHUNKED)
            sent = 0
            with contextlib.suppress(ConnectionError):
                while sent < 4 * MAX_BODY:
                    writer.write(mebibyte)
                    await writer.drain()
                    sent += 2**20
            assert sent < 2 * MAX_BODY
