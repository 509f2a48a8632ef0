"""Pictures of a run, from the origin of the playground."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from playground.conversation.media import picture_link
from playground.models import Agent, Run
from tests.support.pictures import OTHERS, PNG
from tests.support.servers import HOLD, reply, serve, serving

pytestmark = pytest.mark.django_db(transaction=True)


def path_of(run: Run, url: str, signed_for: Run | None = None) -> str:
    link = picture_link(url, (signed_for or run).pk, readonly=False)
    query = urlencode({"url": link["signed_url"]})
    return f"/runs/{run.pk}/picture/?{query}"


def test_a_picture(client: Client, run: Run) -> None:
    data = PNG + bytes(1000)
    with serving(reply(data, "text/html")) as server:
        path = path_of(run, f"{server.url}/a.png")
        response = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert len(server.requests) == 1
    # Unchanged: it is compressed already.
    assert (response.status_code, response.content) == (200, data)
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"] == "inline"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert response["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response["Cache-Control"] == "private, max-age=86400"
    assert "Set-Cookie" not in response


@pytest.mark.parametrize("name", ["svg", "html"])
def test_a_file_that_is_none(client: Client, run: Run, name: str) -> None:
    with serving(reply(OTHERS[name], "image/png")) as server:
        response = client.get(path_of(run, server.url))
    assert response.status_code == 422
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "private, max-age=60"
    assert response.json()["label"] == "Unsupported"
    assert "PNG" in response.json()["reason"]


@pytest.fixture
def owner(settings: Any, client: Client, run: Run) -> User:
    """The owner of the run, logged in to a hosted playground that loads pictures."""
    settings.HOSTED = settings.AGENT_IMAGES = True
    ann = User.objects.create(username="ann")
    Run.objects.update(owner=ann)
    client.force_login(ann)
    return ann


class TestWhatIsNotFetched:
    """The answer is 404, and the server is not called."""

    @pytest.mark.parametrize(
        "way",
        ["no URL", "no signature", "a wrong signature", "a signature alone", "an empty URL",
         "another URL", "another run", "switched off"],
    )  # fmt: skip
    def test_without_a_signature_for_the_url_and_the_run(
        self, client: Client, run: Run, settings: Any, way: str
    ) -> None:
        base = f"/runs/{run.pk}/picture/"
        settings.AGENT_IMAGES = way != "switched off"
        with serving(reply(PNG)) as server:
            signed = path_of(run, f"{server.url}/a.png")
            paths = {
                "no URL": base,
                "no signature": f"{base}?{urlencode({'url': server.url})}",
                "a wrong signature": f"{base}?{urlencode({'url': f'{server.url}:x'})}",
                "a signature alone": f"{base}?{urlencode({'url': signed[-43:]})}",
                "an empty URL": f"{base}?url=",
                "another URL": signed.replace("a.png", "b.png"),
                "another run": path_of(run, server.url, signed_for=Run()),
                "switched off": signed,
            }
            assert client.get(paths[way]).status_code == 404
            assert not server.connections

    def test_any_for_others_than_the_owner(
        self, client: Client, run: Run, owner: User, settings: Any
    ) -> None:
        settings.OUTBOUND_ALLOW = ["127.0.0.1"]
        stranger = Client()
        with serving(reply(PNG)) as server:
            path = path_of(run, server.url)
            assert stranger.get(path).status_code == 404
            stranger.force_login(User.objects.create(username="eve"))
            assert stranger.get(path).status_code == 404
            assert not server.connections
            assert client.get(path).status_code == 200

    def test_by_another_method(self, client: Client, run: Run) -> None:
        with serving(reply(PNG)) as server:
            path = path_of(run, server.url)
            assert client.head(path).status_code == 405
            assert client.post(path).status_code == 405
            assert not server.connections


@pytest.mark.usefixtures("owner")
def test_a_hosted_playground_leaves_nothing_in_browsers(
    client: Client, run: Run, settings: Any
) -> None:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    for file, status in ((PNG, 200), (OTHERS["svg"], 422)):
        with serving(reply(file)) as server:
            response = client.get(path_of(run, server.url))
        assert (response.status_code, response["Cache-Control"]) == (status, "no-store")


@pytest.mark.usefixtures("owner")
def test_a_private_address_in_hosted_mode(client: Client, run: Run) -> None:
    with serving(reply(PNG)) as server:
        response = client.get(path_of(run, server.url))
        assert (response.status_code, response.json()["label"]) == (422, "Denied")
        assert not server.connections


async def test_a_browser_that_goes_away_ends_the_download(run: Run) -> None:
    async with serve(HOLD) as server:
        request = asyncio.create_task(AsyncClient().get(path_of(run, server.url)))
        await server.asked.wait()
        request.cancel()
        await server.gone.wait()
        await asyncio.gather(request, return_exceptions=True)


class TestSettingOfAnAgent:
    def page(self, client: Client, run: Run) -> str:
        return client.get(f"/runs/{run.pk}/response/").text

    def test_pictures_are_loaded_on_a_click_by_default(
        self, client: Client, run: Run, agent: Agent
    ) -> None:
        assert 'data-pictures="always"' not in self.page(client, run)
        Run.objects.update(agent=agent)
        assert 'data-pictures="always"' not in self.page(client, run)
        Agent.objects.update(load_pictures=True)
        assert 'data-pictures="always"' in self.page(client, run)
        assert 'data-pictures="always"' in client.get(f"/runs/{run.pk}/turn/").text

    def test_it_is_part_of_the_form(self, client: Client, agent: Agent, settings: Any) -> None:
        fields = {"name": "Recipes", "url": agent.url, "version": "0.55", "auth": "none"}
        client.post("/agents/recipes/", {**fields, "load_pictures": "on"})
        assert Agent.objects.get().load_pictures
        assert 'name="load_pictures"' in client.get("/agents/recipes/").text
        # Where no pictures are loaded, it is neither shown nor changed.
        settings.AGENT_IMAGES = False
        assert 'name="load_pictures"' not in client.get("/agents/recipes/").text
        client.post("/agents/recipes/", fields)
        assert Agent.objects.get().load_pictures
        settings.AGENT_IMAGES = True
        client.post("/agents/recipes/", fields)
        assert not Agent.objects.get().load_pictures
