"""The page of the retention limits, and the preview of what they delete."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from playground.models import Retention, Run, Share

pytestmark = pytest.mark.database

PREVIEW = "/history/retention/preview/"


def make(days: float = 0, **fields: Any) -> Run:
    found: Run = Run.objects.create(
        **{
            "agent_name": "Recipes", "url": "http://a.example", "protocol": "nlweb",
            "binding": "http", "version": "0.55", "request": {}, "text": "eggs",
            "state": "completed", "bytes": 1024 * 1024, **fields,
        }
    )  # fmt: skip
    found.created_at = timezone.now() - timedelta(days=days)
    found.save(update_fields=["created_at"])
    return found


@pytest.mark.django_db
class TestPreview:
    def test_nothing_goes_without_a_limit(self, client: Client) -> None:
        make(900)
        html = client.get("/history/retention/").content.decode()
        assert "No limits" in html
        assert "1 run, 1.0" in html

    def test_says_what_would_go_before_anything_is_saved(self, client: Client) -> None:
        make(9, agent_name="Old")
        shared = make(8)
        Share.objects.create(run=shared)
        make(1)
        html = client.get(PREVIEW, {"days": "5"}).content.decode().replace("\xa0", " ")
        assert "1 of 3 runs would be deleted" in html
        assert "1.0 MB of 3.0 MB" in html
        assert "Old" in html
        assert "Save and delete 1 run now" in html
        assert "1 run beyond the limits is exempt: shared with a link." in html
        assert Run.objects.count() == 3
        assert not Retention.objects.exists()

    def test_says_when_nothing_would(self, client: Client) -> None:
        make(1)
        html = client.get(PREVIEW, {"days": "5", "runs": "5", "megabytes": "5"}).content.decode()
        assert "No runs to delete now" in html

    @pytest.mark.parametrize(
        "fields", [{"days": "0"}, {"runs": "-1"}, {"megabytes": "x"}, {"days": "9" * 30}], ids=str
    )
    def test_mistakes_are_told(self, client: Client, fields: dict[str, str]) -> None:
        html = client.get(PREVIEW, fields).content.decode()
        assert next(iter(fields)).capitalize() in html
        assert "now</button>" not in html
        response = client.post("/history/retention/", fields)
        assert response.status_code == 422
        assert not Retention.objects.exists()

    def test_what_somebody_else_has_is_not_counted(
        self, client: Client, django_user_model: Any
    ) -> None:
        make(9, owner=django_user_model.objects.create(username="u"))
        html = client.get(PREVIEW, {"days": "5"}).content.decode()
        assert "No runs to delete now" in html


@pytest.mark.django_db(transaction=True)
class TestSaving:
    async def test_saves_and_deletes(self, async_client: AsyncClient) -> None:
        await asyncio.to_thread(make, 9)
        kept = await asyncio.to_thread(make, 1)
        fields = {"days": "5", "runs": "", "megabytes": "7"}
        response = await async_client.post("/history/retention/", fields, follow=True)
        assert "Limits saved. 1 run was deleted." in response.content.decode()
        assert await Run.objects.aget() == kept
        saved = await Retention.objects.aget()
        assert (saved.max_days, saved.max_runs) == (5, None)
        assert saved.max_bytes == 7 * 1024 * 1024
        html = response.content.decode()
        assert 'value="5"' in html
        assert 'value="7"' in html

    async def test_saves_again_in_the_same_place(self, async_client: AsyncClient) -> None:
        for days in ("5", "6"):
            response = await async_client.post("/history/retention/", {"days": days}, follow=True)
            assert "No runs were deleted" in response.content.decode()
        assert (await Retention.objects.aget()).max_days == 6

    async def test_nobody_waits_for_much(
        self, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = asyncio.Event()

        async def slowly() -> int:
            await gate.wait()
            return 1

        task = asyncio.create_task(slowly())
        monkeypatch.setattr("playground.views.retention.prune", lambda owner: task)
        monkeypatch.setattr("playground.views.retention.PATIENCE", 0.01)
        response = await async_client.post("/history/retention/", {"days": "5"}, follow=True)
        assert "in the background" in response.content.decode()
        gate.set()
        assert await task == 1
