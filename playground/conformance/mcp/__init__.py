"""The rules of MCP, for NLWeb over MCP.

=============  =====================================================================
`hops`         a run as the calls that it is made of, each with its messages
`replies`      where the NLWeb reply stands in a message
`transcript`   both, as the rules see them
`envelope`     messages of JSON-RPC
`wire`         streamable HTTP: content types, statuses, sessions
`opening`      how a server is opened, in both generations
`tools`        the list of tools, and the schemas of `ask` and `await`
`results`      results, and how a reply travels in them
`questions`    MCP's own questions, progress, log lines
=============  =====================================================================
"""

from __future__ import annotations

from playground.conformance.mcp import handshake, http, jsonrpc, results, server_messages, tools
from playground.conformance.mcp.rule import McpRule
from playground.conformance.mcp.transcript import McpTranscript, inner, read

#: Every rule, in the order in which a report lists them.
RULES: tuple[McpRule, ...] = (
    *http.RULES,
    *jsonrpc.RULES,
    *handshake.RULES,
    *tools.RULES,
    *results.RULES,
    *server_messages.RULES,
)

__all__ = ["RULES", "McpTranscript", "inner", "read"]
