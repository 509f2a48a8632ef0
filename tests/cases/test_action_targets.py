"""Actions: the host that gets the request, and cards whose URL cannot be reached as written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from playground.models import Run
from tests.cases import FILES, page_text
from tests.cases.test_mcp_opening import message_of
from tests.support.markup import read
from tests.support.servers import Script, reply, serve
from tests.views.test_actions import GET, HTMX, can_run, ended_action, offering, path, text_of

WILDCARD = json.loads((FILES / "a2a-card-wildcard.json").read_text())
ACTION = {"name": "ask", "protocol": "A2A", "skill": "ask", "message": "hello"}


def agent_with(card: Any) -> Callable[[bytes], Script]:
    """An A2A agent with its card below /a2a/, which completes every message with one artifact."""

    def answer(request: bytes) -> Script:
        if request.startswith(b"GET /a2a/.well-known/agent-card.json "):
            return (reply(json.dumps(card).encode()),)
        if not request.startswith(b"POST /a2a/"):
            return (reply(b"", status="404 Not Found"),)
        artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": "Hello"}]}
        status = {"state": "completed"}
        task = {"kind": "task", "id": "t", "contextId": "c", "status": status}
        rpc = {"jsonrpc": "2.0", "id": message_of(request)["id"]}
        return (reply(json.dumps({**rpc, "result": {**task, "artifacts": [artifact]}}).encode()),)

    return answer


async def post(client: AsyncClient, run: Run, more: str = "", **fields: str) -> Any:
    return await client.post(path(run, 0, more), fields, headers=HTMX)


@pytest.mark.parametrize(
    "url",
    [
        "http://0.0.0.0:8500/a2a/",
        "http://[::]:8500/a2a/",
        "http://127.0.0.1:9/a2a/",
        "http://localhost:8500/a2a/",
        "http://agent.internal/a2a/",
        "https://127.0.0.1/a2a/",
    ],
)
async def test_a_card_that_cannot_be_reached_offers_the_origin_of_the_action(
    async_client: AsyncClient, url: str
) -> None:
    async with serve(answer=agent_with({**WILDCARD, "url": url})) as server:
        agent_url = f"{server.url}/a2a/"
        run = await sync_to_async(offering)({**ACTION, "agent_url": agent_url})
        loaded = (await post(async_client, run, "server/")).content
        text = text_of(loaded)
        assert f"URL in the card{url}" in text
        assert f"Send to {server.url}, the origin in the action deviation" in text
        assert not can_run(read(loaded.decode()))
        assert "Confirm the different origin first." in text
        # Nothing is sent without the user's consent, or to a URL that was not offered.
        for refused in ("", f"{server.url}/elsewhere", "http://evil.example/a2a/"):
            response = await post(async_client, run, confirmed_url=refused, confirmed="1")
            assert response.status_code == 422
        shown = (await post(async_client, run, "preview/", confirmed_url=agent_url)).content
        assert can_run(read(shown.decode()))
        assert f"POST {agent_url}" in text_of(shown)
        asked = text_of((await post(async_client, run, confirmed_url=agent_url)).content)
        assert f"Send the message to {agent_url}?" in asked
        await post(async_client, run, confirmed_url=agent_url, confirmed="1")
        child = await ended_action()
    assert (child.state, child.outcome, child.url) == ("completed", "answer", agent_url)
    events = await sync_to_async(page_text)(f"/runs/{child.pk}/events/")
    assert f"The URL in the agent card is {url}. As confirmed, {agent_url} is called." in events
    assert "Hello" in await sync_to_async(page_text)(f"/runs/{child.pk}/", "response")


async def test_a_card_that_changes_its_path_meanwhile_gets_nothing(
    async_client: AsyncClient,
) -> None:
    card = dict(WILDCARD)
    async with serve(answer=agent_with(card)) as server:
        agent_url = f"{server.url}/a2a/"
        run = await sync_to_async(offering)({**ACTION, "agent_url": agent_url})
        await post(async_client, run, "server/")
        card["url"] = "http://0.0.0.0:8500/elsewhere/"
        await post(async_client, run, confirmed_url=agent_url, confirmed="1")
        child = await ended_action()
    assert child.state == "refused"
    assert "Nothing was sent" in child.problem["cause"]
    assert not any(request.startswith(b"POST") for request in server.requests)


async def test_the_outbound_policy_applies_to_the_origin_of_the_action(
    async_client: AsyncClient, settings: Any
) -> None:
    async with serve(answer=agent_with(WILDCARD)) as server:
        agent_url = f"{server.url}/a2a/"
        user = await User.objects.acreate_user("ada")
        await async_client.aforce_login(user)
        run = await sync_to_async(offering)({**ACTION, "agent_url": agent_url}, owner=user)
        settings.HOSTED, settings.OUTBOUND_ALLOW = True, ["127.0.0.0/8"]
        await post(async_client, run, "server/")
        response = await post(async_client, run, "preview/", confirmed_url=agent_url)
        assert can_run(read(response.content.decode()))
        settings.OUTBOUND_ALLOW = []
        response = await post(async_client, run, confirmed_url=agent_url, confirmed="1")
        assert response.status_code == 422
        assert "loopback" in text_of(response.content)


@pytest.mark.parametrize("card_url", ["", "file:///etc/passwd", "http://[::1", "x" * 5_000])
async def test_a_card_without_a_usable_url_offers_nothing(
    async_client: AsyncClient, card_url: str
) -> None:
    async with serve(answer=agent_with({**WILDCARD, "url": card_url})) as server:
        run = await sync_to_async(offering)({**ACTION, "agent_url": f"{server.url}/a2a/"})
        loaded = (await post(async_client, run, "server/")).content
    assert "the origin in the action" not in text_of(loaded)
    assert not can_run(read(loaded.decode()))


async def test_the_page_of_an_action_names_the_host_that_gets_the_request(
    async_client: AsyncClient,
) -> None:
    async with serve(reply(b'{"results": []}')) as server:
        run = await sync_to_async(offering)({**GET, "endpoint": f"{server.url}/cart"})
        panel = text_of((await async_client.get(path(run))).content)
        assert f"GET {server.url}/cart" in panel
        await post(async_client, run)
        child = await ended_action()
    page = await sync_to_async(page_text)(f"/runs/{child.pk}/", "response")
    host = server.url.removeprefix("http://")
    assert f"→ to {host}" in page
    assert f"Sent to{host}" in page
    assert child.agent_name not in page
