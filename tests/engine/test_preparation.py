"""From a composition to a draft: what is sent, what is kept, and what is refused."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from playground import engine
from playground.engine import Composition, PreparationResult, Scope
from playground.models import Agent, Environment, Run, Variable

pytestmark = pytest.mark.django_db

HERE = "https://agent.example"
SECRET = "canary-4711"


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(
        name="A", url=HERE, auth="bearer", auth_secret="own-secret", headers=[["X-Key", "k" * 8]]
    )


@pytest.fixture
def environment() -> Environment:
    made = Environment.objects.create(name="Staging")
    for fields in (
        {"name": "token", "kind": "secret", "secret": SECRET, "origins": [HERE]},
        {"name": "short", "kind": "secret", "secret": "abc", "origins": [HERE]},
        {"name": "lost", "kind": "secret", "origins": [HERE]},
        {"name": "city", "value": "Paris"},
        {"name": "base", "value": HERE},
        {"name": "list", "kind": "json", "value": "[1, 2]"},
    ):
        Variable.objects.create(environment=made, **fields)
    return made


def document(**fields: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs", **fields}}


def prepared(
    composition: Composition, environment: Environment | None, **values: Any
) -> PreparationResult:
    return engine.prepare(composition, Scope(environment, values))


def told(found: PreparationResult) -> str:
    return " ".join(problem.message for problem in found.errors)


def test_without_names_nothing_is_kept_beside_the_request(agent: Agent) -> None:
    found = prepared(Composition(document(), [("X-A", "1")], agent), None)
    assert found.prepared
    assert not found.errors
    run = engine.create_run(found.prepared)
    assert (run.template, run.environment, run.secrets) == (None, "", [])
    assert run.request == document()


def test_variables_are_resolved_and_secrets_stay_names(
    agent: Agent, environment: Environment
) -> None:
    composition = Composition(
        document(site="{{city}}", key="{{token}}", n="{{list}}"),
        [("X-Api-Key", "{{token}}"), ("Authorization", "Bearer literal")],
        agent,
    )
    found = prepared(composition, environment)
    assert not found.errors
    request = found.prepared
    assert request
    assert request.wire_document["query"] == {
        "text": "eggs",
        "site": "Paris",
        "key": SECRET,
        "n": [1, 2],
    }
    headers = dict(request.target.headers)
    assert headers["X-Api-Key"] == SECRET
    assert headers["Authorization"] == "Bearer literal"
    run = engine.create_run(request)
    run.refresh_from_db()
    assert run.request["query"]["key"] == "{{token}}"
    assert run.headers == [["X-Api-Key", "{{token}}"], ["Authorization", ""]]
    assert run.secrets == ["token"]
    assert run.environment == "staging"
    assert run.template == {
        "document": composition.request,
        "headers": [["X-Api-Key", "{{token}}"], ["Authorization", ""]],
        "address": "",
        "auth": {},
    }
    assert SECRET in request.redact
    assert SECRET not in repr(request) + repr(found) + repr(vars(run))


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        ({"type": "none"}, {}),
        ({"type": "bearer", "secret": "token"}, {"Authorization": f"Bearer {SECRET}"}),
        ({"type": "api_key", "header": "X-K", "secret": "token"}, {"X-K": SECRET}),
        (
            {"type": "basic", "user": "ada", "secret": "token"},
            {"Authorization": f"Basic {base64.b64encode(f'ada:{SECRET}'.encode()).decode()}"},
        ),
    ],
)
def test_a_request_of_its_own_authentication_leaves_that_of_the_agent(
    agent: Agent, environment: Environment, auth: dict[str, str], sent: dict[str, str]
) -> None:
    found = prepared(Composition(document(), agent=agent, auth=auth), environment)
    assert found.prepared
    assert not found.errors
    assert dict(found.prepared.target.headers) == sent
    shown = str(found.prepared.shown.headers)
    assert SECRET not in shown
    assert found.prepared.provenance.template
    assert found.prepared.provenance.template["auth"] == auth
    for value in sent.values():
        assert value.rpartition(" ")[2] in found.prepared.redact


def test_every_name_without_a_value_is_named(agent: Agent, environment: Environment) -> None:
    composition = Composition(
        document(a="{{nobody}} {{lost}}"), [("X-A", "{{other}}")], agent,
        auth={"type": "bearer", "secret": "city"},
    )  # fmt: skip
    found = prepared(composition, environment)
    assert found.unresolved == (
        ("/query/a", "nobody"), ("/query/a", "lost"), ("#headers", "other"), ("#auth", "city"),
    )  # fmt: skip
    for name in ("nobody", "lost", "other", "city"):
        assert f"“{name}”" in told(found)
    assert "Staging" in told(found)


def test_values_win_over_the_environment_and_a_secret_stays_one(
    agent: Agent, environment: Environment
) -> None:
    composition = Composition(document(site="{{city}}", key="{{token}}"), agent=agent)
    found = prepared(composition, environment, city="Oslo {{token}}", token="other-secret")
    assert found.prepared
    assert found.prepared.wire_document["query"]["site"] == "Oslo {{token}}"
    assert found.prepared.wire_document["query"]["key"] == "other-secret"
    assert found.prepared.request["query"]["key"] == "{{token}}"


@pytest.mark.parametrize(
    ("name", "address", "why"),
    [
        ("token", "https://evil.example", "may go to https://agent.example"),
        ("token", "http://agent.example", "goes to http://agent.example"),
        ("token", "https://agent.example:8443", "goes to https://agent.example:8443"),
        ("short", HERE, "fewer than 4 characters"),
    ],
)
def test_a_secret_goes_where_it_may_go(
    environment: Environment, name: str, address: str, why: str
) -> None:
    composition = Composition(document(key=f"{{{{{name}}}}}"), address=address)
    found = prepared(composition, environment)
    assert f"The secret “{name}”" in told(found)
    assert why in told(found)
    assert SECRET not in told(found)


def test_an_address_becomes_an_agent(agent: Agent, environment: Environment) -> None:
    found = prepared(Composition(document(), address="{{base}}"), environment)
    assert found.prepared
    assert found.prepared.agent == agent
    other = prepared(
        Composition(document(), address="{{base}}/x?k={{token}}"), environment
    ).prepared
    assert other
    assert other.agent.pk is None
    assert other.agent.name == "agent.example/x?k={{token}}"
    assert other.target.url == f"{HERE}/x?k={SECRET}"
    assert other.agent.url == other.url == f"{HERE}/x?k={{{{token}}}}"
    assert engine.create_run(other).url == other.url


@pytest.mark.parametrize("address", ["", "ftp://a.example", "{{nobody}}/ask", "{{token}}/ask"])
def test_no_address_no_request(environment: Environment, address: str) -> None:
    found = prepared(Composition(document(), address=address), environment)
    assert found.prepared is None
    assert found.errors


def equals(value: Any) -> list[dict[str, Any]]:
    return [{"type": "json", "path": "$.a", "equals": value}]


class TestExpectations:
    """What is expected may hold names: of the page, of `once more` and of a collection alike."""

    def test_have_the_values_of_their_names(self, agent: Agent, environment: Environment) -> None:
        wanted = equals("in {{city}}") + equals("{{list}}") + equals("{{row}}")
        found = prepared(
            Composition(document(), (), agent, expectations=wanted), environment, row=7
        )
        assert not found.errors
        assert found.prepared
        assert found.used == ("city", "list", "row")
        run = engine.create_run(found.prepared)
        assert [each["equals"] for each in run.expectations] == ["in Paris", [1, 2], 7]
        assert run.template is not None
        assert run.template["expectations"] == wanted

    def test_without_names_are_kept_as_they_are(self, agent: Agent) -> None:
        wanted = equals("{{$braces}}city}}")
        found = prepared(Composition(document(), (), agent, expectations=equals(1)), None)
        assert found.prepared
        assert engine.create_run(found.prepared).template is None
        found = prepared(Composition(document(), (), agent, expectations=wanted), None)
        assert found.prepared
        assert engine.create_run(found.prepared).expectations == equals("{{city}}")

    def test_with_names_that_have_no_value_are_refused(
        self, agent: Agent, environment: Environment
    ) -> None:
        wanted = [{"type": "json", "path": "$.a['{{nobody}}']", "exists": False}]
        found = prepared(Composition(document(), (), agent, expectations=wanted), environment)
        assert found.missing == ["nobody"]
        assert found.unresolved == (("#expectations", "nobody"),)
        assert "no value for “nobody” in the environment “Staging”" in told(found)

    def test_with_secrets_are_refused(self, agent: Agent, environment: Environment) -> None:
        wanted = equals("{{token}}")
        found = prepared(Composition(document(), (), agent, expectations=wanted), environment)
        assert told(found) == (
            "No secret can be a part of what is expected, because that is kept: “token”."
        )
        assert [problem.pointer for problem in found.errors] == ["#expectations"]
        assert found.prepared
        assert found.prepared.wire is None
        assert SECRET not in str(found.prepared.provenance)

    def test_that_grow_without_end_are_refused(self, agent: Agent) -> None:
        wanted = equals("{{big}}" * 5_000)
        composition = Composition(document(), (), agent, expectations=wanted)
        found = prepared(composition, None, big="x" * 1_000)
        assert found.prepared is None
        assert told(found)

    def test_once_more_are_resolved_anew(self, agent: Agent, environment: Environment) -> None:
        wanted = equals("{{city}}")
        found = prepared(Composition(document(), (), agent, expectations=wanted), environment)
        assert found.prepared
        run = engine.create_run(found.prepared)
        Variable.objects.filter(name="city").update(value="Oslo {{city}}")
        for _ in range(2):
            again = engine.repeated(run)
            assert again.prepared
            assert not again.errors
            run = engine.create_run(again.prepared)
            assert run.expectations == equals("Oslo {{city}}")
        Variable.objects.filter(name="city").delete()
        assert "“city”" in told(engine.repeated(run))

    def test_once_more_without_names_stay(self, agent: Agent) -> None:
        found = prepared(Composition(document(), (), agent, expectations=equals(1)), None)
        assert found.prepared
        again = engine.repeated(engine.create_run(found.prepared)).prepared
        assert again
        assert engine.create_run(again).expectations == equals(1)


class TestWhatFollows:
    @pytest.fixture
    def run(self, agent: Agent, environment: Environment) -> Run:
        composition = Composition(
            document(key="{{token}}", site="{{city}}"), [("X-Api-Key", "{{token}}")], agent,
            auth={"type": "basic", "user": "ada", "secret": "token"},
        )  # fmt: skip
        request = prepared(composition, environment).prepared
        assert request
        return engine.create_run(request)

    def test_it_authenticates_alike_with_the_secrets_of_the_run_only(
        self, run: Run, environment: Environment
    ) -> None:
        Variable.objects.create(
            environment=environment, name="more", kind="secret", secret="more-secret",
            origins=[HERE],
        )  # fmt: skip
        said = {**run.request, "context": {"of": "the agent: {{more}} {{city}}"}}
        request = engine.follow_up_request(run, said, engine.kept_headers(run))
        assert request.wire_document["query"]["key"] == SECRET
        assert request.wire_document["context"] == said["context"]
        assert dict(request.target.headers)["X-Api-Key"] == SECRET
        assert dict(request.target.headers)["Authorization"].startswith("Basic ")
        again = engine.create_run(request)
        assert again.request == said
        assert again.secrets == ["token"]
        assert again.template == {"auth": run.template["auth"]}  # type: ignore[index]

    def test_a_secret_that_is_gone_or_may_not_go_there_any_more_stays(self, run: Run) -> None:
        Variable.objects.filter(name="token").update(origins=["https://other.example"])
        with pytest.raises(engine.WithheldError, match="may go to https://other"):
            engine.follow_up_request(run, run.request)
        Variable.objects.filter(name="token").delete()
        with pytest.raises(engine.WithheldError, match="no secret “token” any more"):
            engine.follow_up_request(run, run.request)

    def test_once_more_resolves_anew(self, run: Run) -> None:
        Variable.objects.filter(name="city").update(value="Oslo")
        again = engine.repeated(run)
        assert again.prepared
        assert not again.errors
        assert again.prepared.wire_document["query"] == {
            "text": "eggs",
            "key": SECRET,
            "site": "Oslo",
        }

    def test_another_document_needs_its_own_way_in(self, run: Run) -> None:
        request = engine.follow_up_request(run, run.request)
        with pytest.raises(ValueError, match="carrying"):
            replace(request, request={})
        other = request.carrying({"query": {"text": "{{token}}"}})
        assert other.wire_document == {"query": {"text": SECRET}}
        assert other.request == {"query": {"text": "{{token}}"}}
