"""Unfinished runs: alive, or of a dead process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from playground.base import processes
from playground.base.processes import this_process
from playground.models import CollectionRun, RunState, driving
from playground.models.driving import (
    HEARTBEAT_INTERVAL,
    HEARTBEAT_TIMEOUT,
    DatabaseContact,
    database_now,
    driver_columns,
    local_runs,
    mark_interrupted,
    store_heartbeats,
)
from tests.support.stored_runs import CALL, HEAD, OPEN, Recording, result

pytestmark = pytest.mark.database

ALIVE, GONE = "streaming", "interrupted"


def driver(pid: int, start: str = "1", host: str | None = None) -> str:
    return f"{host or processes._this_host()}:{pid}:{start}"


@pytest.fixture
def dead_pid() -> int:
    """A number that no process has: Linux gives none above 4,194,304."""
    return 4_194_305


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process of this host that waits."""
    code = "import time; time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        yield process
        process.kill()


def driver_of(process: subprocess.Popen[bytes]) -> str:
    return driver(process.pid, processes._started(process.pid))


def wait_for_state(process: subprocess.Popen[bytes], letter: str) -> None:
    """Wait for a state of `man 5 proc_pid_stat`."""
    while processes._stat(process.pid)[0] != letter:
        time.sleep(0.01)


#: The age of heartbeats, in seconds of the database's clock.
FRESH, STALE, OF_YESTERDAY = 1, HEARTBEAT_TIMEOUT.total_seconds() + 5, 86_400


class Judging:
    """Judges runs of some driver."""

    def state_after(self, name: str, age: float = FRESH, **fields: object) -> str:
        """The state of a run whose latest heartbeat is so old, after unfinished ones were read."""
        fields = {"state": "streaming", **fields}
        heartbeat_at = database_now() - timedelta(seconds=age)
        run = Recording(driver=name, heartbeat_at=heartbeat_at, **fields).run
        mark_interrupted()
        run.refresh_from_db()
        return run.state


@pytest.mark.process
@pytest.mark.django_db
@pytest.mark.usefixtures("heartbeats_count")
class TestProcessesOfThisHost(Judging):
    """They are judged by themselves, however old their heartbeats are."""

    @pytest.mark.parametrize("age", [FRESH, STALE, OF_YESTERDAY, -OF_YESTERDAY])
    def test_one_that_is_alive(self, process: subprocess.Popen[bytes], age: float) -> None:
        assert self.state_after(driver_of(process), age) == ALIVE

    def test_one_that_is_suspended(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGSTOP)
        wait_for_state(process, "T")
        assert self.state_after(driver_of(process), STALE) == ALIVE
        process.send_signal(signal.SIGCONT)
        assert self.state_after(driver_of(process), STALE) == ALIVE

    @pytest.mark.parametrize("age", [FRESH, STALE])
    def test_one_that_has_ended(self, process: subprocess.Popen[bytes], age: float) -> None:
        name = driver_of(process)
        process.kill()
        wait_for_state(process, "Z")
        assert self.state_after(name, age) == GONE, "a zombie is alive"
        process.wait()
        assert self.state_after(name, age) == GONE

    @pytest.mark.parametrize("age", [FRESH, STALE])
    def test_one_that_got_the_number_of_a_dead_one(self, age: float) -> None:
        started = processes._started(1)
        assert self.state_after(driver(1, started), age) == ALIVE  # Of somebody else.
        assert self.state_after(driver(1, f"{started}1"), age) == GONE

    def test_one_of_another_container(self, dead_pid: int) -> None:
        """It has the same host name, and is not visible."""
        host = processes._this_host()
        for other in (f"{host}1", "5d9a1c1e-7e2f-4a58-9d3c-0f0a2b3c4d5e/4026531836"):
            assert self.state_after(driver(dead_pid, host=other)) == ALIVE
            assert self.state_after(driver(dead_pid, host=other), STALE) == GONE

    def test_one_whose_start_cannot_be_read(
        self, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of another user where /proc is restricted: it exists, or another has its number."""
        name = driver_of(process)
        monkeypatch.setattr(processes, "_stat", lambda pid: [])
        assert self.state_after(name) == ALIVE
        assert self.state_after(name, STALE) == GONE

    def test_one_whose_name_is_cut_within_a_character(self) -> None:
        """The kernel keeps fifteen bytes of a name; any process can have a dead one's number."""
        name = b"\xd0\xb4" * 7 + b"\xd0"
        code = f"open('/proc/self/comm', 'wb').write({name!r}); print(flush=True); input()"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", code], **pipes) as other:
            assert other.stdout
            other.stdout.readline()
            assert processes._started(other.pid)
            other.kill()

    def test_without_proc(self, monkeypatch: pytest.MonkeyPatch, dead_pid: int) -> None:
        """As on macOS: whether a process exists is known, and not when it began."""
        monkeypatch.setattr(processes, "_this_host", lambda: "laptop.local")
        monkeypatch.setattr(processes, "_stat", lambda pid: [])
        assert self.state_after(driver(dead_pid, "", "laptop.local")) == GONE
        assert self.state_after(driver(os.getppid(), "", "laptop.local")) == ALIVE
        assert self.state_after(driver(os.getppid(), "", "laptop.local"), STALE) == GONE

    def test_this_one_knows_what_it_drives(self) -> None:
        """Also after the machine was asleep, or with an event loop that was busy."""
        run = Recording(driver=this_process(), state="streaming").run
        type(run).objects.update(heartbeat_at=timezone.now() - timedelta(days=1))
        local_runs.add(run.pk)
        try:
            assert mark_interrupted() == 0
        finally:
            local_runs.discard(run.pk)
        assert mark_interrupted() == 1
        assert self.state_after(this_process()) == ALIVE


@pytest.mark.django_db
class TestHeartbeats(Judging):
    """The processes of other hosts, and what cannot be known, are judged by their heartbeats."""

    NAMES = ("", "elsewhere:1:1", "garbage", "elsewhere:x:1", "::", driver(10**30))

    @pytest.mark.parametrize("name", [*NAMES, driver(0, "x")])
    def test_a_fresh_and_a_stale_one(self, name: str, heartbeats_count: None) -> None:
        assert self.state_after(name) == ALIVE
        assert self.state_after(name, HEARTBEAT_TIMEOUT.total_seconds() / 2) == ALIVE
        assert self.state_after(name, STALE) == GONE

    @pytest.mark.usefixtures("heartbeats_count")
    def test_a_process_that_hangs_for_half_a_minute(self) -> None:
        """Its latest heartbeat may have been due when it hung."""
        assert self.state_after("elsewhere:1:1", HEARTBEAT_INTERVAL + 30) == ALIVE

    @pytest.mark.parametrize("days", [-1, 1])
    def test_the_clock_of_this_host_does_not_count(
        self, days: int, heartbeats_count: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = timezone.now
        monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(days=days))
        assert self.state_after("elsewhere:1:1") == ALIVE
        assert self.state_after("elsewhere:1:1", STALE) == GONE
        # Nor that of the host that stores them.
        run = Recording(state="streaming", **driver_columns()).run
        mine = type(run).objects.filter(pk=run.pk)
        mine.update(driver="elsewhere:1:1")
        for _ in range(2):
            assert mark_interrupted() == 0
            assert store_heartbeats(mine) == 1
        mine.update(heartbeat_at=database_now() - timedelta(seconds=STALE))
        assert mark_interrupted() == 1

    def test_a_database_that_was_away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No heartbeat could be stored: only those of after that time count."""
        clock = [0.0]
        monkeypatch.setattr(driving.time, "monotonic", lambda: clock[0])
        monkeypatch.setattr(driving, "database_contact", DatabaseContact())

        def states(seconds: float) -> list[str]:
            found = []
            for _ in range(round(seconds / HEARTBEAT_INTERVAL)):
                found.append(self.state_after("elsewhere:1:1", STALE))
                clock[0] += HEARTBEAT_INTERVAL
            return found

        timeout = HEARTBEAT_TIMEOUT.total_seconds()
        assert set(states(timeout)) == {ALIVE}, "it has just started"
        assert set(states(timeout)) == {GONE}
        clock[0] += 30  # Not noticed, because a query has waited for it.
        assert set(states(timeout)) == {ALIVE}
        assert set(states(timeout)) == {GONE}
        with monkeypatch.context() as patch:
            patch.setattr(driving, "_drivers", fail)
            assert mark_interrupted() == 0
        assert set(states(timeout)) == {ALIVE}
        assert set(states(timeout)) == {GONE}


def fail(*_: object) -> Any:
    raise DatabaseError("away")


@pytest.mark.django_db
class TestMarking(Judging):
    @pytest.mark.parametrize("state", [s.value for s in RunState])
    def test_only_unfinished_runs_are_marked(self, dead_pid: int, state: str) -> None:
        after = self.state_after(driver(dead_pid), state=state)
        assert after == (state if RunState(state).is_final else "interrupted")

    def test_frames_stay_and_the_number_of_runs_is_told(self, dead_pid: int) -> None:
        recording = Recording(driver=driver(dead_pid))
        recording.add(CALL, OPEN, HEAD, result(0))
        assert mark_interrupted() == 1
        assert mark_interrupted() == 0
        assert [frame.seq for frame in recording.run.read_frames()] == [1, 2, 3, 4]


@pytest.mark.django_db
class TestTimeOfACollectionRun:
    """How long one took whose process has died."""

    def took(self, dead_pid: int, own: float, latest: float | None = None) -> float:
        """Milliseconds, for signs of life so many seconds after its beginning."""
        begun = timezone.now() - timedelta(seconds=60)
        run = CollectionRun.objects.create(
            name="Tour", driver=driver(dead_pid), created_at=begun,
            heartbeat_at=begun + timedelta(seconds=own),
        )  # fmt: skip
        run.steps.create(number=1, name="Waiting")
        if latest is not None:
            heartbeat_at = begun + timedelta(seconds=latest)
            step = Recording(driver=driver(dead_pid), state="streaming", heartbeat_at=heartbeat_at)
            run.steps.create(number=2, name="Begun", verdict="running", run=step.run)
        mark_interrupted()
        run.refresh_from_db()
        assert run.state == "interrupted"
        return run.duration_ms()

    def test_until_its_own_last_sign_of_life(self, dead_pid: int) -> None:
        assert self.took(dead_pid, 5) == 5000
        assert self.took(dead_pid, 5, 2) == 5000

    def test_until_the_last_of_its_requests(self, dead_pid: int) -> None:
        # Its own come every few seconds: it may have sent a lot before the first.
        assert self.took(dead_pid, 0, 4) == 4000

    def test_others_are_left_alone(self, dead_pid: int) -> None:
        mine = CollectionRun.objects.create(
            name="Mine", driver=this_process(), heartbeat_at=timezone.now()
        )
        self.took(dead_pid, 1)
        mine.refresh_from_db()
        assert (mine.state, mine.ended_at) == ("running", None)
