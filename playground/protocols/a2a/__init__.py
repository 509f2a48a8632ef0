"""A2A: agents that are described by a card and work on tasks, over JSON-RPC (0.3 and 1.0).

===============  ======================================================================
`versions`       what differs between the versions, as a table
`states`         the states of a task, as a table
`card`           what an agent says of itself, and where that is to be found
`finding`        the places where a card may be, one after the other
`messages`       what is sent
`calls`          the calls for a card and for an errand
`reader`         what comes back, with `parts`, `artifacts` and `questions`
`replies`        one reply of HTTP at a time
`card_exchange`  the card alone
`exchange`       the card, the message, and the task until it has ended
===============  ======================================================================
"""

from playground.protocols.a2a.calls import OutgoingMessage, card_call, send_call
from playground.protocols.a2a.card import (
    AgentCard,
    Interface,
    Skill,
    is_same,
    read_card,
    well_known,
)
from playground.protocols.a2a.card_discovery import CardDiscovery
from playground.protocols.a2a.card_exchange import CardExchange
from playground.protocols.a2a.exchange import A2AExchange, unknown_skill
from playground.protocols.a2a.input_required import KIND, resume_of
from playground.protocols.a2a.responses import CardResponse
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
    "well_known",
]
