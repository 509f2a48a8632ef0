"""Snippets over the pages: a cURL command in, and requests as code."""

from __future__ import annotations

import pytest
from django.test import Client

from playground.models import Agent, Environment
from tests.import_export.test_har_export import CALL as POSTED
from tests.support.stored_runs import END, HEAD, OPEN, recorded, result
from tests.views.conftest import form

CANARY = "canary-3e77a1"


class TestCurl:
    def test_the_composer_gets_what_a_command_says(self, client: Client) -> None:
        command = 'curl https://a.example/ask -d \'{"query": {"text": "eggs"}}\' -H \'X-Own: 1\''
        found = client.post("/formats/curl/", {"command": command}).json()
        assert found == {
            "address": "https://a.example/ask",
            "protocol": "nlweb",
            "binding": "http",
            "version": "0.55",
            "document": {"query": {"text": "eggs"}},
            "headers": [["X-Own", "1"]],
            "auth": {},
            "remarks": [],
            "refusals": [],
        }

    def test_a_refusal_says_why(self, client: Client) -> None:
        found = client.post("/formats/curl/", {"command": "curl x -o y"}).json()
        assert found["refusals"] == ["The option -o writes a file, which is not supported."]
        assert client.post("/formats/curl/").json()["refusals"]


@pytest.mark.usefixtures("agent")
class TestCode:
    def test_what_is_composed_is_there_in_each_language(self, client: Client) -> None:
        html = client.post("/compose/code/", form()).content.decode()
        for words in ("curl --url http://agent.example/api/ask", "import httpx", "await fetch(",
                      "&quot;tools/call&quot;", "Mcp-Method: tools/call"):  # fmt: skip
            assert words in html

    def test_secrets_are_names(self, client: Client, agent: Agent) -> None:
        agent.auth, agent.auth_secret = Agent.Auth.BEARER, CANARY
        agent.save()
        place = Environment.objects.create(name="Live")
        place.variables.create(
            name="own-key",
            kind="secret",
            secret=CANARY[::-1],
            allowed_origins=["http://agent.example"],
        )
        document = {"query": {"text": "a {{own-key}}"}}
        fields = form(document, environment=place.slug, headers='[["X-Key", "{{own-key}}"]]')
        html = client.post("/compose/code/", fields).content.decode()
        assert CANARY not in html
        assert CANARY[::-1] not in html
        assert "$TOKEN" in html
        assert "$OWN_KEY" in html
        assert "<code>TOKEN</code>" in html

    def test_a_name_without_a_value_is_said(self, client: Client) -> None:
        html = client.post("/compose/code/", form({"query": {"text": "{{who}}"}})).content.decode()
        assert "Not defined: <code>who</code>" in html

    def test_what_cannot_be_read_has_no_code(self, client: Client) -> None:
        html = client.post("/compose/code/", form("{")).content.decode()
        assert "Fix first" in html

    def test_the_agent_api_does_not_go_over_mcp(self, client: Client) -> None:
        Agent.objects.create(
            name="Chat", url="http://agent.example", protocol="agent-api", version="1"
        )
        document = {"input": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}
        html = client.post("/compose/code/", form(document, "chat")).content.decode()
        assert "import httpx" in html
        assert "JSON-RPC" not in html

    def test_the_last_call_of_a_run(self, client: Client) -> None:
        run = recorded([[POSTED, HEAD, END], [POSTED, OPEN, HEAD, result(1), END]])
        html = client.get(f"/runs/{run.pk}/code/").content.decode()
        assert "http://agent.example/ask?a=1" in html
        assert "$AUTHORIZATION" in html
        assert "••••••" not in html

    def test_a_run_that_sent_nothing(self, client: Client) -> None:
        run = recorded([[]], "refused")
        assert b"Nothing to copy" in client.get(f"/runs/{run.pk}/code/").content
