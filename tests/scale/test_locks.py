"""What two processes change in one row: neither undoes what the other has done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction

from playground.engine import promise_polling
from playground.engine.promises import PollResult, apply_poll_result
from playground.models import PolledPromise, PollingStatus, Run
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db(transaction=True)

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.fixture
def promise() -> PolledPromise:
    found: PolledPromise = PolledPromise.objects.create(
        run=Recording().end(), entry_seq=1, token="p1", polling_seconds=900, headers=[]
    )
    return found


@pytest.fixture
def other_process() -> Iterator[Any]:
    """Starts a change in another connection and waits until it is made, or waits for ours."""
    threads: list[threading.Thread] = []

    def start(change: Callable[[], object]) -> None:
        def make() -> None:
            try:
                change()
            finally:
                connection.close()

        thread = threading.Thread(target=make)
        thread.start()
        threads.append(thread)
        deadline = time.monotonic() + 20
        while thread.is_alive() and not _somebody_waits():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    yield start
    for thread in threads:
        thread.join()


def _pause(promise: PolledPromise) -> None:
    promise.status, promise.next_poll_at = PollingStatus.PAUSED, None


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return bool(cursor.fetchone()[0])


def test_a_user_stops_following_while_a_reply_is_taken_in(
    promise: PolledPromise, other_process: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(promise: PolledPromise, reply: PollResult) -> None:
        other_process(lambda: promise_polling._update(promise.pk, _pause))
        apply_poll_result(promise, reply)

    monkeypatch.setattr(promise_polling, "apply_poll_result", meanwhile)
    check = Run.objects.create(
        parent=promise.run, kind="check", state="completed", outcome="none", agent_name="scripted",
        protocol="nlweb", binding="http", version="0.55", request={},
    )  # fmt: skip
    promise_polling._store_result(promise.pk, PollResult(check))
    _until_changed(promise)
    assert (promise.status, promise.polls) == ("paused", 1)


@pytest.mark.parametrize("at_once", [False, True])
def test_two_claim_a_promise_at_the_same_moment(
    promise: PolledPromise, other_process: Any, at_once: bool
) -> None:
    claimed: list[bool] = []
    with transaction.atomic():
        assert promise_polling.acquire_lease(promise.pk, at_once)
        # It sees the promise as it was: free.
        other_process(lambda: claimed.append(promise_polling.acquire_lease(promise.pk, at_once)))
        assert claimed == []
    deadline = time.monotonic() + 20
    while not claimed:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert claimed == [False]


def _until_changed(promise: PolledPromise) -> None:
    deadline = time.monotonic() + 20
    while promise.status != PollingStatus.PAUSED:
        assert time.monotonic() < deadline, "what the user did was undone"
        time.sleep(0.02)
        promise.refresh_from_db()
