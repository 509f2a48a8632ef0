"""Connection diagnosis: planned calls, the growing report, and applying detected settings."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from playground.engine import doctor
from playground.models import Agent
from tests.rendering.test_doctor import FOUND, report, step

PATH = "/agents/recipes/doctor/"
URL = "http://agent.example/api"


def keep(agent: Agent, **changed: Any) -> Agent:
    kept = report(url=agent.url, **changed)
    agent.detected = {**(kept["found"] or {}), "at": kept["at"], "report": kept}
    agent.save()
    return agent


def page(client: Client, path: str = PATH) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


class TestBeforeAnythingIsSent:
    def test_it_says_what_will_be(self, client: Client, agent: Agent) -> None:
        html = page(client)
        assert "Examine the connection" in html
        for line in (f"{URL}/ask", f"{URL}/await", f"{URL}/mcp", ".well-known/agent-card.json"):
            assert line in html
        assert "none go along" in html
        assert "Use what was found" not in html

    def test_it_says_what_goes_along(self, client: Client, agent: Agent) -> None:
        Agent.objects.update(auth="bearer", auth_secret="canary-91", headers=[["X-A", "1"]])
        html = page(client)
        assert "bearer token, extra headers" in html
        assert "with the agent’s headers" in html
        assert "canary-91" not in html


class TestTheReport:
    def test_is_shown(self, client: Client, agent: Agent) -> None:
        keep(agent, steps=[step("ask", "failed", "ask", cause="It is not there.", fix="Look.")])
        html = page(client)
        assert "Found: NLWeb 0.54 over MCP 2025-06-18" in html
        assert "It is not there." in html
        assert "Examine again" in html
        assert "hx-get" not in html[html.index('id="doctor-report"') :].partition(">")[0]

    def test_that_found_nothing_says_where_it_fails(self, client: Client, agent: Agent) -> None:
        keep(agent, found=None)
        assert "Nothing found: it fails at ASK" in page(client)

    def test_asks_for_itself_again_while_it_grows(self, client: Client, agent: Agent) -> None:
        keep(agent, state="running", at=timezone.now().isoformat())
        for path in (PATH, f"{PATH}report/"):
            html = page(client, path)
            assert f'hx-get="{PATH}report/"' in html
            assert "Examining…" in html
            assert "Examine again" not in html

    def test_that_has_no_step_yet(self, client: Client, agent: Agent) -> None:
        agent.detected = {"report": {"state": "running", "at": timezone.now().isoformat()}}
        agent.save()
        assert "The first call is under way" in page(client)

    def test_that_a_dead_process_left_can_be_made_anew(self, client: Client, agent: Agent) -> None:
        keep(agent, state="running")
        html = page(client)
        assert "Examine again" in html

    def test_is_a_badge_of_the_agent(self, client: Client, agent: Agent) -> None:
        assert "detected:" not in page(client, "/agents/")
        keep(agent)
        assert "detected: NLWeb 0.54 over MCP 2025-06-18" in page(client, "/agents/")
        assert "Detected: NLWeb 0.54 over MCP" in page(client, "/agents/recipes/")
        Agent.objects.update(url="http://elsewhere.example")
        assert "detected:" not in page(client, "/agents/")
        assert "Detected:" not in page(client, "/agents/recipes/")


class TestUsing:
    def test_sets_the_agent(self, client: Client, agent: Agent) -> None:
        keep(agent)
        assert "Use what was found" in page(client)
        response = client.post(f"{PATH}use/")
        assert (response.status_code, response["Location"]) == (302, PATH)
        agent.refresh_from_db()
        assert (agent.url, agent.binding, agent.version) == (FOUND["url"], "mcp", "0.54")
        html = page(client)
        assert "was set to what was found" in html
        assert "Use what was found" not in html
        assert "Found: NLWeb 0.54 over MCP" in html

    def test_never_leaves_the_origin(self, client: Client, agent: Agent) -> None:
        keep(agent, found={**FOUND, "url": "http://evil.example/mcp"})
        client.post(f"{PATH}use/")
        agent.refresh_from_db()
        assert agent.url == URL

    def test_of_nothing_changes_nothing(self, client: Client, agent: Agent) -> None:
        client.post(f"{PATH}use/")
        agent.refresh_from_db()
        assert (agent.url, agent.binding, agent.version) == (URL, "http", "0.55")


@pytest.mark.parametrize("starts", [True, False])
async def test_starting(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch, transactional_db: None, starts: bool
) -> None:
    agent = await Agent.objects.acreate(name="Recipes", url=URL)
    asked: list[Agent] = []

    def start(agent: Agent) -> bool:
        asked.append(agent)
        return starts

    monkeypatch.setattr(doctor, "start", start)
    response = await async_client.post(PATH)
    assert (response.status_code, response["Location"]) == (302, PATH)
    assert asked == [agent]
    shown = (await async_client.get(PATH)).content.decode()
    assert ("examinations are under way" in shown) is not starts


def test_the_agents_page_leads_to_it(client: Client, agent: Agent) -> None:
    assert f'href="{PATH}"' in page(client, "/agents/recipes/")


class TestUsingAtOnceWithARun:
    def test_what_the_run_found_out_is_kept(
        self, client: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keep(agent)

        def meanwhile(read: Agent) -> dict[str, str]:
            Agent.objects.update(handshake={"session": "s"})
            return {"version": "0.54"}

        monkeypatch.setattr("playground.views.doctor.proposed_changes", meanwhile)
        assert client.post(f"{PATH}use/").status_code == 302
        agent.refresh_from_db()
        assert (agent.version, agent.handshake) == ("0.54", {"session": "s"})
