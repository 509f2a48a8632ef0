"""Agent API: own session ids, so that runs at once do not collide; and two URLs compared."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from playground.models import Agent, Run
from tests.cases import ask
from tests.support.commands import run_command
from tests.support.markup import read
from tests.support.servers import Script, reply, serving

OVER_AGENT_API = ("--protocol", "agent-api")


def sent(request: bytes) -> dict[str, Any]:
    return json.loads(request.partition(b"\r\n\r\n")[2])


def stream(text: str = "Hello", **members: Any) -> bytes:
    content = [{"object": "content", "type": "text", "text": text, "status": "completed"}]
    message = {"object": "message", "type": "message", "role": "assistant", "id": "m"}
    output = [{**message, "status": "completed", "content": content}]
    response = {"object": "response", "id": "r", "status": "completed", "output": output}
    document = json.dumps({**response, **members})
    return reply(f"data: {document}\n\n".encode(), "text/event-stream")


class TestOwnIds:
    def test_two_requests_have_two_sessions(self) -> None:
        with serving(stream()) as server:
            for _ in range(2):
                run_command("send", server.url, "--text", "x", *OVER_AGENT_API)
        first, second = map(sent, server.requests)
        assert first["session_id"] != second["session_id"]
        assert len(first["session_id"]) == 36
        assert "user_id" not in first

    def test_a_follow_up_has_that_of_its_conversation(self) -> None:
        with serving(stream()) as server:
            done = run_command(
                "send", server.url, "--text", "x", *OVER_AGENT_API, "--output", "jsonl"
            )
            run = done.json_lines[-1]["run"]
            run_command("send", server.url, "--text", "y", "--conversation", run)
        first, second = map(sent, server.requests)
        assert first["session_id"] == second["session_id"]

    def test_one_that_the_user_gives_is_sent(self) -> None:
        for value, expected in (("mine", "mine"), ("null", None)):
            answer = ask(stream(), arguments=(*OVER_AGENT_API, "--set", f"session_id={value}"))
            assert sent(answer.requests[0])["session_id"] == expected

    def test_none_is_sent_where_the_agent_says_so(self) -> None:
        with serving(stream()) as server:
            Agent.objects.create(
                name="S", slug="s", url=server.url, protocol="agent-api", version="1",
                own_ids="off",
            )  # fmt: skip
            run_command("send", "s", "--text", "x")
        assert "session_id" not in sent(server.requests[0])

    def test_a_response_that_names_no_session_is_no_deviation(self) -> None:
        answer = ask(stream(), arguments=OVER_AGENT_API)
        assert "agent-api.session-echoed" not in answer.findings
        answer = ask(stream(session_id="another"), arguments=OVER_AGENT_API)
        assert answer.findings["agent-api.session-echoed"] == "should"

    def test_the_run_shows_what_was_sent_and_the_preview_that_one_is(self) -> None:
        answer = ask(stream(), arguments=OVER_AGENT_API)
        run = Run.objects.get()
        assert run.request == sent(answer.requests[0])
        document = {"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
        fields = {"address": "http://127.0.0.1:1/", "protocol": "agent-api", "binding": "http"}
        response = Client().post("/compose/preview/", {**fields, "document": json.dumps(document)})
        assert '"session_id": "' in " ".join(read(response.content.decode()).text.split())


class TestTwin:
    def answer(self, request: bytes) -> Script:
        """An agent that keys running requests by session."""
        return (stream(f"to {len(sent(request)['session_id'])}"),)

    def test_two_urls_of_the_agent_api_are_compared(self) -> None:
        with serving(answer=self.answer) as left, serving(answer=self.answer) as right:
            done = run_command("twin", left.url, right.url, "--text", "x", *OVER_AGENT_API)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "No differences"
        assert "Agent API" in done.stdout.splitlines()[0]
        (one,), (other,) = left.requests, right.requests
        assert sent(one)["session_id"] != sent(other)["session_id"]

    def test_one_agent_twice_at_once_has_two_sessions(self) -> None:
        with serving(answer=self.answer) as server:
            done = run_command("twin", server.url, server.url, "--text", "x", *OVER_AGENT_API)
        assert done.returncode == 0, done.stderr
        assert len({sent(request)["session_id"] for request in server.requests}) == 2

    def test_on_the_page_one_agent_under_two_names_has_two_sessions(self) -> None:
        with serving(answer=self.answer) as server:
            for name in ("a", "b"):
                Agent.objects.create(
                    name=name, slug=name, url=server.url, protocol="agent-api", version="1"
                )
            document = {"input": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
            fields = {"agent": "a", "protocol": "agent-api", "document": json.dumps(document)}
            response = Client().post("/twins/", {**fields, "other": "agent:b"})
            assert response.status_code == 302, response.content
        sessions = {run.request["session_id"] for run in Run.objects.all()}
        assert (Run.objects.count(), len(sessions)) == (2, 2)
