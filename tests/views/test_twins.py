"""Twins: one request sent to two targets, shown side by side with the differences."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from playground.engine import runs
from playground.engine.request import request_to
from playground.models import Agent, Run, Twin
from tests.support.markup import read
from tests.support.run_page import offered
from tests.views.conftest import form

pytestmark = pytest.mark.database

EGGS = {"@type": "Recipe", "name": "Eggs", "url": "http://a.example/eggs"}


def ended(*items: Any, **fields: Any) -> Run:
    """Return a run whose agent has answered with these results."""
    return offered(*items, agent_name="Recipes", **fields)


def twin_of(left: Run, right: Run) -> Twin:
    return Twin.objects.create(left=left, right=right)


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return " ".join(read(response.content.decode()).text.split())


class TestChoices:
    def test_other_bindings_versions_and_agents(self, client: Client, agent: Agent) -> None:
        Agent.objects.create(name="Other", url="http://b.example")
        Agent.objects.create(name="Foreign", url="http://c.example", protocol="agent-api")
        html = client.post("/twins/choices/", form()).content.decode()
        values = [e.attributes.get("value") for e in read(html).find("input")]
        assert "version:0.54" in values
        assert "version:0.55" not in values
        assert values[-1] == "agent:other"
        assert "binding:mcp" in values
        assert "http://agent.example/api/mcp" in html
        assert "Foreign" not in html

    def test_say_what_is_wrong_first(self, client: Client, agent: Agent) -> None:
        for fields in (form({}), form("x"), form(agent="nobody")):
            html = client.post("/twins/choices/", fields).content.decode()
            assert "Fix first" in html
            assert "Send both" not in html

    def test_none(self, client: Client) -> None:
        Agent.objects.create(name="Recipes", url="http://c.example", protocol="agent-api")
        document = {"input": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
        html = client.post("/twins/choices/", form(document, version="1")).content.decode()
        assert "Nothing to compare with" in html


@pytest.mark.usefixtures("agent")
@pytest.mark.django_db(transaction=True)
class TestSending:
    @pytest.fixture
    def agent(self, transactional_db: None) -> Agent:
        return Agent.objects.create(name="Recipes", url="http://agent.example/api")

    async def send(self, client: AsyncClient, other: str, document: Any = None) -> Any:
        fields = form(document, other=other, headers='[["X-A", "1"], ["X-Token", "canary"]]')
        return await client.post("/twins/", fields, headers={"HX-Request": "true"})

    async def test_both_ways(self, async_client: AsyncClient, started: list[Any]) -> None:
        response = await self.send(async_client, "binding:mcp")
        twin = await Twin.objects.select_related("left", "right").aget()
        assert response["HX-Redirect"] == f"/twins/{twin.pk}/"
        (left, http), (right, mcp) = started
        assert (left, right) == (twin.left, twin.right)
        assert (http.binding, http.url) == ("http", "http://agent.example/api")
        assert (mcp.binding, mcp.url) == ("mcp", "http://agent.example/api/mcp")
        assert left.request == right.request
        assert http.headers == mcp.headers

    async def test_as_both_versions(self, async_client: AsyncClient, started: list[Any]) -> None:
        document = {"query": {"text": "eggs"}, "meta": {"version": "0.55", "user": "a"}}
        await self.send(async_client, "version:0.54", document)
        (left, _), (right, _) = started
        assert (left.version, right.version) == ("0.55", "0.54")
        assert left.request == document
        assert right.request == {**document, "meta": {"version": "0.54", "user": "a"}}

    async def test_to_two_agents_without_the_credentials_of_one(
        self, async_client: AsyncClient, started: list[Any]
    ) -> None:
        await Agent.objects.acreate(name="Other", url="http://b.example")
        await Agent.objects.acreate(name="Beside", url="http://agent.example/b", version="0.54")
        await self.send(async_client, "agent:other")
        await self.send(async_client, "agent:beside")
        targets = [target for _, target in started]
        assert [target.url for target in targets] == [
            "http://agent.example/api", "http://b.example",
            "http://agent.example/api", "http://agent.example/b",
        ]  # fmt: skip
        assert [("X-Token", "canary") in target.headers for target in targets] == [
            True, False, True, True,
        ]  # fmt: skip
        assert all(("X-A", "1") in target.headers for target in targets)
        assert {target.version for target in targets} == {"0.55"}

    async def test_both_continue_the_turn(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        prepared = request_to(agent, {"query": {"text": "a"}})
        parent = await sync_to_async(runs.create_run)(prepared)
        fields = form(other="version:0.54", parent=str(parent.pk))
        response = await async_client.post("/twins/", fields)
        assert response.status_code == 302
        assert {run.parent_id for run, _ in started} == {parent.pk}

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            (form({}, other="version:0.54"), "The request requires a query."),
            (form(), "Choose a second target."),
            (form(other="agent:nobody"), "Choose a second target."),
            (form(agent="nobody", other="version:0.54"), "Enter a URL or choose an agent"),
        ],
    )
    async def test_what_cannot_be_sent(
        self, async_client: AsyncClient, started: list[Any], fields: dict[str, str], message: str
    ) -> None:
        response = await async_client.post("/twins/", fields, headers={"HX-Request": "true"})
        assert response.status_code == 422
        assert response["HX-Retarget"] == "#compose-problems"
        assert message in response.content.decode()
        assert not started


class TestPage:
    @pytest.mark.parametrize(
        ("fields", "titles"),
        [
            ({"binding": "mcp", "version": "0.54"}, ["NLWeb 0.55 · HTTP", "NLWeb 0.54 · MCP"]),
            ({"version": "0.54"}, ["NLWeb 0.55", "NLWeb 0.54"]),
            ({}, ["Recipes", "Recipes"]),
        ],
    )
    def test_names_the_sides_by_what_differs(
        self, client: Client, fields: dict[str, str], titles: list[str]
    ) -> None:
        left, right = ended(EGGS), ended(EGGS)
        Run.objects.filter(pk=right.pk).update(**fields)
        page = read(client.get(twin_of(left, right).get_absolute_url()).content.decode())
        assert page.find("h1")[0].words == " and ".join(titles)

    def test_waits_until_both_have_ended(self, client: Client) -> None:
        twin = twin_of(ended(EGGS), ended(EGGS, state="streaming"))
        html = client.get(twin.get_absolute_url()).content.decode()
        assert "Waiting for both responses" in html
        assert f'hx-get="/twins/{twin.pk}/difference/"' in html
        twin.right.state = "completed"
        twin.right.save()
        html = client.get(f"/twins/{twin.pk}/difference/").content.decode()
        assert "No differences" in html
        assert "hx-trigger" not in html

    def test_differences_with_their_places(self, client: Client) -> None:
        twin = twin_of(ended(EGGS, {"name": "Tea"}), ended({**EGGS, "name": "<b>Omelette"}))
        text = text_of(client, twin.get_absolute_url())
        assert "2 differences" in text
        assert "changed Recipe “Eggs” /name" in text
        assert "<b>Omelette" in text
        assert "only left Result “Tea”" in text
        assert "2 results on the left, 1 on the right." in text
        assert "processing_time_ms" in text

    def test_what_the_versions_explain(self, client: Client) -> None:
        versions = [ended(version=version) for version in ("0.54", "0.55")]
        assert "No differences" in text_of(client, twin_of(*versions).get_absolute_url())

    def test_cannot_be_compared(self, client: Client) -> None:
        left, right = ended(EGGS), ended(EGGS, state="failed")
        Run.objects.filter(pk=right.pk).update(problem={"cause": "Nobody answers there."})
        text = text_of(client, twin_of(left, right).get_absolute_url())
        assert "Responses cannot be compared" in text
        assert "The run on the right did not complete (failed): Nobody answers there." in text
        text = text_of(client, twin_of(ended(state="cancelled"), left).get_absolute_url())
        assert "The run on the left did not complete (cancelled)." in text

    def test_a_list_that_is_too_long_says_so(self, client: Client) -> None:
        many = [{"name": f"Dish {n}"} for n in range(230)]
        text = text_of(client, twin_of(ended(EGGS), ended(*many)).get_absolute_url())
        assert "231 differences" in text
        assert "31 more not listed." in text

    def test_may_frame_its_panes_and_nothing_else(self, client: Client) -> None:
        twin = twin_of(ended(EGGS), ended(EGGS))
        response = client.get(twin.get_absolute_url())
        assert "frame-src 'self'" in response["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
        assert response["X-Frame-Options"] == "DENY"
        frames = read(response.content.decode()).find("iframe")
        assert [each.attributes["src"] for each in frames] == [
            f"/runs/{run.pk}/pane/" for run in (twin.left, twin.right)
        ]


class TestPane:
    def test_may_be_framed_by_the_playground_only(self, client: Client) -> None:
        response = client.get(f"/runs/{ended(EGGS).pk}/pane/")
        assert "frame-ancestors 'self'" in response["Content-Security-Policy"]
        assert response["X-Frame-Options"] == "SAMEORIGIN"
        html = response.content.decode()
        assert "Eggs" in html
        assert 'id="composer"' not in html

    def test_every_other_page_may_not(self, client: Client, agent: Agent) -> None:
        for url in ("/", f"/runs/{ended(EGGS).pk}/", "/agents/"):
            response = client.get(url)
            assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
            assert response["X-Frame-Options"] == "DENY"

    def test_what_is_sent_in_it_does_not_move_the_page(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = ended(EGGS, agent=agent)
        for current, pushed in (("pane/", False), ("", True)):
            headers = {
                "HX-Request": "true", "HX-Current-URL": f"http://testserver/runs/{run.pk}/{current}"
            }  # fmt: skip
            response = client.post(f"/runs/{run.pk}/repetition/", headers=headers)
            assert ("HX-Push-Url" in response) is pushed
