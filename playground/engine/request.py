"""A request ready to be sent: as its run stores it, and as it goes over the wire.

A `PreparedRequest` is all that the engine needs to record and to drive a run. Its stored half holds
placeholders of secrets; their values are in `WireValues` and in the target, which no `repr` shows
and nothing stores. `Secret` knows where its value may go.

For the engine, and for views and commands, which import most of it from `playground.engine`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from playground.library.credentials import clean_headers
from playground.models import Agent, Run, RunSource, SavedRequest
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.http import merge_headers
from playground.protocols.origins import origin_of, same_origin
from playground.transport.redaction import SHORTEST
from playground.variables import Substitution, Value, names_in

Headers = Sequence[tuple[str, str]]


class WithheldError(ValueError):
    """A secret does not go along: a sentence that names it and says why."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret of an environment that goes along with a request."""

    name: str
    value: str = field(repr=False)
    #: Where it may go, as "https://example.com".
    origins: tuple[str, ...] = ()

    def may_go(self, url: str) -> bool:
        """Return whether it may be sent to this address."""
        return any(same_origin(url, origin) for origin in self.origins)

    def against(self, url: str) -> str:
        """Return why it does not go to `url`, as a sentence; "" where it does.

        The address may hold other secrets, so its origin alone is named.
        """
        if len(self.value) < SHORTEST:
            return (
                f"The secret “{self.name}” has fewer than {SHORTEST} characters, which is too few"
                " to find it and blot it out in what comes back."
            )
        if self.may_go(url):
            return ""
        allowed = ", ".join(self.origins) or "nowhere yet"
        there = origin_of(url) or "an address that cannot be read"
        return f"The secret “{self.name}” may go to {allowed}, and this request goes to {there}."

    @property
    def forms(self) -> tuple[str, ...]:
        """Return what must not be shown: the value, and how headers disguise it."""
        return (self.value, self.value.strip(), encoded(self.value))


@dataclass(frozen=True, slots=True)
class WireValues:
    """The values of a request that only the wire sees. Never shown, never stored."""

    #: The stored document that `document` is sent for: see `PreparedRequest`.
    request: Mapping[str, Any] = field(repr=False)
    document: dict[str, Any] = field(repr=False)
    #: The request's own headers, those that authenticate among them.
    headers: Headers = field(repr=False)
    url: str = field(repr=False)
    secrets: tuple[Secret, ...] = ()
    #: What else must not be shown: pairs of user and password as Basic writes them.
    disguised: tuple[str, ...] = field(default=(), repr=False)

    @property
    def redact(self) -> list[str]:
        """Return what must not appear in any frame."""
        return [*self.disguised, *(form for secret in self.secrets for form in secret.forms)]

    def revised(self, request: dict[str, Any], change: Callable[[Any], Any]) -> WireValues:
        """Return the same for the document `request`, to which `change` has led."""
        return replace(self, request=request, document=change(self.document))

    def carrying(self, request: dict[str, Any]) -> WireValues:
        """Return the same with another document, in which the same secrets take their places."""
        return replace(self, request=request, document=filled(self.secrets).json(request).wire)

    def at(self, url: str) -> WireValues:
        """Return the same at another address, in which the same secrets take their places."""
        return replace(self, url=filled(self.secrets).url(url).wire)

    def refusals(self) -> list[str]:
        """Return why it must not be sent, a sentence for each secret that may not go there."""
        return list(filter(None, (secret.against(self.url) for secret in self.secrets)))


def filled(secrets: Iterable[Secret]) -> Substitution:
    """Return a substitution that puts in these secrets, and no other name."""
    known = {secret.name: Value(secret.value, secret=True) for secret in secrets}
    return Substitution(known.get, moment=datetime.now(UTC))


def encoded(text: str) -> str:
    """Encode a text as Base64, as Basic authentication does (RFC 7617, section 2)."""
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def authorising(
    auth: Mapping[str, Any],
    value: Callable[[str], str],
    encode: Callable[[str], str] = encoded,
) -> tuple[list[tuple[str, str]], str]:
    """Return the headers of a request's own authentication, and what else must not be shown.

    `auth` is that of a saved request, `value` gives a secret by its name, and `encode` writes a
    pair of user and password.
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


def keepable(headers: Headers) -> list[list[str]]:
    """Return headers as they may be stored: "" for every credential that is no placeholder."""
    return clean_headers([list(pair) for pair in headers])


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a request as its run stores it, by the names of columns of `Run`."""

    saved_request: SavedRequest | None = None
    request_template: Mapping[str, Any] | None = None
    environment: str = ""
    #: Names of the secrets that go along.
    secret_names: tuple[str, ...] = ()
    expectations: Sequence[Mapping[str, Any]] = ()
    source: str = RunSource.USER

    @property
    def columns(self) -> dict[str, Any]:
        """Return the columns, by their names."""
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
    """A request that a run can be made of: as the run stores it, and as it goes over the wire.

    What is stored has the names of the columns of `Run`: `agent`, `request`, `url`, `headers`.
    It is what is sent as well, unless secrets of an environment go along: then it holds their
    placeholders, and `wire` their values. Made by `request_to`, `action_request`,
    `automatic_reply`, and by `prepare` of a composition.
    """

    agent: Agent
    #: The document.
    request: dict[str, Any]
    url: str
    #: Where and how it is sent, with every header, credentials included. Never shown or stored.
    target: Target = field(repr=False)
    #: The request's own headers, credentials in the clear.
    headers: Headers = field(default=(), repr=False)
    #: How it authenticates, as a saved request says it; {} for the way of the agent.
    auth: Mapping[str, Any] = field(default_factory=dict)
    wire: WireValues | None = field(default=None, repr=False)
    provenance: Provenance = Provenance()

    def __post_init__(self) -> None:
        """Refuse a document beside which another one would be sent."""
        if self.wire is not None and self.wire.request is not self.request:
            raise ValueError("Change the document with `revised` or `carrying`.")

    @property
    def wire_document(self) -> dict[str, Any]:
        """Return the document as it is sent. Never shown, never stored."""
        return self.wire.document if self.wire else self.request

    @property
    def shown(self) -> Target:
        """Return the target with the placeholders of secrets.

        What authenticates at the agent is in it: whatever shows it leaves out what `redact` has.
        """
        if self.wire is None:
            return self.target
        headers, _ = authorising(self.auth, "{{{{{}}}}}".format, _password)
        own = list(merge_headers(headers, self.headers))
        target = self.agent.target(own, with_credentials=not self.auth)
        return replace(self.target, url=self.url, headers=target.headers)

    @property
    def redact(self) -> list[str]:
        """Return what must not appear in any frame: the agent's credentials, and what went in.

        An action leaves out what authenticates, but whoever runs it may have it from the agent.
        Other headers that carry credentials the transport knows by their names.
        """
        values = [self.agent.auth_secret] if self.agent.auth_secret else []
        for _, value in self.agent.auth_headers():
            # The credentials alone, too, whatever the scheme before them is.
            values += [value, value.partition(" ")[2].strip()]
        values += self.wire.redact if self.wire else []
        return sorted(filter(None, set(values)), key=len, reverse=True)

    def resuming(self, resume: Mapping[str, Any] | None) -> PreparedRequest:
        """Return the same with the answer to a question of the binding itself."""
        return replace(self, target=replace(self.target, resume=resume))

    def in_version(self, version: str) -> PreparedRequest:
        """Return the same in another version of its protocol; the document stays as it is."""
        return replace(self, target=replace(self.target, version=version))

    def revised(self, change: Callable[[Any], Any]) -> PreparedRequest:
        """Return the same with a document that `change` makes of this one, and of the one sent."""
        request = change(self.request)
        return replace(self, request=request, wire=self.wire and self.wire.revised(request, change))

    def carrying(self, request: dict[str, Any]) -> PreparedRequest:
        """Return the same with another document, in which the same secrets take their places."""
        return replace(self, request=request, wire=self.wire and self.wire.carrying(request))

    def at(self, url: str) -> PreparedRequest:
        """Return the same to another address, as a run stores it."""
        wire = self.wire and self.wire.at(url)
        target = replace(self.target, url=wire.url if wire else url)
        return replace(self, url=url, target=target, wire=wire)

    def refusals(self) -> list[str]:
        """Return why it must not be sent, as sentences, for example a secret that may not."""
        found = self.wire.refusals() if self.wire else []
        if names := names_in(self.target.url):
            found.append(f"Its address has names without a value: {', '.join(names)}.")
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
    """Return a request to `agent`, by its own version, binding and address where None is given."""
    own = wire.headers if wire else headers
    target = agent.target(list(own), with_credentials=not auth)
    url = url or agent.url
    target = replace(
        target,
        url=wire.url if wire else url,
        version=version or target.version,
        binding=binding or target.binding,
        # What was found out as somebody else holds for them.
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

    It goes to anybody, so nothing goes along, and nothing is put into it, whatever names stand
    there. The agent's credentials are sent only where `as_agent` asks for it; raises `ValueError`
    for any other origin than the agent's own. `resume` answers a question of the binding itself.
    """
    own = agent.auth_headers() if as_agent else []
    if own and not same_origin(url, agent.url):
        raise ValueError("An agent's credentials go to its own origin only.")
    sent = tuple(merge_headers(own, headers))
    target = Target(url, registry.ACTION, binding, "", headers=sent, resume=resume)
    return PreparedRequest(agent, action, url, target, headers)


def automatic_reply(
    run: Run, target: Target, document: dict[str, Any] | None, redact: Sequence[str]
) -> PreparedRequest:
    """Return an answer to a server's request in mid-call, which goes the way that `run` went.

    `document` and `redact` are what went out with the run, and what must not be shown of it.
    """
    agent = run.agent or Agent(name=run.agent_name, url=run.url)
    wire = WireValues(
        request=run.request,
        document=document or run.request,
        headers=(),
        url=target.url,
        disguised=tuple(redact),
    )
    return PreparedRequest(agent, run.request, run.url, target, wire=wire)


def _password(pair: str) -> str:
    return pair.partition(":")[2]
