"""Agents: add, edit and delete them; their secrets are write-only."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.models import Agent
from tests.support.markup import read
from tests.support.stored_runs import past_run

pytestmark = pytest.mark.database

SECRET = "canary-3f9a"


def fields(**changed: Any) -> dict[str, Any]:
    return {
        "name": "Recipes", "url": "http://127.0.0.1:8001", "version": "0.55", "auth": "none",
        "headers": "[]", **changed,
    }  # fmt: skip


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(
        name="Recipes", url="http://a.example", auth="bearer", auth_secret=SECRET
    )


def test_adding_leads_to_the_workbench_with_the_agent_chosen(client: Client) -> None:
    response = client.post(
        "/agents/",
        fields(headers='[["X-A", "1"]]', auth="api_key", auth_header="X-Key", auth_secret="k1"),
    )
    assert (response.status_code, response["Location"]) == (302, "/?agent=recipes")
    agent = Agent.objects.get()
    assert (agent.name, agent.url, agent.owner) == ("Recipes", "http://127.0.0.1:8001", None)
    assert (agent.auth_header, agent.auth_secret, agent.headers) == ("X-Key", "k1", [["X-A", "1"]])
    page = client.get(response["Location"]).text
    assert "Recipes was added." in page


#: Fields of the form, and what is said beside them.
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"url": ""}, "This field is required."),
    ({"url": "ftp://a.example/"}, "must start with http://"),
    ({"url": "javascript:alert(1)"}, "must start with http://"),
    ({"url": "file:///etc/passwd"}, "must start with http://"),
    ({"url": "a.example"}, "must start with http://"),
    ({"url": "//a.example"}, "must start with http://"),
    ({"url": "http://"}, "has no host name"),
    ({"url": "https:///path"}, "has no host name"),
    ({"url": "http://ada:pw@a.example"}, "must not contain a user name or password"),
    ({"url": "http://a.example:99999"}, "port"),
    ({"url": "http://a b.example"}, "a space"),
    ({"url": "http://a.example\\@b.example"}, "backslash"),
    ({"url": "http://a.example/\x00"}, "Null characters"),
    ({"url": "http://[::1"}, "can’t be parsed"),
    ({"url": "http://a.example/" + "a" * 2000}, "at most 2000"),
    ({"name": ""}, "This field is required."),
    ({"name": "a" * 81}, "at most 80"),
    ({"version": "9"}, "Select a valid choice"),
    ({"auth": "magic"}, "Select a valid choice"),
    ({"auth": "bearer"}, "Enter a token or key"),
    ({"auth": "api_key"}, "Enter a token or key"),
    ({"auth": "bearer", "auth_secret": "a\r\nX: b"}, "control character"),
    ({"auth": "bearer", "auth_secret": "ä"}, "non-ASCII characters"),
    ({"auth": "api_key", "auth_secret": "k", "auth_header": "Cookie"}, "set by the playground"),
    ({"auth": "api_key", "auth_secret": "k", "auth_header": "a:b"}, "not a valid header name"),
    ({"headers": "{}"}, "an array of [name, value]"),
    ({"headers": "["}, "are not valid JSON"),
    ({"headers": '[["Host", "x"]]'}, "can’t be overridden"),
]


@pytest.mark.parametrize(("changed", "message"), MISTAKES)
def test_fields_that_do_not_fit(client: Client, changed: dict[str, Any], message: str) -> None:
    response = client.post("/agents/", fields(**changed))
    assert response.status_code == 422
    assert message in read(response).text
    assert not Agent.objects.exists()


def test_what_was_typed_comes_back_and_the_secret_does_not(client: Client) -> None:
    typed = fields(url="ftp://x", name="<b>Mine", auth="bearer", auth_secret=SECRET)
    html = client.post("/agents/", typed).text
    values = [e.attributes.get("value") for e in read(html).find("input")]
    assert "<b>Mine" in values
    assert "ftp://x" in values
    assert SECRET not in html


def test_the_secret_is_in_no_page(client: Client, agent: Agent) -> None:
    for path in ("/", "/agents/", "/agents/recipes/", "/?agent=recipes"):
        assert SECRET not in client.get(path).text, path


def test_deleting_keeps_the_runs(client: Client, agent: Agent) -> None:
    run = past_run(agent=agent)
    assert client.get("/agents/recipes/deletion/").status_code == 405
    assert client.post("/agents/recipes/deletion/").status_code == 302
    assert not Agent.objects.exists()
    run.refresh_from_db()
    assert run.agent is None
    assert "Recipes" in client.get(f"/runs/{run.pk}/").text


def test_names_that_would_share_an_address_get_different_ones(client: Client) -> None:
    for name in ("Recipes", "Recipes", "recipes!", "New", "new", "日本"):
        client.post("/agents/", fields(name=name))
    slugs = list(Agent.objects.values_list("slug", flat=True))
    assert slugs == ["recipes", "recipes-2", "recipes-3", "new-2", "new-3", "agent"]
    for slug in slugs:
        html = client.get(f"/agents/{slug}/").text
        assert f'action="/agents/{slug}/"' in html


def test_the_address_is_prefilled_and_nothing_is_stored(client: Client) -> None:
    html = client.get("/agents/new/", {"url": 'https://b.example/"><script>'}).text
    values = [e.attributes.get("value") for e in read(html).find("input")]
    assert 'https://b.example/"><script>' in values
    assert not Agent.objects.exists()


DOTS = "••••••"
KEY = ["X-API-Key", SECRET]
DOTTED = [["X-API-Key", DOTS]]


def headers(*pairs: list[str]) -> str:
    return json.dumps(pairs)


def origins(kept: str, wanted: str) -> list[str]:
    """Return what is said of an agent that goes elsewhere with its secrets."""
    return [
        f"The stored secret was entered for {kept}. Enter it again to allow {wanted}.",
        f"The stored value was entered for {kept}. Enter the value of X-API-Key again to allow"
        f" {wanted}.",
    ]


ELSEWHERE = "http://evil.example"
PLAIN = ["X-Plain", "shown"]
BEARER = {"auth": "bearer"}
#: What is sent to the form of an agent with a secret and such headers, and the columns afterwards,
#: or what is said of it where nothing is stored.
EDITS: dict[str, tuple[dict[str, Any], dict[str, Any] | list[str]]] = {
    # An empty field keeps the secret, and no authentication drops it.
    "no secret": (BEARER, {"auth_secret": SECRET, "name": "Renamed", "slug": "recipes"}),
    "a blank secret": ({**BEARER, "auth_secret": "  "}, {"auth_secret": SECRET}),
    "a secret": ({**BEARER, "auth_secret": "new-one"}, {"auth_secret": "new-one"}),
    "another kind": ({"auth": "api_key"}, {"auth_secret": SECRET}),
    "no authentication": ({"auth": "none"}, {"auth_secret": ""}),
    "no authentication with a secret": ({"auth": "none", "auth_secret": "typed"},
                                        {"auth_secret": ""}),
    "a mistake": ({"name": "Other", "url": "ftp://x"}, ["must start with http://"]),
    # Dots keep what is stored.
    "dots": ({"headers": headers(*DOTTED)}, {"headers": [KEY]}),
    "dots after another header": (
        {"headers": headers(["X-A", "1"], *DOTTED)}, {"headers": [["X-A", "1"], KEY]}),
    "another case": (
        {"headers": headers(["x-api-key", DOTS])}, {"headers": [["x-api-key", SECRET]]}),
    "a new value": (
        {"headers": headers(["X-API-Key", "new"])}, {"headers": [["X-API-Key", "new"]]}),
    "no headers": ({"headers": headers()}, {"headers": []}),
    # They stand for nothing else.
    "dots of another name": (
        {"headers": headers(["X-Other-Key", DOTS])}, ["No stored value for X-Other-Key"]),
    "dots of an empty header": (
        {"headers": headers(["X-Token", DOTS])}, ["No stored value for X-Token"]),
    "dots twice": ({"headers": headers(*DOTTED, *DOTTED)}, ["No stored value for X-API-Key"]),
    "dots of a header that is shown": (
        {"headers": headers(["X-Plain", DOTS])},
        ["The value of X-Plain contains non-ASCII characters"]),
    "dots and more": (
        {"headers": headers(["X-API-Key", DOTS + "a"])}, ["contains non-ASCII characters"]),
    # Secrets are given for an origin, and go to no other without being given again.
    **{url: ({**BEARER, "url": url, "headers": headers(*DOTTED)},
             origins("http://a.example", url.removesuffix("/api")))
       for url in (ELSEWHERE, "https://a.example/api", "http://a.example:8080/api",
                   "http://b.a.example/api", "http://a.example.evil.example/api")},
    # Headers that are left out are stored ones, too.
    "elsewhere without headers": ({"url": ELSEWHERE, "headers": None}, ["X-API-Key again"]),
    "elsewhere with others": (
        {**BEARER, "url": ELSEWHERE, "auth_secret": "other",
         "headers": headers(["X-API-Key", "another"])},
        {"url": ELSEWHERE, "auth_secret": "other", "headers": [["X-API-Key", "another"]]}),
    "elsewhere with none": (
        {"url": ELSEWHERE, "headers": headers(PLAIN)},
        {"url": ELSEWHERE, "auth_secret": "", "headers": [PLAIN]}),
    "another path without headers": (
        {"url": "http://a.example/elsewhere", "headers": None},
        {"url": "http://a.example/elsewhere", "headers": [KEY, PLAIN, ["X-Token", ""]]}),
    **{f"the same origin: {url}": (
        {**BEARER, "url": url, "headers": headers(*DOTTED)},
        {"url": url, "auth_secret": SECRET, "headers": [KEY]})
       for url in ("http://a.example", "http://A.example:80/api/ask?x=1", "HTTP://a.example/b")},
}  # fmt: skip


class TestEditing:
    STORED = {
        "name": "Recipes", "url": "http://a.example/api", "auth": "bearer", "auth_secret": SECRET,
        "headers": [KEY, PLAIN, ["X-Token", ""]],
    }  # fmt: skip

    @pytest.fixture
    def agent(self) -> Agent:
        return Agent.objects.create(**self.STORED)

    def test_credentials_are_shown_as_dots(self, client: Client, agent: Agent) -> None:
        html = client.get("/agents/recipes/").text
        assert SECRET not in html
        shown = [*DOTTED, PLAIN, ["X-Token", ""]]
        assert json.dumps(shown, ensure_ascii=False) in read(html).text

    @pytest.mark.parametrize(("changed", "after"), EDITS.values(), ids=EDITS)
    def test_an_edit(
        self, client: Client, agent: Agent, changed: dict[str, Any], after: Any
    ) -> None:
        sent = fields(**{"name": "Renamed", "url": agent.url, **changed})
        sent = {name: value for name, value in sent.items() if value is not None}
        response = client.post("/agents/recipes/", sent)
        agent.refresh_from_db()
        if isinstance(after, dict):
            assert response.status_code == 302
            assert {name: getattr(agent, name) for name in after} == after
            return
        assert response.status_code == 422
        page = read(response)
        assert [message for message in after if message not in page.words] == []
        assert page.find("title")[0].words.startswith("Recipes")
        assert "is needed for this" not in page.text
        assert SECRET not in response.text
        assert {name: getattr(agent, name) for name in self.STORED} == self.STORED

    def test_of_two_with_one_name_each_keeps_its_own(self, client: Client, agent: Agent) -> None:
        Agent.objects.update(headers=[["X-Key", "first"], ["X-Key", "second"]])
        for sent, status in (
            (headers(["X-Key", "changed"], ["X-Key", DOTS]), 302),
            # With one of them gone nobody can tell whose dots the others are.
            (headers(["X-Key", DOTS]), 422),
        ):
            posted = fields(url=agent.url, headers=sent)
            assert client.post("/agents/recipes/", posted).status_code == status
            agent.refresh_from_db()
            assert agent.headers == [["X-Key", "changed"], ["X-Key", "second"]]

    def test_a_new_agent_has_none_to_keep(self, client: Client) -> None:
        response = client.post("/agents/", fields(headers=headers(*DOTTED)))
        assert response.status_code == 422
        assert "No stored value for X-API-Key" in read(response).text


def test_unknown_agents(client: Client) -> None:
    assert client.get("/agents/nobody/").status_code == 404
    assert client.post("/agents/nobody/", fields()).status_code == 404
    assert client.post("/agents/nobody/deletion/").status_code == 404
    assert client.get("/?agent=nobody").status_code == 200


def test_headers_of_the_request_replace_those_of_the_agent() -> None:
    agent = Agent(
        url="http://a.example", auth="bearer", auth_secret="s", headers=[["X-A", "1"], ["X-B", "2"]]
    )
    target = agent.target([("x-a", "mine"), ("AUTHORIZATION", "Basic x")])
    assert target.headers == (("X-B", "2"), ("x-a", "mine"), ("AUTHORIZATION", "Basic x"))


def test_stored_headers_come_back_to_be_edited(client: Client, agent: Agent) -> None:
    Agent.objects.update(headers=[["X-A", '<"1">']])
    html = client.get("/agents/recipes/").text
    assert json.dumps([["X-A", '<"1">']]) in read(html).text


def test_own_ids_are_a_setting_of_agents_of_the_agent_api(client: Client) -> None:
    fields = {"name": "Scope", "url": "http://s.example/process", "protocol": "agent-api",
              "version": "1", "auth": "none", "headers": "[]"}  # fmt: skip
    client.post("/agents/", fields)
    assert Agent.objects.get().own_ids == "auto"
    client.post("/agents/scope/", {**fields, "own_ids": "on"})
    assert Agent.objects.get().own_ids == "on"
    client.post("/agents/scope/", fields)
    assert Agent.objects.get().own_ids == "on"
    assert 'data-when="protocol=agent-api"' in client.get("/agents/scope/").text
