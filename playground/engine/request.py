"""Prepared requests: as a run stores them, and as they are sent.

A `PreparedRequest` is all that the engine needs to record and to drive a run. What is stored of it
holds the placeholders of secrets; their values are in the document, the headers and the target that
are sent, which no `repr` shows and nothing stores. `playground.protocols.origins.is_allowed_origin`
decides where a secret may be sent.

For the engine, and for views and commands.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from playground.base.credentials import clean_headers
from playground.models import Agent, Run, RunSource, SavedRequest
from playground.protocols import lenient, registry
from playground.protocols.exchange import RequestProblem, Target
from playground.protocols.http import merge_headers
from playground.protocols.origins import is_allowed_origin, origin_of, same_origin, url_over_binding
from playground.transport.redaction import SHORTEST
from playground.variables.names import names_in
from playground.variables.substitution import Substitution, Value

Headers = Sequence[tuple[str, str]]


# Secrets of an environment


class SecretNotAllowedError(ValueError):
    """A secret may not be sent with a request; the message names it and gives the reason."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of an environment that is sent with a request."""

    name: str
    value: str = field(repr=False)
    #: The origins that it may be sent to, as "https://example.com".
    allowed_origins: tuple[str, ...] = ()

    def not_allowed_reason(self, url: str) -> str:
        """Return why the secret may not be sent to `url`, as a sentence; "" if it may.

        The URL may hold other secrets, so the sentence names its origin only.
        """
        if len(self.value) < SHORTEST:
            return (
                f"The secret “{self.name}” has fewer than {SHORTEST} characters. Shorter "
                "secrets cannot be masked reliably in responses."
            )
        if is_allowed_origin(url, self.allowed_origins):
            return ""
        allowed = ", ".join(self.allowed_origins) or "no origin yet"
        there = origin_of(url) or "an invalid URL"
        return (
            f"The secret “{self.name}” may be sent to {allowed}, but this request goes to {there}."
        )

    @property
    def encodings(self) -> tuple[str, ...]:
        """The texts to redact: the value, stripped as in a header, and encoded as Base64."""
        return (self.value, self.value.strip(), basic_credentials(self.value))


def secret_substitution(secrets: Iterable[Secret]) -> Substitution:
    """Return a substitution that replaces the names of these secrets, and no other name."""
    known = {secret.name: Value(secret.value, secret=True) for secret in secrets}
    return Substitution(known.get, moment=datetime.now(UTC))


def basic_credentials(text: str) -> str:
    """Encode a text as Base64, as Basic authentication does (RFC 7617, section 2)."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def request_auth_headers(
    auth: Mapping[str, Any],
    value: Callable[[str], str],
    encode: Callable[[str], str] = basic_credentials,
) -> tuple[list[tuple[str, str]], str]:
    """Return the headers of a request's own authentication, and the encoded pair of Basic.

    `auth` is that of a saved request, `value` returns a secret by its name, and `encode` encodes a
    pair of user and password. The second value is "" for other schemes; it has to be redacted.
    """
    name = str(auth.get("secret", ""))
    match auth.get("type"):
        case "bearer":
            return [("Authorization", f"Bearer {value(name)}")], ""
        case "api_key":
            return [(str(auth.get("header") or "X-API-Key"), value(name))], ""
        case "basic":
            pair = encode(f"{auth.get('user', '')}:{value(name)}")
            return [("Authorization", f"Basic {pair}")], pair
        case _:
            return [], ""


# Prepared requests


def storable_headers(headers: Headers) -> list[list[str]]:
    """Return headers as they are stored: "" for every credential that is not a placeholder."""
    return clean_headers([list(pair) for pair in headers])


@dataclass(slots=True)
class PreparedRequest:
    """A request on its way to bytes, with what was found while it was prepared.

    Without `errors` a run can be made of it; with errors it may be empty. Made by `request_to`,
    `action_request` and `request_of_run`, and by `prepare` from a request template.
    """

    # Columns of the run. Secrets are placeholders, except for credentials in the headers, which
    # `storable_headers` leaves out.
    agent: Agent = field(default_factory=Agent)
    request: dict[str, Any] = field(default_factory=dict)
    url: str = ""
    #: The request's own headers.
    headers: Headers = field(default=(), repr=False)
    saved_request: SavedRequest | None = None
    request_template: Mapping[str, Any] | None = None
    #: Slug of the environment.
    environment: str = ""
    expectations: Sequence[Mapping[str, Any]] = ()
    source: str = RunSource.USER

    # What is sent. Never shown, never stored.
    #: URL, binding, version and all headers, credentials included.
    target: Target = field(default_factory=lambda: Target(""), repr=False)
    document: dict[str, Any] = field(default_factory=dict, repr=False)
    #: The request's own headers, those that authenticate included.
    own_headers: Headers = field(default=(), repr=False)
    #: Its own authentication, as in `SavedRequest.auth`; {} for that of the agent.
    auth: Mapping[str, Any] = field(default_factory=dict)
    secrets: tuple[Secret, ...] = ()
    #: Other texts to redact, such as the encoded pair of Basic.
    other_credentials: Sequence[str] = field(default=(), repr=False)

    problems: list[RequestProblem] = field(default_factory=list)
    #: Names that had a value.
    used: tuple[str, ...] = ()
    #: (JSON pointer or location, name) of each name without a value.
    unresolved: tuple[tuple[str, str], ...] = ()
    #: (name, value as text, whether it is a secret) of each variable with a value; "" for a secret.
    substituted: tuple[tuple[str, str, bool], ...] = ()
    #: Whether its only errors are those of the document, with which it can be sent anyway.
    can_send_anyway: bool = False

    @property
    def has_call(self) -> bool:
        """Whether there is something to preview; it may still have errors."""
        return bool(self.target.url)

    @property
    def has_secrets(self) -> bool:
        """Whether it is sent other than it is stored."""
        return bool(self.secrets or self.auth)

    @property
    def missing(self) -> list[str]:
        """The names without a value, each once."""
        return list(dict.fromkeys(name for _, name in self.unresolved))

    @property
    def secret_names(self) -> list[str]:
        return [each.name for each in self.secrets]

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of `Run` about the origin of the request."""
        template = self.request_template
        return {
            "saved_request": self.saved_request,
            "request_template": None if template is None else dict(template),
            "environment": self.environment,
            "source": self.source,
            "secret_names": self.secret_names,
            "expectations": [dict(each) for each in self.expectations],
        }

    @property
    def redacted_target(self) -> Target:
        """The target with the placeholders of secrets.

        It has the credentials of the agent: where it is shown, `redact` has to be applied.
        """
        if not self.has_secrets:
            return self.target
        headers, _ = request_auth_headers(
            self.auth, "{{{{{}}}}}".format, encode=lambda pair: pair.partition(":")[2]
        )
        own = list(merge_headers(headers, self.headers))
        target = self.agent.target(own, with_credentials=not self.auth)
        return replace(self.target, url=self.url, headers=target.headers)

    @property
    def redact(self) -> list[str]:
        """The texts that appear in no frame, the longest first.

        An action does not send the agent's credentials, but the response may still contain them.
        The transport redacts other credentials by the names of their headers.
        """
        values = [self.agent.auth_secret] if self.agent.auth_secret else []
        for _, value in self.agent.auth_headers():
            # The credentials without their scheme, too.
            values += [value, value.partition(" ")[2].strip()]
        values += self.other_credentials
        values += (text for secret in self.secrets for text in secret.encodings)
        return sorted(filter(None, set(values)), key=len, reverse=True)

    def with_target(self, **changes: Any) -> PreparedRequest:
        return replace(self, target=replace(self.target, **changes))

    def with_change(self, change: Callable[[Any], Any]) -> PreparedRequest:
        """Return a copy with `change` applied to the stored document and to the one sent."""
        return replace(self, request=change(self.request), document=change(self.document))

    def with_document(self, request: dict[str, Any]) -> PreparedRequest:
        """Return a copy with another document, with the same secrets substituted."""
        document = request
        if self.secrets:
            document = secret_substitution(self.secrets).json(request).wire
        return replace(self, request=request, document=document)

    def wire_url(self, url: str) -> str:
        return str(secret_substitution(self.secrets).url(url).wire) if self.secrets else url

    @property
    def errors(self) -> list[RequestProblem]:
        return [problem for problem in self.problems if problem.level == "error"]

    def add_error(self, place: str, message: str, variable: str = "") -> None:
        """Add a problem that prevents sending; `variable` is the name that is not defined."""
        self.problems.append(RequestProblem(place, message, "error", variable))

    def refusals(self) -> list[str]:
        """Return why it must not be sent to its URL, as sentences."""
        found = [each.not_allowed_reason(self.target.url) for each in self.secrets]
        if names := names_in(self.target.url):
            found.append(f"Variables without a value in the URL: {', '.join(names)}.")
        return list(filter(None, found))


def refused(message: str) -> PreparedRequest:
    return PreparedRequest(problems=[RequestProblem("", message, "error")])


def agent_url_over(agent: Agent, binding: str) -> str:
    """Return the URL of `agent` over `binding`: see `playground.protocols.origins`."""
    if binding == agent.binding:
        return str(agent.url)
    others = Agent.objects.filter(owner=agent.owner_id, protocol=agent.protocol)
    found = others.exclude(pk=agent.pk).values_list("binding", "url")
    return url_over_binding(binding, agent.url, agent.binding, found)


def request_to(
    agent: Agent,
    request: dict[str, Any],
    headers: Headers = (),
    *,
    version: str | None = None,
    binding: str | None = None,
    url: str | None = None,
    auth: Mapping[str, Any] | None = None,
    wire: tuple[dict[str, Any], Headers, str] | None = None,
    **members: Any,
) -> PreparedRequest:
    """Return a request to `agent`; None stands for its own version, binding or URL.

    Over another binding than its own, its URL is that of `agent_url_over`.

    `wire` is the document, the headers and the URL that are sent, where they differ from those
    that are stored. `members` are others of `PreparedRequest`.
    """
    url = url or agent_url_over(agent, binding or agent.binding)
    document, own, wire_url = wire or (request, headers, url)
    target = agent.target(list(own), with_credentials=not auth)
    target = replace(
        target,
        url=wire_url,
        version=version or target.version,
        binding=binding or target.binding,
        # A handshake holds for the credentials that it was made with.
        handshake=None if wire else target.handshake,
    )
    return PreparedRequest(
        agent=agent,
        request=request,
        url=url,
        headers=headers,
        target=target,
        document=document,
        own_headers=own,
        auth=auth or {},
        **members,
    )


def action_request(
    agent: Agent,
    action: dict[str, Any],
    url: str,
    *,
    binding: str = "http",
    headers: Headers = (),
    as_agent: bool = False,
    resume: Mapping[str, Any] | None = None,
) -> PreparedRequest:
    """Return a request for an action of a result, a document of `playground.protocols.actions`.

    Its URL may be any, so no secret is sent and no name substituted. The agent's credentials are
    sent only with `as_agent`, which raises `ValueError` for any other origin than the agent's own.
    `resume` answers a question of the binding itself.
    """
    own = agent.auth_headers() if as_agent else []
    if own and not same_origin(url, agent.url):
        raise ValueError("An agent’s credentials are only sent to its own origin.")
    version = action.get("mcp_version")
    target = Target(
        url,
        registry.ACTION,
        binding,
        "",
        headers=tuple(merge_headers(own, headers)),
        mcp_version=lenient.text(version),
        resume=resume,
    )
    return PreparedRequest(
        agent, action, url, headers, target=target, document=action, own_headers=headers
    )


def request_of_run(
    run: Run, target: Target, document: dict[str, Any], redact: Sequence[str]
) -> PreparedRequest:
    """Return the request of a run to this target: for its driver, or to respond in its call.

    `document` is what is sent, `redact` are the texts to redact.
    """
    agent = run.target_agent or Agent(name=run.agent_name, url=run.url)
    return PreparedRequest(
        agent, run.request, run.url, target=target, document=document, other_credentials=redact
    )
