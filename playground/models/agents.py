"""Agents, which are named targets of requests, with what was detected of them; action servers."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from playground.models.columns import (
    OBJECT,
    PAIRS,
    EncryptedJSONField,
    EncryptedTextField,
    JSONTextField,
    NameSlugField,
    ProtocolField,
    valid_columns,
)
from playground.models.rows import NaturalKeyManager, Owned, OwnedQuerySet, unique_per_owner
from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.headers import is_credential
from playground.protocols.origins import MAX_URL, same_origin

if TYPE_CHECKING:
    from playground.models.runs import Run

#: Slugs that are paths of other pages under /agents/.
_RESERVED = frozenset({"new"})
#: Separators of the parts of a URL: `a.example:8000/ask` gets the slug `a-example-8000-ask`.
_PARTS = re.compile(r"[./:?&=]+")

#: Paths of the demo's agents on the origin of this playground, by slug.
DEMOS = {
    "demo": "/demo",
    "demo-mcp": "/demo/mcp",
    "demo-agent-api": "/demo/agent-api",
    "demo-chat-completions": "/demo/v1/chat/completions",
}


class Agent(Owned):
    """A named target: URL, protocol, binding, version and authentication."""

    class Binding(models.TextChoices):
        """The binding that requests are sent over."""

        HTTP = "http", "HTTP"
        MCP = "mcp", "MCP"

    class Auth(models.TextChoices):
        """The authentication scheme."""

        NONE = "none", "None"
        BEARER = "bearer", "Bearer token"
        API_KEY = "api_key", "API key in a header"
        BASIC = "basic", "User name and password"

    class AnswerStrategy(models.TextChoices):
        """The answer strategy: NLWeb leaves open how answers to questions are sent."""

        FILTERS = "filters", "As filters"
        TEXT = "text", "In the text"
        CONTEXT = "context", "In the context"
        TEMPLATE = "template", "By a template"

    class OwnIds(models.TextChoices):
        """The setting that adds a session id and a user id to first requests."""

        AUTO = "auto", "Automatic"
        ON = "on", "Send"
        OFF = "off", "Don’t send"

    name = models.CharField(max_length=80)
    slug = NameSlugField(
        max_length=90, within="owner", fallback="agent", reserved=_RESERVED,
        prepare=lambda name: _PARTS.sub("-", name),
    )  # fmt: skip
    url = models.CharField("URL", max_length=MAX_URL)
    #: The protocol of request documents.
    protocol = ProtocolField()
    binding = models.CharField(max_length=10, choices=Binding, default=Binding.HTTP)
    version = models.CharField(max_length=10, default="0.55")
    auth = models.CharField("authentication", max_length=10, choices=Auth, default=Auth.NONE)
    auth_header = models.CharField("header", max_length=100, blank=True)
    auth_user = models.CharField("user name", max_length=200, blank=True)
    #: Token, key or password.
    auth_secret = EncryptedTextField("secret", blank=True)
    #: Sent with every request, as [[name, value], ...]. Encrypted: some carry credentials.
    headers = EncryptedJSONField(default=list, blank=True, shape=PAIRS)
    notes = models.TextField(blank=True)
    #: Whether pictures named in its responses are loaded without a click.
    load_pictures = models.BooleanField("load pictures automatically", default=False)
    own_ids = models.CharField(
        "session and user id", max_length=4, choices=OwnIds, default=OwnIds.AUTO
    )
    #: Names of the tools that take requests over MCP; empty for what the tool list suggests.
    ask_tool = models.CharField("tool for ask", max_length=128, blank=True)
    await_tool = models.CharField("tool for await", max_length=128, blank=True)
    #: The version of MCP to use, one of `protocols.mcp.versions`; empty to find out.
    mcp_version = models.CharField("MCP version", max_length=10, blank=True)
    #: The handshake of the last exchange over MCP: see `protocols.exchange.Exchange.handshake`.
    #: The session itself belongs to a conversation. Encrypted, as the id was in it before.
    handshake = EncryptedJSONField(default=dict, blank=True, editable=False, shape=OBJECT)
    #: The result of the connection doctor, the detected settings and the complete report:
    #: {"protocol", "version", "binding", "generation", "dialect", "label", "url", "at", "report"}.
    #: While a diagnosis is in progress, or when it detected nothing, there is only the report.
    detected = JSONTextField(null=True, blank=True, editable=False, shape=OBJECT)
    #: The answer strategy that was used last.
    answer_strategy = models.CharField(
        max_length=10, choices=AnswerStrategy, default=AnswerStrategy.FILTERS
    )
    answer_template = models.TextField(blank=True)
    #: No `auto_now_add`: a fixture may omit it.
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = NaturalKeyManager.from_queryset(OwnedQuerySet)()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            *unique_per_owner("agent_slug", "slug"),
            *valid_columns("agent", _RESERVED, ["protocol"], binding=registry.BINDINGS),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("agent", args=[self.slug])

    def natural_key(self) -> tuple[str]:
        """Return the slug, which names the agent in fixtures and on the command line."""
        return (self.slug,)

    @property
    def protocol_label(self) -> str:
        """A short label: the version, and the binding where that is not HTTP."""
        if not registry.spec(self.protocol).has_versions:
            return str(self.get_protocol_display())
        version = "older" if self.version == "legacy" else self.version
        if self.binding == self.Binding.HTTP:
            return version
        return f"{version} {self.get_binding_display()}"

    @property
    def known_protocol(self) -> str:
        return registry.known(self.protocol)

    @property
    def handshake_key(self) -> tuple[object, ...]:
        """The URL, protocol, binding, version and credentials that a handshake is valid for."""
        headers = [tuple(pair) for pair in self.headers]
        settings_ = (self.url, self.protocol, self.binding, self.mcp_version)
        return *settings_, self.auth_headers(), headers

    def save_handshake(self, handshake: Mapping[str, Any]) -> None:
        """Save a handshake over MCP, unless the agent was changed meanwhile.

        With other credentials a server may offer other tools.
        """
        with transaction.atomic():
            stored = type(self).objects.select_for_update().filter(pk=self.pk).first()
            if stored is not None and stored.handshake_key == self.handshake_key:
                stored.handshake = dict(handshake)
                # One that exceeds a limit is made again by the next exchange.
                with contextlib.suppress(ValidationError):
                    stored.save(update_fields=["handshake"])

    def with_own_ids(self, document: Mapping[str, Any], own_id: str) -> dict[str, Any]:
        """Return a first request with a session id of its own, as `own_ids` says.

        With the setting on, it has a user id as well, which is an extension.
        """
        with_ids = registry.spec(self.protocol).with_own_ids
        if with_ids is None or self.own_ids == self.OwnIds.OFF:
            return dict(document)
        return with_ids(document, own_id, with_user=self.own_ids == self.OwnIds.ON)

    def auth_headers(self) -> list[tuple[str, str]]:
        """Return the headers that authenticate, secrets in plain text. For the transport only."""
        match self.auth:
            case self.Auth.BEARER if self.auth_secret:
                return [("Authorization", f"Bearer {self.auth_secret}")]
            case self.Auth.API_KEY if self.auth_secret:
                return [(self.auth_header or "X-API-Key", self.auth_secret)]
            case self.Auth.BASIC:
                pair = f"{self.auth_user}:{self.auth_secret}".encode()
                return [("Authorization", f"Basic {base64.b64encode(pair).decode()}")]
            case _:
                return []

    def target(
        self, headers: list[tuple[str, str]] | None = None, *, with_credentials: bool = True
    ) -> Target:
        """Return the agent's target, with the request's own `headers` after the agent's.

        A header of the request replaces the agent's header of the same name. Without
        `with_credentials` no credentials are included, those in the agent's headers neither.
        """
        own = headers or []
        replaced = {name.lower() for name, _ in own}
        base = [(str(name), str(value)) for name, value in self.headers]
        if with_credentials:
            base += self.auth_headers()
        else:
            base = [pair for pair in base if not is_credential(pair[0])]
        remaining = [pair for pair in base if pair[0].lower() not in replaced]
        return Target(
            url=self.url,
            protocol=self.protocol,
            binding=self.binding,
            version=self.version,
            headers=tuple(remaining + own),
            tools=(self.ask_tool, self.await_tool),
            handshake=self.handshake or None,
            mcp_version=self.mcp_version,
        )


# Results of the connection doctor


def report_of(subject: Agent | Run) -> dict[str, Any] | None:
    """Return the latest report of an agent or a run, None without one or if its URL has changed."""
    detected = subject.detected
    report = detected.get("report") if isinstance(detected, dict) else None
    if not isinstance(report, dict) or report.get("url", subject.url) != subject.url:
        return None
    return report


#: The detected settings that are stored with a run, and their greatest length.
_SETTINGS = ("protocol", "version", "binding", "generation", "dialect", "label", "url", "at")
_MAX_SETTING = MAX_URL


def detected_settings(value: Any) -> dict[str, str] | None:
    """Return detected settings in a value of the composer's form, None for anything else."""
    if not isinstance(value, dict) or not isinstance(value.get("label"), str):
        return None
    texts = ((name, value.get(name)) for name in _SETTINGS)
    return {name: text[:_MAX_SETTING] for name, text in texts if isinstance(text, str)}


def proposed_changes(agent: Agent) -> dict[str, str]:
    """Return the fields of the agent that differ from the detected settings, with those.

    Empty where nothing was detected or nothing differs. The URL never changes its origin: the
    agent's credentials belong to that origin.
    """
    report = report_of(agent)
    found = report.get("found") if report else None
    if not isinstance(found, dict) or found.get("protocol") not in registry.PROTOCOLS:
        return {}
    wanted = {
        "url": _url(agent, found),
        "protocol": found["protocol"],
        "binding": found["binding"] if found.get("binding") in registry.BINDINGS else "http",
        "version": registry.known_version(found["protocol"], found.get("version"), agent.version),
    }
    return {name: value for name, value in wanted.items() if getattr(agent, name) != value}


def detected_target(run: Run) -> dict[str, str]:
    """Return the detected target of a run to a URL: `url`, `protocol`, `binding`, `version`.

    Empty where nothing was detected, or the run was sent to just that.
    """
    agent = run.target_agent if run.sent_to_url else None
    if agent is None:
        return {}
    agent.detected = run.detected
    changes = proposed_changes(agent)
    names = ("url", "protocol", "binding", "version")
    return {name: changes.get(name, getattr(agent, name)) for name in names} if changes else {}


def _url(agent: Agent, found: dict[str, Any]) -> str:
    """Return the detected URL; the agent's own where it is equivalent."""
    url = found.get("url")
    if not isinstance(url, str) or not same_origin(url, agent.url) or len(url) > MAX_URL:
        return agent.url
    own = agent.url.partition("?")[0].rstrip("/")
    return agent.url if url.rstrip("/") in (own, own.removesuffix("/ask")) else url


# Action servers


class ActionServer(Owned):
    """A server of another protocol that an action is run on, stored for its user.

    NLWeb 0.55 section 5: an MCP action names its server by an identifier, which is not a URL;
    the user enters the URL once. An A2A action names its agent by the URL of its agent card.
    """

    class Protocol(models.TextChoices):
        """The protocol of the server."""

        MCP = "mcp", "MCP"
        A2A = "a2a", "A2A"

    protocol = models.CharField(max_length=4, choices=Protocol)
    #: Its name in actions: an identifier (MCP) or a URL (A2A).
    identifier = models.CharField(max_length=MAX_URL)
    url = models.CharField("URL", max_length=MAX_URL)
    #: The version of MCP to use, "" to find out. See `Agent.mcp_version`.
    mcp_version = models.CharField("MCP version", max_length=10, blank=True)
    #: The tools of an MCP server or the card of an A2A agent, as read last.
    description = JSONTextField(null=True, blank=True)
    described_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        ordering = ["protocol", "identifier"]
        constraints = unique_per_owner("action_server", "protocol", "identifier")

    def __str__(self) -> str:
        return f"{self.identifier} at {self.url}"
