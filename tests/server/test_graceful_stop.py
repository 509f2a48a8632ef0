"""A server that is stopped while runs are in progress."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from playground.server.graceful_stop import seconds_for
from tests.commands.test_serve import follow, received_until_closed
from tests.models.test_liveness_processes import Page, until
from tests.support.playground_server import DATABASE, PlaygroundServer
from tests.support.servers import HOLD, STREAM_HEAD, Server, chunk, serving

RESULT = chunk(
    b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
    b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Eggs"}}\n\n'
)


def test_ctrl_c_waits_for_two_seconds_at_most(settings: Any) -> None:
    settings.DRAIN_SECONDS = 20
    assert seconds_for(signal.SIGTERM) == 20
    assert seconds_for(signal.SIGHUP) == 20
    assert seconds_for(signal.SIGINT) == 2
    settings.DRAIN_SECONDS = 1
    assert seconds_for(signal.SIGINT) == 1


@pytest.fixture(scope="module")
def agent() -> Iterator[Server]:
    """An agent that sends a result and no end."""
    with serving(STREAM_HEAD, RESULT, HOLD) as server:
        yield server


@pytest.fixture(params=["daphne", "uvicorn"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PlaygroundServer]:
    options = ("--server", request.param)
    with PlaygroundServer(tmp_path, options=options, PLAYGROUND_DRAIN_SECONDS="6") as running:
        yield running


def rows(server: PlaygroundServer, statement: str, *values: object) -> list[Any]:
    """Run a statement on the server's database."""
    with contextlib.closing(sqlite3.connect(server.data / DATABASE, timeout=20)) as database:
        found = database.execute(statement, values).fetchall()
        database.commit()
    return found


def key(run: str) -> str:
    """The key of a run in the database, by the path of its page."""
    return run.rstrip("/").rpartition("/")[2].replace("-", "")


def state(server: PlaygroundServer, run: str) -> tuple[str, int, bool]:
    """State and number of frames of a run, and whether its duration is known."""
    columns = "state, frames, ended_us IS NOT NULL"
    ((found, frames, ended),) = rows(
        server, f"SELECT {columns} FROM playground_run WHERE id = ?", key(run)
    )
    return found, frames, bool(ended)


def begin(page: Page, server: PlaygroundServer, name: str, url: str) -> str:
    """Send a request to an agent, and wait for the first frames."""
    run = page.ask_at(name, url, "soup")
    until(lambda: state(server, run)[1] >= 3)
    return run


def drains(server: PlaygroundServer) -> bool:
    return any("waiting up to" in line for line in server.log)


def drive_elsewhere(server: PlaygroundServer, run: str) -> None:
    """Make a run that has ended look like one of another process: this one, which is alive."""
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    rows(
        server,
        "UPDATE playground_run SET state = 'streaming', driver = ?,"
        " heartbeat_at = datetime('now', '+1 hour') WHERE id = ?",
        f"{socket.gethostname()}:{os.getpid()}:{stat[19]}",
        key(run),
    )


@pytest.mark.process
def test_runs_end_or_are_interrupted_and_none_begin(
    server: PlaygroundServer, agent: Server
) -> None:
    page = Page(server)
    elsewhere = page.ask("elsewhere", "/demo/scenarios/slow?n=0", "soup")
    until(lambda: state(server, elsewhere)[0] == "completed")
    drive_elsewhere(server, elsewhere)
    held = begin(page, server, "held", agent.url)
    endless = begin(page, server, "endless", f"{server.url}/demo/scenarios/endless?every=0.05")
    with (
        follow(server, held) as of_held,
        follow(server, elsewhere) as of_other,
        socket.create_connection(("127.0.0.1", server.port)) as half,
        ThreadPoolExecutor(2) as executor,
    ):
        of_held.recv(timeout=20)
        half.sendall(b"GET / HTTP/1.1\r\nA: ")  # A request that is not complete does not matter.
        seen = [executor.submit(received_until_closed, viewer) for viewer in (of_held, of_other)]
        # Of the demo agent of this process, whose stream goes on meanwhile. It begins last, because
        # it must not end before the signal.
        ending = begin(page, server, "ending", f"{server.url}/demo/scenarios/slow?n=12&every=0.25")
        server.send_signal(signal.SIGTERM)
        until(lambda: drains(server))

        # Pages respond; new runs are refused.
        assert page.http.get(held).status_code == 200
        sent = {"agent": "held", "document": '{"query": {"text": "soup"}}'}
        refused = page.http.post("/runs/", data=sent)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert "The playground is stopping" in refused.text
        refused = page.http.post("/runs/", data=sent, headers={"HX-Request": "true"})
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        count = rows(server, "SELECT count(*) FROM playground_run")

        messages, _ = (future.result() for future in seen)
        assert server.wait() == 0
    assert "data-final" in messages[-1]
    assert of_held.protocol.close_code == 1000
    assert of_other.protocol.close_code == 4503
    assert count == [(4,)]
    assert state(server, ending)[0] == "completed"
    found, frames, has_duration = state(server, held)
    assert (found, frames >= 4, has_duration) == ("interrupted", True, True)
    assert state(server, endless)[0] == "interrupted"
    assert server.log[-1].endswith("Stopped: 1 run ended, 2 interrupted\n")


@pytest.fixture(params=["daphne", "uvicorn"])
def patient_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PlaygroundServer]:
    """A server whose runs get more time than a test has."""
    options = ("--server", request.param)
    with PlaygroundServer(tmp_path, options=options, PLAYGROUND_DRAIN_SECONDS="600") as running:
        yield running
        running.stop(signal.SIGKILL)


@pytest.mark.process
def test_ctrl_c_does_not_wait_as_long_as_sigterm(
    patient_server: PlaygroundServer, agent: Server
) -> None:
    server = patient_server
    run = begin(Page(server), server, "held", agent.url)
    with follow(server, run) as viewer:
        server.send_signal(signal.SIGINT)
        until(lambda: drains(server))
        with follow(server, run) as late:  # It connects while the runs may still end.
            assert late.recv(timeout=20)
            assert server.wait() == 0
            received_until_closed(late)
        received_until_closed(viewer)
    assert [each.protocol.close_code for each in (viewer, late)] == [1000, 1000]
    found, frames, has_duration = state(server, run)
    assert (found, frames >= 4, has_duration) == ("interrupted", True, True)
    assert any("SIGINT: waiting up to 2 s for 1 run" in line for line in server.log)
    assert server.log[-1].endswith("Stopped: 0 runs ended, 1 interrupted\n")


@pytest.mark.process
@pytest.mark.parametrize(
    ("patient_server", "second"),
    [("daphne", signal.SIGINT), ("uvicorn", signal.SIGTERM)],
    indirect=["patient_server"],
)
def test_a_second_signal_stops_at_once(
    patient_server: PlaygroundServer, agent: Server, second: signal.Signals
) -> None:
    begin(Page(patient_server), patient_server, "held", agent.url)
    patient_server.send_signal(signal.SIGTERM)
    until(lambda: drains(patient_server))
    assert patient_server.stop(second) == -second
