"""Unfinished runs: alive, or of a dead process."""

from __future__ import annotations

import os
import socket
from datetime import timedelta

import pytest
from django.utils import timezone

from playground.models import CollectionRun, RunState, liveness
from playground.models.liveness import HEARTBEAT_TIMEOUT, local_runs, mark_interrupted, this_driver
from tests.support.stored_runs import CALL, HEAD, OPEN, Recording, result

pytestmark = pytest.mark.database

HOST = socket.gethostname()


def driver(pid: int, start: str) -> str:
    return f"{HOST}:{pid}:{start}"


@pytest.fixture
def dead_pid() -> int:
    """A number that no process has: Linux gives none above 4,194,304."""
    return 4_194_305


@pytest.mark.django_db
class TestMarking:
    def state_after(self, name: str, **fields: object) -> str:
        fields = {"state": "streaming", "heartbeat_at": timezone.now(), **fields}
        run = Recording(driver=name, **fields).run
        mark_interrupted()
        run.refresh_from_db()
        return run.state

    def test_a_process_that_is_gone(self, dead_pid: int) -> None:
        assert self.state_after(driver(dead_pid, "123")) == "interrupted"

    def test_this_process(self) -> None:
        assert self.state_after(this_driver()) == "streaming"

    def test_a_process_that_got_the_number_of_a_dead_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(liveness, "_started", lambda pid: "2")
        assert self.state_after(driver(os.getpid(), "2")) == "streaming"
        assert self.state_after(driver(os.getpid(), "1")) == "interrupted"

    def test_a_process_of_somebody_else(self) -> None:
        """Its number is in use and cannot be signalled: only its start is compared."""
        assert self.state_after(driver(1, liveness._started(1))) == "streaming"

    @pytest.mark.parametrize("name", ["", "elsewhere:1:1", "garbage", f"{HOST}:x:1", "::", HOST])
    def test_what_cannot_be_known_is_left_alone_while_it_shows_signs_of_life(
        self, name: str
    ) -> None:
        assert self.state_after(name) == "streaming"

    def test_this_process_knows_what_it_drives(self, dead_pid: int) -> None:
        """Also after the machine was asleep, or with an event loop that was busy."""
        long_ago = timezone.now() - timedelta(days=1)
        run = Recording(driver=this_driver(), state="streaming", heartbeat_at=long_ago).run
        local_runs.add(run.pk)
        try:
            assert mark_interrupted() == 0
        finally:
            local_runs.discard(run.pk)
        assert mark_interrupted() == 1

    def test_silence_is_death_wherever_it_ran(self) -> None:
        long_ago = timezone.now() - HEARTBEAT_TIMEOUT - timedelta(seconds=1)
        assert self.state_after("elsewhere:1:1", heartbeat_at=long_ago) == "interrupted"
        lately = timezone.now() - HEARTBEAT_TIMEOUT / 2
        assert self.state_after("elsewhere:1:1", heartbeat_at=lately) == "streaming"

    @pytest.mark.parametrize("state", [s.value for s in RunState])
    def test_only_unfinished_runs_are_marked(self, dead_pid: int, state: str) -> None:
        after = self.state_after(driver(dead_pid, "1"), state=state)
        assert after == (state if RunState(state).is_final else "interrupted")

    def test_frames_stay_and_the_number_of_runs_is_told(self, dead_pid: int) -> None:
        recording = Recording(driver=driver(dead_pid, "1"), heartbeat_at=timezone.now())
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
            name="Tour", driver=driver(dead_pid, "1"), created_at=begun,
            heartbeat_at=begun + timedelta(seconds=own),
        )  # fmt: skip
        run.steps.create(number=1, name="Waiting")
        if latest is not None:
            heartbeat_at = begun + timedelta(seconds=latest)
            step = Recording(
                driver=driver(dead_pid, "1"), state="streaming", heartbeat_at=heartbeat_at
            )
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
            name="Mine", driver=this_driver(), heartbeat_at=timezone.now()
        )
        self.took(dead_pid, 1)
        mine.refresh_from_db()
        assert (mine.state, mine.ended_at) == ("running", None)
