"""What a run can be made of: a request as it is kept and as it is sent, an action, an errand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from playground.engine.secrets import Headers as Headers
from playground.engine.secrets import Sending, authorising
from playground.models import Agent, MadeBy, SavedRequest
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.http import merged
from playground.protocols.origins import same_origin
from playground.variables import names_in


class Sendable(Protocol):
    """What a run can be made of: a document, where it goes, and what must stay secret."""

    @property
    def agent(self) -> Agent:
        """The agent that the run belongs to."""
        ...

    @property
    def request(self) -> dict[str, Any]:
        """The document, as it is kept with the run."""
        ...

    @property
    def document(self) -> dict[str, Any]:
        """The document as it is sent. Never shown, never stored."""
        ...

    @property
    def headers(self) -> Headers:
        """The request's own headers, credentials in the clear, of secrets their placeholders."""
        ...

    @property
    def target(self) -> Target:
        """The target with every header, credentials included. Never shown, never stored."""
        ...

    @property
    def address(self) -> str:
        """Where it goes, as the run keeps it."""
        ...

    @property
    def secrets(self) -> list[str]:
        """What must not appear in any frame."""
        ...


@dataclass(frozen=True, slots=True)
class Origin:
    """What a request was made of, as its run keeps it: columns of `Run`."""

    saved_request: SavedRequest | None = None
    template: Mapping[str, Any] | None = None
    environment: str = ""
    secrets: tuple[str, ...] = ()
    expectations: Sequence[Mapping[str, Any]] = ()
    made_by: str = MadeBy.USER

    @property
    def columns(self) -> dict[str, Any]:
        """The columns, by their names."""
        return {
            "saved_request": self.saved_request,
            "template": dict(self.template) if self.template is not None else None,
            "environment": self.environment,
            "made_by": self.made_by,
            "secrets": list(self.secrets),
            "expectations": [dict(each) for each in self.expectations],
        }


@dataclass(frozen=True, slots=True)
class Draft:
    """A composed request and where it is to go, as it is kept and as it is sent.

    Both are the same where no secret of an environment goes along. Where one does, `request`,
    `headers` and `url` hold its placeholder, and `sending` what the wire sees.
    """

    agent: Agent
    request: dict[str, Any]
    headers: Headers = field(default=(), repr=False)
    #: The protocol version to speak; None for the agent's own.
    version: str | None = None
    #: How it travels; None for the agent's own binding.
    binding: str | None = None
    #: The answer to a question of the binding itself.
    resume: Mapping[str, Any] | None = None
    #: Where it goes, for a binding that is not the agent's own; None for the agent's address.
    url: str | None = None
    #: How it authenticates, as a saved request says it; {} for the way of the agent.
    auth: Mapping[str, Any] = field(default_factory=dict)
    sending: Sending | None = field(default=None, repr=False)
    origin: Origin = Origin()

    def __post_init__(self) -> None:
        """Refuse a document beside which another one would be sent."""
        if self.sending is not None and self.sending.request is not self.request:
            raise ValueError("Change the document with `revised` or `carrying`.")

    @property
    def document(self) -> dict[str, Any]:
        """The document as it is sent. Never shown, never stored."""
        return self.sending.document if self.sending else self.request

    @property
    def address(self) -> str:
        """Where it goes, as the run keeps it."""
        return self.url or self.agent.url

    @property
    def target(self) -> Target:
        """The target with every header, credentials included. Never shown, never stored."""
        own = self.sending.headers if self.sending else self.headers
        target = self.agent.target(list(own), with_credentials=not self.auth)
        return replace(
            target,
            url=self.sending.url if self.sending else self.address,
            version=self.version or target.version,
            binding=self.binding or target.binding,
            resume=self.resume,
            # What was found out as somebody else holds for them.
            opening=target.opening if self.is_own_way else None,
        )

    @property
    def shown(self) -> Target:
        """The target as it may be shown: with the placeholders of secrets."""
        headers, _ = authorising(self.auth, "{{{{{}}}}}".format, _password)
        own = list(merged(headers, self.headers))
        target = self.agent.target(own, with_credentials=not self.auth)
        return replace(self.target, url=self.address, headers=target.headers)

    @property
    def is_own_way(self) -> bool:
        """Whether it shows who asks as its agent always does."""
        return self.sending is None and not self.auth

    @property
    def secrets(self) -> list[str]:
        """What must not appear in any frame: what authenticates at this agent, and what went in.

        Other headers that carry credentials the transport knows by their names.
        """
        values = [self.agent.auth_secret] if self.agent.auth_secret else []
        for _, value in self.agent.auth_headers():
            # The credentials alone, too, whatever the scheme before them is.
            values += [value, value.partition(" ")[2].strip()]
        values += self.sending.redact if self.sending else []
        return sorted(filter(None, set(values)), key=len, reverse=True)

    def revised(self, change: Callable[[Any], Any]) -> Draft:
        """The same with a document that `change` makes of this one: with and without secrets."""
        request = change(self.request)
        sending = self.sending and self.sending.revised(request, change)
        return replace(self, request=request, sending=sending)

    def carrying(self, request: dict[str, Any]) -> Draft:
        """The same with another document, in which the same secrets take their places."""
        sending = self.sending and self.sending.carrying(request)
        return replace(self, request=request, sending=sending)

    def at(self, url: str) -> Draft:
        """The same to another address, as a run keeps it."""
        return replace(self, url=url, sending=self.sending and self.sending.at(url))

    def refusals(self) -> list[str]:
        """Why it must not be sent, as sentences: secrets that may not go there, and the like."""
        found = self.sending.refusals() if self.sending else []
        if names := names_in(self.target.url):
            found.append(f"Its address has names without a value: {', '.join(names)}.")
        return found


@dataclass(frozen=True, slots=True)
class ActionDraft:
    """An action of a result, and where it is to go: to anybody, so nothing goes along.

    The agent's credentials are sent only where `as_agent` asks for it, which is refused for
    any other origin than the agent's own.
    """

    agent: Agent
    #: The action document of `playground.protocols.actions`.
    request: dict[str, Any]
    url: str
    binding: str = "http"
    headers: Headers = field(default=(), repr=False)
    as_agent: bool = False
    #: The answer to a question of the binding itself.
    resume: Mapping[str, Any] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The document: nothing is put into it, whatever names stand there."""
        return self.request

    @property
    def address(self) -> str:
        """Where it goes: nothing is put into it either."""
        return self.url

    @property
    def target(self) -> Target:
        """The action's address with the headers that the user added."""
        own = tuple(self.agent.auth_headers()) if self.as_agent else ()
        if own and not same_origin(self.url, self.agent.url):
            raise ValueError("An agent's credentials go to its own origin only.")
        taken = {name.lower() for name, _ in self.headers}
        kept = tuple(pair for pair in own if pair[0].lower() not in taken)
        headers = (*kept, *self.headers)
        return Target(
            self.url, registry.ACTION, self.binding, "", headers=headers, resume=self.resume
        )

    @property
    def secrets(self) -> list[str]:
        """What must not appear in any frame: the agent may hand its caller's secrets around."""
        return Draft(self.agent, {}).secrets


@dataclass(frozen=True, slots=True)
class ErrandDraft:
    """An answer to a server's request that goes by itself, the way that the run went."""

    agent: Agent
    request: dict[str, Any]
    target: Target = field(repr=False)
    secrets: list[str] = field(repr=False)
    #: The document as it is sent, and where it goes as the run keeps it.
    document: dict[str, Any] = field(repr=False)
    address: str
    headers: Headers = field(default=(), repr=False)


def _password(pair: str) -> str:
    return pair.partition(":")[2]
