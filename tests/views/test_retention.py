"""The page of the retention limits, and the preview of what they delete."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import AsyncClient, Client

from playground.models import (
    Agent,
    Collection,
    CollectionRun,
    Environment,
    Folder,
    Retention,
    Run,
    SavedRequest,
    Share,
    Variable,
    storage,
)
from playground.models.storage import stored_bytes
from tests.support.markup import read
from tests.support.stored_runs import Recording, past_run
from tests.views.conftest import form

pytestmark = pytest.mark.database

PREVIEW = "/history/retention/preview/"


def make(days: float = 0, **fields: Any) -> Run:
    return past_run(days=days, **{"bytes": 1024 * 1024, **fields})


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


class TestStorage:
    @pytest.fixture(autouse=True)
    def _no_counts(self) -> None:
        storage._counts.clear()

    def test_a_figure_without_a_quota(self, client: Client) -> None:
        make()
        markup = read(client.get("/history/retention/").content.decode())
        assert "1.0 MB stored" in markup.text
        assert not markup.find("meter")
        assert not read(client.get("/history/").content.decode()).find("meter")

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
        markup = read(client.get(path).content.decode())
        (meter,) = markup.find("meter")
        assert meter.attributes["max"] == "2300000"
        assert int(meter.attributes["value"] or 0) > runs * 1024 * 1024
        assert words in markup.text
        (usage,) = (each for each in markup.find("div") if each.attributes.get("class") == "usage")
        assert usage.attributes.get("data-level") == level

    def test_a_default_retention(self, client: Client, settings: Any) -> None:
        settings.RETENTION_DAYS = 90
        make(100)
        html = client.get("/history/retention/").content.decode()
        assert "Runs are deleted after 90 days" in html
        assert 'placeholder="90"' in html
        assert "1 of 1 runs would be deleted" in html
        refused = client.get(PREVIEW, {"days": "91"})
        assert "Enter at most 90 days." in refused.content.decode()


#: Tables with rows that users create.
CREATED = (
    Agent, Collection, CollectionRun, Environment, Folder, Run, SavedRequest, Share, Variable,
)  # fmt: skip
AGENT = {"name": "N", "url": "http://a.example", "version": "0.55", "auth": "none"}
LESSON = {"version": 1, "steps": [{"slug": "one", "title": "One", "text": "Read."}]}


def count_rows() -> list[int]:
    return [model.objects.count() for model in CREATED]


def values_of_rows() -> Iterator[dict[str, Any]]:
    for model in CREATED:
        yield from model.objects.order_by("pk").values()


class TestNoRoom:
    """Nothing is created once there is no room, and the page says why."""

    @pytest.fixture(autouse=True)
    def _full(self, settings: Any) -> None:
        settings.QUOTA = 1024
        storage._counts.clear()
        make()

    @pytest.mark.parametrize("part", ["", "folders/f/", "requests/s/"])
    @pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
    def test_nothing_is_duplicated(
        self, client: Client, part: str, headers: dict[str, str]
    ) -> None:
        collection = Collection.objects.create(name="C", slug="c")
        Folder.objects.create(collection=collection, name="F", slug="f")
        SavedRequest.objects.create(collection=collection, name="S", slug="s")
        response = client.post(f"/collections/c/{part}duplication/", headers=headers)
        target = response.headers.get("HX-Redirect") or response.headers["Location"]
        assert target == "/collections/c/"
        assert "No room left" in client.get(target).content.decode()
        counts = [model.objects.count() for model in (Collection, Folder, SavedRequest)]
        assert counts == [1, 1, 1]

    @pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
    @pytest.mark.parametrize(
        ("path", "fields"),
        [
            ("/agents/", AGENT),
            ("/collections/", {"name": "N"}),
            ("/collections/c/folders/", {"name": "N"}),
            ("/environments/", {"name": "N"}),
            ("/environments/new/variable/", {"environment_name": "N", "name": "v", "value": "1"}),
            ("/lessons/", {"name": "N"}),
            ("/collection-runs/", {"collection": "c"}),
            ("/shares/", {"collection": "c"}),
            ("/collections/import/", {"text": "{}", "confirmed": "1"}),
            ("/formats/har/", {"packed": "x", "entry": "1"}),
            ("/saved-requests/", {"name": "S", "collection": "C"}),
            ("/environments/e/copy/", {}),
            ("/lessons/c/edit/", {}),
            ("/s/token/copy/", {}),
        ],
    )  # fmt: skip
    def test_nothing_is_created(
        self, client: Client, path: str, fields: dict[str, str], headers: dict[str, str]
    ) -> None:
        collection = Collection.objects.create(name="C", slug="c", lesson=LESSON)
        SavedRequest.objects.create(collection=collection, name="S", slug="s")
        Environment.objects.create(name="E", slug="e")
        Share.objects.create(collection=collection, token="token")
        before = count_rows()
        response = client.post(path, fields, headers=headers, follow=True)
        if target := response.headers.get("HX-Redirect"):
            response = client.get(target)
        assert "No room left" in response.content.decode()
        assert count_rows() == before
        assert Collection.objects.get().lesson == LESSON

    def test_a_follow_up_stays_in_its_form(self, client: Client, agent: Agent) -> None:
        turn = Recording(agent=agent).end()
        response = client.post(f"/runs/{turn.pk}/next/", {"text": "and for two?"})
        assert response.status_code == 422
        assert "No room left" in response.content.decode()
        assert "and for two?" in response.content.decode()
        assert not Run.objects.filter(state="refused").exists()

    EDITS = (
        ("/agents/a/", AGENT),
        ("/collections/c/details/", {"name": "N", "description": "D"}),
        ("/collections/c/folders/f/details/", {"name": "N"}),
        ("/collections/c/requests/s/details/", {"name": "N"}),
        ("/collections/c/requests/s/notes/", {"notes": "N"}),
        ("/collections/c/requests/s/", {"document": "{}", "version": "0.55"}),
        ("/environments/e/", {
            "variables-TOTAL_FORMS": "1", "variables-INITIAL_FORMS": "0",
            "variables-0-name": "v", "variables-0-kind": "text", "variables-0-value": "1",
        }),
        ("/lessons/c/edit/one/", {"title": "N", "text": "T", "kind": ""}),
    )  # fmt: skip

    @pytest.mark.parametrize(("path", "fields"), EDITS, ids=[path for path, _ in EDITS])
    @pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
    def test_changes_have_an_allowance(
        self,
        client: Client,
        settings: Any,
        path: str,
        fields: dict[str, str],
        headers: dict[str, str],
    ) -> None:
        collection = Collection.objects.create(name="C", slug="c", lesson=LESSON)
        Folder.objects.create(collection=collection, name="F", slug="f")
        SavedRequest.objects.create(collection=collection, name="S", slug="s")
        Environment.objects.create(name="E", slug="e")
        Agent.objects.create(name="A", slug="a", url="http://a.example")
        before = list(values_of_rows())
        response = client.post(path, fields, headers=headers)
        assert "No room left" in response.content.decode()
        assert list(values_of_rows()) == before
        storage._counts.clear()
        settings.QUOTA = int(stored_bytes(None) / 1.05)
        response = client.post(path, fields, headers=headers)
        assert "No room left" not in response.content.decode()
        assert list(values_of_rows()) != before

    def test_a_request_is_refused_on_its_page(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        client.post("/runs/", form())
        run = Run.objects.get(state="refused")
        text = read(client.get(f"/runs/{run.pk}/").content.decode()).text
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
        assert "The request was not stored. Send it from the composer." in again.content.decode()
        assert client.get("/history/").status_code == 200
