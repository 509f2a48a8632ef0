"""Environments: a table of variables whose secrets are never on a page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from playground.models import Agent, Environment, Run, Variable
from tests.support.markup import one_line
from tests.views.conftest import form

pytestmark = pytest.mark.database

SECRET = "canary-4711"


@pytest.fixture
def environment() -> Environment:
    made = Environment.objects.create(name="Staging")
    Variable.objects.create(environment=made, name="city", value="Paris")
    Variable.objects.create(
        environment=made,
        name="token",
        kind="secret",
        secret=SECRET,
        allowed_origins=["https://a.example"],
    )
    return made


def table(*rows: dict[str, str], stored: int = 0) -> dict[str, str]:
    """The fields of a table of variables, of which the first `stored` exist."""
    fields = {
        "variables-TOTAL_FORMS": str(len(rows)),
        "variables-INITIAL_FORMS": str(stored),
    }
    for number, row in enumerate(rows):
        whole = {"name": "", "kind": "text", "value": "", "allowed_origins": "", **row}
        fields |= {f"variables-{number}-{name}": value for name, value in whole.items()}
    return fields


def stored_rows() -> list[dict[str, str]]:
    return [
        {"id": str(row.pk), "name": row.name, "kind": row.kind, "value": row.value,
         "allowed_origins": " ".join(row.allowed_origins)}
        for row in Variable.objects.order_by("name")
    ]  # fmt: skip


def save(client: Client, *rows: dict[str, str], stored: int = 0) -> Any:
    return client.post("/environments/staging/", table(*rows, stored=stored))


def test_one_is_made_and_becomes_the_active_one(client: Client) -> None:
    assert "and one for the deployed agent" in client.get("/environments/").text
    made = client.post("/environments/", {"name": "  Local "})
    assert made.headers["Location"] == "/environments/local/"
    assert '<option value="local" selected>Local</option>' in client.get("/").text
    again = client.post("/environments/", {"name": "LOCAL"})
    assert again.status_code == 422
    assert "already" in again.text


def test_no_secret_is_in_any_page(client: Client, environment: Environment) -> None:
    for path in ("/environments/", "/environments/staging/", "/"):
        assert SECRET not in client.get(path).text
    page = client.get("/environments/staging/").text
    assert "Paris" in page
    assert "https://a.example" in page


def test_a_secret_is_shown_on_request_and_kept_nowhere(
    client: Client, environment: Environment, settings: Any
) -> None:
    path = "/environments/staging/secrets/token/"
    assert client.get(path).status_code == 405
    answer = client.post(path)
    assert answer.json() == {"value": SECRET}
    assert "no-store" in answer.headers["Cache-Control"]
    assert client.post("/environments/staging/secrets/city/").status_code == 404


def test_a_field_that_is_left_empty_keeps_the_secret(
    client: Client, environment: Environment
) -> None:
    rows = stored_rows()
    assert save(client, *rows, stored=2).status_code == 302
    assert Variable.objects.get(name="token").secret == SECRET
    rows[1]["value"] = "another-one"
    save(client, *rows, stored=2)
    assert Variable.objects.get(name="token").secret == "another-one"
    rows[1] |= {"kind": "text", "value": "plain"}
    save(client, *rows, stored=2)
    row = Variable.objects.get(name="token")
    assert (row.value, row.secret, row.allowed_origins) == ("plain", "", [])


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({"name": "a b", "value": "1"}, "Use at most 80 letters"),
        ({"name": "$uuid", "value": "1"}, "Use at most 80 letters"),
        ({"name": "j", "kind": "json", "value": "{"}, "Not valid JSON"),
        (
            {"name": "s", "kind": "secret", "allowed_origins": "https://a.example"},
            "No value is stored",
        ),
        (
            {"name": "s", "kind": "secret", "value": "abc", "allowed_origins": "a.example"},
            "4 characters",
        ),
        ({"name": "s", "kind": "secret", "value": "canary-new"}, "Enter an allowed origin"),
        (
            {"name": "s", "kind": "secret", "value": "canary-new", "allowed_origins": "ftp://a"},
            "http",
        ),
    ],
)
def test_what_cannot_be_kept(
    client: Client, environment: Environment, row: dict[str, str], error: str
) -> None:
    answer = save(client, row)
    assert answer.status_code == 422
    page = answer.text
    assert error in page
    assert "canary-new" not in page
    assert Variable.objects.count() == 2


def test_names_stand_there_once_and_can_change_places(
    client: Client, environment: Environment
) -> None:
    twice = save(client, {"name": "x", "value": "1"}, {"name": "x", "value": "2"})
    assert "twice" in twice.text
    rows = stored_rows()
    rows[0]["name"], rows[1]["name"] = rows[1]["name"], rows[0]["name"]
    assert save(client, *rows, stored=2).status_code == 302
    assert Variable.objects.get(name="city").secret == SECRET
    rows = stored_rows()
    rows[0]["DELETE"] = "on"
    assert save(client, *rows, {"name": "city", "value": "Oslo"}, stored=2).status_code == 302
    assert Variable.objects.get(name="city").value == "Oslo"


def test_origins_are_written_one_way(client: Client, environment: Environment) -> None:
    where = "https://A.example/ask, b.example:8443 https://a.example"
    save(client, {"name": "s", "kind": "secret", "value": "canary-new", "allowed_origins": where})
    assert Variable.objects.get(name="s").allowed_origins == [
        "https://a.example",
        "https://b.example:8443",
    ]


def test_a_copy_has_no_secrets(client: Client, environment: Environment) -> None:
    answer = client.post("/environments/staging/copy/", follow=True)
    assert "Enter the value of 1 secret again" in answer.text
    copy = Environment.objects.get(slug="staging-copy")
    assert [(row.name, row.value, row.secret) for row in copy.variables.all()] == [
        ("city", "Paris", ""),
        ("token", "", ""),
    ]


def test_a_new_name_keeps_the_slug_and_a_deleted_one_is_gone(
    client: Client, environment: Environment
) -> None:
    client.post("/environments/staging/name/", {"name": "Production"})
    assert Environment.objects.get(slug="staging").name == "Production"
    assert client.post("/environments/active/", {"environment": "staging"}).status_code == 204
    client.post("/environments/staging/deletion/")
    assert not Variable.objects.exists()
    assert "selected>Production" not in client.get("/").text
    assert client.post("/environments/active/", {"environment": "staging"}).status_code == 404


@pytest.mark.usefixtures("environment")
class TestComposing:
    @pytest.fixture(autouse=True)
    def agent(self) -> Agent:
        return Agent.objects.create(name="Recipes", url="https://a.example")

    def fields(self, text: str, **more: str) -> dict[str, str]:
        return form({"query": {"text": text}}, environment="staging", **more)

    def test_a_look_at_what_would_be_sent(self, client: Client) -> None:
        fields = self.fields("{{city}} {{token}} {{nobody}} {{$uuid}}")
        page = one_line(client.post("/compose/preview/", fields))
        assert "Paris" in page
        assert "placed--secret" in page
        assert 'placed--missing" title="Not defined"' in page
        assert "$uuid generated at Send" in page
        assert SECRET not in page

    def test_names_without_a_value_are_not_sent(self, client: Client, started: list[Any]) -> None:
        refused = client.post("/runs/", self.fields("{{nobody}} {{else}}"))
        assert refused.status_code == 422
        assert "{{else}} is not defined" in refused.text
        assert not started
        assert not Run.objects.exists()

    def test_a_url_is_sent_to_without_an_agent(self, client: Client, started: list[Any]) -> None:
        fields = self.fields("{{city}}") | {"agent": "", "address": "https://b.example/x"}
        client.post("/runs/", fields)
        ((run, target),) = started
        assert not Agent.objects.filter(url="https://b.example/x").exists()
        assert (run.sent_to_url, run.agent_name) == (True, "b.example/x")
        assert target.url == "https://b.example/x"
        assert (run.environment, run.request["query"]["text"]) == ("staging", "Paris")


class TestAMissingVariable:
    URL = "/environments/new/variable/"

    def test_the_form_knows_name_environment_and_origin(
        self, client: Client, environment: Environment
    ) -> None:
        query = {"name": "user", "environment": "staging", "url": "https://b.example/ask"}
        html = client.get(self.URL, query).text
        assert 'value="user"' in html
        assert '<option value="staging" selected>' in html
        assert 'value="https://b.example"' in html
        assert SECRET not in html

    def test_it_is_created_in_the_environment_that_is_chosen(
        self, client: Client, environment: Environment
    ) -> None:
        fields = {"environment": "staging", "name": "user", "value": " Ada "}
        answer = client.post(self.URL, fields)
        assert answer.status_code == 204
        event = json.loads(answer["HX-Trigger"])["environment:change"]
        assert event == {"slug": "staging", "name": "Staging", "variable": "user"}
        assert environment.variables.get(name="user").content == " Ada "
        again = client.post(self.URL, fields)
        assert again.status_code == 422
        assert "Staging already has this variable." in again.text

    def test_a_new_environment_is_created_for_it_and_becomes_the_active_one(
        self, client: Client
    ) -> None:
        fields = {
            "environment_name": "Local", "name": "key", "value": SECRET, "secret": "on",
            "allowed_origins": "a.example",
        }  # fmt: skip
        assert client.post(self.URL, fields).status_code == 204
        created = Variable.objects.get()
        assert (created.environment.name, created.secret, created.value) == ("Local", SECRET, "")
        assert created.allowed_origins == ["https://a.example"]
        assert '<option value="local" selected>' in client.get("/").text

    @pytest.mark.parametrize(
        ("fields", "error"),
        [
            ({"name": "a b"}, "Use at most 80 letters"),
            ({"name": ""}, "required"),
            ({"secret": "on", "value": "canary-new"}, "Enter an allowed origin"),
            ({"secret": "on", "allowed_origins": "a.example", "value": ""}, "Enter the secret"),
            ({"environment_name": ""}, "required"),
            ({"environment_name": "Staging"}, "already exists"),
            ({"environment": "nowhere"}, "was deleted"),
        ],
    )
    def test_a_mistake_is_shown_and_nothing_is_created(
        self, client: Client, environment: Environment, fields: dict[str, str], error: str
    ) -> None:
        answer = client.post(self.URL, {"environment_name": "New", "name": "x", **fields})
        assert answer.status_code == 422
        page = answer.text
        assert error in page
        assert 'aria-invalid="true"' in page
        assert "canary-new" not in page
        assert (Environment.objects.count(), Variable.objects.count()) == (1, 2)


def test_the_values_of_an_environment_are_shown_and_its_secrets_are_masked(
    client: Client, environment: Environment
) -> None:
    path = "/environments/active/values/"
    html = client.get(path, {"environment": "staging"}).text
    assert "Paris" in html
    assert "••••••" in html
    assert SECRET not in html
    assert 'href="/environments/staging/"' in html
    assert "No environment is selected" in client.get(path).text
    assert client.get(path, {"environment": "nowhere"}).status_code == 404


def test_the_page_itself_keeps_typed_secrets_over_a_mistake(
    client: Client, environment: Environment
) -> None:
    fields = table({"name": "a b", "kind": "secret", "value": "canary-new"})
    for headers, words in (({"HX-Request": "true"}, False), ({}, True)):
        page = client.post("/environments/staging/", fields, headers=headers).text
        assert ("re-enter secrets" in page) is words
        assert "canary-new" not in page
    saved = client.post("/environments/staging/", table(), headers={"HX-Request": "true"})
    assert saved["HX-Redirect"] == "/environments/staging/"
