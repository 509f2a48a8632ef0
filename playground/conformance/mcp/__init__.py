"""Rules of MCP, for NLWeb over MCP.

The title of a rule states the requirement; its `why` gives the reason, or how the rule interprets
the specification.
"""

from __future__ import annotations

from playground.conformance.mcp import handshake, jsonrpc, results, server_messages, tools
from playground.conformance.mcp.transcript import McpTranscript, inner, read
from playground.conformance.rule import Rule

#: Every rule, in the order in which a report lists them.
RULES: tuple[Rule[McpTranscript], ...] = (
    *jsonrpc.RULES,
    *handshake.RULES,
    *tools.RULES,
    *results.RULES,
    *server_messages.RULES,
)

__all__ = ["RULES", "McpTranscript", "inner", "read"]
