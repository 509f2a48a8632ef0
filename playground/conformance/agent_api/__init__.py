"""The rules of the Agent API.

=============  =====================================================================
`transcript`   a reply as the rules see it
`walk`         one pass over a stream: what each object means after those before it
`wire`         HTTP, the stream, and that what came are objects of the protocol
`fields`       what every object holds
`words`        types, roles, statuses, names of members
`lifecycle`    order, statuses, sequence numbers
`contents`     contents as they grow
`tools`        calls and outputs
`endings`      errors, usage, session
=============  =====================================================================
"""

from __future__ import annotations

from playground.conformance.agent_api import (
    contents,
    endings,
    fields,
    http,
    lifecycle,
    tools,
    vocabulary,
)
from playground.conformance.agent_api.rule import VERSION, AgentRule
from playground.conformance.agent_api.transcript import AgentTranscript, read

#: Every rule, in the order in which a report lists them.
RULES: tuple[AgentRule, ...] = (
    *http.RULES,
    *fields.RULES,
    *vocabulary.RULES,
    *lifecycle.RULES,
    *contents.RULES,
    *tools.RULES,
    *endings.RULES,
)

__all__ = ["RULES", "VERSION", "AgentTranscript", "read"]
