"""Agents with an MCP binding: the form, and the tools of their server."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient, Client

from playground.models import Agent
from tests.support.markup import one_line, read
from tests.support.mcp_servers import TOKEN, Recipes, serving
from tests.support.servers import free_port
from tests.views.test_agents import fields

ASK = {
    "name": "search",
    "description": "<b>Finds</b>",
    "inputSchema": {"properties": {"query": {}}},
}
AWAIT = {"name": "later", "inputSchema": {"properties": {"promise_token": {}}}}
URL = "http://127.0.0.1:8001/mcp"


def opening(url: str = URL, **changed: Any) -> dict[str, Any]:
    """What an exchange with a server has found out."""
    return {
        "url": url, "generation": "initialize", "version": "2025-11-25", "session": "s-canary",
        "server": {"name": "recipes", "version": "1.0"}, "instructions": "Ask away.",
        "tools": [ASK, AWAIT], "more": False, **changed,
    }  # fmt: skip


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(name="Recipes", url=URL, binding="mcp", handshake=opening())


def own(**changed: Any) -> dict[str, Any]:
    """The fields of `agent` as its form sends them."""
    return fields(**{"url": URL, "protocol": "nlweb", "binding": "mcp", **changed})


class TestForm:
    def test_takes_what_an_agent_speaks(self, client: Client) -> None:
        client.post("/agents/", own(version="0.54", ask_tool=" search ", await_tool="later"))
        agent = Agent.objects.get()
        assert (agent.protocol, agent.binding, agent.version) == ("nlweb", "mcp", "0.54")
        assert (agent.ask_tool, agent.await_tool) == ("search", "later")
        client.post("/agents/", fields(name="Chat", protocol="agent-api", version="1"))
        chat = Agent.objects.get(slug="chat")
        assert (chat.protocol, chat.binding, chat.version) == ("agent-api", "http", "1")

    def test_ignores_what_does_not_apply(self, client: Client) -> None:
        typed = {
            "binding": "mcp", "ask_tool": "search", "await_tool": "later",
            "mcp_version": "2025-11-25",
        }  # fmt: skip
        client.post("/agents/", fields(protocol="agent-api", version="1", **typed))
        client.post("/agents/", fields(name="B", protocol="nlweb", **{**typed, "binding": "http"}))
        columns = ("binding", "ask_tool", "await_tool", "mcp_version")
        assert set(Agent.objects.values_list(*columns)) == {("http", "", "", "")}

    def test_takes_a_version_of_mcp_and_drops_what_was_found_in_another(
        self, client: Client, agent: Agent
    ) -> None:
        client.post("/agents/recipes/", own(mcp_version="1999-01-01"))
        agent.refresh_from_db()
        assert (agent.mcp_version, bool(agent.handshake)) == ("", True)
        client.post("/agents/recipes/", own(mcp_version="2026-07-28"))
        agent.refresh_from_db()
        assert (agent.mcp_version, agent.handshake) == ("2026-07-28", {})
        assert agent.target().mcp_version == "2026-07-28"
        shown = client.get("/agents/recipes/").text
        assert '<option value="2026-07-28" selected>Stateless (2026-07-28)</option>' in shown

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"protocol": "agent-api", "version": "0.55"}, "Choose one of Agent API"),
            ({"protocol": "nlweb", "version": "1"}, "Choose one of Legacy NLWeb, NLWeb 0.54"),
            ({"protocol": "telnet"}, "Select a valid choice"),
            ({"binding": "pigeon"}, "Select a valid choice"),
            ({"ask_tool": "a" * 129}, "at most 128"),
        ],
    )
    def test_refuses_what_there_is_not(
        self, client: Client, changed: dict[str, str], message: str
    ) -> None:
        response = client.post("/agents/", own(**changed))
        assert response.status_code == 422
        assert message in read(response).text
        assert not Agent.objects.exists()

    def test_what_is_left_out_is_left_alone(self, client: Client, agent: Agent) -> None:
        client.post("/agents/recipes/", fields(url=URL))
        agent.refresh_from_db()
        assert (agent.protocol, agent.binding) == ("nlweb", "mcp")
        assert agent.handshake == opening()

    @pytest.mark.parametrize(
        ("changed", "kept"),
        [
            ({}, True),
            ({"name": "Other", "notes": "x", "ask_tool": "later", "version": "0.54"}, True),
            ({"url": "http://127.0.0.1:8001/other"}, False),
            ({"binding": "http"}, False),
            ({"auth": "bearer", "auth_secret": "new"}, False),
            ({"headers": '[["X-Tenant", "2"]]'}, False),
        ],
    )
    def test_forgets_an_opening_with_what_it_was_found_out_with(
        self, client: Client, agent: Agent, changed: dict[str, str], kept: bool
    ) -> None:
        assert client.post("/agents/recipes/", own() | changed).status_code == 302
        agent.refresh_from_db()
        assert agent.handshake == (opening() if kept else {})

    def test_a_secret_that_is_kept_keeps_the_opening(self, client: Client, agent: Agent) -> None:
        Agent.objects.filter(pk=agent.pk).update(auth="bearer", auth_secret="k")
        client.post("/agents/recipes/", own(auth="bearer", auth_secret=""))
        agent.refresh_from_db()
        assert agent.handshake == opening()

    def test_says_what_applies_when(self, client: Client) -> None:
        markup = read(client.get("/agents/new/"))
        rows = {e.attributes["data-when"] for e in markup.elements if "data-when" in e.attributes}
        assert {
            "protocol=nlweb", "protocol=agent-api", "protocol=nlweb binding=mcp", "auth=api_key"
        } <= rows  # fmt: skip


@pytest.mark.usefixtures("agent")
class TestToolsOfAnAgent:
    def test_are_shown_with_what_they_are_used_for(self, client: Client) -> None:
        html = client.get("/agents/recipes/").text
        markup = read(html)
        text = " ".join(markup.text.split())
        assert "recipes 1.0" in text
        assert "2025-11-25. Initialized with initialize. The server uses a session." in text
        assert "search used for ask <b>Finds</b>" in text
        assert "later used for await" in text
        assert '"promise_token": {}' in text
        assert "Default: search" in text
        assert "s-canary" not in html

    def test_can_be_chosen(self, client: Client) -> None:
        client.post("/agents/recipes/", own(ask_tool="later", await_tool="hidden"))
        markup = read(client.get("/agents/recipes/"))
        text = " ".join(markup.text.split())
        assert "later used for ask" in text
        assert "hidden (not in the list)" in text
        assert "Await requests call hidden, which is not in the list." in text
        chosen = [
            e.attributes["value"] for e in markup.find("option") if "selected" in e.attributes
        ]
        assert {"later", "hidden"} <= set(chosen)

    @pytest.mark.database
    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"tools": []}, "The server has no tools."),
            ({"more": True}, "More tools are not listed."),
            ({"odd": 1}, "1 invalid entry in the list omitted"),
            ({"odd": 4}, "4 invalid entries in the list omitted"),
            ({"odd": "x"}, "The server uses a session."),
            ({"generation": "discover"}, "Supports server/discover; no session."),
            ({"session": ""}, "The server does not use a session."),
            ({"server": None, "tools": [{"name": 5}, "x"]}, "Tools over MCP"),
            ({"url": "http://127.0.0.1:8001/other"}, "Tools not loaded."),
            ({"generation": "none"}, "accepts tool calls"),
        ],
    )
    def test_whatever_a_server_has_said(
        self, client: Client, agent: Agent, changed: dict[str, Any], message: str
    ) -> None:
        agent.handshake = opening(**changed)
        agent.save()
        assert message in read(one_line(client.get("/agents/recipes/"))).words

    def test_of_an_agent_over_http_are_those_at_its_other_address(self, client: Client) -> None:
        Agent.objects.create(name="Plain", url="http://127.0.0.1:8001/ask")
        assert URL in read(client.get("/agents/plain/")).text

    def test_an_agent_that_mcp_does_not_carry_has_none(self, client: Client) -> None:
        Agent.objects.create(name="Chat", url=URL, protocol="agent-api", version="1")
        assert "Tools over MCP" not in client.get("/agents/chat/").text
        assert client.post("/agents/chat/tools/").status_code == 404


@pytest.mark.django_db(transaction=True)
class TestReadingTheTools:
    @pytest.mark.parametrize("generation", ["initialize", "discover"])
    async def test_of_a_real_server(self, async_client: AsyncClient, generation: str) -> None:
        with serving(Recipes(token=TOKEN), generation=generation) as url:
            agent = await Agent.objects.acreate(
                name="Recipes", url=url, binding="mcp", auth="bearer", auth_secret=TOKEN
            )
            response = await async_client.post(
                "/agents/recipes/tools/", headers={"HX-Request": "true"}
            )
        text = read(response).words
        assert "ask used for ask" in text
        assert "await used for await" in text
        await agent.arefresh_from_db()
        assert agent.handshake["generation"] == generation
        assert agent.handshake["url"] == url

    async def test_a_server_that_refuses_says_why(self, async_client: AsyncClient) -> None:
        with serving(Recipes(token=TOKEN), generation="initialize") as url:
            agent = await Agent.objects.acreate(name="Recipes", url=url, binding="mcp")
            response = await async_client.post(
                "/agents/recipes/tools/", headers={"HX-Request": "true"}
            )
        assert "401" in response.text
        await agent.arefresh_from_db()
        assert agent.handshake == {}

    async def test_nobody_there(self, async_client: AsyncClient) -> None:
        url = f"http://127.0.0.1:{free_port()}/mcp"
        await Agent.objects.acreate(name="Recipes", url=url, binding="mcp")
        response = await async_client.post("/agents/recipes/tools/", headers={"HX-Request": "true"})
        assert 'role="alert"' in response.text
        response = await async_client.post("/agents/recipes/tools/")
        assert response["Location"] == "/agents/recipes/"
