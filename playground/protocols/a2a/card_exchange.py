"""The exchange that reads an A2A agent's card, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols.a2a.calls import card_call
from playground.protocols.a2a.card import AgentCard
from playground.protocols.a2a.card_discovery import CardDiscovery
from playground.protocols.a2a.responses import CardResponse
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Outcome
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem


class CardExchange:
    """Finds an agent's card and sends nothing. See `playground.protocols.exchange.Exchange`."""

    def __init__(self, agent_url: str, *, max_depth: int = 100) -> None:
        self._max_depth = max_depth
        self._finder = CardDiscovery(agent_url)
        self._reply = CardResponse(max_depth)

    @property
    def card(self) -> AgentCard | None:
        """The agent's card, once it has been found."""
        return self._finder.card

    def next_call(self) -> HttpCall | None:
        """The next place where the card may be."""
        place = self._finder.next_url()
        return card_call(place) if place else None

    @property
    def has_enough(self) -> bool:
        """Whether the rest of a reply is of no use."""
        return self._reply.is_over

    def receive(self, frame: Frame) -> Sequence[Event]:
        """Nothing: what a card says is no event."""
        if frame.kind is FrameKind.CALL:
            self._reply = CardResponse(self._max_depth)
            return ()
        if self._reply.receive(frame):
            self._finder.add(self._reply)
        return ()

    @property
    def outcome(self) -> Outcome:
        """An answer, once there is a card."""
        return Outcome.NONE if self.card is None else Outcome.ANSWER

    @property
    def problem(self) -> Problem | None:
        """Why there is no card."""
        return self._finder.problem

    @property
    def session_context(self) -> None:
        """A2A has none of NLWeb's."""
        return

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """The card, as it is remembered."""
        return self.card.to_json() if self.card else None
