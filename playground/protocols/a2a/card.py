"""Agent cards: how an A2A agent describes itself, and where its card is found.

Read leniently, in the shapes of 0.3 (`url`, `preferredTransport`, `additionalInterfaces`) and
of 1.0 (`supportedInterfaces`), which agents also mix. Total: any JSON value is read, and parts
that cannot be used are named as problems.

`CardDiscovery` says which URL is next and which card is the agent's. `CardExchange` reads the card
and sends nothing else; `exchange.A2AExchange` reads it before it sends a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground.protocols import json_decoder, lenient, unreadable
from playground.protocols.a2a.messages import VERSIONS, A2AVersion, get_version
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Outcome
from playground.protocols.exchange import Exchange
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import USER_AGENT, merge_headers
from playground.protocols.origins import origin_of, same_origin
from playground.protocols.problems import Problem, Stage
from playground.protocols.response import LiveResponse

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
    def supported_version(self) -> A2AVersion | None:
        """The row of its version, None if the version or the transport is not supported."""
        return get_version(self.version) if self.transport.upper() == JSONRPC else None


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
    def version(self) -> A2AVersion | None:
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
    names = list(VERSIONS)
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
    return lenient.text(value).strip()[:max_length]


# --- discovery --------------------------------------------------------------------------------

WELL_KNOWN = "/.well-known/agent-card.json"
#: The path up to A2A 0.2.
OLD_WELL_KNOWN = "/.well-known/agent.json"


def well_known(agent_url: str) -> tuple[str, ...]:
    """Return the URLs where the card of the agent at `agent_url` may be, the likeliest first.

    RFC 8615 has well-known URIs at the origin alone; agents that share an origin have theirs
    below their own path. Empty for a URL that is none of HTTP.
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
    paths = (WELL_KNOWN, path + WELL_KNOWN, OLD_WELL_KNOWN, path + OLD_WELL_KNOWN)
    return tuple(dict.fromkeys(f"{parts.scheme}://{parts.netloc}{each}" for each in paths))


def card_call(
    url: str, message_url: str = "", headers: tuple[tuple[str, str], ...] = ()
) -> HttpCall:
    """Return the call that reads a card; `headers` are sent to the origin of `message_url` only."""
    own = headers if same_origin(url, message_url) else ()
    defaults = (("Accept", "application/json"), ("User-Agent", USER_AGENT))
    return HttpCall("GET", url, merge_headers(defaults, own))


class CardResponse:
    """Reader of the response from a URL where a card may be."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._response = LiveResponse()
        #: The card, once it is received.
        self.card: AgentCard | None = None
        #: What was received instead, for the end of a sentence.
        self.received = ""
        #: Whether the rest of the response is of no use.
        self.is_over = False

    def receive(self, frame: Frame) -> bool:
        """Read a frame; return whether it ends the response, after which none matters.

        A response that is too long ends at the limit.
        """
        if self.is_over:
            return False
        self._response.add(frame)
        if frame.kind in (FrameKind.EVENT, FrameKind.TAIL):
            self._response.body += frame.data  # A card can be labelled as anything.
        if len(self._response.body) > MAX_BYTES:
            self.received = f"exceeds the limit of {MAX_BYTES:,} bytes for agent cards"
            self.is_over = True
        elif self._response.ended:
            self._read()
            self.is_over = True
        if self.is_over:
            self._response.body = bytearray()
        return self.is_over

    @property
    def status(self) -> int:
        """The HTTP status, 0 until it is received."""
        return self._response.status

    def _read(self) -> None:
        status, headers = self._response.status, self._response.headers
        if status // 100 == 3:
            url = headers.get("location", "").strip()[:200] or "an unspecified URL"
            self.received = f"redirects to {url} (HTTP {status}); redirects aren’t followed"
        elif status != 200:
            self.received = f"returned HTTP {status}"
        else:
            self._read_body()

    def _read_body(self) -> None:
        text, is_valid = self._response.take_text()
        if json_decoder.exceeds_depth(text, self._max_depth):
            self.received = "is JSON that is nested too deeply"
            return
        try:
            value = json_decoder.decode(text)
        except (ValueError, RecursionError) as error:
            self.received, _ = unreadable.describe_body(text, error, utf8=is_valid)
            return
        if is_card(value):
            self.card = read_card(value)
        else:
            self.received = "is JSON, but not an agent card"


class CardDiscovery:
    """State machine of a discovery: the next URL, and the agent's card.

    Several agents can share an origin, and then its well-known URL has the card of one of them
    only. A card that does not name the agent's URL is therefore a fallback, in case the URL below
    the agent's own path has none.
    """

    def __init__(self, agent_url: str) -> None:
        self._agent_url = agent_url
        self._urls = well_known(agent_url)
        #: URL and what was received there instead of a card.
        self._tried: list[tuple[str, str]] = []
        self._fallback: AgentCard | None = None
        self._status = 0
        #: The agent's card, once it has been found.
        self.card: AgentCard | None = None

    def next_url(self) -> str | None:
        """Return the next URL to read; None if the card is found or no URL is left."""
        if self.card is not None or len(self._tried) >= len(self._urls):
            return None
        return self._urls[len(self._tried)]

    def add(self, response: CardResponse) -> None:
        url = self.next_url()
        if url is None:
            return
        self._tried.append((url, response.received))
        self._status = response.status
        card = response.card
        if card is not None and (self._fallback is None or card.names(self._agent_url)):
            self._fallback = card
        url = self.next_url()
        is_last = url is None or url.endswith(OLD_WELL_KNOWN)
        if self._fallback and (self._fallback.names(self._agent_url) or is_last):
            self.card = self._fallback

    @property
    def problem(self) -> Problem | None:
        if not self._urls:
            cause = "The agent URL is not an http or https URL."
            return Problem("failed", Stage.DECODE, cause, "Check agent_url of the action.")
        if self.card is not None or self.next_url() is not None:
            return None
        listed = "\n".join(f"{url} {received}" for url, received in self._tried)
        fix = "Check agent_url of the action, and that the agent has a card at one of these URLs."
        if self._status in (401, 403):
            fix = unreadable.fix_for_status(self._status, {})
        return Problem("failed", Stage.DECODE, "No agent card was found.", fix, listed)


class CardExchange(Exchange):
    """Exchange that only reads the card."""

    def __init__(self, agent_url: str, *, max_depth: int = 100) -> None:
        self._max_depth = max_depth
        self._discovery = CardDiscovery(agent_url)
        self._response = CardResponse(max_depth)

    @property
    def card(self) -> AgentCard | None:
        return self._discovery.card

    def next_call(self) -> HttpCall | None:
        url = self._discovery.next_url()
        return card_call(url) if url else None

    @property
    def has_enough(self) -> bool:
        """Return whether the rest of a response is of no use."""
        return self._response.is_over

    def receive(self, frame: Frame) -> Sequence[Event]:
        """Read a frame; a card has no events."""
        if frame.kind is FrameKind.CALL:
            self._response = CardResponse(self._max_depth)
        elif self._response.receive(frame):
            self._discovery.add(self._response)
        return ()

    @property
    def outcome(self) -> Outcome:
        return Outcome.NONE if self.card is None else Outcome.ANSWER

    @property
    def problem(self) -> Problem | None:
        return self._discovery.problem

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """The card as it is stored."""
        return self.card.to_json() if self.card else None
