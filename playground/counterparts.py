"""The other side of a twin: the same request over the other binding, in another version, or to
another agent. For pages and commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from playground.engine import Draft, draft_over
from playground.engine.ways import bindings_of as bindings_of
from playground.engine.ways import rerouted
from playground.library.credentials import is_placeholder
from playground.models import Agent
from playground.protocols import registry
from playground.protocols.origins import same_origin
from playground.transport.redaction import is_credential


@dataclass(frozen=True, slots=True)
class Counterpart:
    """One other side that a request can be sent to as well."""

    #: What a form sends for it: `binding:mcp`, `version:0.54`, `agent:demo`.
    value: str
    label: str
    draft: Draft


def counterparts_of(draft: Draft, agents: Sequence[Agent]) -> list[Counterpart]:
    """What `draft` can be compared with; `agents` are those of its user."""
    return [*_bindings(draft), *_versions(draft), *_agents(draft, agents)]


def as_version(request: Mapping[str, Any], before: str, after: str) -> dict[str, Any]:
    """A document of one version as one of another: where it names its version, the other's."""
    meta = request.get("meta")
    if before == after or not isinstance(meta, Mapping):
        return dict(request)
    names = {name for name in ("version", "api_version") if meta.get(name) == before}
    return {**request, "meta": {**meta, **dict.fromkeys(names, after)}}


def to_agent(draft: Draft, agent: Agent) -> Draft:
    """The same request to another agent, over that one's binding.

    Headers that carry credentials were given for the agent that they were typed for, so they
    go to no other origin; secrets know themselves where they may go.
    """
    here = same_origin(draft.target.url, agent.url)
    headers = [
        (name, value)
        for name, value in draft.headers
        if here or not is_credential(name) or is_placeholder(value)
    ]
    return rerouted(draft, Draft(agent, draft.request, headers, draft.target.version))


def _bindings(draft: Draft) -> list[Counterpart]:
    agent, target = draft.agent, draft.target
    return [
        Counterpart(
            f"binding:{name}",
            f"Over {Agent.Binding(name).label}",
            rerouted(
                draft,
                draft_over(
                    agent, draft.request, draft.headers, version=target.version, binding=name
                ),
            ),
        )
        for name in bindings_of(agent)
        if name != target.binding
    ]


def _versions(draft: Draft) -> list[Counterpart]:
    now = draft.target.version
    return [
        Counterpart(
            f"version:{version.name}",
            f"As {version.label}",
            replace(
                draft.revised(partial(as_version, before=now, after=version.name)),
                version=version.name,
            ),
        )
        for version in registry.versions(draft.agent.protocol)
        if version.name != now
    ]


def _agents(draft: Draft, agents: Sequence[Agent]) -> list[Counterpart]:
    return [
        Counterpart(f"agent:{agent.slug}", f"To {agent.name}", to_agent(draft, agent))
        for agent in agents
        if agent.pk != draft.agent.pk and agent.protocol == draft.agent.protocol
    ]
