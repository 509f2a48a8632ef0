"""Polling a promise, cancelling its task, stopping and resuming."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from playground.conversation import promises
from playground.models import PolledPromise, PollingStatus
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db(transaction=True)

HTMX = {"HX-Request": "true"}
PARTS = ("polls", "cancellation", "polling")


@pytest.fixture
def promise(transactional_db: None) -> PolledPromise:
    """A promise that is followed."""
    return PolledPromise.objects.create(
        run=Recording().end(), entry_seq=4, token="t", polling_seconds=60
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the engine was asked for, instead of doing it."""
    found: list[tuple[Any, ...]] = []
    for name in ("poll_now", "cancel_promise", "resume_polling", "stop_polling"):

        async def record(*arguments: Any, name: str = name) -> None:
            found.append((name, *arguments))

        monkeypatch.setattr(promises.promise_polling, name, record)
    return found


def path(promise: PolledPromise, part: str) -> str:
    return f"/runs/{promise.run_id}/promise/{part}/"


@pytest.mark.parametrize(
    ("part", "fields", "wanted"),
    [
        ("polls", {}, ("poll_now",)),
        ("cancellation", {}, ("cancel_promise",)),
        ("polling", {"polling": "0", "polling_seconds": "60"}, ("stop_polling",)),
        ("polling", {"polling": "1"}, ("resume_polling",)),
        ("polling", {"polling": "1", "polling_seconds": "300"}, ("resume_polling", 300)),
        ("polling", {"polling_seconds": "3600"}, ("resume_polling", 3600)),
        ("polling", {"polling_seconds": "99999"}, ("resume_polling", 3600)),
    ],
)
async def test_is_what_the_engine_is_asked_for(
    async_client: AsyncClient,
    promise: PolledPromise,
    asked: list[tuple[Any, ...]],
    part: str,
    fields: dict[str, str],
    wanted: tuple[Any, ...],
) -> None:
    response = await async_client.post(path(promise, part), fields, headers=HTMX)
    assert response.status_code == 200
    assert asked == [(wanted[0], promise.pk, *wanted[1:])]
    html = response.text
    assert 'id="children-entry-4-0" data-patched hx-swap-oob="true"' in html
    assert f'ws-connect="/ws/runs/{promise.run_id}/"' in html


@pytest.mark.database
@pytest.mark.parametrize("seconds", ["-1", "1.5", "soon", "999999", "٣"])
async def test_a_duration_that_is_not_a_number_of_seconds(
    async_client: AsyncClient, promise: PolledPromise, asked: list[Any], seconds: str
) -> None:
    response = await async_client.post(path(promise, "polling"), {"polling_seconds": seconds})
    assert response.status_code == 400
    assert asked == []


@pytest.mark.database
async def test_stopping_and_following_again(
    async_client: AsyncClient, promise: PolledPromise
) -> None:
    html = await _post(async_client, promise, polling="0")
    assert "Polling paused" in html
    assert "Resume polling" in html
    html = await _post(async_client, promise, polling="1", polling_seconds="300")
    assert "Stop polling" in html
    await promise.arefresh_from_db()
    assert promise.status == PollingStatus.POLLING
    assert promise.next_poll_at is not None


async def _post(client: AsyncClient, promise: PolledPromise, **fields: str) -> str:
    response = await client.post(path(promise, "polling"), fields, headers=HTMX)
    return response.text


@pytest.mark.parametrize("part", PARTS)
async def test_without_scripts_it_leads_back(
    async_client: AsyncClient, promise: PolledPromise, asked: list[Any], part: str
) -> None:
    response = await async_client.post(path(promise, part))
    assert (response.status_code, response["Location"]) == (302, f"/runs/{promise.run_id}/")


@pytest.mark.database
@pytest.mark.parametrize("part", PARTS)
async def test_a_run_without_a_promise(
    async_client: AsyncClient, promise: PolledPromise, asked: list[Any], part: str
) -> None:
    await promise.adelete()
    assert (await async_client.post(path(promise, part))).status_code == 404
    assert asked == []
