"""The number of unsent bytes of a WebSocket under Daphne."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from tests.models.test_liveness_processes import until
from tests.support.flooding_app import MESSAGES, SIZE, UNREAD, slow_connection
from tests.support.playground_server import ROOT

pytestmark = pytest.mark.process


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a process that serves the flooding application."""
    command = [sys.executable, "-m", "tests.support.flooding_app"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def state(port: int) -> dict[str, Any]:
    return httpx.get(f"http://127.0.0.1:{port}/").json()


def test_bytes_that_a_client_does_not_read(port: int) -> None:
    url = f"ws://127.0.0.1:{port}/"
    with connect(url, sock=slow_connection(port), **UNREAD) as client:
        # `send()` has not waited: everything is buffered except what the system has accepted.
        before = state(port)
        assert before["sent"] == MESSAGES
        assert SIZE < before["unsent"] < MESSAGES * (SIZE + 20)
        for _ in range(MESSAGES):
            client.recv(timeout=20)
        until(lambda: state(port)["unsent"] == 0)


def test_a_connection_that_is_gone_has_none(port: int) -> None:
    connection = slow_connection(port)
    with connect(f"ws://127.0.0.1:{port}/", sock=connection, **UNREAD):
        assert state(port)["unsent"] > SIZE
        connection.shutdown(2)
        until(lambda: state(port)["unsent"] == 0)
