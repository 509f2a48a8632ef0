"""The workbench and deep links: never sent, and invalid parts ignored."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from playground.models import Agent, Environment, Run, Variable
from playground.protocols import registry
from tests.support.markup import one_line

pytestmark = pytest.mark.database

BANNER = re.compile(r'<div class="linked"[^>]*?( hidden)?>')


def shown(client: Client, query: dict[str, Any]) -> dict[str, Any]:
    """What the page has in its composer for a link."""
    response = client.get("/", query)
    assert response.status_code == 200
    context, page = response.context, one_line(response)
    document = re.search(r'name="document"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    banner = BANNER.search(page)
    assert document
    assert banner
    return {
        "agent": context["agent"].slug if context["agent"] else "",
        "address": context["composed"]["address"],
        "protocol": context["protocol"],
        "version": context["composed"]["version"],
        "binding": context["composed"]["binding"],
        "document": json.loads(unescape(document[1])),
        "linked": not banner[1],
        "note": context["link_note"],
    }


@pytest.fixture(autouse=True)
def agents(agent: Agent) -> None:
    Agent.objects.create(name="Talker", url="http://talker.example", protocol="agent-api")


DEFAULTS = {"version": "0.55"}
#: Links, and what the composer then has.
LINKS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "a text for an agent": (
        {"agent": "recipes", "text": "soup", "streaming": "0"},
        {
            "agent": "recipes", "address": "", "protocol": "nlweb", "version": "0.55",
            "binding": "http", "linked": True, "note": "",
            "document": {
                "query": {"text": "soup"}, "prefer": {"streaming": False}, "meta": DEFAULTS,
            },
        },
    ),
    "a text for a URL": (
        {"agent": "https://other.example/a", "text": "soup", "protocol": "nlweb",
         "version": "0.54", "binding": "mcp"},
        {
            "agent": "", "address": "https://other.example/a", "version": "0.54",
            "binding": "mcp", "linked": True,
            "document": {
                "query": {"text": "soup"}, "prefer": {"streaming": True},
                "meta": {"version": "0.54"},
            },
        },
    ),
    "the protocol of the agent": (
        {"agent": "talker", "text": "hi", "protocol": "nlweb"},
        {"protocol": "agent-api", "document": registry.of("agent-api").new_request("1", "hi")},
    ),
    "a document": (
        {"request": '{"query": {"text": "<b>", "x": [1]}}'},
        {"document": {"query": {"text": "<b>", "x": [1]}}, "linked": True},
    ),
    "a new request": (
        {"new": "1"},
        {
            "document": {"query": {"text": ""}, "prefer": {"streaming": True}, "meta": DEFAULTS},
            "linked": False,
        },
    ),
    "an agent": ({"agent": "talker"}, {"linked": False}),
    "nothing": ({}, {"linked": False}),
    "credentials": (
        {"agent": "https://me:literal@other.example/?token=literal&site=a"},
        {
            "address": "https://other.example/?token=&site=a",
            "note": "The credentials in the URL were removed.",
        },
    ),
}  # fmt: skip


class TestLinks:
    @pytest.mark.parametrize(("query", "expected"), LINKS.values(), ids=LINKS)
    def test_fill_in_the_composer(
        self, client: Client, query: dict[str, str], expected: dict[str, Any]
    ) -> None:
        found = shown(client, query)
        assert {name: found[name] for name in expected} == expected
        assert not Run.objects.exists()

    @pytest.mark.parametrize(
        ("referer", "linked"),
        [
            ("http://testserver/demo/", False),
            ("http://testserver.example/demo/", True),
            ("https://elsewhere.example/http://testserver/", True),
            ("", True),
        ],
    )
    def test_only_links_of_other_sites_raise_a_warning(
        self, client: Client, referer: str, linked: bool
    ) -> None:
        query = {"agent": "https://other.example/a", "text": "soup"}
        page = client.get("/", query, headers={"Referer": referer}).text
        banner = BANNER.search(page)
        assert banner
        assert (not banner[1]) is linked

    def test_an_agent_that_does_not_exist_is_said_on_own_pages_too(self, client: Client) -> None:
        page = client.get("/", {"agent": "x"}, headers={"Referer": "http://testserver/"})
        assert "The agent of the link does not exist here: x" in page.text

    @pytest.mark.parametrize(
        "named",
        [
            "nobody", "javascript://x/%0aalert(1)", "ftp://other.example", "https://",
            "https://a b", "data:text/html,x", "//other.example",
            "https://other.example/" + "a" * 2000,
        ],
        ids=[
            "a slug of nobody", "javascript", "ftp", "no host", "a space", "data", "no scheme",
            "too long",
        ],
    )  # fmt: skip
    def test_what_no_request_could_go_to_goes_to_nobody_else(
        self, client: Client, named: str
    ) -> None:
        for query in ({"agent": named, "text": "soup"}, {"agent": named}):
            found = shown(client, query)
            assert (found["agent"], found["address"], found["linked"]) == ("", "", True)
            assert found["note"] == f"The agent of the link does not exist here: {named[:80]}"

    def test_without_any_agent_there_is_no_banner(self, client: Client) -> None:
        Agent.objects.all().delete()
        found = shown(client, {})
        assert (found["agent"], found["linked"], found["note"]) == ("", False, "")

    @pytest.mark.parametrize("request_text", ["", "{", "[]", '"text"', "[" * 9000, "{" * 30_000])
    def test_what_is_no_document_is_left_out(self, client: Client, request_text: str) -> None:
        found = shown(client, {"request": request_text, "text": "soup"})
        assert found["document"]["query"] == {"text": "soup"}

    @pytest.mark.parametrize(
        ("name", "value"), [("version", "9.9"), ("binding", "pigeon"), ("protocol", "smtp")]
    )
    def test_what_nobody_knows_is_left_out(self, client: Client, name: str, value: str) -> None:
        found = shown(client, {"agent": "https://other.example", name: value})
        assert (found["version"], found["binding"], found["protocol"]) == ("0.55", "http", "nlweb")

    def test_a_text_is_cut(self, client: Client) -> None:
        assert len(shown(client, {"text": "x" * 50_000})["document"]["query"]["text"]) == 20_000


def test_without_any_agent_an_address_is_asked_for(client: Client) -> None:
    Agent.objects.all().delete()
    page = client.get("/").text
    assert re.search(r'<option value="" selected></option>', page)
    assert 'placeholder="Agent, URL or cURL command"' in page


def test_a_run_whose_agent_is_gone_shows_its_address(client: Client, run: Run) -> None:
    response = client.get(run.get_absolute_url())
    assert response.context["agent"] is None
    assert response.context["composed"]["address"] == run.url


def test_the_names_of_secrets_are_listed_once_each_in_order(client: Client) -> None:
    for environment in ("Staging", "Production"):
        made = Environment.objects.create(name=environment)
        for name, kind in (("token", "secret"), ("key", "secret"), ("city", "text")):
            Variable.objects.create(environment=made, name=name, kind=kind)
    page = client.get("/")
    assert page.context["secret_names"] == ["key", "token"]
    listed = re.search(r'<datalist id="secret-names">(.*?)</datalist>', one_line(page))
    assert listed
    assert re.findall(r'value="(\w+)"', listed[1]) == ["key", "token"]
