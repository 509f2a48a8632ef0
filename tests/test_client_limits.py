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

from playground.client_limits import MAX_BODY, MIN_RATE, ClientTimeout
from tests.support.client_limits_app import CHUNK
from tests.support.flooding_app import slow_connection
from tests.support.playground_server import ROOT

#: Seconds after which a test gives up.
SECONDS = 20
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


class TestClientTimeout:
    """The decisions, without a server."""

    def test_a_request_has_to_begin(self) -> None:
        timeout = ClientTimeout(10, 100)
        assert not timeout.is_over(110, 0, 0)
        assert timeout.is_over(110.1, 0, 0)
        assert not timeout.is_receiving

    def test_its_head_and_its_body_have_their_own_time(self) -> None:
        timeout = ClientTimeout(10, 0)
        timeout.begin_head(9)
        assert timeout.is_receiving
        assert not timeout.is_over(19, 0, 0)
        timeout.begin_body(19)
        assert not timeout.is_over(29, 0, 0)
        assert timeout.is_over(29.1, 0, 0)

    def test_each_part_of_the_body_extends_the_time(self) -> None:
        timeout = ClientTimeout(10, 0)
        timeout.begin_body(0)
        assert timeout.add_body(5 * MIN_RATE)
        assert not timeout.is_over(15, 0, 0)
        assert timeout.is_over(15.1, 0, 0)

    def test_the_body_has_a_largest_size(self) -> None:
        timeout = ClientTimeout(10, 0)
        timeout.begin_body(0)
        assert timeout.add_body(MAX_BODY)
        assert not timeout.add_body(1)
        timeout.begin_body(0)  # The next request.
        assert timeout.add_body(1)

    def test_a_response_takes_as_long_as_it_takes(self) -> None:
        timeout = ClientTimeout(10, 0)
        timeout.begin_response()
        assert not timeout.is_over(10**6, 500, 0)
        timeout.end_response(10**6)
        assert not timeout.is_over(10**6 + 10, 500, 0)
        assert timeout.is_over(10**6 + 10.1, 500, 0)

    def test_a_client_has_to_read(self) -> None:
        timeout = ClientTimeout(10, 0)
        timeout.begin_response()
        # Nothing waited for a long time.
        assert not timeout.is_over(1000, 500, 0)
        assert not timeout.is_over(1009, 500, 70)
        assert not timeout.is_over(1010, 500, 90)
        assert timeout.is_over(1010.1, 500, 90)

    def test_one_that_reads_slowly_may_continue(self) -> None:
        timeout = ClientTimeout(10, 0)
        timeout.begin_response()
        timeout.end_response(0)
        for number in range(1, 20):
            assert not timeout.is_over(number * 9, number, 1000 - number)
        assert not timeout.is_over(181, 1000, 0)
        assert timeout.is_over(192, 1000, 0)


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
                received(port, body, b"x" * 4096, 0.2),
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
