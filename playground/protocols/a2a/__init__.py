"""A2A 0.3 and 1.0: agents that are described by a card and work on tasks, over JSON-RPC.

================  =====================================================================
`versions`        differences between the versions, as one table
`task_states`     the states of a task, as one table
`card`            the agent card
`card_discovery`  URLs where a card may be, their responses, and the exchange for a card
`messages`        messages to an agent, and their HTTP calls
`responses`       the HTTP response to one JSON-RPC call
`reader`          results of JSON-RPC as events: messages, tasks and their updates
`parts`           parts of a message or an artifact, as events
`artifacts`       artifacts of a task, complete or in pieces
`input_required`  elicitation of a task that waits for the user, and the answers
`exchange`        the exchange: card, message, and the task until it has ended
================  =====================================================================
"""

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
