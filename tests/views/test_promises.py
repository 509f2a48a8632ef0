"""Polling a promise, cancelling its task, stopping and resuming."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from playground.models import PolledPromise, PollingStatus, Run
from playground.views import promises
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}
PARTS = ("polls", "cancellation", "polling")


@pytest.fixture
def tracker(transactional_db: None) -> PolledPromise:
    """A promise that is followed."""
    return promised()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the engine was asked for, instead of doing it."""
    found: list[tuple[Any, ...]] = []
    for name in ("poll_now", "cancel_promise", "resume_polling", "stop_polling"):

        async def record(*arguments: Any, name: str = name) -> None:
            found.append((name, *arguments))

        monkeypatch.setattr(promises.promise_polling, name, record)
    return found


def promised(**fields: Any) -> PolledPromise:
    run: Run = Recording(**fields).end()
    found: PolledPromise = PolledPromise.objects.create(
        run=run, entry_seq=4, token="t", polling_seconds=60
    )
    return found


def path(tracker: PolledPromise, part: str) -> str:
    return f"/runs/{tracker.run_id}/promise/{part}/"


@pytest.mark.parametrize(
    ("part", "fields", "wanted"),
    [
        ("polls", {}, ("poll_now",)),
        ("cancellation", {}, ("cancel_promise",)),
        ("polling", {"follow": "0", "patience": "60"}, ("stop_polling",)),
        ("polling", {"follow": "1"}, ("resume_polling",)),
        ("polling", {"follow": "1", "patience": "300"}, ("resume_polling", 300)),
        ("polling", {"patience": "3600"}, ("resume_polling", 3600)),
        ("polling", {"patience": "99999"}, ("resume_polling", 3600)),
    ],
)
async def test_is_what_the_engine_is_asked_for(
    async_client: AsyncClient,
    tracker: PolledPromise,
    asked: list[tuple[Any, ...]],
    part: str,
    fields: dict[str, str],
    wanted: tuple[Any, ...],
) -> None:
    response = await async_client.post(path(tracker, part), fields, headers=HTMX)
    assert response.status_code == 200
    assert asked == [(wanted[0], tracker.pk, *wanted[1:])]
    html = response.content.decode()
    assert 'id="children-entry-4-0" data-patched hx-swap-oob="true"' in html
    assert f'ws-connect="/ws/runs/{tracker.run_id}/"' in html


@pytest.mark.database
@pytest.mark.parametrize("patience", ["-1", "1.5", "soon", "999999", "٣"])
async def test_a_patience_that_is_no_number_of_seconds(
    async_client: AsyncClient, tracker: PolledPromise, asked: list[Any], patience: str
) -> None:
    response = await async_client.post(path(tracker, "polling"), {"patience": patience})
    assert response.status_code == 400
    assert asked == []


@pytest.mark.database
async def test_stopping_and_following_again(
    async_client: AsyncClient, tracker: PolledPromise
) -> None:
    html = await _post(async_client, tracker, follow="0")
    assert "Not followed" in html
    assert "Follow again" in html
    html = await _post(async_client, tracker, follow="1", patience="300")
    assert "Stop following" in html
    await tracker.arefresh_from_db()
    assert tracker.status == PollingStatus.POLLING
    assert tracker.next_poll_at is not None


async def _post(client: AsyncClient, tracker: PolledPromise, **fields: str) -> str:
    response = await client.post(path(tracker, "polling"), fields, headers=HTMX)
    return response.content.decode()


@pytest.mark.parametrize("part", PARTS)
async def test_without_scripts_it_leads_back(
    async_client: AsyncClient, tracker: PolledPromise, asked: list[Any], part: str
) -> None:
    response = await async_client.post(path(tracker, part))
    assert (response.status_code, response["Location"]) == (302, f"/runs/{tracker.run_id}/")


@pytest.mark.parametrize("part", PARTS)
async def test_only_posts(async_client: AsyncClient, tracker: PolledPromise, part: str) -> None:
    assert (await async_client.get(path(tracker, part))).status_code == 405


@pytest.mark.database
@pytest.mark.parametrize("part", PARTS)
class TestNobodyElse:
    async def test_a_run_without_a_promise(
        self, async_client: AsyncClient, asked: list[Any], part: str
    ) -> None:
        tracker = await _promised()
        await tracker.adelete()
        assert (await async_client.post(path(tracker, part))).status_code == 404
        assert asked == []

    async def test_the_promise_of_somebody_else(
        self, async_client: AsyncClient, asked: list[Any], part: str
    ) -> None:
        owner = await User.objects.acreate(username="somebody")
        tracker = await _promised(owner=owner)
        assert (await async_client.post(path(tracker, part))).status_code == 404
        assert asked == []


async def _promised(**fields: Any) -> PolledPromise:
    return await sync_to_async(promised)(**fields)
