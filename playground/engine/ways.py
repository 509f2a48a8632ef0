"""Which way a request goes: over which binding, to which address of its agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from playground.engine.request import (
    Headers,
    PreparedRequest,
    Provenance,
    Secret,
    WireValues,
    WithheldError,
    authorising,
    filled,
    request_to,
)
from playground.models import Agent, Run, Variable
from playground.protocols import registry
from playground.protocols.addresses import address_over, same_origin
from playground.protocols.headers import is_credential
from playground.protocols.http import merged
from playground.variables import names_in


def bindings_of(agent: Agent) -> list[str]:
    """Over which bindings a request to `agent` can go: MCP carries NLWeb only."""
    if agent.protocol == Agent.Protocol.NLWEB:
        return [str(name) for name in Agent.Binding.values if name in registry.BINDINGS]
    return [agent.binding]


def address_of(agent: Agent, binding: str) -> str:
    """Where `agent` is over `binding`: see `playground.protocols.addresses`."""
    if binding == agent.binding:
        return str(agent.url)
    others = Agent.objects.filter(owner=agent.owner_id, protocol=agent.protocol)
    found = others.exclude(pk=agent.pk).values_list("binding", "url")
    return address_over(binding, agent.url, agent.binding, found)


def request_over_binding(
    agent: Agent,
    request: dict[str, Any],
    headers: Headers = (),
    *,
    version: str | None = None,
    binding: str | None = None,
) -> PreparedRequest:
    """A request to `agent` over `binding`, None for its own."""
    url = address_of(agent, binding) if binding else None
    return request_to(agent, request, headers, version=version, binding=binding, url=url)


def follow_up_request(
    run: Run, request: dict[str, Any], headers: Headers = (), *, agent: Agent | None = None
) -> PreparedRequest:
    """A request that goes the way that `run` went: its version, its binding, its address.

    Over the agent's own binding that is the address that the agent has now; so it is where the
    agent has moved to another origin, because what authenticates there belongs to that one.
    `agent` stands in for the run's.

    It authenticates as the run did, and the secrets that went with the run go with it where it
    has their placeholders: no other, whatever names stand in what the agent said. Raises
    `ValueError` for a run without an agent, and `WithheldError`, which is one, for a secret that
    is gone or may not go there.
    """
    agent = agent or run.agent
    if agent is None:
        raise ValueError("The agent of this run was deleted.")
    url = _address_after(run, agent)
    wire, provenance = with_secrets_of(run, request, headers, url)
    prepared = request_to(
        agent,
        request,
        headers,
        version=run.version,
        binding=run.binding,
        url=url,
        auth=_auth_of(run),
        wire=wire,
        provenance=provenance,
    )
    if wire and (refusals := prepared.refusals()):
        raise WithheldError(" ".join(refusals))
    return prepared


def _address_after(run: Run, agent: Agent) -> str:
    """Where a request to `agent` goes that follows on `run`."""
    if names_in(agent.url):
        return run.url  # What the names in it stood for, the run knows.
    if run.binding == agent.binding or not same_origin(run.url, agent.url):
        return address_of(agent, run.binding or agent.binding)
    return run.url


def kept_headers(run: Run) -> list[tuple[str, str]]:
    """A run's own headers as far as they are kept: empty ones would replace the agent's."""
    return [(name, value) for name, value in run.headers if value or not is_credential(name)]


def retarget(
    prepared: PreparedRequest, agent: Agent, headers: Headers, *, binding: str | None = None
) -> PreparedRequest:
    """The same request to `agent` over `binding`, None for its own, in the same version.

    `headers` are those of its headers that go along.
    """
    url = address_of(agent, binding or agent.binding)
    wire = prepared.wire
    if wire is not None:
        dropped = {name.lower() for name, _ in prepared.headers}
        dropped -= {name.lower() for name, _ in headers}
        kept = [pair for pair in wire.headers if pair[0].lower() not in dropped]
        wire = replace(wire.at(url), headers=kept)
    return request_to(
        agent,
        prepared.request,
        headers,
        version=prepared.target.version,
        binding=binding,
        url=url,
        auth=prepared.auth,
        wire=wire,
        provenance=prepared.provenance,
    )


def with_secrets_of(
    run: Run, request: dict[str, Any], headers: Headers, url: str
) -> tuple[WireValues | None, Provenance]:
    """The secrets and the authentication of `run`, put into a request that follows on it."""
    auth = _auth_of(run)
    if not run.secrets and not auth:
        return None, Provenance()
    secrets = secrets_of(run.environment, run.secrets, run.owner_id)
    values = {each.name: each.value for each in secrets}
    own, disguised = authorising(auth, values.__getitem__)
    fill = filled(secrets)
    wire = WireValues(
        request=request,
        document=fill.json(request).sent,
        headers=merged(own, [(name, fill.text(value).sent) for name, value in headers]),
        url=fill.url(url).sent,
        secrets=secrets,
        disguised=(disguised,) if disguised else (),
    )
    provenance = Provenance(
        template={"auth": auth} if auth else None,
        environment=run.environment,
        secrets=tuple(each.name for each in secrets),
    )
    return wire, provenance


def _auth_of(run: Run) -> dict[str, Any]:
    auth: dict[str, Any] = (run.template or {}).get("auth") or {}
    return auth


def secrets_of(environment: str, names: Iterable[str], owner: int | None) -> tuple[Secret, ...]:
    """These secrets of an environment. Raises `WithheldError` for one that is gone."""
    rows = Variable.objects.filter(
        environment__owner=owner, environment__slug=environment, kind=Variable.Kind.SECRET
    )
    found = {row.name: row for row in rows if row.secret}
    if missing := [name for name in names if name not in found]:
        raise WithheldError(
            f"The environment “{environment}” has no secret {_listed(missing)} any more."
        )
    return tuple(Secret(name, found[name].secret, tuple(found[name].origins)) for name in names)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
