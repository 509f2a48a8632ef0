"""Agents that are made of an address: somebody typed where to send, and not to whom."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count
from urllib.parse import urlsplit

from django.db import transaction

from playground.engine.request import PreparedRequest, request_to
from playground.library.credentials import clean_address
from playground.models import Agent, SavedRequest
from playground.protocols import registry
from playground.protocols.addresses import name_of, normal
from playground.transport import check_url

_MOST = Agent._meta.get_field("name").max_length or 0


class AddressError(ValueError):
    """An address that cannot be called; says why, as a sentence."""


def agent_for(url: str, protocol: str, owner_id: int | None) -> Agent:
    """A new agent at an address, over HTTP, named after where it is. Not saved."""
    protocol = protocol if protocol in registry.PROTOCOLS else str(Agent.Protocol.NLWEB)
    return Agent(
        owner_id=owner_id,
        name=name_of(clean_address(url), _MOST),
        url=url,
        protocol=protocol,
        version=registry.versions(protocol)[-1].name,
    )


def stand_in(url: str, requests: Iterable[SavedRequest], owner_id: int | None) -> Agent:
    """An agent at an address that stands in for the agents of `requests`. Not saved.

    An address says nothing of what is spoken there: what all of the requests speak, and over
    the binding that all of them have, if there is one. Raises `AddressError`.
    """
    if refusal := check_url(url):
        raise AddressError(refusal)
    spoken = {(each.protocol, each.binding) for each in requests}
    protocols = {protocol for protocol, _ in spoken}
    bindings = {binding for _, binding in spoken}
    agent = agent_for(url, protocols.pop() if len(protocols) == 1 else "", owner_id)
    if len(bindings) == 1:
        agent.binding = bindings.pop()
    return agent


def known_as(agent: Agent) -> Agent | None:
    """The owner's agent that is at the same address already, and speaks the same, if any.

    Of several the one whose address is written in the same way.
    """
    host = urlsplit(agent.url).hostname or ""
    found = Agent.objects.filter(
        owner=agent.owner_id, protocol=agent.protocol, binding=agent.binding, url__icontains=host
    )
    same = [each for each in found if normal(each.url) == normal(agent.url)]
    return min(same, key=lambda each: each.url != agent.url, default=None)


def with_kept_agent(prepared: PreparedRequest) -> PreparedRequest:
    """The same request, its agent saved where it was made of an address: see `keep`."""
    agent = prepared.agent
    if agent.pk is not None:
        return prepared
    keep(agent)
    # It may be another one now, with headers of its own.
    return request_to(
        agent,
        prepared.request,
        prepared.headers,
        version=prepared.target.version,
        binding=prepared.target.binding,
        auth=prepared.auth,
        wire=prepared.wire,
        provenance=prepared.provenance,
    ).resuming(prepared.target.resume)


def keep(agent: Agent) -> None:
    """Save an agent that was made of an address, under a name that no other has.

    Where another request has brought one for the same address meanwhile, it becomes that one.
    """
    with transaction.atomic():
        if found := known_as(agent):
            agent.pk = found.pk
            agent.refresh_from_db()
            return
        agent.name = _free_name(agent)
        agent.save()


def _free_name(agent: Agent) -> str:
    """Its name; with what it speaks, or a number, where another agent is called like that."""
    taken = set(Agent.objects.filter(owner=agent.owner_id).values_list("name", flat=True))
    if agent.name not in taken:
        return agent.name
    over_mcp = agent.binding == Agent.Binding.MCP
    spoken = agent.get_binding_display() if over_mcp else agent.get_protocol_display()
    ends = chain((f" · {spoken}",), (f" {number}" for number in count(2)))
    names = (agent.name[: _MOST - len(end)] + end for end in ends)
    return next(name for name in names if name not in taken)
