"""Meaning of the words of the Agent API: statuses that are final, types of calls and outputs.

The schemas list all words: those of the specification (section "Core Enums") and, as `x-additions`,
those of known agents. Both are read and shown; only the conformance report distinguishes them.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from playground.protocols import schemas


@cache
def words(schema: str, member: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the values that a schema lists for a member: of the specification, and additions."""
    node = schemas.load("agent-api", "1", schema)["properties"][member]
    additions = node["x-additions"]
    return tuple(word for word in node["x-values"] if word not in additions), tuple(additions)


#: Statuses after which a response, a message or a content does not change.
FINAL_STATUSES: Final = frozenset({"completed", "canceled", "failed", "rejected", "incomplete"})
#: Final statuses that are failures.
FAILED_STATUSES: Final = frozenset({"canceled", "failed", "rejected"})

#: Types of messages with a tool call, and of messages with a tool output.
CALLS: Final = frozenset(
    {"function_call", "plugin_call", "component_call", "mcp_call", "mcp_approval_request"}
)
OUTPUTS: Final = frozenset(
    {
        "function_call_output",
        "plugin_call_output",
        "component_call_output",
        "mcp_call_output",
        "mcp_approval_response",
    }
)
#: Calls that the client has to make or approve; the agent makes the others itself.
CLIENT_CALLS: Final = frozenset({"function_call", "mcp_approval_request"})
