"""Agent cards: how an A2A agent describes itself.

Read leniently, in the shapes of 0.3 (`url`, `preferredTransport`, `additionalInterfaces`) and
of 1.0 (`supportedInterfaces`), which agents also mix. Total: any JSON value is read, and parts
that cannot be used are named as problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground.protocols import lenient
from playground.protocols.a2a import versions
from playground.protocols.origins import origin_of

#: Bytes of a card that are read: those of real agents have a few thousand.
MAX_BYTES = 1_000_000
#: Interfaces and skills of a card that are read.
MAX_INTERFACES, MAX_SKILLS = 50, 200
#: Characters of a name and of a text that are kept.
MAX_NAME, MAX_TEXT = 200, 2_000

JSONRPC = "JSONRPC"


@dataclass(frozen=True, slots=True)
class Interface:
    """One URL of an agent with its transport and version."""

    url: str
    #: `JSONRPC`, `GRPC`, `HTTP+JSON`, or any other text of the card.
    transport: str
    #: As the card writes it.
    version: str

    @property
    def supported_version(self) -> versions.A2AVersion | None:
        """The row of its version, None if the version or the transport is not supported."""
        return versions.get_version(self.version) if self.transport.upper() == JSONRPC else None


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill of an agent."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class AgentCard:
    """The members of a card that are used."""

    name: str
    description: str
    interfaces: tuple[Interface, ...]
    skills: tuple[Skill, ...]
    streaming: bool
    #: Names of the security schemes that the card requires.
    security: tuple[str, ...]
    #: Members that are missing or of the wrong type, as sentences.
    problems: tuple[str, ...] = ()
    #: Whether the agent can send the state of a task to a webhook of its client.
    push_notifications: bool = False

    @property
    def is_push_only(self) -> bool:
        """Return whether the agent announces results by push notifications and has no streams."""
        return self.push_notifications and not self.streaming

    @property
    def chosen(self) -> Interface | None:
        """The interface over JSON-RPC of the highest version, the first of equals."""
        usable = [each for each in self.interfaces if each.supported_version]
        return max(usable, key=_rank, default=None)

    @property
    def url(self) -> str:
        """The URL for messages, "" if the card has no interface that can be used."""
        return self.chosen.url if self.chosen else ""

    @property
    def version(self) -> versions.A2AVersion | None:
        return self.chosen.supported_version if self.chosen else None

    def to_json(self) -> dict[str, Any]:
        """Return the members that are used, as a card of 1.0."""
        return {
            "name": self.name,
            "description": self.description,
            "supportedInterfaces": [
                {
                    "url": each.url,
                    "protocolBinding": each.transport,
                    "protocolVersion": each.version,
                }
                for each in self.interfaces
            ],
            "capabilities": {
                "streaming": self.streaming,
                "pushNotifications": self.push_notifications,
            },
            "securityRequirements": [{"schemes": {name: []}} for name in self.security],
            "skills": [
                {"id": each.id, "name": each.name, "description": each.description}
                for each in self.skills
            ],
        }

    def has_skill(self, skill: str) -> bool:
        """Return whether the card has a skill of this id or of this name."""
        return any(skill in (each.id, each.name) for each in self.skills)

    def names(self, url: str) -> bool:
        """Return whether a URL is among those of the card."""
        return any(is_same(url, each.url) for each in self.interfaces)


def _rank(interface: Interface) -> int:
    names = list(versions.VERSIONS)
    return names.index(interface.supported_version.name) if interface.supported_version else -1


def is_card(value: Any) -> bool:
    """Return whether a JSON value is a card: an object with interfaces or a URL."""
    return isinstance(value, Mapping) and ("supportedInterfaces" in value or "url" in value)


def read_card(value: Any) -> AgentCard:
    """Never raises."""
    raw = lenient.members(value)
    skills = raw.get("skills")
    capabilities = lenient.members(raw.get("capabilities"))
    interfaces = tuple(_interfaces(raw))
    return AgentCard(
        name=_text(raw.get("name"), MAX_NAME),
        description=_text(raw.get("description")),
        interfaces=interfaces,
        skills=tuple(_skills(skills)),
        streaming=capabilities.get("streaming") is True,
        security=tuple(_security(raw)),
        problems=tuple(_problems(raw, interfaces)),
        push_notifications=capabilities.get("pushNotifications") is True,
    )


def is_same(url: str, other: str) -> bool:
    """Return whether two URLs are the same after normalization."""
    left, right = _key(url), _key(other)
    return left is not None and left == right


def url_at(agent_url: str, card_url: str) -> str:
    """Return the URL of a card at the origin of the agent's URL, "" if one of them has none.

    For cards of servers that do not know how they are reached: `http://0.0.0.0:8000/`.
    """
    origin = origin_of(agent_url)
    if not origin or not origin_of(card_url):
        return ""
    return origin + urlunsplit(urlsplit(card_url)._replace(scheme="", netloc="", fragment=""))


def _key(url: str) -> tuple[str, str, str, str] | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if not (origin := origin_of(url.strip())):
        return None
    return origin, parts.netloc.rpartition("@")[0], parts.path.rstrip("/"), parts.query


def _interfaces(raw: Mapping[str, Any]) -> Iterator[Interface]:
    """Return the interfaces in the shape of 1.0, then those of 0.3, each once."""
    found: dict[Interface, None] = {}
    listed = raw.get("supportedInterfaces")
    for each in listed[:MAX_INTERFACES] if isinstance(listed, list) else []:
        if isinstance(each, Mapping):
            transport = each.get("protocolBinding") or each.get("transport")
            found[_interface(each, transport, each.get("protocolVersion") or "1.0")] = None
    old = raw.get("protocolVersion") or "0.3"
    found[_interface(raw, raw.get("preferredTransport") or JSONRPC, old)] = None
    more = raw.get("additionalInterfaces")
    for each in more[:MAX_INTERFACES] if isinstance(more, list) else []:
        if isinstance(each, Mapping):
            found[_interface(each, each.get("transport"), old)] = None
    return (each for each in found if each.url)


def _interface(raw: Mapping[str, Any], transport: Any, version: Any) -> Interface:
    return Interface(_text(raw.get("url")), _text(transport, 40), _text(version, 40))


def _skills(value: Any) -> Iterator[Skill]:
    for each in value[:MAX_SKILLS] if isinstance(value, list) else []:
        if isinstance(each, Mapping):
            own_id, name = _text(each.get("id"), MAX_NAME), _text(each.get("name"), MAX_NAME)
            if own_id or name:
                yield Skill(own_id or name, name or own_id, _text(each.get("description")))


def _security(raw: Mapping[str, Any]) -> Iterator[str]:
    """Yield the schemes that a requirement names, not all that the card declares."""
    required = raw.get("securityRequirements") or raw.get("security")
    for each in required[:MAX_INTERFACES] if isinstance(required, list) else []:
        if isinstance(each, Mapping):
            # 1.0 nests the names one level deeper.
            inner = each.get("schemes")
            names = list(inner if isinstance(inner, Mapping) else each)
            yield from (str(name)[:MAX_NAME] for name in names[:MAX_INTERFACES])


def _problems(raw: Mapping[str, Any], interfaces: tuple[Interface, ...]) -> Iterator[str]:
    if not interfaces:
        yield "The agent card has no URL."
    elif not any(each.supported_version for each in interfaces):
        offered = ", ".join(f"{each.transport or '?'} {each.version or '?'}" for each in interfaces)
        yield f"The agent card lists only unsupported interfaces: {offered[:MAX_NAME]}."
    skills = raw.get("skills")
    if not isinstance(skills, list):
        yield "The agent card has no array of skills."
    elif len(skills) > MAX_SKILLS:
        yield f"The agent card has {len(skills):,} skills; only the first {MAX_SKILLS} were read."


def _text(value: Any, max_length: int = MAX_TEXT) -> str:
    return value.strip()[:max_length] if isinstance(value, str) else ""
