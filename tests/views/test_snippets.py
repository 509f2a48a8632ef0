"""What other tools say and read, over the pages: curl in, code out, archives, kept replies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from playground.library.har import to_har
from playground.library.recordings import record
from playground.models import Agent, Collection, Environment, Run, SavedRequest
from tests.library import examples
from tests.library.test_har import CALL as POSTED
from tests.rendering.recording import END, HEAD, OPEN, recorded, result
from tests.views.conftest import form

pytestmark = pytest.mark.django_db
CANARY = "canary-3e77a1"


def archived(*frames: Any) -> SimpleUploadedFile:
    run = recorded([[POSTED, OPEN, HEAD, result(1), END, *frames]])
    text = to_har(run)
    run.delete()
    return SimpleUploadedFile("run.har", text.encode(), "application/json")


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
        assert found["refusals"] == ["The option -o writes a file, and no file is written here."]
        assert client.post("/formats/curl/").json()["refusals"]


class TestCode:
    def test_what_is_composed_is_there_in_each_language(self, client: Client, agent: Agent) -> None:
        html = client.post("/compose/code/", form()).content.decode()
        for words in ("curl http://agent.example/api/ask", "import httpx", "await fetch(",
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

    def test_a_name_without_a_value_is_said(self, client: Client, agent: Agent) -> None:
        html = client.post("/compose/code/", form({"query": {"text": "{{who}}"}})).content.decode()
        assert "No value for <code>who</code>" in html

    def test_what_cannot_be_read_has_no_code(self, client: Client, agent: Agent) -> None:
        html = client.post("/compose/code/", form("{")).content.decode()
        assert "Put this right first" in html

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
        assert b"Nothing was sent" in client.get(f"/runs/{run.pk}/code/").content


class TestHar:
    def test_a_run_is_downloaded(self, client: Client, run: Run) -> None:
        answer = client.get(f"/runs/{run.pk}/run.har")
        assert answer["Content-Disposition"] == f'attachment; filename="run-{run.pk}.har"'
        assert json.loads(answer.content)["log"]["version"] == "1.2"

    def test_a_file_is_listed_and_opened(self, client: Client) -> None:
        assert b"Open a recording" in client.get("/formats/har/").content
        listed = client.post("/formats/har/", {"file": archived()})
        assert b"http://agent.example/ask?a=1" in listed.content
        assert not Run.objects.exists()
        packed = listed.context["packed"]
        answer = client.post("/formats/har/", {"packed": packed, "entry": "1"})
        run = Run.objects.get()
        assert answer["Location"] == run.get_absolute_url()
        assert run.is_recorded
        page = client.get(answer["Location"]).content.decode()
        assert ">recorded</span>" in page
        assert run.results == 1

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({}, "Choose a HAR file"),
            ({"packed": "nonsense"}, "did not come back"),
            ({"file": SimpleUploadedFile("x.har", b"PK\x03\x04")}, "a zip archive"),
            ({"file": SimpleUploadedFile("y.har", b'{"log": {"entries": [7]}}')}, "/log/entries/0"),
        ],
        ids=["nothing", "nonsense", "zip", "broken"],
    )
    def test_what_is_no_archive(self, client: Client, fields: Any, words: str) -> None:
        answer = client.post("/formats/har/", fields)
        assert answer.status_code == 422
        assert words in answer.content.decode()

    def test_an_entry_that_is_not_there(self, client: Client) -> None:
        answer = client.post("/formats/har/", {"file": archived(), "entry": "7"})
        assert answer.status_code == 422
        assert b"There is no such entry" in answer.content

    def test_a_file_that_no_form_can_carry(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("playground.views.recordings.MAX_CARRIED", 10)
        answer = client.post("/formats/har/", {"file": archived()})
        assert (answer.status_code, b"too large to choose" in answer.content) == (422, True)


class TestKeptReply:
    def test_it_opens_as_a_run_and_as_the_same_one(self, client: Client, run: Run) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs", reply=record(run))
        url = f"/collections/{collection.slug}/requests/{saved.slug}/reply/"
        # Whoever only follows the link makes nothing, and comes to where it is offered.
        assert client.get(url)["Location"] == saved.get_absolute_url()
        offer = client.get(saved.get_absolute_url()).content.decode()
        assert "Show the recorded reply" in offer
        assert f'hx-post="{url}"' in offer
        assert not Run.objects.filter(source="recording").exists()
        first = client.post(url)["Location"]
        assert client.post(url)["Location"] == first
        assert client.get(url)["Location"] == first
        assert (
            "Show the recorded reply" not in client.get(saved.get_absolute_url()).content.decode()
        )
        page = client.get(first).content.decode()
        assert ">recorded</span>" in page
        assert Run.objects.filter(source="recording").count() == 1

    def test_the_pane_of_the_workbench_takes_it_in(self, client: Client, run: Run) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs", reply=record(run))
        url = f"/collections/{collection.slug}/requests/{saved.slug}/reply/"
        answer = client.post(url, headers={"HX-Request": "true"})
        made = Run.objects.get(source="recording")
        assert answer["HX-Push-Url"] == made.get_absolute_url()
        assert f'data-run="{made.pk}"' in answer.content.decode()
        SavedRequest.objects.update(reply={"frames": "none"}, recorded_run=None)
        answer = client.post(url, headers={"HX-Request": "true"})
        assert "The recorded reply cannot be shown" in answer.content.decode()
        assert "hx-post" not in answer.content.decode()

    def test_without_a_reply_the_request_opens_and_says_so(self, client: Client) -> None:
        collection = Collection.objects.create(name="Kept")
        saved = SavedRequest.objects.create(collection=collection, name="Eggs")
        answer = client.post(f"/collections/{collection.slug}/requests/{saved.slug}/reply/")
        assert answer["Location"] == saved.get_absolute_url()
        assert "No reply is kept" in client.get(answer["Location"]).content.decode()


def test_a_collection_is_downloaded_for_postman(client: Client) -> None:
    examples.example()
    answer = client.get("/collections/soups/postman/")
    assert "soups.postman_collection.json" in answer["Content-Disposition"]
    assert json.loads(answer.content)["info"]["name"] == "Soups"
