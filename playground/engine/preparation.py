"""Preparation of requests: puts variables and secrets into a request template.

- A `RequestTemplate` is a request as a user wrote or saved it, with `{{name}}` in any part of it; a
  `VariableScope` has the values of the names. `prepare` substitutes them once: every name has a
  value, every secret may be sent to the URL, and no secret is stored.
- A request that follows a run uses the secrets of that run: `follow_up_request`, and
  `repeat_request` for the same request again.
- Targets: the URL of an agent over each binding, `retarget` for another agent or binding, and
  agents that are made from a URL.

For the engine, and for views and commands.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from playground.base.credentials import clean_url_template
from playground.engine.request import (
    Headers,
    PreparedRequest,
    Secret,
    SecretNotAllowedError,
    agent_url_over,
    refused,
    request_auth_headers,
    request_to,
    secret_substitution,
    storable_headers,
)
from playground.models import Agent, Environment, Run, SavedRequest, Variable
from playground.models.conversations import turn_of
from playground.models.rows import Owner
from playground.protocols import headers as header_rules
from playground.protocols import raw, registry
from playground.protocols.headers import is_credential
from playground.protocols.http import merge_headers
from playground.protocols.origins import (
    MAX_URL,
    normalize_url,
    same_origin,
    url_label,
)
from playground.transport import check_url
from playground.variables.names import literal, names_in
from playground.variables.substitution import Substituted, Substitution, Value, VariableError

#: Locations of problems and names outside the document, where they are JSON pointers.
HEADERS, ADDRESS, AUTH, EXPECTATIONS = "#headers", "#address", "#auth", "#expectations"
#: The ids of a first request that the user has not given.
_OWN_ID = "{{$uuid}}"
#: Characters of the name of an agent.
MAX_NAME = Agent._meta.get_field("name").max_length or 0


# Request templates and variable scopes


@dataclass(frozen=True, slots=True)
class RequestTemplate:
    """A request as it was written: every part of it may hold `{{name}}`."""

    request: dict[str, Any]
    headers: Headers = field(default=(), repr=False)
    agent: Agent | None = None
    #: The URL, where there is no agent.
    address: str = ""
    #: The protocol of the URL; "" for NLWeb.
    protocol: str = ""
    #: None for those of the agent, as is one that its protocol does not have.
    version: str | None = None
    binding: str | None = None
    #: As `SavedRequest.auth`.
    auth: Mapping[str, Any] = field(default_factory=dict)
    saved: SavedRequest | None = None
    expectations: Sequence[Mapping[str, Any]] = ()
    #: What was detected at the URL: see `Agent.detected`.
    detected: Mapping[str, str] | None = None
    #: Slug of the agent of a saved request, where there is no such agent.
    missing_agent: str = ""
    #: Whether to send the document although it is invalid: its errors are warnings.
    anyway: bool = False


@dataclass(slots=True)
class VariableScope:
    """The values of names: `values` first (captures, a data row), then the environment.

    A name that is a secret of the environment is one wherever its value comes from. The
    environment is read once.
    """

    environment: Environment | None = None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: The name of the earlier request that captures a name, for the message about a missing value.
    captured: Mapping[str, str] = field(default_factory=dict)
    _rows: dict[str, Variable] | None = field(default=None, init=False, repr=False)

    @property
    def slug(self) -> str:
        """The environment's slug, "" for none."""
        return self.environment.slug if self.environment else ""

    def find(self, name: str) -> Value | None:
        row = self._known.get(name)
        is_secret = row is not None and row.kind == Variable.Kind.SECRET
        if name in self.values:
            value = self.values[name]
            return Value(_text(value), secret=True) if is_secret else Value(value)
        if row is None or (is_secret and not row.secret):
            return None
        return Value(row.secret, secret=True) if is_secret else Value(row.content)

    def has(self, name: str) -> bool:
        """Return whether the environment has a variable of that name, with a value or without."""
        return name in self._known

    def find_secret(self, name: str) -> Secret | None:
        """Return the secret of that name, None where it is not a secret or has no value."""
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


def prepare(
    template: RequestTemplate,
    scope: VariableScope,
    owner: Owner = None,
    *,
    find_agent: Callable[[Agent], Agent | None] | None = None,
) -> PreparedRequest:
    """Return the prepared request of a template, with its problems.

    With unresolved names, or secrets that may not be sent, it has a call as well, for the preview:
    `errors` says whether it may be sent. A URL that belongs to no agent of `owner` makes
    an agent that is not saved. `find_agent` replaces `matching_agent`.
    """
    work = _Preparation(template, scope, owner, find_agent or matching_agent)
    try:
        work.prepare()
    except VariableError as error:
        work.result.add_error("", str(error))
    work.add_names()
    return work.result


@dataclass
class _Preparation:
    """The preparation of one request template.

    Each name is substituted once: the document that is sent is never made of the stored one, where
    a value that holds `{{token}}` would get the secret of that name.
    """

    _template: RequestTemplate
    _scope: VariableScope
    _owner: Owner
    _find_agent: Callable[[Agent], Agent | None]
    result: PreparedRequest = field(default_factory=PreparedRequest)
    _moment: datetime = field(default_factory=timezone.now)
    #: Names that have a value in the expectations.
    _expectation_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._substitution = Substitution(self._scope.find, moment=self._moment)

    def add_names(self) -> None:
        used = dict.fromkeys((*self._substitution.used, *self._expectation_names))
        self.result.used = tuple(used)
        self.result.unresolved = tuple(self._substitution.unresolved)
        found = {name: self._scope.find(name) for name in used if not name.startswith("$")}
        self.result.substituted = tuple(
            (name, "" if value.secret else _text(value.value), value.secret)
            for name, value in found.items()
            if value is not None
        )

    def prepare(self) -> None:
        template, result = self._template, self.result
        destination = self._destination()
        if destination is None:
            return
        agent, url = destination
        if raw.raw_of(template.request) is None and not template.anyway:
            # As names, so that a repeated request is a first one, too.
            request = agent.with_own_ids(template.request, _OWN_ID)
            self._template = template = replace(template, request=request)
        version, binding = version_and_binding(agent, template.version, template.binding)
        document = self._substitution.json(template.request)
        result.problems += raw.problems_of(template.request)
        headers = self._headers()
        own, encoded_credentials = request_auth_headers(template.auth, self._secret)
        for name, value in own:
            if refusal := header_rules.header_error(name, value):
                result.add_error(AUTH, refusal)
        if result.problems:
            return  # A header, or a raw request, that no call can have.
        wire, secrets = None, {}
        if self._substitution.secrets or template.auth:
            sent = merge_headers(own, [pair.wire for pair in headers])
            wire = document.wire, sent, url.wire
            names = (*self._substitution.secrets, str(template.auth.get("secret", "")))
            secrets = {name: self._scope.find_secret(name) for name in names}
        prepared = self.result = request_to(
            agent,
            document.stored,
            [pair.stored for pair in headers],
            version=version,
            binding=binding,
            url=url.stored,
            auth=template.auth,
            wire=wire,
            secrets=tuple(filter(None, secrets.values())),
            other_credentials=(encoded_credentials,) if encoded_credentials else (),
            saved_request=template.saved,
            request_template=self._stored_template(),
            environment=self._scope.slug,
            expectations=self._expectations(),
            problems=result.problems,
        )
        self._check(prepared)

    def _check(self, prepared: PreparedRequest) -> None:
        template = self._template
        if self._substitution.unresolved:
            self._add_missing_value_errors()
        if ADDRESS not in dict(self._substitution.unresolved):
            for error in prepared.refusals():
                prepared.add_error("", error)
        # The stored document: the messages may quote it.
        found = registry.validate_request(prepared.target, prepared.request)
        is_raw = raw.raw_of(prepared.request) is not None
        if template.anyway and not is_raw:
            found = [replace(problem, level="warning") for problem in found]
        prepared.can_send_anyway = not is_raw and not prepared.errors
        prepared.problems += found

    # Target

    def _destination(self) -> tuple[Agent, Substituted] | None:
        """Return the agent and its URL; None where there is none that could be called."""
        template = self._template
        agent = template.agent
        if agent is None and not template.address:
            unknown = f"Unknown agent “{template.missing_agent}”. Add it, or choose another one."
            none = "Enter a URL or choose an agent."
            self.result.add_error("", unknown if template.missing_agent else none)
            return None
        url_template = template.address
        if agent is not None:
            if unknown := unknown_protocol(agent):
                self.result.add_error("", unknown)
                return None
            _, binding = version_and_binding(agent, template.version, template.binding)
            url_template = agent_url_over(agent, binding)
        try:
            url = self._substitution.url(url_template, ADDRESS)
        except VariableError as error:
            self.result.add_error(ADDRESS, str(error))
            return None
        if agent is not None:
            if names_in(url_template) and not same_origin(url_template, url.wire):
                # Credentials of an agent belong to the origin that they were given for.
                self.result.add_error(
                    ADDRESS, "An agent’s URL can use variables only in its path and query."
                )
            return agent, url
        return (self._agent_at(url.stored), url) if self._is_callable(url) else None

    def _is_callable(self, url: Substituted) -> bool:
        if ADDRESS in dict(self._substitution.unresolved):
            self._add_missing_value_errors()
            return False
        refusal = check_url(url.wire)
        if refusal is None and len(url.stored) > MAX_URL:
            refusal = f"The URL is longer than {MAX_URL} characters."
        if refusal:
            self.result.add_error(ADDRESS, refusal)
        return refusal is None

    def _agent_at(self, url: str) -> Agent:
        """Return the owner's agent with this URL, or a new one, which is not saved."""
        template, owner = self._template, self._owner
        new = agent_for_url(url, template.protocol, owner.pk if owner else None)
        new.detected = dict(template.detected) if template.detected else None
        _, new.binding = version_and_binding(new, template.version, template.binding)
        return self._find_agent(new) or new

    # Headers and secrets

    def _headers(self) -> list[Substituted]:
        """Return pairs of name and value, each as it is sent and as it is stored."""
        found = []
        for name, value in self._template.headers:
            before = len(self._substitution.unresolved)
            names, values = (self._substitution.text(part, HEADERS) for part in (name, value))
            unresolved = len(self._substitution.unresolved) > before
            if names.wire != names.stored:
                self.result.add_error(HEADERS, f"A secret cannot be used as a header name: {name}.")
            # Unresolved names are reported as such.
            elif not unresolved and (refusal := header_rules.header_error(names.wire, values.wire)):
                self.result.add_error(HEADERS, refusal)
            found.append(Substituted((names.wire, values.wire), (names.stored, values.stored)))
        return found

    def _secret(self, name: str) -> str:
        """Return the value of the secret of the authentication, "" without one."""
        found = self._scope.find_secret(name)
        if found is None:
            self._substitution.unresolved.append((AUTH, name))
            return ""
        return found.value

    # What is stored besides

    def _stored_template(self) -> dict[str, Any] | None:
        """Return the request as it was written, None where nothing was substituted in it."""
        template = self._template
        parts = [template.request, list(template.headers), template.address]
        wanted = [dict(each) for each in template.expectations]
        if not template.auth and not names_in([parts, wanted]):
            return None
        stored = {
            "document": template.request,
            "headers": storable_headers(template.headers),
            "address": "" if template.agent else clean_url_template(template.address),
            "auth": dict(template.auth),
        }
        # Expectations without names are stored with the run as they are.
        return stored | ({"expectations": wanted} if names_in(wanted) else {})

    def _expectations(self) -> Sequence[Mapping[str, Any]]:
        if not self._template.expectations:
            return ()
        wanted: Sequence[Mapping[str, Any]]
        wanted, found = resolve_expectations(self._template.expectations, self._scope, self._moment)
        self._expectation_names = found.used
        self._substitution.unresolved += [(EXPECTATIONS, name) for _, name in found.unresolved]
        if why := expectation_error(found.secrets):
            self.result.add_error(EXPECTATIONS, why)
        return wanted

    # Missing values

    def _add_missing_value_errors(self) -> None:
        environment, captured = self._scope.environment, self._scope.captured
        first = {name: place for place, name in reversed(self._substitution.unresolved)}
        for name in dict.fromkeys(name for _, name in self._substitution.unresolved):
            shown = f"The secret “{name}”" if first[name] == AUTH else f"{{{{{name}}}}}"
            variable = ""
            if name in captured:
                message = f"{shown} is not defined: “{captured[name]}” did not capture it."
            elif environment and self._scope.has(name):
                message = f"{shown} has no value in the environment “{environment.name}”."
            elif environment:
                message = f"{shown} is not defined in the environment “{environment.name}”."
                variable = name
            else:
                message = f"{shown} is not defined. Select an environment that defines it."
                variable = name
            self.result.add_error(first[name], message, variable)


def resolve_expectations(
    expectations: Any, scope: VariableScope, moment: datetime
) -> tuple[Any, Substitution]:
    """Return expectations with the values of their names, and the substitution with the names.

    Expectations are evaluated again on every view, so the values are stored with the run; secrets
    cannot be, which `expectation_error` reports. Raises `VariableError`.
    """
    work = Substitution(scope.find, moment=moment)
    return work.json(expectations).stored, work


def expectation_error(secrets: Sequence[str]) -> str:
    """Return why expectations with these secrets are refused, as a sentence; "" without any."""
    if not secrets:
        return ""
    return f"Expectations are stored, so they cannot contain secrets: {_listed(secrets)}."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


# Requests that follow a run


def repeat_request(run: Run) -> PreparedRequest:
    """Return the request of a run again, to the same target.

    A request that was written with names in it is prepared again with their present values; a
    request that followed another run keeps the secrets of that run. The run must have its agent;
    raises `SecretNotAllowedError` as `follow_up_request`.
    """
    stored = run.request_template or {}
    if "document" not in stored:
        prepared = follow_up_request(run, run.request, without_empty_credentials(run.headers))
        prepared.saved_request = run.saved_request
        prepared.expectations = run.expectations or ()
        return prepared
    scope = _scope_of(run)
    if run.environment and scope.environment is None:
        raise SecretNotAllowedError(f"The environment “{run.environment}” was deleted.")
    address = str(stored.get("address") or "")
    template = _template_of(
        run,
        request=stored["document"],
        agent=None if address else run.target_agent,
        address=address,
        protocol=run.protocol,
        version=run.version,
        binding=run.binding,
        anyway=True,  # As it was sent before.
    )
    return prepare(template, scope, run.owner)


def _scope_of(run: Run) -> VariableScope:
    rows = Environment.objects.filter(owner=run.owner_id, slug=run.environment)
    return VariableScope(rows.first())


def _template_of(run: Run, **target: Any) -> RequestTemplate:
    """Return the template of a run's request; `target` are its document and its target."""
    stored = run.request_template or {}
    return RequestTemplate(
        headers=without_empty_credentials(stored.get("headers") or run.headers),
        auth=stored.get("auth") or {},
        saved=run.saved_request,
        expectations=stored.get("expectations", run.expectations) or (),
        **target,
    )


def switched_request(run: Run, target: Mapping[str, str]) -> PreparedRequest:
    """Return the request of a run to another target: `protocol`, `binding`, `version`, `url`.

    A missing member is that of the run, as is one that does not exist. The settings of an agent are
    changed and saved, because they were wrong; its URL stays at its origin. Another protocol gets a
    new document with the text of the query.
    """
    protocol = target.get("protocol", "")
    protocol = protocol if protocol in registry.PROTOCOLS else run.protocol
    known = [each.name for each in registry.of(protocol).versions]
    version = next((each for each in (target.get("version"), run.version) if each in known), "")
    binding = target.get("binding", "")
    binding = binding if binding in registry.BINDINGS else run.binding
    url = target.get("url") or run.url
    stored = run.request_template or {}
    agent = run.agent
    if agent is not None:
        if not same_origin(url, agent.url):
            return refused("An agent’s URL cannot be switched to another origin. Edit the agent.")
        agent.protocol, agent.binding, agent.version = protocol, binding, version or known[-1]
        agent.url, agent.handshake = url, {}
    document = stored.get("document", literal(run.request, keep=run.secret_names))
    meta = document.get("meta")
    if isinstance(meta, Mapping) and meta.get("version") == run.version != version:
        document = {**document, "meta": {**meta, "version": version}}
    if protocol != run.protocol and raw.raw_of(document) is None:
        text = literal(registry.request_text(run.protocol, run.request), keep=run.secret_names)
        document = registry.of(protocol).new_request(version or known[-1], text)
    template = _template_of(
        run,
        request=document,
        agent=agent,
        address="" if agent else url,
        protocol=protocol,
        version=version or known[-1],
        binding=binding,
    )
    result = prepare(template, _scope_of(run), run.owner)
    if agent is not None and not result.errors:
        agent.save(update_fields=["protocol", "binding", "version", "url", "handshake"])
    return result


def follow_up_request(
    run: Run, request: dict[str, Any], headers: Headers = (), *, agent: Agent | None = None
) -> PreparedRequest:
    """Return a request to the target of `run`: its version, its binding, its URL.

    Over the agent's own binding the URL is the present one of the agent; so it is after the agent
    has moved to another origin, because its credentials belong to that one. `agent` overrides the
    run's.

    The request authenticates as the run did, and the secrets of the run replace their placeholders
    in it: no other names are substituted, whatever the agent's response contains. Raises
    `ValueError` for a run without an agent, and `SecretNotAllowedError`, a subclass, for a secret
    that was deleted or may not be sent to the URL.
    """
    agent = agent or run.target_agent
    if agent is None:
        raise ValueError("The agent of this run was deleted.")
    url = _address_after(run, agent)
    auth = (run.request_template or {}).get("auth") or {}
    target: dict[str, Any] = {"version": run.version, "binding": run.binding, "url": url}
    if not run.secret_names and not auth:
        return request_to(agent, request, headers, **target)
    secrets = _secrets_of(run)
    values = {each.name: each.value for each in secrets}
    own, encoded_credentials = request_auth_headers(auth, values.__getitem__)
    fill = secret_substitution(secrets)
    sent = merge_headers(own, [(name, fill.text(value).wire) for name, value in headers])
    prepared = request_to(
        agent,
        request,
        headers,
        **target,
        auth=auth,
        wire=(fill.json(request).wire, sent, fill.url(url).wire),
        secrets=secrets,
        other_credentials=(encoded_credentials,) if encoded_credentials else (),
        request_template={"auth": auth} if auth else None,
        environment=run.environment,
    )
    if refusals := prepared.refusals():
        raise SecretNotAllowedError(" ".join(refusals))
    return prepared


def unknown_protocol(row: Agent | Run) -> str:
    """Return that the registry does not have the protocol of a row: a sentence, "" if it has."""
    if row.protocol in registry.PROTOCOLS:
        return ""
    advice = " Edit the agent." if isinstance(row, Agent) else ""
    return f"Unknown protocol “{row.protocol}”.{advice}"


def follow_up_refusal(turn: Run) -> str:
    """Return why no request can follow a turn: a sentence, "" if one can."""
    agent = turn.target_agent
    if agent is None:
        return "The agent of this run was deleted."
    # The agent may have been edited since.
    return unknown_protocol(agent) or unknown_protocol(turn)


def prepare_follow_up(run: Run, request: dict[str, Any], headers: Headers) -> PreparedRequest:
    """Return the prepared request that follows `run` in its conversation, with its problems.

    What `follow_up_refusal` says and a secret that may not be sent are problems, too.
    """
    turn = turn_of(run)
    if refusal := follow_up_refusal(turn):
        return refused(refusal)
    try:
        prepared = follow_up_request(turn, request, headers)
    except SecretNotAllowedError as error:
        return refused(str(error))
    prepared.problems += registry.validate_request(prepared.target, request)
    return prepared


def without_empty_credentials(headers: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Return stored headers without empty credentials, which would replace the agent's."""
    return [(name, value) for name, value in headers if value or not is_credential(name)]


def _secrets_of(run: Run) -> tuple[Secret, ...]:
    """Return the secrets of a run. Raises `SecretNotAllowedError` for a deleted one."""
    scope = _scope_of(run)
    found = {name: scope.find_secret(name) for name in run.secret_names}
    if missing := [name for name, secret in found.items() if secret is None]:
        raise SecretNotAllowedError(
            f"The environment “{run.environment}” no longer has the secret {_listed(missing)}."
        )
    return tuple(filter(None, found.values()))


def _address_after(run: Run, agent: Agent) -> str:
    if names_in(agent.url):
        return run.url  # With the values that the names had.
    if run.binding == agent.binding or not same_origin(run.url, agent.url):
        return agent_url_over(agent, run.binding or agent.binding)
    return run.url


# Bindings and URLs of an agent


def available_bindings(agent: Agent) -> list[str]:
    found = registry.spec(agent.protocol).bindings
    return [*found] if agent.binding in found else [agent.binding]


def version_and_binding(agent: Agent, version: str | None, binding: str | None) -> tuple[str, str]:
    """Return the version and the binding of a request to `agent`.

    The agent's own replace one that it does not have; a version that its protocol does not have
    either is replaced by the newest one.
    """
    found = registry.known_version(agent.protocol, version, agent.version)
    return found, binding if binding in available_bindings(agent) else str(agent.binding)


def retarget(
    prepared: PreparedRequest, agent: Agent, headers: Headers, *, binding: str | None = None
) -> PreparedRequest:
    """Return the request for `agent` over `binding`, None for its own, in the same version.

    `headers` are those of its headers that are sent.
    """
    url = agent_url_over(agent, binding or agent.binding)
    wire = None
    if prepared.has_secrets:
        dropped = {name.lower() for name, _ in prepared.headers}
        dropped -= {name.lower() for name, _ in headers}
        kept = [pair for pair in prepared.own_headers if pair[0].lower() not in dropped]
        wire = prepared.document, kept, prepared.wire_url(url)
    target = request_to(
        agent,
        prepared.request,
        headers,
        version=prepared.target.version,
        binding=binding,
        url=url,
        auth=prepared.auth,
        wire=wire,
    )
    return replace(
        prepared,
        agent=agent,
        url=url,
        headers=headers,
        target=target.target,
        own_headers=target.own_headers,
        problems=[],
    )


def with_new_ids(prepared: PreparedRequest) -> PreparedRequest:
    """Return a copy with other ids in place of its own, for two requests at once."""
    document = (prepared.request_template or {}).get("document", {})
    names = [name for name in ("session_id", "user_id") if document.get(name) == _OWN_ID]
    own = dict.fromkeys(names, str(uuid.uuid4()))
    return prepared.with_change(lambda document: {**document, **own}) if own else prepared


# Agents that are made from a URL


class AgentUrlError(ValueError):
    """A URL that cannot be called; the message is a sentence."""


def agent_for_url(url: str, protocol: str, owner_id: int | None) -> Agent:
    """Return a new agent with this URL, over HTTP, named after it. Not saved."""
    protocol = registry.known(protocol)
    return Agent(
        owner_id=owner_id,
        name=url_label(clean_url_template(url), MAX_NAME),
        url=url,
        protocol=protocol,
        version=registry.of(protocol).versions[-1].name,
    )


def override_agent(url: str, requests: Sequence[SavedRequest], owner_id: int | None) -> Agent:
    """Return an agent with this URL that overrides the agents of `requests`. Not saved.

    It has the protocol that all of the requests have, and their binding, if they have the same.
    Raises `AgentUrlError`.
    """
    if refusal := check_url(url):
        raise AgentUrlError(refusal)
    protocols = {each.protocol for each in requests}
    bindings = {each.binding for each in requests}
    agent = agent_for_url(url, protocols.pop() if len(protocols) == 1 else "", owner_id)
    if len(bindings) == 1:
        agent.binding = bindings.pop()
    return agent


def matching_agent(agent: Agent) -> Agent | None:
    """Return the owner's agent with an equivalent URL and the same protocol and binding, if any.

    An agent with the same text as URL is preferred.
    """
    host = urlsplit(agent.url).hostname or ""
    found = Agent.objects.filter(
        owner=agent.owner_id, protocol=agent.protocol, binding=agent.binding, url__icontains=host
    )
    same = [each for each in found if normalize_url(each.url) == normalize_url(agent.url)]
    return min(same, key=lambda each: each.url != agent.url, default=None)


def free_name(agent: Agent) -> str:
    """Return the agent's name; with its protocol or binding, or a number, where it is taken."""
    taken = set(Agent.objects.filter(owner=agent.owner_id).values_list("name", flat=True))
    if agent.name not in taken:
        return agent.name
    over_mcp = agent.binding == Agent.Binding.MCP
    label = agent.get_binding_display() if over_mcp else agent.get_protocol_display()
    ends = chain((f" · {label}",), (f" {number}" for number in count(2)))
    names = (agent.name[: MAX_NAME - len(end)] + end for end in ends)
    return next(name for name in names if name not in taken)
