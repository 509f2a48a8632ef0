"""The connection doctor against real servers, each broken in its own way."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from playground.agents import doctor
from playground.base.jobs import running_tasks
from playground.engine.request import request_to
from playground.models import Agent
from playground.models.agents import proposed_changes
from tests.support import a2a_servers, mcp_servers
from tests.support.background_tasks import wait_for_tasks
from tests.support.certificates import THIS_HOST, Certificate
from tests.support.servers import HOLD, Script, Server, free_port, reply, serve

SECRET = "canary-7d1e"
ANSWER = {"_meta": {"version": "0.55", "response_type": "answer"}, "results": [{"name": "Soup"}]}
TOOLS = {"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "ask"}, {"name": "await"}]}}
NOT_FOUND = reply(b"Not Found", "text/plain", "404 Not Found")


def answering(**answers: Any) -> Any:
    """Answers by the end of the path, or by the JSON-RPC method; 404 for everything else."""

    def answer(request: bytes) -> Script:
        line, _, rest = request.partition(b"\r\n")
        name = line.split(b" ")[1].partition(b"?")[0].rpartition(b"/")[2].decode()
        _, _, body = rest.partition(b"\r\n\r\n")
        if b'"jsonrpc"' in body:
            name = json.loads(body)["method"].replace("/", "_")
        found = answers.get(name, NOT_FOUND)
        return (found if isinstance(found, bytes) else reply(json.dumps(found).encode()),)

    return answer


async def diagnose(url: str, **fields: Any) -> dict[str, Any]:
    return await doctor.diagnose(request_to(Agent(name="scripted", url=url, **fields), {}))


def failed(report: dict[str, Any]) -> list[str]:
    return [step["name"] for step in report["steps"] if step["status"] == "failed"]


def step(report: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in report["steps"] if each["name"] == name)


@pytest.fixture
def short_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A doctor who waits for next to nothing."""
    for name, seconds in (("TOTAL", 1.5), ("FIRST", 0.5), ("EACH", 0.2)):
        monkeypatch.setattr(doctor, name, seconds)


class TestAServer:
    async def test_that_is_down(self) -> None:
        report = await diagnose(f"http://127.0.0.1:{free_port()}")
        assert failed(report) == ["tcp"]
        assert "Nothing listens on" in step(report, "tcp")["cause"]
        assert "correct the port" in step(report, "tcp")["fix"]

    @pytest.mark.slow
    @pytest.mark.usefixtures("short_timeouts")
    async def test_that_never_answers(self) -> None:
        async with serve(HOLD) as server:
            report = await diagnose(server.url)
        assert failed(report)[:1] == ["http"]
        assert "runs have a longer timeout" in step(report, "http")["fix"]
        assert "PLAYGROUND_" not in json.dumps(report)

    @pytest.mark.usefixtures("short_timeouts")
    async def test_so_slow_that_the_time_is_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "TOTAL", 0.3)
        async with serve(HOLD) as server:
            report = await diagnose(server.url)
        assert report["state"] == "done"
        assert "time limit of the diagnosis" in step(report, "card")["cause"]

    async def test_that_sends_too_much(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(doctor, "MAX_BYTES", 1000)
        async with serve(reply(b"[" + b"1," * 5000 + b"1]")) as server:
            report = await diagnose(server.url)
        assert failed(report)
        assert max(len(call["received"]) for call in report["calls"].values()) < 2000


class TestServersOfTheOfficialPackages:
    @pytest.mark.parametrize("json_response", [True, False])
    @pytest.mark.parametrize(
        ("generation", "spoken"), [("", "2026-07-28"), ("initialize", "2025-")]
    )
    async def test_mcp(self, generation: str, spoken: str, json_response: bool) -> None:
        own = mcp_servers.Recipes()
        with mcp_servers.serving(own, json_response=json_response, generation=generation) as url:
            report = await diagnose(url, binding="mcp")
            expected = await diagnose(url)
        assert failed(report) == []
        assert report["found"]["generation"].startswith(spoken)
        assert (report["found"]["protocol"], report["found"]["url"]) == ("nlweb", url)
        assert failed(expected) == ["ask"]
        assert step(expected, "ask")["fix"] == "Set the binding to MCP."

    @pytest.mark.parametrize("is_brief", [False, True])
    @pytest.mark.parametrize("status", ["200 OK", "401 Unauthorized", "405 Method Not Allowed"])
    async def test_the_session_is_ended(self, status: str, is_brief: bool) -> None:
        opened = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}}
        head = b"\r\nMcp-Session-Id: s1\r\n\r\n"
        answer = answering(
            initialize=reply(json.dumps(opened).encode()).replace(b"\r\n\r\n", head, 1),
            notifications_initialized=reply(b"", status="202 Accepted"),
            tools_list=TOOLS,
            mcp=reply(b"", status=status),
        )
        async with serve(answer=answer) as server:
            agent = Agent(name="scripted", url=f"{server.url}/mcp", binding="mcp")
            report = await doctor.diagnose(request_to(agent, {}), is_brief=is_brief)
        assert failed(report) == []
        ended = [request for request in server.requests if request.startswith(b"DELETE /mcp ")]
        assert len(ended) == 1
        assert b"mcp-session-id: s1\r\n" in ended[0].lower()
        assert server.requests[-1] == ended[0]

    async def test_mcp_with_the_transport_before_streamable_http(self) -> None:
        with mcp_servers.serving_http_sse() as url:
            report = await diagnose(url, binding="mcp")
        assert "mcp" in failed(report)
        assert "uses the HTTP+SSE transport of MCP 2024-11-05" in step(report, "mcp")["cause"]

    async def test_mcp_that_wants_a_token(self) -> None:
        with mcp_servers.serving(mcp_servers.Recipes(token=mcp_servers.TOKEN)) as url:
            refused = await diagnose(url, binding="mcp")
            let_in = await diagnose(
                url, binding="mcp", auth="bearer", auth_secret=mcp_servers.TOKEN
            )
        assert failed(refused) == ["http", "mcp"]
        assert "bearer token" in step(refused, "mcp")["fix"]
        assert failed(let_in) == []
        assert mcp_servers.TOKEN not in json.dumps(let_in)

    @pytest.mark.parametrize("versions", [("1.0",), ("0.3",)])
    async def test_a2a(self, versions: tuple[str, ...]) -> None:
        with a2a_servers.serving(a2a_servers.Waiter(), versions=versions) as url:
            report = await diagnose(url)
        assert step(report, "card")["status"] == "passed"
        assert "Waiter: A2A" in step(report, "card")["cause"]
        assert "Skills: serve." in step(report, "card")["cause"]
        assert failed(report) == ["ask"]
        assert "A2A agent" in step(report, "ask")["fix"]


class TestSchemes:
    async def test_https_where_http_is_spoken(self) -> None:
        async with serve(NOT_FOUND, HOLD, read=False) as server:
            report = await diagnose(server.url.replace("http://", "https://"))
        assert failed(report) == ["tls"]
        fix = "Use http:// instead of https://."
        assert step(report, "tls")["fix"] == fix

    async def test_http_where_https_is_spoken(self, tmp_path: Path) -> None:
        certificate = Certificate(tmp_path, [THIS_HOST])
        async with serve(NOT_FOUND, tls=certificate.server) as server:
            report = await diagnose(server.url.replace("https://", "http://"))
        assert failed(report) == ["http"]
        assert step(report, "http")["fix"].startswith("Use https:// instead of http://")

    async def test_a_certificate_that_nobody_signed(self, tmp_path: Path) -> None:
        certificate = Certificate(tmp_path, [THIS_HOST])
        async with serve(NOT_FOUND, tls=certificate.server) as server:
            report = await diagnose(server.url)
        assert failed(report) == ["tls"]
        assert "self-signed" in step(report, "tls")["cause"]


class TestCredentials:
    FIELDS = {"auth": "bearer", "auth_secret": SECRET}

    async def test_go_where_they_belong_and_stand_in_no_report(self) -> None:
        echo = reply(json.dumps({"detail": f"Bearer {SECRET} is unknown"}).encode())
        async with serve(echo) as server:
            report = await diagnose(server.url, **self.FIELDS)
        sent = [request for request in server.requests if SECRET.encode() in request]
        bare = [request for request in server.requests if SECRET.encode() not in request]
        assert len(sent) > 3
        assert [request.partition(b" HTTP")[0] for request in bare] == [
            b"GET /.well-known/agent-card.json"
        ]
        assert SECRET not in json.dumps(report)

    @pytest.mark.usefixtures("short_timeouts")
    async def test_do_not_go_over_the_other_scheme(self) -> None:
        async with serve(NOT_FOUND) as server:
            url = server.url.replace("http://", "https://")
            await diagnose(url, **self.FIELDS)
        assert not [request for request in server.requests if SECRET.encode() in request]


async def test_the_outbound_policy_holds(settings: Any) -> None:
    settings.HOSTED = True
    async with serve(NOT_FOUND) as server:
        report = await diagnose(server.url)
    assert failed(report) == ["policy"]
    assert server.requests == []


async def test_the_report_grows_call_by_call() -> None:
    seen: list[list[str]] = []

    async def listen(report: dict[str, Any]) -> None:
        seen.append([each["status"] for each in report["steps"]])
        assert report["state"] == "running"

    async with serve(answer=answering(ask=ANSWER)) as server:
        agent = Agent(name="scripted", url=server.url)
        report = await doctor.diagnose(request_to(agent, {}), listen)
    assert len(seen) == len(report["calls"])
    assert "waiting" in seen[0]
    assert [each["status"] for each in report["steps"]].count("waiting") == 0


@pytest.mark.database
@pytest.mark.usefixtures("transactional_db")
class TestKept:
    async def settle(self, agent: Agent) -> Agent:
        await wait_for_tasks()
        await agent.arefresh_from_db()
        return agent

    async def diagnosed(self, server: Server, **fields: Any) -> Agent:
        agent = await Agent.objects.acreate(name="Kept", url=server.url, **fields)
        assert doctor.start(agent, request_to(agent, {}))
        assert doctor.is_running(agent)
        return await self.settle(agent)

    async def test_with_the_agent(self) -> None:
        async with serve(answer=answering(ask=ANSWER)) as server:
            agent = await self.diagnosed(server)
        facts = {name: agent.detected[name] for name in ("protocol", "version", "binding", "url")}
        assert facts == {
            "protocol": "nlweb", "version": "0.55", "binding": "http", "url": server.url,
        }  # fmt: skip
        assert agent.detected["at"] == agent.detected["report"]["at"]
        assert not doctor.is_running(agent)
        assert proposed_changes(agent) == {}

    async def test_what_was_found_before_goes_when_nothing_is(self) -> None:
        async with serve(answer=answering(ask=ANSWER)) as server:
            agent = await self.diagnosed(server)
        assert doctor.start(agent, request_to(agent, {}))
        agent = await self.settle(agent)
        assert list(agent.detected) == ["report"]
        assert agent.detected["report"]["found"] is None

    async def test_one_at_a_time_for_an_agent_and_a_few_for_a_user(self) -> None:
        async with serve(HOLD) as server:
            agents = [
                await Agent.objects.acreate(name=f"A{n}", url=server.url)
                for n in range(doctor.MAX_AT_ONCE + 1)
            ]
            started = [doctor.start(agent, request_to(agent, {})) for agent in agents]
            again = doctor.start(agents[0], request_to(agents[0], {}))
            tasks = running_tasks()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        assert started == [True] * doctor.MAX_AT_ONCE + [False]
        assert again
        assert len(tasks) == doctor.MAX_AT_ONCE

    async def test_a_report_that_a_dead_process_left_is_not_under_way(self) -> None:
        def agent(at: str) -> Agent:
            return Agent(
                url="http://a.example", detected={"report": {"state": "running", "at": at}}
            )

        assert doctor.is_running(agent(timezone.now().isoformat()))
        assert not doctor.is_running(agent("2020-01-01T00:00:00+00:00"))
        assert not doctor.is_running(agent("nonsense"))

    async def test_a_bug_of_ours_ends_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def broken(*_: Any) -> None:
            raise RuntimeError("bug")

        monkeypatch.setattr(doctor, "diagnose", broken)
        agent = await Agent.objects.acreate(name="Kept", url="http://a.example")
        assert doctor.start(agent, request_to(agent, {}))
        agent = await self.settle(agent)
        assert not await sync_to_async(doctor.is_running)(agent)
