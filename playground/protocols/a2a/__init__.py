"""A2A 0.3 and 1.0: agents that are described by a card and work on tasks, over JSON-RPC."""

from playground.protocols.a2a.card import AgentCard, Interface, Skill, is_same, read_card, url_at
from playground.protocols.a2a.card_discovery import (
    CardDiscovery,
    CardExchange,
    CardResponse,
    card_call,
    well_known,
)
from playground.protocols.a2a.exchange import A2AExchange, unknown_skill
from playground.protocols.a2a.input_required import KIND, resume_of
from playground.protocols.a2a.messages import OutgoingMessage, send_call
from playground.protocols.a2a.versions import VERSIONS, A2AVersion

__all__ = [
    "KIND",
    "VERSIONS",
    "A2AExchange",
    "A2AVersion",
    "AgentCard",
    "CardDiscovery",
    "CardExchange",
    "CardResponse",
    "Interface",
    "OutgoingMessage",
    "Skill",
    "card_call",
    "is_same",
    "read_card",
    "resume_of",
    "send_call",
    "unknown_skill",
    "url_at",
    "well_known",
]
