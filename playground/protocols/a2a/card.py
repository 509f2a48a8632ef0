"""Agent cards: what an A2A agent says of itself, and where it is to be found.

Read leniently, in the shapes of 0.3 (`url`, `preferredTransport`, `additionalInterfaces`) and
of 1.0 (`supportedInterfaces`), which agents also mix. Total: any JSON value is read, and what
cannot be used of it is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground.protocols.a2a import versions
from playground.protocols.origins import origin_of

#: Bytes of a card that are read: those of real agents have a few thousand.
MAX_BYTES = 1_000_000
#: Interfaces and skills of a card that are looked at.
MAX_INTERFACES, MAX_SKILLS = 50, 200
#: Characters of a name and of a text that are kept.
MAX_NAME, MAX_TEXT = 200, 2_000

WELL_KNOWN = "/.well-known/agent-card.json"
#: Where agents up to A2A 0.2 had it.
OLD_WELL_KNOWN = "/.well-known/agent.json"
JSONRPC = "JSONRPC"


@dataclass(frozen=True, slots=True)
class Interface:
    """One way to reach an agent."""

    url: str
    #: `JSONRPC`, `GRPC`, `HTTP+JSON`, or what else the card says.
    transport: str
    #: As the card writes it.
    version: str

    @property
    def supported_version(self) -> versions.A2AVersion | None:
        """The version that it can be spoken with, None where there is no way."""
        return versions.get_version(self.version) if self.transport.upper() == JSONRPC else None


@dataclass(frozen=True, slots=True)
class Skill:
    """One thing that an agent says that it can do."""

    id: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class AgentCard:
    """What is used of a card."""

    name: str
    description: str
    interfaces: tuple[Interface, ...]
    skills: tuple[Skill, ...]
    streaming: bool
    #: Ways to show who is asking that the card lists, by name.
    security: tuple[str, ...]
    #: What is missing or of the wrong type, as sentences.
    problems: tuple[str, ...] = ()

    @property
    def chosen(self) -> Interface | None:
        """The interface over JSON-RPC of the highest version, the first of equals."""
        usable = [each for each in self.interfaces if each.supported_version]
        return max(usable, key=_rank, default=None)

    @property
    def url(self) -> str:
        """Where messages go, "" where the card names no address that can be used."""
        return self.chosen.url if self.chosen else ""

    @property
    def version(self) -> versions.A2AVersion | None:
        """The version that is spoken there."""
        return self.chosen.supported_version if self.chosen else None

    def to_json(self) -> dict[str, Any]:
        """The card without all that is not used, as a card of 1.0."""
        return {
            "name": self.name,
            "description": self.description,
            "supportedInterfaces": [
                {"url": one.url, "protocolBinding": one.transport, "protocolVersion": one.version}
                for one in self.interfaces
            ],
            "capabilities": {"streaming": self.streaming},
            "securityRequirements": [{"schemes": {name: []}} for name in self.security],
            "skills": [
                {"id": one.id, "name": one.name, "description": one.description}
                for one in self.skills
            ],
        }

    def has_skill(self, asked: str) -> bool:
        """Whether the card has a skill of this id, or failing that of this name."""
        return any(asked in (skill.id, skill.name) for skill in self.skills)

    def names(self, url: str) -> bool:
        """Whether an address is among those of the card."""
        return any(is_same(url, each.url) for each in self.interfaces)


def _rank(interface: Interface) -> int:
    names = list(versions.VERSIONS)
    return names.index(interface.supported_version.name) if interface.supported_version else -1


def is_card(value: Any) -> bool:
    """Whether a JSON value is a card: some agent, and some way to reach it."""
    return isinstance(value, Mapping) and ("supportedInterfaces" in value or "url" in value)


def read_card(value: Any) -> AgentCard:
    """What a JSON value says as a card. Never raises."""
    raw: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    skills = raw.get("skills")
    capabilities = raw.get("capabilities")
    interfaces = tuple(_interfaces(raw))
    streaming = isinstance(capabilities, Mapping) and capabilities.get("streaming") is True
    return AgentCard(
        name=_text(raw.get("name"), MAX_NAME),
        description=_text(raw.get("description")),
        interfaces=interfaces,
        skills=tuple(_skills(skills)),
        streaming=streaming,
        security=tuple(_security(raw)),
        problems=tuple(_problems(raw, interfaces)),
    )


def well_known(agent_url: str) -> tuple[str, ...]:
    """Where the card of the agent at `agent_url` may be, the likeliest first.

    RFC 8615 has well-known addresses at the origin alone; agents that share an origin have
    theirs below their own path. Empty for what is no address of HTTP.
    """
    try:
        parts = urlsplit(agent_url.strip())
    except ValueError:
        return ()
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return ()
    path = parts.path.rstrip("/")
    if path.endswith((WELL_KNOWN, OLD_WELL_KNOWN)):
        return (urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")),)
    places = (WELL_KNOWN, path + WELL_KNOWN, OLD_WELL_KNOWN, path + OLD_WELL_KNOWN)
    return tuple(dict.fromkeys(f"{parts.scheme}://{parts.netloc}{place}" for place in places))


def is_same(one: str, other: str) -> bool:
    """Whether two addresses are one, however they are written."""
    left, right = _key(one), _key(other)
    return left is not None and left == right


def _key(url: str) -> tuple[str, str, str, str] | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if not (origin := origin_of(url.strip())):
        return None
    return origin, parts.netloc.rpartition("@")[0], parts.path.rstrip("/"), parts.query


def _interfaces(raw: Mapping[str, Any]) -> Iterator[Interface]:
    """Those of 1.0, then those of 0.3, each once."""
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
            own, name = _text(each.get("id"), MAX_NAME), _text(each.get("name"), MAX_NAME)
            if own or name:
                yield Skill(own or name, name or own, _text(each.get("description")))


def _security(raw: Mapping[str, Any]) -> Iterator[str]:
    """What has to be shown, not what may be: schemes that no requirement names are left out."""
    required = raw.get("securityRequirements") or raw.get("security")
    for each in required[:MAX_INTERFACES] if isinstance(required, list) else []:
        if isinstance(each, Mapping):
            # 1.0 has the names one level further down.
            inner = each.get("schemes")
            names = list(inner if isinstance(inner, Mapping) else each)
            yield from (str(name)[:MAX_NAME] for name in names[:MAX_INTERFACES])


def _problems(raw: Mapping[str, Any], interfaces: tuple[Interface, ...]) -> Iterator[str]:
    if not interfaces:
        yield "The card names no address."
    elif not any(each.supported_version for each in interfaces):
        ways = ", ".join(f"{each.transport or '?'} {each.version or '?'}" for each in interfaces)
        yield f"The card offers only what is not spoken here: {ways[:MAX_NAME]}."
    skills = raw.get("skills")
    if not isinstance(skills, list):
        yield "The card has no list of skills."
    elif len(skills) > MAX_SKILLS:
        yield f"The card has {len(skills):,} skills; the first {MAX_SKILLS} were read."


def _text(value: Any, most: int = MAX_TEXT) -> str:
    return value.strip()[:most] if isinstance(value, str) else ""
