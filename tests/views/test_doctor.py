"""Connection diagnosis: planned calls, the growing report, and applying detected settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from playground.agents import doctor
from playground.engine.calls import OwnerSlots
from playground.models import Agent, Run
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, recorded
from tests.views.conftest import form

PATH = "/agents/recipes/doctor/"
URL = "http://agent.example/api"
EVIL = "<script>alert(1)</script>"
CALLED = {"line": "POST /ask", "status": 404, "waited_ms": 3.2, "sent": "POST /ask",
          "received": "404", "error": ""}  # fmt: skip
FOUND = {
    "protocol": "nlweb", "version": "0.54", "binding": "mcp", "generation": "2025-06-18",
    "dialect": "", "label": "NLWeb 0.54 over MCP 2025-06-18", "url": "http://agent.example/mcp",
}  # fmt: skip
CAUSE = {
    "headline": "Authentication required (HTTP 401): Bearer.", "fix": "Add a token.",
    "remedy": "authenticate", "scheme": "bearer", "url": "", "facts": [["Scheme", "Bearer"]],
}  # fmt: skip


def step(name: str, status: str, *calls: str, cause: str = "Because.", fix: str = "") -> Any:
    return {"name": name, "label": name.upper(), "status": status, "cause": cause, "fix": fix,
            "calls": list(calls)}  # fmt: skip


def report(**changed: Any) -> dict[str, Any]:
    """Return a report as it is stored with an agent or a run."""
    steps = [
        step("http", "passed", "ask"), step("ask", "failed", "ask", fix="Mend it."),
        step("card", "skipped", "card"),
    ]  # fmt: skip
    broken = {**CALLED, "status": 0, "received": "", "error": "It broke."}
    return {
        "url": URL, "state": "done", "at": "2026-11-21T10:00:00+00:00", "found": FOUND,
        "also": ["Agent API at http://agent.example/process"], "steps": steps,
        "calls": {"ask": CALLED, "card": broken}, **changed,
    }  # fmt: skip


def keep(agent: Agent, **changed: Any) -> Agent:
    kept = report(url=agent.url, **changed)
    agent.detected = {**(kept["found"] or {}), "at": kept["at"], "report": kept}
    agent.save()
    return agent


def page(client: Client, path: str = PATH) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.text


@pytest.mark.usefixtures("agent")
class TestBeforeAnythingIsSent:
    def test_it_says_what_will_be(self, client: Client) -> None:
        html = page(client)
        assert "Diagnose connection" in html
        for line in (f"{URL}/ask", f"{URL}/await", f"{URL}/mcp", ".well-known/agent-card.json"):
            assert line in html
        assert "none are sent" in html
        assert "Apply detected settings" not in html

    def test_it_says_what_goes_along(self, client: Client) -> None:
        Agent.objects.update(auth="bearer", auth_secret="canary-91", headers=[["X-A", "1"]])
        html = " ".join(page(client).split())
        assert "bearer token, extra headers" in html
        assert "with the agent’s headers" in html
        assert "canary-91" not in html


class TestTheReport:
    def test_is_shown(self, client: Client, agent: Agent) -> None:
        keep(agent)
        html = page(client)
        assert "hx-get" not in html[html.index('id="doctor-report"') :].partition(">")[0]
        found = read(html)
        assert found.by_id("report-title").words == f"Found: {FOUND['label']}"  # type: ignore[union-attr]
        assert "1 passed, 1 failed, 1 skipped" in found.words
        assert "Run again" in found.words
        (changes,) = found.select("form", class_="doctor-changes")
        assert changes.facts == {
            "URL": f"{URL} →becomes http://agent.example/mcp",
            "Binding": "HTTP →becomes MCP",
            "Version": "0.55 →becomes 0.54",
        }
        text = found.by_id("doctor-text")
        assert text
        assert text.text.splitlines() == [
            f"Connection of {URL}",
            "Diagnosed 2026-11-21T10:00:00+00:00: 1 passed, 1 failed, 1 skipped",
            "Found: NLWeb 0.54 over MCP 2025-06-18 at http://agent.example/mcp",
            "Also: Agent API at http://agent.example/process",
            "",
            "passed   HTTP: Because.",
            "FAILED   ASK: Because.",
            "         Fix: Mend it.",
            "skipped  CARD: Because.",
        ]

    def test_a_call_stands_under_the_last_step_that_it_says_something_of(
        self, client: Client, agent: Agent
    ) -> None:
        keep(agent)
        found = read(page(client))
        http, ask, card = found.select("li", class_="doctor-step")
        assert "POST /ask" not in http.words
        assert ("HTTP 404" in ask.words, "Mend it." in ask.words) == (True, True)
        assert "no response" in card.words
        assert "It broke." in card.words
        # What was skipped is folded.
        assert card in list(found.select("details", class_="doctor-skipped")[0])

    @pytest.mark.parametrize(
        ("cause", "headline", "fix"),
        [
            (None, "No protocol detected. First failure: ASK", ""),
            (CAUSE, str(CAUSE["headline"]), str(CAUSE["fix"])),
        ],
    )
    def test_that_found_nothing_says_why(
        self, client: Client, agent: Agent, cause: Any, headline: str, fix: str
    ) -> None:
        keep(agent, found=None, cause=cause)
        found = read(page(client))
        assert found.by_id("report-title").words == headline  # type: ignore[union-attr]
        facts = found.select("dl", class_="doctor-facts")
        assert [each.facts for each in facts] == ([{"Scheme": "Bearer"}] if cause else [])
        text = found.by_id("doctor-text")
        assert text
        lines = [headline, f"Fix: {fix}"] if fix else [headline]
        assert text.text.splitlines()[2 : 2 + len(lines)] == lines
        assert "Apply detected settings" not in found.words

    @pytest.mark.parametrize(
        "detected",
        [None, {}, [], {"report": None}, {"report": report(url="http://agent.example/old")}],
    )
    def test_of_an_agent_that_has_none(self, client: Client, agent: Agent, detected: Any) -> None:
        """That of another URL than the agent has now is none."""
        Agent.objects.update(detected=detected)
        assert "report-title" not in page(client)

    def test_whatever_an_agent_says_does_nothing(self, client: Client, agent: Agent) -> None:
        keep(agent, steps=[step("ask", "failed", "ask", cause=EVIL, fix=EVIL)], also=[EVIL],
             calls={"ask": {**CALLED, "line": EVIL, "sent": EVIL, "received": EVIL}},
             found={**FOUND, "label": EVIL})  # fmt: skip
        html = page(client)
        assert EVIL not in html
        assert read(html).text.count(EVIL) >= 7

    def test_asks_for_itself_again_while_it_grows(self, client: Client, agent: Agent) -> None:
        keep(agent, state="running", at=timezone.now().isoformat())
        for path in (PATH, f"{PATH}report/"):
            html = page(client, path)
            assert f'hx-get="{PATH}report/"' in html
            assert "Diagnosing…" in html
            assert "Run again" not in html

    def test_that_has_no_step_yet(self, client: Client, agent: Agent) -> None:
        agent.detected = {"report": {"state": "running", "at": timezone.now().isoformat()}}
        agent.save()
        assert "Sending the first request" in page(client)

    def test_that_a_dead_process_left_can_be_made_anew(self, client: Client, agent: Agent) -> None:
        keep(agent, state="running")
        html = page(client)
        assert "Run again" in html

    def test_is_a_badge_of_the_agent(self, client: Client, agent: Agent) -> None:
        assert "detected:" not in page(client, "/agents/")
        keep(agent)
        badges = " ".join(page(client, "/agents/").split())
        assert "detected: NLWeb 0.54 over MCP 2025-06-18" in badges
        assert "Detected: NLWeb 0.54 over MCP" in page(client, "/agents/recipes/")
        Agent.objects.update(url="http://elsewhere.example")
        assert "detected:" not in page(client, "/agents/")
        assert "Detected:" not in page(client, "/agents/recipes/")


class TestUsing:
    def test_sets_the_agent(self, client: Client, agent: Agent) -> None:
        keep(agent)
        assert "Apply detected settings" in page(client)
        response = client.post(f"{PATH}use/")
        assert (response.status_code, response["Location"]) == (302, PATH)
        agent.refresh_from_db()
        assert (agent.url, agent.binding, agent.version) == (FOUND["url"], "mcp", "0.54")
        html = page(client)
        assert "Detected settings applied" in html
        assert "Apply detected settings" not in html
        assert "Found: NLWeb 0.54 over MCP" in html

    @pytest.mark.parametrize(
        ("given", "found", "differs"),
        [
            ("http://a.example/api/ask", "http://a.example/api", False),
            ("http://a.example/api/", "http://a.example/api", False),
            ("http://a.example/api?lang=de", "http://a.example/api", False),
            ("http://a.example/api", "http://a.example/nlweb", True),
            ("http://a.example/api", "http://b.example/api", False),
            ("http://a.example/api", "https://a.example/api", False),
            ("http://a.example/api", None, False),
        ],
    )
    def test_never_leaves_the_origin(
        self, client: Client, agent: Agent, given: str, found: str | None, differs: bool
    ) -> None:
        agent.url = given
        keep(agent, found={**FOUND, "url": found})
        client.post(f"{PATH}use/")
        agent.refresh_from_db()
        assert agent.url == (found if differs else given)

    @pytest.mark.parametrize(
        ("found", "after"),
        [
            ({**FOUND, "binding": "http", "version": "0.55", "url": URL},
             ("nlweb", "http", "0.55")),
            # A version that was not told is left alone.
            ({**FOUND, "version": "", "url": URL}, ("nlweb", "mcp", "0.55")),
            # Another protocol has versions of its own.
            ({**FOUND, "protocol": "agent-api", "version": "", "binding": "http"},
             ("agent-api", "http", "1")),
            ({**FOUND, "protocol": ""}, ("nlweb", "http", "0.55")),
            (None, ("nlweb", "http", "0.55")),
        ],
    )  # fmt: skip
    def test_sets_what_differs(
        self, client: Client, agent: Agent, found: Any, after: tuple[str, ...]
    ) -> None:
        keep(agent, found=found)
        is_offered = "Apply detected settings" in page(client)
        client.post(f"{PATH}use/")
        agent.refresh_from_db()
        assert (agent.protocol, agent.binding, agent.version) == after
        assert is_offered == (after != ("nlweb", "http", "0.55"))

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

    def start(agent: Agent, _: Any) -> bool:
        asked.append(agent)
        return starts

    monkeypatch.setattr(doctor, "start", start)
    response = await async_client.post(PATH)
    assert (response.status_code, response["Location"]) == (302, PATH)
    assert asked == [agent]
    shown = (await async_client.get(PATH)).text
    assert ("diagnoses are in progress" in shown) is not starts


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

        monkeypatch.setattr("playground.agents.views.proposed_changes", meanwhile)
        assert client.post(f"{PATH}use/").status_code == 302
        agent.refresh_from_db()
        assert (agent.version, agent.handshake) == ("0.54", {"session": "s"})


class TestARunToAUrl:
    @pytest.fixture
    def run(self, db: None) -> Run:
        run = recorded([[CALL, OPEN, HEAD, END]])
        Run.objects.filter(pk=run.pk).update(sent_to_url=True, url=URL)
        run.refresh_from_db()
        return run

    def test_has_the_doctor_of_its_url(self, client: Client, run: Run) -> None:
        html = page(client, f"/runs/{run.pk}/doctor/")
        assert f"{URL}/ask" in html
        kept = report(url=URL, found=None, cause=CAUSE)
        Run.objects.filter(pk=run.pk).update(detected={"report": kept})
        html = page(client, f"/runs/{run.pk}/doctor/report/")
        assert CAUSE["headline"] in html
        assert f'href="/agents/new/?run={run.pk}"' in html

    def test_the_detected_target_is_one_click_away(self, client: Client, run: Run) -> None:
        found = {"protocol": "nlweb", "binding": "http", "version": "0.54", "url": f"{URL}/other"}
        for url, is_offered in ((f"{URL}/other", True), (URL, False)):
            detected = {**found, "url": url, "version": run.version if url == URL else "0.54"}
            kept = report(url=URL, found={**detected, "label": "NLWeb"})
            Run.objects.filter(pk=run.pk).update(detected={**detected, "report": kept})
            html = " ".join(page(client, f"/runs/{run.pk}/doctor/report/").split())
            assert ("Use the detected target and resend" in html) is is_offered
            assert (f'name="url" value="{URL}/other"' in html) is is_offered
            assert f'value="{url}"' in page(client, f"/agents/new/?run={run.pk}")

    def test_of_an_agent_has_not(self, client: Client, run: Run) -> None:
        Run.objects.update(sent_to_url=False)
        assert client.get(f"/runs/{run.pk}/doctor/").status_code == 404

    def test_becomes_an_agent(self, client: Client, run: Run) -> None:
        found = {"label": "NLWeb 0.55", "url": URL}
        Run.objects.filter(pk=run.pk).update(version="0.54", detected=found)
        html = page(client, f"/agents/new/?run={run.pk}&auth=bearer")
        for part in (f'value="{URL}"', 'value="scripted"', 'value="bearer" selected'):
            assert part in html
        fields = {
            "run": str(run.pk), "name": "Mine", "url": URL, "protocol": "nlweb", "binding": "http",
            "version": "0.54", "auth": "bearer", "auth_secret": "canary-5", "headers": "[]",
        }  # fmt: skip
        response = client.post("/agents/", fields)
        assert response["Location"] == f"/runs/{run.pk}/"
        run.refresh_from_db()
        agent = Agent.objects.get()
        assert (run.agent, run.sent_to_url, agent.detected) == (agent, False, found)

    def test_stays_without_an_agent_of_another_origin(self, client: Client, run: Run) -> None:
        fields = {"run": str(run.pk), "name": "Mine", "url": "http://b.example", "auth": "none"}
        client.post("/agents/", {**fields, "protocol": "nlweb", "version": "0.55", "headers": "[]"})
        run.refresh_from_db()
        assert (run.agent, run.sent_to_url) == (None, True)


class TestDetection:
    @pytest.fixture
    def detected(self, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
        """The requests that were diagnosed; nothing is sent."""
        found: list[Any] = []

        async def detect(prepared: Any, owner: Any) -> dict[str, Any]:
            found.append(prepared)
            return {"found": FOUND, "cause": None, "at": "now", "steps": [], "calls": {}}

        monkeypatch.setattr(doctor, "detect", detect)
        return found

    def post(self, client: Client, **fields: str) -> dict[str, Any]:
        response = client.post("/detection/", form(agent="", protocol="nlweb", **fields))
        assert response.status_code == 200
        return response.json()

    def test_needs_no_valid_document(self, client: Client, db: None, detected: list[Any]) -> None:
        answer = self.post(client, address=URL, document="{}")
        assert answer == {"found": FOUND, "cause": None, "at": "now"}
        assert (detected[0].url, Agent.objects.count()) == (URL, 0)

    def test_offers_credentials(
        self, client: Client, db: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cause = {"headline": "Authentication required", "remedy": "authenticate"}

        async def detect(prepared: Any, owner: Any) -> dict[str, Any]:
            return {"found": None, "cause": {**cause, "scheme": "basic"}, "at": "now"}

        monkeypatch.setattr(doctor, "detect", detect)
        found = self.post(client, address=URL)["cause"]
        assert (found["authenticate"], found["auth"]) == ("Add user name and password", "basic")

    @pytest.mark.parametrize(
        ("address", "reason"),
        [
            ("ftp://a.example", "must start with http"),
            ("https://user:pw@a.example", "must not contain a user name or password"),
            ("http://{{nowhere}}/", "nowhere"),
            ("", "Enter a URL or choose an agent."),
        ],
    )
    def test_says_why_nothing_is_sent(
        self, client: Client, db: None, detected: list[Any], address: str, reason: str
    ) -> None:
        answer = self.post(client, address=address)
        assert reason in answer["cause"]["headline"]
        assert (answer["found"], detected) == (None, [])

    def test_is_stored_with_the_run(self, client: Client, started: list[Any], db: None) -> None:
        sent = {**FOUND, "evil": "x", "version": 7}
        client.post(
            "/runs/", form(agent="", address=URL, protocol="nlweb", detected=json.dumps(sent))
        )
        run = started[0][0]
        assert run.detected == {name: FOUND[name] for name in FOUND if name != "version"}
        again = client.post(f"/runs/{run.pk}/repetition/")
        assert again.status_code == 302
        assert started[1][0].detected == run.detected

    def test_has_a_limit(self, client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "_detections", OwnerSlots(0))
        assert "in progress" in self.post(client, address=URL)["cause"]["headline"]
