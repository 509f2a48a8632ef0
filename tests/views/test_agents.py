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


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({"auth": "bearer"}, SECRET),
        ({"auth": "bearer", "auth_secret": "  "}, SECRET),
        ({"auth": "bearer", "auth_secret": "new-one"}, "new-one"),
        ({"auth": "api_key"}, SECRET),
        ({"auth": "none"}, ""),
        ({"auth": "none", "auth_secret": "typed"}, ""),
    ],
)
def test_an_empty_field_keeps_the_secret_and_no_authentication_drops_it(
    client: Client, agent: Agent, changed: dict[str, Any], kept: str
) -> None:
    response = client.post("/agents/recipes/", fields(name="Renamed", url=agent.url, **changed))
    assert response.status_code == 302
    agent.refresh_from_db()
    assert (agent.name, agent.slug, agent.auth_secret) == ("Renamed", "recipes", kept)


def test_a_refused_edit_changes_nothing(client: Client, agent: Agent) -> None:
    response = client.post("/agents/recipes/", fields(name="Other", url="ftp://x"))
    assert response.status_code == 422
    assert "Other" not in read(response).text
    agent.refresh_from_db()
    assert (agent.name, agent.url) == ("Recipes", "http://a.example")


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


class TestHeadersThatCarryCredentials:
    @pytest.fixture
    def agent(self) -> Agent:
        stored = [KEY, ["X-Plain", "shown"], ["X-Token", ""]]
        return Agent.objects.create(name="Recipes", url="http://a.example", headers=stored)

    def post(self, client: Client, sent: str, **changed: Any) -> Any:
        posted = fields(url="http://a.example", headers=sent, **changed)
        return client.post("/agents/recipes/", posted)

    def test_they_are_shown_as_dots(self, client: Client, agent: Agent) -> None:
        html = client.get("/agents/recipes/").text
        assert SECRET not in html
        shown = [*DOTTED, ["X-Plain", "shown"], ["X-Token", ""]]
        assert json.dumps(shown, ensure_ascii=False) in read(html).text

    @pytest.mark.parametrize(
        ("sent", "kept"),
        [
            (headers(*DOTTED), [KEY]),
            (headers(["X-A", "1"], *DOTTED), [["X-A", "1"], KEY]),
            (headers(["x-api-key", DOTS]), [["x-api-key", SECRET]]),
            (headers(["X-API-Key", "new"]), [["X-API-Key", "new"]]),
            (headers(), []),
        ],
    )
    def test_dots_keep_what_is_stored(
        self, client: Client, agent: Agent, sent: str, kept: list[list[str]]
    ) -> None:
        assert self.post(client, sent).status_code == 302
        agent.refresh_from_db()
        assert agent.headers == kept

    @pytest.mark.parametrize(
        ("sent", "message"),
        [
            (headers(["X-Other-Key", DOTS]), "No stored value for X-Other-Key"),
            (headers(["X-Token", DOTS]), "No stored value for X-Token"),
            (headers(*DOTTED, *DOTTED), "No stored value for X-API-Key"),
            (headers(["X-Plain", DOTS]), "The value of X-Plain contains non-ASCII characters"),
            (headers(["X-API-Key", DOTS + "a"]), "contains non-ASCII characters"),
        ],
    )
    def test_dots_stand_for_nothing_else(
        self, client: Client, agent: Agent, sent: str, message: str
    ) -> None:
        response = self.post(client, sent)
        assert response.status_code == 422
        html = response.text
        assert message in read(html).text
        assert SECRET not in html

    def test_of_two_with_one_name_each_keeps_its_own(self, client: Client, agent: Agent) -> None:
        stored = [["X-Key", "first"], ["X-Key", "second"]]
        Agent.objects.update(headers=stored)
        self.post(client, headers(["X-Key", "changed"], ["X-Key", DOTS]))
        agent.refresh_from_db()
        assert agent.headers == [["X-Key", "changed"], ["X-Key", "second"]]
        # With one of them gone nobody can tell whose dots the others are.
        assert self.post(client, headers(["X-Key", DOTS])).status_code == 422

    def test_a_new_agent_has_none_to_keep(self, client: Client) -> None:
        response = client.post("/agents/", fields(headers=headers(*DOTTED)))
        assert response.status_code == 422
        assert "No stored value for X-API-Key" in read(response).text


class TestAnotherOrigin:
    """Secrets are given for an origin, and go to no other without being given again."""

    ELSEWHERE = "http://evil.example"

    @pytest.fixture
    def agent(self) -> Agent:
        return Agent.objects.create(
            name="Recipes", url="http://a.example/api", auth="bearer", auth_secret=SECRET,
            headers=[["X-API-Key", "header-canary"], ["X-Plain", "1"]],
        )  # fmt: skip

    @pytest.mark.parametrize(
        "url",
        [
            ELSEWHERE,
            "https://a.example/api",
            "http://a.example:8080/api",
            "http://b.a.example/api",
            "http://a.example.evil.example/api",
        ],
    )
    def test_wants_them_again(self, client: Client, agent: Agent, url: str) -> None:
        sent = fields(url=url, auth="bearer", headers=headers(*DOTTED))
        response = client.post("/agents/recipes/", sent)
        assert response.status_code == 422
        text = read(response).text
        origin = url.removesuffix("/api")
        assert (
            f"The stored secret was entered for http://a.example. Enter it again to allow {origin}."
        ) in text
        assert (
            "The stored value was entered for http://a.example. Enter the value of X-API-Key again"
            f" to allow {origin}."
        ) in text
        assert "is needed for this" not in text
        agent.refresh_from_db()
        assert agent.url == "http://a.example/api"

    def test_takes_what_is_typed(self, client: Client, agent: Agent) -> None:
        sent = fields(url=self.ELSEWHERE, auth="bearer", auth_secret="other")
        sent["headers"] = headers(["X-API-Key", "another"])
        assert client.post("/agents/recipes/", sent).status_code == 302
        agent.refresh_from_db()
        assert (agent.url, agent.auth_secret) == (self.ELSEWHERE, "other")
        assert agent.headers == [["X-API-Key", "another"]]

    def test_takes_an_agent_without_secrets(self, client: Client, agent: Agent) -> None:
        sent = fields(url=self.ELSEWHERE, headers=headers(["X-Plain", "1"]))
        assert client.post("/agents/recipes/", sent).status_code == 302
        agent.refresh_from_db()
        assert (agent.url, agent.auth_secret, agent.headers) == (
            self.ELSEWHERE, "", [["X-Plain", "1"]],
        )  # fmt: skip

    def test_headers_that_were_left_out_are_stored_ones_too(
        self, client: Client, agent: Agent
    ) -> None:
        sent = fields(url=self.ELSEWHERE)
        del sent["headers"]
        assert client.post("/agents/recipes/", sent).status_code == 422
        agent.refresh_from_db()
        assert agent.url == "http://a.example/api"
        sent["url"] = "http://a.example/elsewhere"
        assert client.post("/agents/recipes/", sent).status_code == 302
        agent.refresh_from_db()
        assert agent.headers == [["X-API-Key", "header-canary"], ["X-Plain", "1"]]

    @pytest.mark.parametrize(
        "url", ["http://a.example", "http://A.example:80/api/ask?x=1", "HTTP://a.example/b"]
    )
    def test_the_same_origin_wants_nothing(self, client: Client, agent: Agent, url: str) -> None:
        sent = fields(url=url, auth="bearer", headers=headers(*DOTTED))
        assert client.post("/agents/recipes/", sent).status_code == 302
        agent.refresh_from_db()
        assert (agent.url, agent.auth_secret) == (url, SECRET)
        assert agent.headers == [["X-API-Key", "header-canary"]]


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
