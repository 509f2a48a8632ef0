"""Agents as the command line names them: by slug, or by address."""

from __future__ import annotations

from playground.engine import preparation
from playground.models import Agent
from playground.transport import check_url


def find_agent(name: str) -> Agent:
    """The saved agent with this slug, or an unsaved one for a URL.

    Raises `LookupError` with a sentence for a URL that cannot be called, and for a slug that
    no agent has.
    """
    if "://" in name:
        if refusal := check_url(name):
            raise LookupError(refusal)
        return preparation.agent_for(name, Agent.Protocol.NLWEB, None)
    agent: Agent | None = Agent.objects.filter(owner=None, slug=name).first()
    if agent is None:
        known = ", ".join(Agent.objects.filter(owner=None).values_list("slug", flat=True))
        raise LookupError(f"No agent “{name}”. Saved agents: {known or 'none'}")
    return agent
