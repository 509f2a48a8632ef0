"""MCP over streamable HTTP, in both generations: a binding of NLWeb, and calls of any tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols.exchange import Reader, Target
from playground.protocols.mcp.exchange import McpExchange, ToolRequest
from playground.protocols.mcp.messages import end_session
from playground.protocols.mcp.results import ToolReader

__all__ = ["McpExchange", "call_tool", "end_session", "exchange", "list_tools"]


def exchange(
    target: Target,
    operation: str,
    document: Mapping[str, Any],
    reader: Callable[[], Reader],
    *,
    max_depth: int = 100,
) -> McpExchange:
    """Return the exchange that sends a document as arguments of the tool for its operation."""
    request = ToolRequest(
        lambda session: session.tool_for(operation, target.tools), dict(document), reader
    )
    return McpExchange(target, request, max_depth=max_depth)


def call_tool(target: Target, name: str, arguments: Any, max_depth: int = 100) -> McpExchange:
    """Return the exchange that calls any tool of a server and reads whatever it returns.

    Texts become `Text`, structured content a `Result`, other parts of the content `Result`s as
    received; an error or `isError` is a `Failure`.
    """
    request = ToolRequest(
        lambda _: name,
        arguments,
        ToolReader,
        needs_tools=False,
        document=lambda result, _: result,
    )
    return McpExchange(target, request, max_depth=max_depth)


def list_tools(target: Target, max_depth: int = 100) -> McpExchange:
    """Return the exchange that does the handshake and reads the tools, in any case."""
    return McpExchange(target, ToolRequest(), max_depth=max_depth)
