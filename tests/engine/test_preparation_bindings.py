"""Bindings and URLs of a request."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine import preparation
from playground.engine.preparation import retarget
from playground.engine.request import agent_url_over, request_to
from playground.models import Agent, Environment, Variable
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording

pytestmark = pytest.mark.django_db

DOCUMENT: dict[str, Any] = {"query": {"text": "eggs"}}


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(name="Recipes", url="http://a.example/ask")


def run_of(agent: Agent | None, **fields: Any) -> Any:
    recording = Recording(agent=agent, agent_name="Recipes", **fields)
    recording.add(CALL, OPEN, HEAD, END)
    return recording.end()


def test_the_agents_own_binding_has_its_own_address(agent: Agent) -> None:
    for binding in (None, "http"):
        target = request_to(agent, DOCUMENT, binding=binding).target
        assert (target.binding, target.url) == ("http", "http://a.example/ask")


def test_the_other_binding_has_an_address_at_the_same_origin(agent: Agent) -> None:
    target = request_to(agent, DOCUMENT, version="0.54", binding="mcp").target
    assert (target.binding, target.url, target.version) == ("mcp", "http://a.example/mcp", "0.54")
    Agent.objects.create(name="Elsewhere", url="http://b.example/tools", binding="mcp")
    Agent.objects.create(
        name="Another language", url="http://a.example/other", binding="mcp", protocol="agent-api"
    )
    assert agent_url_over(agent, "mcp") == "http://a.example/mcp"
    tools = Agent.objects.create(name="Tools", url="http://a.example/tools", binding="mcp")
    assert agent_url_over(agent, "mcp") == "http://a.example/tools"
    assert agent_url_over(tools, "http") == "http://a.example/ask"


def test_an_agent_of_somebody_else_is_not_looked_at(agent: Agent, django_user_model: Any) -> None:
    other = django_user_model.objects.create_user("other")
    Agent.objects.create(name="T", url="http://a.example/tools", binding="mcp", owner=other)
    assert agent_url_over(agent, "mcp") == "http://a.example/mcp"


def test_the_agents_credentials_go_along(agent: Agent) -> None:
    agent.auth, agent.auth_secret = Agent.Auth.BEARER, "s3cret"
    prepared = request_to(agent, DOCUMENT, binding="mcp")
    assert ("Authorization", "Bearer s3cret") in prepared.target.headers
    assert "s3cret" in prepared.redact


@pytest.mark.parametrize(
    ("binding", "url", "expected"),
    [
        ("mcp", "http://a.example/tools", "http://a.example/tools"),
        # Over its own binding it goes where the agent is now.
        ("http", "http://a.example/before", "http://a.example/ask"),
        # The agent has moved: nothing of it goes to where it was.
        ("mcp", "http://b.example/tools", "http://a.example/mcp"),
        ("http", "http://b.example/ask", "http://a.example/ask"),
    ],
)
def test_what_follows_a_run_goes_its_way(
    agent: Agent, binding: str, url: str, expected: str
) -> None:
    run = run_of(agent, url=url, version="0.54")
    run.binding = binding
    target = preparation.follow_up_request(run, DOCUMENT, [("X-A", "1")]).target
    assert (target.binding, target.url, target.version) == (binding, expected, "0.54")
    assert ("X-A", "1") in target.headers


def test_an_agent_may_stand_in_for_the_runs(agent: Agent) -> None:
    run = run_of(None)
    with pytest.raises(ValueError, match="was deleted"):
        preparation.follow_up_request(run, DOCUMENT)
    assert preparation.follow_up_request(run, DOCUMENT, agent=agent).agent == agent


@pytest.mark.parametrize(
    ("url", "along", "own", "refused"),
    [
        ("http://a.example/other", 2, {"X-Key": "canary-4711", "X-A": "1"}, False),
        ("http://a.example/other", 1, {"X-Key": "canary-4711"}, False),
        ("http://a.example/other", 0, {}, False),
        ("http://b.example/ask", 2, {"X-Key": "canary-4711", "X-A": "1"}, True),
    ],
)
def test_a_request_to_another_agent_takes_its_secrets_and_chosen_headers_along(
    agent: Agent, url: str, along: int, own: dict[str, str], refused: bool
) -> None:
    environment = Environment.objects.create(name="Staging")
    Variable.objects.create(
        environment=environment, name="token", kind="secret", secret="canary-4711",
        allowed_origins=["http://a.example"],
    )  # fmt: skip
    headers = [("X-Key", "{{token}}"), ("X-A", "1")]
    document = {"query": {"text": "{{token}}"}}
    prepared = preparation.prepare(
        preparation.RequestTemplate(document, headers, agent, version="0.54"),
        preparation.VariableScope(environment),
    )
    other = Agent.objects.create(name="Other", url=url, headers=[["X-Own", "2"]])
    found = retarget(prepared, other, headers[:along])
    assert dict(found.target.headers) == {"X-Own": "2", **own}
    assert (found.url, found.target.url, found.target.version) == (url, url, "0.54")
    assert list(found.headers) == headers[:along]
    assert found.request == document
    assert found.document == {"query": {"text": "canary-4711"}}
    assert found.columns == prepared.columns
    assert bool(found.refusals()) is refused
