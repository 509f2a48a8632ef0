"""Preparation of requests: from a template and what its names stand for to a `PreparedRequest`.

- A `Composition` is a request as a user wrote or saved it, with `{{name}}` in any part of it; a
  `Scope` says what the names stand for. `prepare` puts them together once: every name has a value,
  every secret may go where the request goes, and what is stored holds no secret.
- A request that follows on a run takes along what went with that run: `follow_up_request`, and
  `repeated` for the same once more.
- Where a request goes: the address of an agent over each binding, `retarget` for another way, and
  agents that are made of an address that somebody typed.

For the engine, and for views and commands, which import most of it from `playground.engine`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from playground.engine.request import (
    Headers,
    PreparedRequest,
    Provenance,
    Secret,
    WireValues,
    WithheldError,
    authorising,
    filled,
    keepable,
    request_to,
)
from playground.library.credentials import clean_url_template
from playground.models import Agent, Environment, Run, SavedRequest, Variable
from playground.models.collections import resolve_target
from playground.protocols import headers as header_rules
from playground.protocols import registry
from playground.protocols.addresses import address_over, name_of, normal
from playground.protocols.exchange import RequestProblem
from playground.protocols.headers import is_credential
from playground.protocols.http import merge_headers
from playground.protocols.origins import same_origin
from playground.transport import check_url
from playground.variables import Substituted, Substitution, Value, VariableError, names_in

#: Where a problem or a name is, beside the JSON pointers of the document.
HEADERS, ADDRESS, AUTH, EXPECTATIONS = "#headers", "#address", "#auth", "#expectations"
#: Characters of an address.
MAX_ADDRESS = 2000
#: Characters of the name of an agent.
MAX_NAME = Agent._meta.get_field("name").max_length or 0

Owner = User | None


# Templates and scopes


@dataclass(frozen=True, slots=True)
class Composition:
    """A request as it was composed: every part of it may hold `{{name}}`."""

    request: dict[str, Any]
    headers: Headers = field(default=(), repr=False)
    agent: Agent | None = None
    #: Where it goes where there is no agent.
    address: str = ""
    #: With an address: what is spoken there; "" for NLWeb.
    protocol: str = ""
    #: None for those of the agent; one that its protocol does not have is as good as none.
    version: str | None = None
    binding: str | None = None
    #: As `SavedRequest.auth`.
    auth: Mapping[str, Any] = field(default_factory=dict)
    saved: SavedRequest | None = None
    expectations: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, saved: SavedRequest, owner: Owner = None) -> Composition:
        """Return a saved request as one; its agent is looked up among those of `owner`."""
        agents = Agent.objects.filter(owner=owner, protocol=saved.protocol)
        agent, address = resolve_target(saved, agents)
        return cls(
            request=saved.document,
            headers=[(str(name), str(value)) for name, value in saved.headers],
            agent=agent,
            address=address,
            protocol=saved.protocol,
            version=saved.version,
            binding=saved.binding,
            auth=saved.auth or {},
            saved=saved,
            expectations=saved.expectations or (),
        )


@dataclass(slots=True)
class Scope:
    """What names stand for: `values` first (captures, a row of data), then the environment.

    A name that is a secret of the environment stays one, wherever its value comes from. The
    environment is read once.
    """

    environment: Environment | None = None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: Of names that a request before this one captures, that request's name: it is where a
    #: value is missed that is not there.
    captured: Mapping[str, str] = field(default_factory=dict)
    _rows: dict[str, Variable] | None = field(default=None, init=False, repr=False)

    @property
    def slug(self) -> str:
        """Return the environment's slug, "" for none."""
        return self.environment.slug if self.environment else ""

    def find(self, name: str) -> Value | None:
        """Return what `name` stands for, None where nobody knows."""
        row = self._known.get(name)
        is_secret = row is not None and row.kind == Variable.Kind.SECRET
        if name in self.values:
            value = self.values[name]
            return Value(_text(value), secret=True) if is_secret else Value(value)
        if row is None or (is_secret and not row.secret):
            return None
        return Value(row.secret, secret=True) if is_secret else Value(row.content)

    def secret(self, name: str) -> Secret | None:
        """Return the secret of that name, None where it is none or has no value."""
        row, found = self._known.get(name), self.find(name)
        if row is None or found is None or not found.secret:
            return None
        return Secret(name, found.value, tuple(map(str, row.allowed_origins)))

    @property
    def _known(self) -> dict[str, Variable]:
        if self._rows is None:
            rows = self.environment.variables.all() if self.environment else ()
            self._rows = {row.name: row for row in rows}
        return self._rows


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Preparation


@dataclass(slots=True)
class PreparationResult:
    """A request that was prepared, if it could be, and everything that is wrong with it."""

    #: None where there is nothing that could be sent, or shown as if it could.
    prepared: PreparedRequest | None = None
    problems: list[RequestProblem] = field(default_factory=list)
    #: Names that had a value.
    used: tuple[str, ...] = ()
    #: (JSON pointer, or one of the places above; name) of each that had none.
    unresolved: tuple[tuple[str, str], ...] = ()

    @property
    def errors(self) -> list[RequestProblem]:
        """Return the problems that stop a send."""
        return [problem for problem in self.problems if problem.level == "error"]

    @property
    def missing(self) -> list[str]:
        """Return the names without a value, each once."""
        return list(dict.fromkeys(name for _, name in self.unresolved))

    @property
    def built_in(self) -> list[str]:
        """Return the built-in names that had a value; a send makes these values anew."""
        return [name for name in self.used if name.startswith("$")]

    def refuse(self, place: str, message: str) -> None:
        """Note something that stops a send."""
        self.problems.append(RequestProblem(place, message, "error"))

    def keep_agent(self) -> None:
        """Save the agent that was made of an address, so that what follows finds it."""
        if self.prepared is not None:
            self.prepared = with_kept_agent(self.prepared)


def refused(message: str) -> PreparationResult:
    """Return a result without a request, for one reason."""
    return PreparationResult(problems=[RequestProblem("", message, "error")])


def prepare(
    composition: Composition, scope: Scope, owner: Owner = None, *, moment: datetime | None = None
) -> PreparationResult:
    """Return the request of a composition, and everything that is wrong with it.

    With unresolved names, or secrets that may not go there, there is a request as well, for a
    look at it: `errors` says whether it may be sent. An address that belongs to no agent of
    `owner` makes one that is not saved. `moment` is that of the built-in variables, None for now.
    """
    return _Preparation(composition, scope, owner, moment or timezone.now()).result


class _Preparation:
    """One composition on its way to a request."""

    def __init__(
        self, composition: Composition, scope: Scope, owner: Owner, moment: datetime
    ) -> None:
        self.result = PreparationResult()
        self._composition = composition
        self._scope = scope
        self._owner = owner
        self._moment = moment
        self._work = Substitution(scope.find, moment=moment)
        #: Names that have a value in what is expected.
        self._judged: tuple[str, ...] = ()
        try:
            self._go()
        except VariableError as error:
            self.result.refuse("", str(error))
        self.result.used = tuple(dict.fromkeys((*self._work.used, *self._judged)))
        self.result.unresolved = tuple(self._work.unresolved)

    def _go(self) -> None:
        composition, result = self._composition, self.result
        destination = self._destination()
        if destination is None:
            return
        agent, url = destination
        version, binding = self._spoken(agent)
        document = self._work.json(composition.request)
        headers = self._headers()
        own, disguised = authorising(composition.auth, self._secret)
        self._check_auth(own)
        if result.problems:
            return  # A header that no call can have.
        wire = None
        if self._work.secrets or composition.auth:
            wire = WireValues(
                request=document.stored,
                document=document.wire,
                headers=merge_headers(own, [pair.wire for pair in headers]),
                url=url.wire,
                secrets=tuple(filter(None, map(self._scope.secret, self._secrets()))),
                disguised=(disguised,) if disguised else (),
            )
        prepared = result.prepared = request_to(
            agent,
            document.stored,
            [pair.stored for pair in headers],
            version=version,
            binding=binding,
            url=url.stored,
            auth=composition.auth,
            wire=wire,
            provenance=self._provenance(),
        )
        self._say_what_is_missing()
        if not self._lacks(ADDRESS):
            for refusal in prepared.refusals():
                result.refuse("", refusal)
        # What is kept: a message of the check may quote it.
        result.problems += registry.validate_request(prepared.target, prepared.request)

    # Where it goes

    def _destination(self) -> tuple[Agent, Substituted] | None:
        """Return the agent and its address; None where there is none that could be called."""
        composition = self._composition
        agent = composition.agent
        if agent is None and not composition.address:
            self.result.refuse("", "Choose an agent to send the request to.")
            return None
        template = composition.address
        if agent is not None:
            _, binding = self._spoken(agent)
            template = address_of(agent, binding)
        try:
            url = self._work.url(template, ADDRESS)
        except VariableError as error:
            self.result.refuse(ADDRESS, str(error))
            return None
        if agent is not None:
            if names_in(template) and not same_origin(template, url.wire):
                # What authenticates at an agent belongs to the origin that it was given for.
                self.result.refuse(ADDRESS, "An agent's address cannot have names before its path.")
            return agent, url
        return (self._agent_at(url.stored), url) if self._is_callable(url) else None

    def _is_callable(self, url: Substituted) -> bool:
        if self._lacks(ADDRESS):
            self._say_what_is_missing()
            return False
        refusal = check_url(url.wire)
        if refusal is None and len(url.stored) > MAX_ADDRESS:
            refusal = f"The URL is longer than {MAX_ADDRESS} characters."
        if refusal:
            self.result.refuse(ADDRESS, refusal)
        return refusal is None

    def _agent_at(self, url: str) -> Agent:
        """Return the owner's agent at this address, or a new one, which is not saved."""
        owner = self._owner.pk if self._owner else None
        new = agent_for(url, self._composition.protocol, owner)
        _, new.binding = self._spoken(new)
        return known_as(new) or new

    def _spoken(self, agent: Agent) -> tuple[str, str]:
        return version_and_binding(agent, self._composition.version, self._composition.binding)

    # What goes along

    def _headers(self) -> list[Substituted]:
        """Return pairs of name and value, each as it goes out and as it is kept."""
        found = []
        for name, value in self._composition.headers:
            before = len(self._work.unresolved)
            names, values = (self._work.text(part, HEADERS) for part in (name, value))
            unresolved = len(self._work.unresolved) > before
            if names.wire != names.stored:
                self.result.refuse(HEADERS, f"A secret cannot be the name of a header: {name}.")
            # One whose names have no value is said to lack them.
            elif not unresolved and (refusal := header_rules.header_error(names.wire, values.wire)):
                self.result.refuse(HEADERS, refusal)
            found.append(Substituted((names.wire, values.wire), (names.stored, values.stored)))
        return found

    def _secret(self, name: str) -> str:
        """Return the value of the secret that authenticates, "" where there is none."""
        found = self._scope.secret(name)
        if found is None:
            self._work.unresolved.append((AUTH, name))
            return ""
        return found.value

    def _check_auth(self, own: Sequence[tuple[str, str]]) -> None:
        for name, value in own:
            if refusal := header_rules.header_error(name, value):
                self.result.refuse(AUTH, refusal)

    def _secrets(self) -> tuple[str, ...]:
        """Return the names of all secrets that go along."""
        own = str(self._composition.auth.get("secret", ""))
        found = (*self._work.secrets, *([own] if own and self._scope.secret(own) else ()))
        return tuple(dict.fromkeys(found))

    # What its run stores of where it came from

    def _provenance(self) -> Provenance:
        return Provenance(
            saved_request=self._composition.saved,
            request_template=self._template(),
            environment=self._scope.slug,
            secret_names=self._secrets(),
            expectations=self._expectations(),
        )

    def _template(self) -> dict[str, Any] | None:
        """Return what the user wrote, None where that is what is sent."""
        composition = self._composition
        parts = [composition.request, list(composition.headers), composition.address]
        wanted = [dict(each) for each in composition.expectations]
        if not composition.auth and not names_in([parts, wanted]):
            return None
        template = {
            "document": composition.request,
            "headers": keepable(composition.headers),
            "address": "" if composition.agent else clean_url_template(composition.address),
            "auth": dict(composition.auth),
        }
        # Without names in it, it is what the run is held to, and that is kept with the run.
        return template | ({"expectations": wanted} if names_in(wanted) else {})

    def _expectations(self) -> Sequence[Mapping[str, Any]]:
        """Return what the reply is held to, with values for the names in it."""
        wanted: Sequence[Mapping[str, Any]]
        wanted, found = expected(self._composition.expectations, self._scope, self._moment)
        self._judged = found.used
        self._work.unresolved += [(EXPECTATIONS, name) for _, name in found.unresolved]
        if why := why_not(found.secrets):
            self.result.refuse(EXPECTATIONS, why)
        return wanted

    # What is missing

    def _lacks(self, place: str) -> bool:
        return any(each == place for each, _ in self._work.unresolved)

    def _say_what_is_missing(self) -> None:
        if not self._work.unresolved:
            return
        place = self._work.unresolved[0][0]
        missing = list(dict.fromkeys(name for _, name in self._work.unresolved))
        captured = self._scope.captured
        for name in filter(captured.__contains__, missing):
            told = (
                f"There is no value for “{name}”: “{captured[name]}”, which captures it, got none."
            )
            self.result.refuse(place, told)
        names = _listed(name for name in missing if name not in captured)
        if not names:
            return
        environment = self._scope.environment
        where = f"in the environment “{environment.name}”" if environment else "anywhere"
        advice = "Add it there" if environment else "Choose an environment that has it"
        self.result.refuse(place, f"There is no value for {names} {where}. {advice}.")


def expected(expectations: Any, scope: Scope, moment: datetime) -> tuple[Any, Substitution]:
    """Return expectations with the values of their names, and which names these are.

    They are judged again whenever somebody looks, so the values are kept with the run, and of
    a secret nothing but its name can be: `why_not` says so. Raises `VariableError`.
    """
    work = Substitution(scope.find, moment=moment)
    return work.json(expectations).stored, work


def why_not(secrets: Sequence[str]) -> str:
    """Return why expectations with these secrets are refused, a sentence; "" without any."""
    if not secrets:
        return ""
    return f"No secret can be a part of what is expected, because that is kept: {_listed(secrets)}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


# Requests that follow on a run


def repeated(run: Run) -> PreparationResult:
    """Return the request of a run once more, the same way.

    What the user composed with names in it is prepared anew, with what they stand for now; what
    a run carried on of another keeps what went with it. The run must have its agent; raises
    `WithheldError` as `follow_up_request`.
    """
    template = run.request_template or {}
    if "document" not in template:
        prepared = follow_up_request(run, run.request, kept_headers(run))
        provenance = replace(
            prepared.provenance,
            saved_request=run.saved_request,
            expectations=run.expectations or (),
        )
        return PreparationResult(replace(prepared, provenance=provenance))
    environment = Environment.objects.filter(owner=run.owner_id, slug=run.environment).first()
    if run.environment and environment is None:
        raise WithheldError(f"The environment “{run.environment}” is gone.")
    address = str(template.get("address") or "")
    composition = Composition(
        request=template["document"],
        headers=[(name, value) for name, value in template["headers"] if value],
        agent=None if address else run.agent,
        address=address,
        protocol=run.protocol,
        version=run.version,
        binding=run.binding,
        auth=template.get("auth") or {},
        saved=run.saved_request,
        expectations=template.get("expectations", run.expectations) or (),
    )
    return prepare(composition, Scope(environment), run.owner)


def follow_up_request(
    run: Run, request: dict[str, Any], headers: Headers = (), *, agent: Agent | None = None
) -> PreparedRequest:
    """Return a request that goes the way that `run` went: its version, its binding, its address.

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
    auth = (run.request_template or {}).get("auth") or {}
    wire, provenance = None, None
    if run.secret_names or auth:
        secrets = _secrets_of(run)
        wire = _with_secrets(secrets, auth, request, headers, url)
        provenance = Provenance(
            request_template={"auth": auth} if auth else None,
            environment=run.environment,
            secret_names=tuple(each.name for each in secrets),
        )
    prepared = request_to(
        agent,
        request,
        headers,
        version=run.version,
        binding=run.binding,
        url=url,
        auth=auth,
        wire=wire,
        provenance=provenance,
    )
    if wire and (refusals := prepared.refusals()):
        raise WithheldError(" ".join(refusals))
    return prepared


def kept_headers(run: Run) -> list[tuple[str, str]]:
    """Return a run's own headers as far as they are kept: empty ones would replace the agent's."""
    return [(name, value) for name, value in run.headers if value or not is_credential(name)]


def _with_secrets(
    secrets: tuple[Secret, ...],
    auth: Mapping[str, Any],
    request: dict[str, Any],
    headers: Headers,
    url: str,
) -> WireValues:
    """Return what the wire sees of a request that holds the placeholders of these secrets."""
    values = {each.name: each.value for each in secrets}
    own, disguised = authorising(auth, values.__getitem__)
    fill = filled(secrets)
    return WireValues(
        request=request,
        document=fill.json(request).wire,
        headers=merge_headers(own, [(name, fill.text(value).wire) for name, value in headers]),
        url=fill.url(url).wire,
        secrets=secrets,
        disguised=(disguised,) if disguised else (),
    )


def _secrets_of(run: Run) -> tuple[Secret, ...]:
    """Return the secrets that went with a run. Raises `WithheldError` for one that is gone."""
    rows = Variable.objects.filter(
        environment__owner=run.owner_id,
        environment__slug=run.environment,
        kind=Variable.Kind.SECRET,
    )
    found = {row.name: row for row in rows if row.secret}
    if missing := [name for name in run.secret_names if name not in found]:
        raise WithheldError(
            f"The environment “{run.environment}” has no secret {_listed(missing)} any more."
        )
    return tuple(
        Secret(name, found[name].secret, tuple(found[name].allowed_origins))
        for name in run.secret_names
    )


def _address_after(run: Run, agent: Agent) -> str:
    """Return where a request to `agent` goes that follows on `run`."""
    if names_in(agent.url):
        return run.url  # What the names in it stood for, the run knows.
    if run.binding == agent.binding or not same_origin(run.url, agent.url):
        return address_of(agent, run.binding or agent.binding)
    return run.url


# Bindings and addresses of an agent


def bindings_of(agent: Agent) -> list[str]:
    """Return over which bindings a request to `agent` can go: MCP carries NLWeb only."""
    if agent.protocol == Agent.Protocol.NLWEB:
        return [str(name) for name in Agent.Binding.values if name in registry.BINDINGS]
    return [agent.binding]


def version_and_binding(agent: Agent, version: str | None, binding: str | None) -> tuple[str, str]:
    """Return these for a request to `agent`; its own in place of one that it does not have.

    Where its protocol does not have its own version either, the newest one is returned.
    """
    known = [each.name for each in registry.versions(agent.protocol)]
    found = next((each for each in (version, agent.version) if each in known), known[-1])
    return str(found), binding if binding in bindings_of(agent) else str(agent.binding)


def address_of(agent: Agent, binding: str) -> str:
    """Return where `agent` is over `binding`: see `playground.protocols.addresses`."""
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
    """Return a request to `agent` over `binding`, None for its own."""
    url = address_of(agent, binding) if binding else None
    return request_to(agent, request, headers, version=version, binding=binding, url=url)


def retarget(
    prepared: PreparedRequest, agent: Agent, headers: Headers, *, binding: str | None = None
) -> PreparedRequest:
    """Return the same request to `agent` over `binding`, None for its own, in the same version.

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


# Agents made of an address: somebody typed where to send, and not to whom


class AddressError(ValueError):
    """An address that cannot be called; says why, as a sentence."""


def agent_for(url: str, protocol: str, owner_id: int | None) -> Agent:
    """Return a new agent at an address, over HTTP, named after where it is. Not saved."""
    protocol = protocol if protocol in registry.PROTOCOLS else str(Agent.Protocol.NLWEB)
    return Agent(
        owner_id=owner_id,
        name=name_of(clean_url_template(url), MAX_NAME),
        url=url,
        protocol=protocol,
        version=registry.versions(protocol)[-1].name,
    )


def stand_in(url: str, requests: Iterable[SavedRequest], owner_id: int | None) -> Agent:
    """Return an agent at an address that stands in for the agents of `requests`. Not saved.

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
    """Return the owner's agent that is at the same address and speaks the same, if any.

    Of several the one whose address is written in the same way.
    """
    host = urlsplit(agent.url).hostname or ""
    found = Agent.objects.filter(
        owner=agent.owner_id, protocol=agent.protocol, binding=agent.binding, url__icontains=host
    )
    same = [each for each in found if normal(each.url) == normal(agent.url)]
    return min(same, key=lambda each: each.url != agent.url, default=None)


def with_kept_agent(prepared: PreparedRequest) -> PreparedRequest:
    """Return the same request, its agent saved where it was made of an address: see `keep`."""
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
    """Return its name; with what it speaks, or a number, where another agent has that name."""
    taken = set(Agent.objects.filter(owner=agent.owner_id).values_list("name", flat=True))
    if agent.name not in taken:
        return agent.name
    over_mcp = agent.binding == Agent.Binding.MCP
    spoken = agent.get_binding_display() if over_mcp else agent.get_protocol_display()
    ends = chain((f" · {spoken}",), (f" {number}" for number in count(2)))
    names = (agent.name[: MAX_NAME - len(end)] + end for end in ends)
    return next(name for name in names if name not in taken)
