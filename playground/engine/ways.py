"""Which way a request goes: over which binding, to which address of its agent."""

from __future__ import annotations

from typing import Any

from playground.engine.launch import Draft, Headers
from playground.models import Agent, Run
from playground.protocols.addresses import address_over, same_origin


def address_of(agent: Agent, binding: str) -> str:
    """Where `agent` is over `binding`: see `playground.protocols.addresses`."""
    if binding == agent.binding:
        return str(agent.url)
    others = Agent.objects.filter(owner=agent.owner_id, protocol=agent.protocol)
    found = others.exclude(pk=agent.pk).values_list("binding", "url")
    return address_over(binding, agent.url, agent.binding, found)


def draft_over(
    agent: Agent,
    request: dict[str, Any],
    headers: Headers = (),
    *,
    version: str | None = None,
    binding: str | None = None,
) -> Draft:
    """A request to `agent` over `binding`, None for its own."""
    url = address_of(agent, binding) if binding and binding != agent.binding else None
    return Draft(agent, request, headers, version, binding, url=url)


def draft_like(
    run: Run, request: dict[str, Any], headers: Headers = (), *, agent: Agent | None = None
) -> Draft:
    """A request that goes the way that `run` went: its version, its binding, its address.

    Over the agent's own binding that is the address that the agent has now; so it is where the
    agent has moved to another origin, because what authenticates there belongs to that one.
    `agent` stands in for the run's. Raises `ValueError` for a run without one.
    """
    agent = agent or run.agent
    if agent is None:
        raise ValueError("The agent of this run was deleted.")
    if run.binding == agent.binding or not same_origin(run.url, agent.url):
        return draft_over(agent, request, headers, version=run.version, binding=run.binding)
    return Draft(agent, request, headers, run.version, run.binding, url=run.url)
