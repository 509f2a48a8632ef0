"""MCP over streamable HTTP, in both its generations: a binding of NLWeb, and calls of any tool.

=============  =====================================================================
`requests`     the messages and the calls that carry them
`sessions`     what an opening finds out, and which tool is which
`opening`      which generation a server speaks, its session, its tools
`reply`        the reply to one call: the answer among its messages
`calling`      the answer to the call of a tool
`results`      the NLWeb reply in a tool's result
`asking`       what a server asks of its client in mid-call
`questions`    what it asks of the user, and the answers
`properties`   one property that it asks for, as a question
`troubles`     why a server could not be spoken to
`exchange`     all of it together
=============  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols.exchange import Reader, Target
from playground.protocols.mcp.exchange import McpExchange, ToolRequest
from playground.protocols.mcp.tool_reader import ToolReader

__all__ = ["McpExchange", "call_tool", "exchange", "list_tools"]


def exchange(
    target: Target,
    operation: str,
    document: Mapping[str, Any],
    reader: Callable[[], Reader],
    *,
    max_depth: int = 100,
) -> McpExchange:
    """The exchange that sends a document as the arguments of the tool for its operation."""
    errand = ToolRequest(
        lambda session: session.tool_for(operation, target.tools), dict(document), reader
    )
    return McpExchange(target, errand, max_depth=max_depth)


def call_tool(target: Target, name: str, arguments: Any, max_depth: int = 100) -> McpExchange:
    """The exchange that calls any tool of a server and reads whatever it returns.

    Texts become `Text`, structured content a `Result`, other parts of the content `Result`s as
    they came; an error or `isError` is a `Failure`.
    """
    errand = ToolRequest(lambda _: name, arguments, ToolReader, lambda result, _: result)
    return McpExchange(target, errand, max_depth=max_depth)


def list_tools(target: Target, max_depth: int = 100) -> McpExchange:
    """The exchange that opens a server and reads its tools, whatever was known of it."""
    return McpExchange(target, ToolRequest(), max_depth=max_depth)
