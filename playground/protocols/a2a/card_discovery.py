"""Finding an agent's card: the places where it may be, one after the other."""

from __future__ import annotations

from playground.protocols.a2a.card import OLD_WELL_KNOWN, AgentCard, well_known
from playground.protocols.a2a.responses import CardResponse
from playground.protocols.problems import Problem, Stage
from playground.protocols.unreadable import fix_for_status


class CardDiscovery:
    """Which place to look at next, and which card is the agent's.

    Several agents can share an origin, and then its well-known address has the card of one of
    them only. A card that does not name the address of the agent is therefore kept for the case
    that the place below the agent's own path has none.
    """

    def __init__(self, agent_url: str) -> None:
        self._agent_url = agent_url
        self._places = well_known(agent_url)
        self._tried: list[tuple[str, str]] = []
        self._second: AgentCard | None = None
        self._status = 0
        #: The agent's card, once it has been found.
        self.card: AgentCard | None = None

    def next_url(self) -> str | None:
        """The next address to look at; None once there is a card, or nowhere left to look."""
        if self.card is not None or len(self._tried) >= len(self._places):
            return None
        return self._places[len(self._tried)]

    def add(self, reply: CardResponse) -> None:
        """Take what came from the next place."""
        place = self.next_url()
        if place is None:
            return
        self._tried.append((place, reply.received))
        self._status = reply.status
        if reply.card is not None and (self._second is None or reply.card.names(self._agent_url)):
            self._second = reply.card
        place = self.next_url()
        if self._second and (self._second.names(self._agent_url) or _is_pointless(place)):
            self.card = self._second

    @property
    def problem(self) -> Problem | None:
        """Why there is no card, once there is nowhere left to look."""
        if not self._places:
            cause = "The agent's address is none of http or https, so it can have no card."
            return Problem("failed", Stage.DECODE, cause, "Check the action's agent_url.")
        if self.card is not None or self.next_url() is not None:
            return None
        listed = "\n".join(f"{place} {came}" for place, came in self._tried)
        fix = (
            "Check the action's agent_url, and whether the agent has a card at one of these places."
        )
        if self._status in (401, 403):
            fix = fix_for_status(self._status, {})
        return Problem("failed", Stage.DECODE, "No agent card was found.", fix, listed)


def _is_pointless(place: str | None) -> bool:
    """Whether a further look is not worth a call, once there is a card."""
    return place is None or place.endswith(OLD_WELL_KNOWN)
