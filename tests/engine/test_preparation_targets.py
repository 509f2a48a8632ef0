"""Targets of requests: agents made from a URL, no two for one URL, and bindings."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine import preparation
from playground.engine.preparation import retarget
from playground.engine.request import agent_url_over, request_to
from playground.models import Agent, Environment, SavedRequest, Variable
from playground.protocols import registry
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording

pytestmark = [pytest.mark.django_db, pytest.mark.database]

HERE = "http://a.example:8000"


def saved_agent(url: str, **fields: str) -> Agent:
    agent = preparation.agent_for_url(url, fields.pop("protocol", "nlweb"), None)
    for name, value in fields.items():
        setattr(agent, name, value)
    agent.name = preparation.free_name(agent)
    agent.save()
    return agent


def test_several_of_one_host_are_told_apart() -> None:
    found = [saved_agent(url) for url in (HERE, f"{HERE}/soups/ask", "http://a.example/soups/ask")]
    assert [(agent.name, agent.slug) for agent in found] == [
        ("a.example:8000", "a-example-8000"),
        ("a.example:8000/soups/ask", "a-example-8000-soups-ask"),
        ("a.example/soups/ask", "a-example-soups-ask"),
    ]


def test_what_is_at_the_same_address_says_what_it_speaks() -> None:
    found = [
        saved_agent(HERE),
        saved_agent(HERE, binding="mcp"),
        saved_agent(HERE, protocol="agent-api"),
    ]
    found.append(saved_agent("https://a.example:8000"))
    assert [agent.name for agent in found] == [
        "a.example:8000", "a.example:8000 · MCP", "a.example:8000 · Agent API",
        "a.example:8000 · NLWeb",
    ]  # fmt: skip
    assert len({agent.slug for agent in found}) == 4
    Agent.objects.create(name="b.example", url="http://other.example")
    Agent.objects.create(name="b.example · NLWeb", url="http://other.example")
    assert saved_agent("http://b.example").name == "b.example 2"


@pytest.mark.parametrize("again", [HERE, f"{HERE}/", "HTTP://A.Example:8000/#top"])
def test_the_same_address_is_the_same_agent(again: str) -> None:
    first = saved_agent(HERE)
    second = preparation.agent_for_url(again, "nlweb", None)
    assert preparation.matching_agent(second) == first


def test_of_two_the_one_that_is_written_like_it() -> None:
    Agent.objects.create(name="One", url=f"{HERE}/")
    two = Agent.objects.create(name="Two", url=HERE)
    assert preparation.matching_agent(preparation.agent_for_url(HERE, "nlweb", None)) == two


def test_no_credential_is_part_of_a_name() -> None:
    agent = saved_agent(f"{HERE}/ask?site=b&api_key=canary-77")
    assert agent.name == "a.example:8000/ask?site=b&api_key="


def test_a_very_long_address() -> None:
    first, second = (saved_agent(f"{HERE}/{'x' * 200}/{end}") for end in "ab")
    assert first.name != second.name
    assert max(len(first.name), len(second.name)) == 80
    third = saved_agent(f"{HERE}/{'x' * 201}/a")
    assert third.name.endswith(" · NLWeb")
    assert len(third.name) == 80


def saved_request(protocol: str, binding: str) -> SavedRequest:
    return SavedRequest(protocol=protocol, binding=binding)


@pytest.mark.parametrize(
    ("requests", "found"),
    [
        ([("agent-api", "http")], ("agent-api", "http")),
        ([("nlweb", "mcp"), ("nlweb", "mcp")], ("nlweb", "mcp")),
        ([("nlweb", "mcp"), ("nlweb", "http")], ("nlweb", "http")),
        ([("nlweb", "http"), ("agent-api", "http")], ("nlweb", "http")),
        ([], ("nlweb", "http")),
    ],
    ids=range(5),
)
def test_one_that_stands_in_speaks_what_all_of_the_requests_do(
    requests: list[tuple[str, str]], found: tuple[str, str]
) -> None:
    agent = preparation.override_agent(HERE, [saved_request(*each) for each in requests], None)
    assert (agent.protocol, agent.binding, agent.url) == (*found, HERE)
    assert agent.version in {each.name for each in registry.of(agent.protocol).versions}


def test_none_stands_in_at_what_cannot_be_called() -> None:
    with pytest.raises(preparation.AgentUrlError, match="user name or password"):
        preparation.override_agent("http://a:b@a.example/", [], None)


# Bindings and URLs of a request


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
