"""Prepared requests: as a run stores them, and with the wire values that are sent.

A `PreparedRequest` is all that the engine needs to record and to drive a run. What is stored of it
holds the placeholders of secrets; their values are in `WireValues` and in the target, which no
`repr` shows and nothing stores.

For the engine, and for views and commands, which import most of it from `playground.engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from playground.collections.credentials import clean_headers
from playground.engine.secrets import Secret, request_auth_headers, secret_substitution
from playground.models import Agent, Run, RunSource, SavedRequest
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.http import merge_headers
from playground.protocols.origins import same_origin
from playground.variables import names_in

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class WireValues:
    """The parts of a request that hold the values of secrets. Never shown, never stored."""

    #: The stored document that `document` is sent for: see `PreparedRequest`.
    request: Mapping[str, Any] = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    #: The request's own headers, those that authenticate included.
    headers: Headers = field(repr=False)
    url: str = field(repr=False)
    secrets: tuple[Secret, ...] = ()
    #: Other texts to redact: pairs of user and password in the encoding of Basic.
    encoded_credentials: tuple[str, ...] = field(default=(), repr=False)

    @property
    def redact(self) -> list[str]:
        """The texts that appear in no frame."""
        encodings = (text for secret in self.secrets for text in secret.encodings)
        return [*self.encoded_credentials, *encodings]

    def with_change(self, request: dict[str, Any], change: Callable[[Any], Any]) -> WireValues:
        """Return a copy for the document `request`, the result of `change`."""
        return replace(self, request=request, document=change(self.document))

    def with_document(self, request: dict[str, Any]) -> WireValues:
        """Return a copy with another document, with the same secrets substituted."""
        document = secret_substitution(self.secrets).json(request).wire
        return replace(self, request=request, document=document)

    def with_url(self, url: str) -> WireValues:
        """Return a copy with another URL, with the same secrets substituted."""
        return replace(self, url=secret_substitution(self.secrets).url(url).wire)

    def errors(self) -> list[str]:
        """Return a sentence for each secret that may not be sent to the URL."""
        return list(filter(None, (each.not_allowed_reason(self.url) for each in self.secrets)))


def storable_headers(headers: Headers) -> list[list[str]]:
    """Return headers as they are stored: "" for every credential that is not a placeholder."""
    return clean_headers([list(pair) for pair in headers])


@dataclass(frozen=True, slots=True)
class Provenance:
    """The provenance of a request, by the names of columns of `Run`."""

    saved_request: SavedRequest | None = None
    request_template: Mapping[str, Any] | None = None
    environment: str = ""
    #: Names of the secrets that are sent.
    secret_names: tuple[str, ...] = ()
    expectations: Sequence[Mapping[str, Any]] = ()
    source: str = RunSource.USER

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of `Run`, by their names."""
        return {
            "saved_request": self.saved_request,
            "request_template": dict(self.request_template)
            if self.request_template is not None
            else None,
            "environment": self.environment,
            "source": self.source,
            "secret_names": list(self.secret_names),
            "expectations": [dict(each) for each in self.expectations],
        }


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request that a run can be made of: as the run stores it, and as it is sent.

    The stored parts have the names of columns of `Run`: `agent`, `request`, `url`, `headers`.
    They are sent as they are, unless secrets of an environment are sent as well: then they hold
    placeholders, and `wire` the values. Made by `request_to`, `action_request` and
    `automatic_response`, and by `prepare` from a request template.
    """

    agent: Agent
    #: The document.
    request: dict[str, Any]
    url: str
    #: URL, binding, version and all headers, credentials included. Never shown or stored.
    target: Target = field(repr=False)
    #: The request's own headers, with credentials as plain text.
    headers: Headers = field(default=(), repr=False)
    #: Its own authentication, as in `SavedRequest.auth`; {} for that of the agent.
    auth: Mapping[str, Any] = field(default_factory=dict)
    wire: WireValues | None = field(default=None, repr=False)
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        """Raise `ValueError` where `wire` belongs to another document."""
        if self.wire is not None and self.wire.request is not self.request:
            raise ValueError("Change the document with `with_change` or `with_document`.")

    @property
    def wire_document(self) -> dict[str, Any]:
        """The document as it is sent. Never shown, never stored."""
        return self.wire.document if self.wire else self.request

    @property
    def redacted_target(self) -> Target:
        """The target with the placeholders of secrets.

        It has the credentials of the agent: where it is shown, `redact` has to be applied.
        """
        if self.wire is None:
            return self.target
        headers, _ = request_auth_headers(self.auth, "{{{{{}}}}}".format, _password)
        own = list(merge_headers(headers, self.headers))
        target = self.agent.target(own, with_credentials=not self.auth)
        return replace(self.target, url=self.url, headers=target.headers)

    @property
    def redact(self) -> list[str]:
        """The texts that appear in no frame: the agent's credentials and the wire values.

        An action does not send the agent's credentials, but the response may still contain them.
        The transport redacts other credentials by the names of their headers.
        """
        values = [self.agent.auth_secret] if self.agent.auth_secret else []
        for _, value in self.agent.auth_headers():
            # The credentials without their scheme, too.
            values += [value, value.partition(" ")[2].strip()]
        values += self.wire.redact if self.wire else []
        return sorted(filter(None, set(values)), key=len, reverse=True)

    def resuming(self, resume: Mapping[str, Any] | None) -> PreparedRequest:
        """Return a copy that answers a question of the binding itself."""
        return replace(self, target=replace(self.target, resume=resume))

    def in_version(self, version: str) -> PreparedRequest:
        """Return a copy in another version of the protocol; the document is not changed."""
        return replace(self, target=replace(self.target, version=version))

    def with_change(self, change: Callable[[Any], Any]) -> PreparedRequest:
        """Return a copy with `change` applied to the stored document and to the one sent."""
        request = change(self.request)
        wire = self.wire and self.wire.with_change(request, change)
        return replace(self, request=request, wire=wire)

    def with_document(self, request: dict[str, Any]) -> PreparedRequest:
        """Return a copy with another document, with the same secrets substituted."""
        return replace(self, request=request, wire=self.wire and self.wire.with_document(request))

    def with_url(self, url: str) -> PreparedRequest:
        """Return a copy with another URL, given as a run stores it."""
        wire = self.wire and self.wire.with_url(url)
        target = replace(self.target, url=wire.url if wire else url)
        return replace(self, url=url, target=target, wire=wire)

    def errors(self) -> list[str]:
        """Return why the request must not be sent, as sentences."""
        found = self.wire.errors() if self.wire else []
        if names := names_in(self.target.url):
            found.append(f"Variables without a value in the URL: {', '.join(names)}.")
        return found


def request_to(
    agent: Agent,
    request: dict[str, Any],
    headers: Headers = (),
    *,
    version: str | None = None,
    binding: str | None = None,
    url: str | None = None,
    auth: Mapping[str, Any] | None = None,
    wire: WireValues | None = None,
    provenance: Provenance | None = None,
) -> PreparedRequest:
    """Return a request to `agent`; None stands for its own version, binding or URL."""
    own = wire.headers if wire else headers
    target = agent.target(list(own), with_credentials=not auth)
    url = url or agent.url
    target = replace(
        target,
        url=wire.url if wire else url,
        version=version or target.version,
        binding=binding or target.binding,
        # A handshake holds for the credentials that it was made with.
        handshake=None if wire else target.handshake,
    )
    return PreparedRequest(
        agent, request, url, target, headers, auth or {}, wire, provenance or Provenance()
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
        mcp_version=version if isinstance(version, str) else "",
        resume=resume,
    )
    return PreparedRequest(agent, action, url, target, headers)


def automatic_response(
    run: Run, target: Target, document: dict[str, Any] | None, redact: Sequence[str]
) -> PreparedRequest:
    """Return a response to a server's request during `run`, with the same target.

    `document` is the document that was sent with the run, `redact` the texts to redact.
    """
    agent = run.target_agent or Agent(name=run.agent_name, url=run.url)
    wire = WireValues(
        request=run.request,
        document=document or run.request,
        headers=(),
        url=target.url,
        encoded_credentials=tuple(redact),
    )
    return PreparedRequest(agent, run.request, run.url, target, wire=wire)


def _password(pair: str) -> str:
    return pair.partition(":")[2]
