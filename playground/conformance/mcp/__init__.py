"""Rules of MCP, for NLWeb over MCP.

The title of a rule states the requirement; the docstring of its function gives the reason, or
how the rule interprets the specification.

=================  =====================================================================
`http`             streamable HTTP: content types, statuses, sessions
`jsonrpc`          JSON-RPC messages
`handshake`        handshake of both generations of MCP
`tools`            list of tools, and the schemas of `ask` and `await`
`input_schemas`    requests that the schema of a tool accepts
`sample_requests`  valid and invalid requests that schemas are judged by
`results`          results of tools, and the NLWeb response in them
`server_messages`  server requests and notifications: elicitation, progress, log
`transcript`       transcript: the calls of a run as these rules read them
`calls`            recorded calls of a run, each with its JSON-RPC messages
`response_shapes`  location of the NLWeb response in a JSON-RPC message
`rule`             decorator of these rules
=================  =====================================================================
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
