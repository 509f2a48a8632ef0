"""Two processes on one PostgreSQL: a change of a row undoes no other, and statements end."""

from __future__ import annotations

import contextlib
import gzip
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from playground.base.processes import connection_name
from playground.engine import promise_polling
from playground.engine.promises import PollResult, apply_poll_result
from playground.models import PolledPromise, PollingStatus, Run, driving
from playground.models.driving import DatabaseContact, database_now, mark_interrupted
from tests.support.stored_database import DATABASES, check_pages, migrate_and_read
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db(transaction=True)

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.fixture
def promise() -> PolledPromise:
    return PolledPromise.objects.create(
        run=Recording().end(), entry_seq=1, token="p1", polling_seconds=900, headers=[]
    )


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
        other_process(lambda: promise_polling._update(promise.pk, _pause, {}))
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


@pytest.mark.parametrize("is_executing", [False, True], ids=["idle", "executing"])
def test_the_locks_of_a_silent_driver_are_released(
    monkeypatch: pytest.MonkeyPatch, is_executing: bool
) -> None:
    """It is suspended in a transaction, perhaps between the statements of a pipeline."""
    silent = "other-host:1:1"
    heartbeat_at = database_now() - 2 * driving.HEARTBEAT_TIMEOUT
    run = Recording(driver=silent, state="streaming", heartbeat_at=heartbeat_at).run
    monkeypatch.setattr(
        driving, "database_contact", DatabaseContact(float("-inf"), time.monotonic())
    )
    parameters = connection.get_connection_params() | {"application_name": connection_name(silent)}
    with contextlib.closing(psycopg.connect(**parameters)) as other:
        other.execute("UPDATE playground_run SET frames = 7 WHERE id = %s", [run.pk])
        if is_executing:
            other.pgconn.enter_pipeline_mode()
            other.pgconn.send_query_params(b"SELECT 1", None)
            other.pgconn.flush()
        assert mark_interrupted() == 1
    run.refresh_from_db()
    assert (run.state, run.frames) == ("interrupted", 0)


def _until_changed(promise: PolledPromise) -> None:
    deadline = time.monotonic() + 20
    while promise.status != PollingStatus.PAUSED:
        assert time.monotonic() < deadline, "what the user did was undone"
        time.sleep(0.02)
        promise.refresh_from_db()


def test_a_dump_of_version_0_1_is_migrated_with_all_its_runs(
    tmp_path: Path, shared: dict[str, str]
) -> None:
    dump = gzip.decompress((DATABASES / "version-0.1.sql.gz").read_bytes()).decode()
    with psycopg.connect(shared["DATABASE_URL"], autocommit=True) as database:
        database.execute(dump)
    check_pages(migrate_and_read(tmp_path, DATABASE_URL=shared["DATABASE_URL"]))


def timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        found: str = cursor.fetchone()[0]
    return found


def test_the_timeout_of_every_connection_and_none_of_migrations() -> None:
    connection.close()
    assert timeout() == f"{settings.DATABASE_TIMEOUT}s"
    call_command("migrate", verbosity=0)
    assert timeout() == "0"
    connection.close()


def test_a_statement_that_takes_longer_is_an_unavailable_database() -> None:
    with contextlib.closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("SET statement_timeout = 1")
        with pytest.raises(OperationalError, match="statement timeout"):
            cursor.execute("SELECT pg_sleep(20)")
