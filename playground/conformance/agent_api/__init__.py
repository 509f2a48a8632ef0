"""Rules of the Agent API.

The title of a rule states the requirement; its `why` gives the reason, or how the rule interprets
the specification.
"""

from __future__ import annotations

from playground.conformance.agent_api import completion, fields, http, streams, tools
from playground.conformance.agent_api.transcript import VERSION, AgentRule, AgentTranscript, read

#: Every rule, in the order in which a report lists them.
RULES: tuple[AgentRule, ...] = (
    *http.RULES,
    *fields.RULES,
    *streams.RULES,
    *tools.RULES,
    *completion.RULES,
)

__all__ = ["RULES", "VERSION", "AgentTranscript", "read"]
