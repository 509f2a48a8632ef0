"""Two web processes on one PostgreSQL and one Redis."""

from __future__ import annotations

import signal
import statistics
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.models.test_liveness_processes import Page
from tests.models.test_liveness_processes import until as until_within
from tests.qa.scale.agent import PromisingAgent
from tests.support.markup import read
from tests.support.playground_server import PlaygroundServer

Pair = list[PlaygroundServer]


@pytest.fixture
def promising() -> Iterator[PromisingAgent]:
    with PromisingAgent() as agent:
        yield agent


def watch(server: PlaygroundServer, run: str) -> ClientConnection:
    """The websocket of a run at one of the two."""
    address = f"{server.url.replace('http', 'ws', 1)}/ws{run}"
    return connect(address, origin=server.url, max_size=None, open_timeout=20)  # type: ignore[arg-type]


def cursor(message: Any) -> tuple[int, int, bool]:
    """Numbers of the first and the last frame of a message, and whether it is the last."""
    (found,) = read(str(message)).find("run-cursor")
    first, last = (int(found.attributes[f"data-{name}"] or "") for name in ("first", "last"))
    return first, last, "data-final" in found.attributes


def driver_of(server: PlaygroundServer) -> str:
    """What the drivers of its runs have in their names."""
    return f":{server.pid}:"


def promised(page: Page, agent: PromisingAgent, count: int) -> list[str]:
    """Ask the agent `count` times; the addresses of the runs."""
    return [page.ask_at(f"promising-{n}", agent.url, "a menu") for n in range(count)]


#: Waits for something that other processes do; longer than whoever claims has it claimed.
until = partial(until_within, seconds=60)


def test_both_start_at_once_on_an_empty_database(tmp_path: Path, shared: dict[str, str]) -> None:
    with ExitStack() as stack:
        servers = [
            PlaygroundServer(tmp_path / "shared", template=False, **shared) for _ in range(2)
        ]
        for server in servers:
            stack.callback(server.stop)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(PlaygroundServer.start, servers))
        assert all("Demo" in Page(server).http.get("/").text for server in servers)


def test_a_run_of_one_is_watched_live_at_the_other(pair: Pair, agent: PlaygroundServer) -> None:
    one, two = Page(pair[0]), Page(pair[1])
    run = one.ask_at("endless", f"{agent.url}/demo/scenarios/endless?every=0.1", "soup")
    with watch(pair[1], run) as socket:
        _, last, _ = cursor(socket.recv(timeout=20))
        frames = []
        for _ in range(15):
            first, new_last, _ = cursor(socket.recv(timeout=20))
            assert first == last + 1
            frames.append(new_last - last)
            last = new_last
        # Without the nudges of the other process the store is read every two seconds only,
        # which is some twenty frames.
        assert statistics.median(frames) < 10
        assert two.badge(run) == one.badge(run) == "streaming"

        # Stopped at the one that does not drive it.
        assert two.http.post(f"{run}cancellation/").status_code < 400
        final = False
        while not final:
            first, new_last, final = cursor(socket.recv(timeout=20))
            assert first == last + 1
            last = new_last
    assert two.badge(run) == one.badge(run) == "cancelled"


def test_a_promise_is_checked_by_one_of_them_at_a_time(
    pair: Pair, promising: PromisingAgent, rows: Any
) -> None:
    one, two = Page(pair[0]), Page(pair[1])
    runs = promised(one, promising, 6)
    until(lambda: sum(promising.asked.values()) >= 2)
    # By hand as well, at both of them, while they follow.
    stop = threading.Event()

    def insist(page: Page) -> None:
        while not stop.is_set():
            page.http.post(f"{runs[0]}promise/polls/")
            stop.wait(0.05)

    pool = [threading.Thread(target=insist, args=(page,)) for page in (one, two)]
    for thread in pool:
        thread.start()
    try:
        until(lambda: all(two.promise(run) == "fulfilled" for run in runs))
    finally:
        stop.set()
        for thread in pool:
            thread.join()
    assert promising.overlaps == []
    # What was sent is what was recorded and what was taken in: four each, and no more.
    assert promising.asked == {f"p{n}": 4 for n in range(1, 7)}
    kept = "SELECT count(*) FROM playground_run WHERE parent_id = t.run_id AND kind = 'check'"
    assert rows(f"SELECT DISTINCT polls, ({kept}) FROM playground_polledpromise t") == [(4, 4)]


def test_one_is_killed_and_the_other_goes_on_following(
    pair: Pair, promising: PromisingAgent, rows: Any
) -> None:
    promising.gate.clear()
    runs = promised(Page(pair[0]), promising, 2)
    until(lambda: sum(promising.asked.values()) == 2)
    # In mid-check: the agent has been asked and does not reply.
    ((driver,),) = rows("SELECT driver FROM playground_run WHERE kind = 'check' LIMIT 1")
    killed, survivor = sorted(pair, key=lambda server: driver_of(server) not in driver)
    killed.stop(signal.SIGKILL)
    promising.gate.set()
    page = Page(survivor)
    until(lambda: all(page.promise(run) == "fulfilled" for run in runs))
    states = rows("SELECT driver, state FROM playground_run WHERE kind = 'check'")
    assert {state for driver, state in states if driver_of(killed) in driver} == {"interrupted"}
    assert {state for driver, state in states if driver_of(survivor) in driver} == {"completed"}


def test_a_run_of_the_one_that_is_killed_is_interrupted_for_the_other(
    pair: Pair, agent: PlaygroundServer
) -> None:
    run = Page(pair[0]).ask_at("endless", f"{agent.url}/demo/scenarios/endless?every=0.1", "soup")
    with watch(pair[1], run) as socket:
        cursor(socket.recv(timeout=20))
        pair[0].stop(signal.SIGKILL)
        final = False
        while not final:
            *_, final = cursor(socket.recv(timeout=20))
    assert Page(pair[1]).badge(run) == "interrupted"
