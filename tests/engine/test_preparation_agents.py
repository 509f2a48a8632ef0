"""Agents that are made from a URL: names, and no two agents for one URL."""

from __future__ import annotations

import pytest

from playground.engine import preparation
from playground.models import Agent, SavedRequest
from playground.protocols import registry

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
    assert agent.version in {each.name for each in registry.versions(agent.protocol)}


def test_none_stands_in_at_what_cannot_be_called() -> None:
    with pytest.raises(preparation.AgentUrlError, match="user name or password"):
        preparation.override_agent("http://a:b@a.example/", [], None)
