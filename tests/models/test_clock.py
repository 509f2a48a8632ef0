"""The database's clock, and what a process decides whose own clock is wrong by a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.collections import trash
from playground.engine.promise_polling import acquire_lease
from playground.engine.promises import schedule_next_poll
from playground.engine.retention import RetentionLimits, retention_reasons, runs_to_delete
from playground.models import Collection, PolledPromise, PollingStatus, Run, Share
from playground.models.driving import database_now
from tests.support.stored_runs import Recording

pytestmark = [pytest.mark.database, pytest.mark.django_db]

HOUR = timedelta(hours=1)


def test_it_has_a_time_zone_and_advances() -> None:
    first, second = database_now(), database_now()
    assert first.utcoffset() == timedelta()
    assert first <= second
    # The database of the tests is on this machine.
    assert abs(datetime.now(UTC) - second) < HOUR


@pytest.fixture(params=[-1, 1])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test is another process: what it finds was stored by one whose clock is right."""
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(days=request.param))


def promise(**fields: Any) -> PolledPromise:
    run = Recording().end()
    times = {"started_at": database_now(), "next_poll_at": database_now() - HOUR}
    return PolledPromise.objects.create(
        run=run, entry_seq=1, token="p1", polling_seconds=900, headers=[], **times | fields
    )


@pytest.mark.usefixtures("wrong_clock")
class TestProcessWithAWrongClock:
    def test_a_promise_of_another_is_polled_by_one_of_them(self) -> None:
        found = promise()
        assert acquire_lease(found.pk, at_once=False)
        assert not acquire_lease(found.pk, at_once=True)
        PolledPromise.objects.update(leased_until=database_now() + HOUR)
        assert not acquire_lease(found.pk, at_once=True)
        assert retention_reasons(Run.objects.all()) == {
            found.run_id: "waiting for a promise that is being polled"
        }
        PolledPromise.objects.update(leased_until=database_now() - HOUR)
        assert acquire_lease(found.pk, at_once=True)

    def test_a_promise_is_polled_when_it_is_due(self) -> None:
        assert not acquire_lease(promise(next_poll_at=database_now() + HOUR).pk, at_once=False)

    def test_polling_of_a_promise_of_another_continues(self) -> None:
        found = promise()
        schedule_next_poll(found, 5)
        assert found.status == PollingStatus.POLLING
        assert found.next_poll_at
        assert timedelta() < found.next_poll_at - found.started_at < HOUR

    def test_a_link_works_until_it_expires(self) -> None:
        run = Recording().end()
        links = [
            Share.objects.create(run=run, expires_at=database_now() + left)
            for left in (HOUR, -HOUR)
        ]
        assert list(Share.objects.valid()) == links[:1]

    def test_nothing_is_deleted_too_early(self) -> None:
        run = Recording().end()
        for age, is_deleted in ((timedelta(hours=23), False), (timedelta(hours=25), True)):
            Run.objects.update(created_at=database_now() - age)
            trees = runs_to_delete(None, RetentionLimits(max_days=1))
            assert [tree.root for tree in trees] == [run.pk] * is_deleted

    def test_what_was_deleted_can_be_restored_as_long_as_it_should(self) -> None:
        tour = Collection.objects.create(name="Tour")
        trash.delete(tour)
        rows = Collection.with_trashed.all()
        for left, kept in ((HOUR, [tour]), (-HOUR, [])):
            rows.update(deleted_at=database_now() - trash.TRASH_LIFETIME + left)
            assert trash.recently_deleted(rows) == kept
