"""Discovery of an A2A agent's card: the URLs where it may be, its responses, and the exchange.

`CardDiscovery` says which URL is next and which card is the agent's. `CardExchange` reads the card
and sends nothing else; `exchange.A2AExchange` reads it before it sends a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from playground.protocols import json_decoder, unreadable
from playground.protocols.a2a.card import MAX_BYTES, AgentCard, is_card, read_card
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Outcome
from playground.protocols.exchange import Exchange
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import USER_AGENT, merge_headers
from playground.protocols.origins import same_origin
from playground.protocols.problems import Problem, Stage
from playground.protocols.response import LiveResponse

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
