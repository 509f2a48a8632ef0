"""Which way a request goes: over which binding, to which address of its agent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from playground.engine.drafts import Draft, Headers, Origin
from playground.engine.secrets import Secret, Sending, WithheldError, authorising, filled
from playground.models import Agent, Run, Variable
from playground.protocols import registry
from playground.protocols.addresses import address_over
from playground.protocols.headers import is_credential
from playground.protocols.http import merged
from playground.protocols.origins import same_origin
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
    `agent` stands in for the run's.

    It authenticates as the run did, and the secrets that went with the run go with it where it
    has their placeholders: no other, whatever names stand in what the agent said. Raises
    `ValueError` for a run without an agent, and `WithheldError`, which is one, for a secret that
    is gone or may not go there.
    """
    agent = agent or run.agent
    if agent is None:
        raise ValueError("The agent of this run was deleted.")
    if names_in(agent.url):
        # What its names stood for, the run knows.
        return carried_on(
            run, Draft(agent, request, headers, run.version, run.binding, url=run.url)
        )
    if run.binding == agent.binding or not same_origin(run.url, agent.url):
        draft = draft_over(agent, request, headers, version=run.version, binding=run.binding)
    else:
        draft = Draft(agent, request, headers, run.version, run.binding, url=run.url)
    return carried_on(run, draft)


def kept_headers(run: Run) -> list[tuple[str, str]]:
    """A run's own headers as far as they are kept: empty ones would replace the agent's."""
    return [(name, value) for name, value in run.headers if value or not is_credential(name)]


def rerouted(draft: Draft, other: Draft) -> Draft:
    """The same request the way of `other`, which was made of its document without secrets.

    Of its headers only those go along that `other` has.
    """
    sending = draft.sending
    if sending is not None:
        dropped = {name.lower() for name, _ in draft.headers}
        dropped -= {name.lower() for name, _ in other.headers}
        headers = [pair for pair in sending.headers if pair[0].lower() not in dropped]
        sending = replace(sending.at(other.address), headers=headers)
    return replace(other, auth=draft.auth, sending=sending, origin=draft.origin)


def carried_on(run: Run, draft: Draft) -> Draft:
    """A draft that follows on `run`, with the secrets and the authentication of that."""
    auth = (run.template or {}).get("auth") or {}
    if not run.secrets and not auth:
        return draft
    secrets = secrets_of(run.environment, run.secrets, run.owner_id)
    values = {each.name: each.value for each in secrets}
    own, disguised = authorising(auth, values.__getitem__)
    fill = filled(secrets)
    headers = [(name, fill.text(value).sent) for name, value in draft.headers]
    sending = Sending(
        request=draft.request,
        document=fill.json(draft.request).sent,
        headers=merged(own, headers),
        url=fill.url(draft.address).sent,
        secrets=secrets,
        disguised=(disguised,) if disguised else (),
    )
    origin = Origin(
        template={"auth": auth} if auth else None,
        environment=run.environment,
        secrets=tuple(each.name for each in secrets),
    )
    draft = replace(draft, auth=auth, sending=sending, origin=origin)
    if refusals := draft.refusals():
        raise WithheldError(" ".join(refusals))
    return draft


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
