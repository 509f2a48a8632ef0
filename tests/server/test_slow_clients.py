"""Clients that do not read, and idle connections, under each of the servers."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.models.test_liveness_processes import until
from tests.support.flooding_app import MESSAGES, slow_connection
from tests.support.playground_server import ROOT

pytestmark = pytest.mark.process

#: Seconds after which a test gives up.
SECONDS = 20
#: Messages that may be between an application and a client: in the buffers of the server and of
#: both operating systems.
UNDERWAY = MESSAGES // 2
GET = b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.fixture(params=["daphne", "uvicorn"])
def port(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """The port of a process that serves the flooding application."""
    command = [sys.executable, "-m", "tests.support.flooding_app", request.param]
    environment = os.environ | {"PLAYGROUND_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout
            port = int(process.stdout.readline())
            until(lambda: is_listening(port))
            yield port
        finally:
            process.terminate()


def is_listening(port: int) -> bool:
    try:
        return bool(state(port))
    except httpx.ConnectError:
        return False


def state(port: int) -> dict[str, Any]:
    return httpx.get(f"http://127.0.0.1:{port}/").json()


def follow(port: int) -> ClientConnection:
    """Connect to a WebSocket, and read nothing between two calls of `recv()`."""
    return connect(
        f"ws://127.0.0.1:{port}/",
        sock=slow_connection(port),
        compression=None,
        max_size=None,
        max_queue=1,
        # The response to a close frame comes after everything that is not read.
        close_timeout=0.1,
    )


def read_all(client: ClientConnection) -> None:
    for number in range(MESSAGES):
        message = client.recv(timeout=SECONDS)
        assert isinstance(message, str)
        assert message.startswith(f"{number} ")


def test_a_websocket_waits_for_its_client(port: int) -> None:
    with follow(port) as client:
        assert 0 < state(port)["sent"] < UNDERWAY
        read_all(client)


def test_a_websocket_whose_client_reads_nothing_is_closed(port: int) -> None:
    with follow(port) as client:
        until(lambda: state(port)["ended"] == 1)
        with pytest.raises(ConnectionClosed):
            read_all(client)


def test_a_response_waits_for_its_client_and_is_closed(port: int) -> None:
    with slow_connection(port) as client:
        client.sendall(GET % b"/flood")
        until(lambda: state(port)["ended"] == 1)
        assert 0 < state(port)["sent"] < UNDERWAY


async def received(port: int, sent: bytes) -> bytes:
    """Send bytes; return all that was received until the close."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        return await asyncio.wait_for(reader.read(), SECONDS)
    finally:
        writer.close()


async def test_idle_connections_are_closed_and_slow_responses_are_not(port: int) -> None:
    slow, idle = await asyncio.gather(
        received(port, GET.replace(b"a\r\n", b"a\r\nConnection: close\r\n") % b"/slow"),
        received(port, GET % b"/"),
    )
    assert b"begin" in slow
    assert b"sent" in slow
    assert idle.startswith(b"HTTP/1.1 200 OK\r\n")
