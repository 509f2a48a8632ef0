"""The page of the retention limits, and the preview of what they delete."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.test import AsyncClient, Client

from playground.models import (
    Agent,
    Collection,
    CollectionRun,
    Retention,
    Run,
    SavedRequest,
    Share,
    storage,
)
from tests.support.markup import one_line, read
from tests.support.stored_runs import Recording, past_run
from tests.views.conftest import form

pytestmark = pytest.mark.database

PREVIEW = "/history/retention/preview/"


def make(days: float = 0, **fields: Any) -> Run:
    return past_run(days=days, **{"bytes": 1024 * 1024, **fields})


class TestPreview:
    def test_nothing_goes_without_a_limit(self, client: Client) -> None:
        make(900)
        html = client.get("/history/retention/").text
        assert "No limits" in html
        assert "1 run, 1.0" in html

    def test_says_what_would_go_before_anything_is_saved(self, client: Client) -> None:
        make(9, agent_name="Old")
        shared = make(8)
        Share.objects.create(run=shared)
        make(1)
        html = one_line(client.get(PREVIEW, {"days": "5"})).replace("\xa0", " ")
        assert "1 of 3 runs would be deleted" in html
        assert "1.0 MB of 3.0 MB" in html
        assert "Old" in html
        assert "Save and delete 1 run now" in html
        assert "1 run beyond the limits is exempt: shared with a link." in html
        assert Run.objects.count() == 3
        assert not Retention.objects.exists()

    def test_says_when_nothing_would(self, client: Client) -> None:
        make(1)
        html = client.get(PREVIEW, {"days": "5", "runs": "5"}).text
        assert "No runs to delete now" in html

    @pytest.mark.parametrize(
        "fields", [{"days": "0"}, {"runs": "-1"}, {"runs": "x"}, {"days": "9" * 30}], ids=str
    )
    def test_mistakes_are_told(self, client: Client, fields: dict[str, str]) -> None:
        html = client.get(PREVIEW, fields).text
        assert next(iter(fields)).capitalize() in html
        assert "now</button>" not in html
        response = client.post("/history/retention/", fields)
        assert response.status_code == 422
        assert not Retention.objects.exists()

    def test_what_somebody_else_has_is_not_counted(
        self, client: Client, django_user_model: Any
    ) -> None:
        make(9, owner=django_user_model.objects.create(username="u"))
        html = client.get(PREVIEW, {"days": "5"}).text
        assert "No runs to delete now" in html


@pytest.mark.django_db(transaction=True)
class TestSaving:
    async def test_saves_and_deletes(self, async_client: AsyncClient) -> None:
        await asyncio.to_thread(make, 9)
        kept = await asyncio.to_thread(make, 1)
        fields = {"days": "5", "runs": "7"}
        response = await async_client.post("/history/retention/", fields, follow=True)
        assert "Limits saved. 1 run was deleted." in response.text
        assert await Run.objects.aget() == kept
        saved = await Retention.objects.aget()
        assert (saved.max_days, saved.max_runs) == (5, 7)
        html = response.text
        assert 'value="5"' in html
        assert 'value="7"' in html

    async def test_saves_again_in_the_same_place(self, async_client: AsyncClient) -> None:
        for days in ("5", "6"):
            response = await async_client.post("/history/retention/", {"days": days}, follow=True)
            assert "No runs were deleted" in response.text
        assert (await Retention.objects.aget()).max_days == 6

    async def test_nobody_waits_for_much(
        self, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gate = asyncio.Event()

        async def slowly() -> int:
            await gate.wait()
            return 1

        task = asyncio.create_task(slowly())
        monkeypatch.setattr("playground.history.views.prune", lambda owner: task)
        monkeypatch.setattr("playground.history.views.PATIENCE", 0.01)
        response = await async_client.post("/history/retention/", {"days": "5"}, follow=True)
        assert "in the background" in response.text
        gate.set()
        assert await task == 1


class TestStorage:
    @pytest.fixture(autouse=True)
    def _no_counts(self) -> None:
        storage._counts.clear()

    def test_a_figure_without_a_quota(self, client: Client) -> None:
        make()
        markup = read(one_line(client.get("/history/retention/")))
        assert "1.0 MB stored" in markup.words
        assert not markup.find("meter")
        assert not read(one_line(client.get("/history/"))).find("meter")

    @pytest.mark.parametrize("path", ["/history/", "/history/retention/"])
    @pytest.mark.parametrize(
        ("runs", "words", "level"),
        [
            (1, "1.0 MB of 2.2 MB used", None),
            (2, "New requests are refused when no room is left.", "high"),
            (3, "No room left: new requests are refused.", "full"),
        ],
    )
    def test_a_meter(
        self, client: Client, settings: Any, path: str, runs: int, words: str, level: str | None
    ) -> None:
        settings.QUOTA = 2_300_000
        for _ in range(runs):
            make()
        markup = read(one_line(client.get(path)))
        (meter,) = markup.find("meter")
        assert meter.attributes["max"] == "2300000"
        assert int(meter.attributes["value"] or 0) > runs * 1024 * 1024
        assert words in markup.words
        (usage,) = (each for each in markup.find("div") if each.attributes.get("class") == "usage")
        assert usage.attributes.get("data-level") == level

    def test_a_default_retention(self, client: Client, settings: Any) -> None:
        settings.RETENTION_DAYS = 90
        make(100)
        html = one_line(client.get("/history/retention/"))
        assert "Runs are deleted after 90 days" in html
        assert 'placeholder="90"' in html
        assert "1 of 1 runs would be deleted" in html
        refused = client.get(PREVIEW, {"days": "91"})
        assert "Enter at most 90 days." in one_line(refused)


class TestNoRoom:
    """No runs are created once there is no room, and the page says why."""

    @pytest.fixture(autouse=True)
    def _full(self, settings: Any) -> None:
        settings.QUOTA = 1024
        storage._counts.clear()
        make()

    @pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
    @pytest.mark.parametrize(
        ("path", "fields"),
        [
            ("/collection-runs/", {"collection": "c"}),
        ],
    )
    def test_no_runs_are_created(
        self, client: Client, path: str, fields: dict[str, str], headers: dict[str, str]
    ) -> None:
        collection = Collection.objects.create(name="C", slug="c")
        SavedRequest.objects.create(collection=collection, name="S", slug="s")
        response = client.post(path, fields, headers=headers)
        assert "No room left" in response.text
        assert (Run.objects.count(), CollectionRun.objects.count()) == (1, 0)

    def test_everything_else_can_be_created(self, client: Client) -> None:
        assert client.post("/collections/", {"name": "N"}).status_code == 302
        assert Collection.objects.get().name == "N"

    def test_a_follow_up_stays_in_its_form(self, client: Client, agent: Agent) -> None:
        turn = Recording(agent=agent).end()
        response = client.post(f"/runs/{turn.pk}/next/", {"text": "and for two?"})
        assert response.status_code == 422
        assert "No room left" in response.text
        assert "and for two?" in response.text
        assert not Run.objects.filter(state="refused").exists()

    def test_a_request_is_refused_on_its_page(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        client.post("/runs/", form())
        run = Run.objects.get(state="refused")
        text = read(client.get(f"/runs/{run.pk}/")).text
        assert "No room left: 1.0 MB of 1.0 KB used." in text
        assert "Delete runs in History, shorten the retention, or raise PLAYGROUND_QUOTA." in text

    def test_the_page_of_a_refused_run_without_its_request(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        client.post("/runs/", form({"query": {"text": "x" * 20_000}}))
        run = Run.objects.get(state="refused")
        assert run.request == {}
        assert client.get(f"/runs/{run.pk}/").status_code == 200
        again = client.post(f"/runs/{run.pk}/repetition/")
        assert again.status_code == 422
        assert "The request was not stored. Send it from the composer." in again.text
        assert client.get("/history/").status_code == 200
