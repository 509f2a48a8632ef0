"""Web processes that queue runs, and workers that drive them."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.models.test_liveness_processes import Page
from tests.models.test_liveness_processes import until as until_within
from tests.qa.faults.stages import INSIDE
from tests.qa.scale.agent import PromisingAgent
from tests.qa.scale.test_two_processes import cursor, watch
from tests.support.playground_server import PlaygroundServer, PlaygroundWorker


@pytest.fixture
def shared(shared: dict[str, str]) -> dict[str, str]:
    """The settings of web processes with workers."""
    return {**shared, "PLAYGROUND_WORKERS": "true"}


@pytest.fixture
def sooner(shared: dict[str, str]) -> None:
    """Give workers up that were silent for four seconds. A busy machine can be silent, too."""
    shared |= {"PYTHONPATH": str(INSIDE), "FAULTS_HEARTBEAT": "1"}


@pytest.fixture
def web(tmp_path: Path, shared: dict[str, str]) -> Iterator[PlaygroundServer]:
    with PlaygroundServer(tmp_path / "shared", **shared) as server:
        yield server


@pytest.fixture
def new_worker(tmp_path: Path, shared: dict[str, str]) -> Iterator[Callable[[], PlaygroundWorker]]:
    """Starts a worker."""
    started: list[PlaygroundWorker] = []

    def start() -> PlaygroundWorker:
        worker = PlaygroundWorker(tmp_path / "shared", **shared)
        started.append(worker)
        worker.start()
        return worker

    yield start
    for worker in started:
        if worker.is_running:
            worker.send_signal(signal.SIGCONT)
            worker.stop()


until = partial(until_within, seconds=30)
ENDLESS = "/demo/scenarios/endless?every=0.1"
#: SQL that ends the connections of all processes, as a restart of PostgreSQL does.
END_CONNECTIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


def test_a_run_waits_for_a_worker_and_is_watched_live(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    page = Page(web)
    run = page.ask("endless", ENDLESS, "soup")
    with watch(web, run) as socket:
        socket.recv(timeout=20)
        assert "Waiting for a worker since" in page.http.get(run).text
        assert rows("SELECT state, driver FROM playground_run") == [("queued", "")]
        new_worker()
        last = 0
        while last < 10:
            first, new_last, _ = cursor(socket.recv(timeout=20))
            assert first <= last + 1
            last = new_last
    assert "Waiting for a worker" not in page.http.get(run).text
    page.http.post(f"{run}cancellation/")
    until(lambda: page.badge(run) == "cancelled")
    assert rows("SELECT count(*) FROM playground_queuedwork") == [(0,)]
    until(lambda: rows("SELECT count(*) FROM procrastinate_jobs") == [(0,)])


def test_a_worker_is_killed_and_its_runs_are_not_sent_again(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    killed = new_worker()
    page = Page(web)
    run = page.ask("endless", ENDLESS, "soup")
    until(lambda: page.badge(run) == "streaming")
    killed.stop(signal.SIGKILL)
    assert until(lambda: page.badge(run) == "interrupted") < 15
    new_worker()
    other = page.ask("demo", "/demo", "soup")
    until(lambda: page.badge(other) == "completed")
    calls = "SELECT count(*) FROM playground_run WHERE started_at IS NOT NULL"
    assert rows(calls) == [(2,)]
    # Its job is not delivered to another one.
    until(lambda: rows("SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing'") == [(0,)])


def test_a_web_process_without_viewers_uses_no_connection_again_that_was_ended(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    worker = new_worker()
    Page(web).ask("endless", ENDLESS, "soup")

    def states() -> list[str]:
        return [state for (state,) in rows("SELECT state FROM playground_run")]

    until(lambda: states() == ["streaming"])
    rows(END_CONNECTIONS)
    time.sleep(3)  # It looks for dead processes each second.
    worker.stop(signal.SIGKILL)
    until(lambda: states() == ["interrupted"], seconds=15)


@pytest.mark.usefixtures("sooner")
def test_a_suspended_worker_is_given_up_and_notices(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    worker = new_worker()
    page = Page(web)
    run = page.ask("endless", ENDLESS, "soup")
    until(lambda: page.badge(run) == "streaming")
    worker.send_signal(signal.SIGSTOP)
    assert until(lambda: page.badge(run) == "interrupted") < 15
    (before,) = rows("SELECT frames FROM playground_run")
    waiting = page.ask("demo", "/demo", "soup")
    worker.send_signal(signal.SIGCONT)
    until(lambda: page.badge(waiting) == "completed")
    until(lambda: any("another process has ended it" in line for line in worker.log))
    assert rows("SELECT frames FROM playground_run WHERE state = 'interrupted'") == [before]


def test_a_worker_uses_no_connection_again_that_was_ended(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    worker = new_worker()

    def failures() -> int:
        return sum("Side task deferrer failed" in line for line in list(worker.log))

    def end_connections() -> bool:
        rows(END_CONNECTIONS)
        return failures() > 0

    until(end_connections, seconds=60)
    page = Page(web)
    run = page.ask("demo", "/demo", "soup")
    until(lambda: page.badge(run) == "completed")
    before = failures()
    time.sleep(1.5)  # Three times as long as it waits before it tries again.
    assert failures() == before


def test_the_promise_of_a_killed_worker_is_polled_by_another(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    with PromisingAgent() as agent:
        killed = new_worker()
        page = Page(web)
        run = page.ask_at("promising", agent.url, "a menu")
        agent.gate.clear()
        until(lambda: sum(agent.asked.values()) >= 1)
        killed.stop(signal.SIGKILL)
        agent.gate.set()
        new_worker()
        until(lambda: page.promise(run) == "fulfilled", seconds=60)
        assert agent.overlaps == []


def test_a_worker_that_is_stopped_ends_its_runs_and_leaves_those_that_wait(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    worker = new_worker()
    page = Page(web)
    run = page.ask("endless", ENDLESS, "soup")
    until(lambda: page.badge(run) == "streaming")
    assert worker.stop(signal.SIGTERM) == 0
    assert page.badge(run) == "interrupted"
    waiting = page.ask("demo", "/demo", "soup")
    assert page.badge(waiting) == "queued"
    new_worker()
    until(lambda: page.badge(waiting) == "completed")


def test_a_job_that_was_lost_is_deferred_again(
    web: PlaygroundServer, new_worker: Any, rows: Any
) -> None:
    page = Page(web)
    run = page.ask("demo", "/demo", "soup")
    rows("DELETE FROM procrastinate_jobs RETURNING id")
    new_worker()
    until(lambda: page.badge(run) == "completed")


def test_a_database_that_is_not_migrated(tmp_path: Path, shared: dict[str, str]) -> None:
    done = PlaygroundWorker(tmp_path / "shared", **shared).manage("worker")
    assert done.returncode == 3
    assert "The database is not migrated" in done.stderr
    assert "Traceback" not in done.stderr
