"""What there is to know of the server or agent that an action names, before it is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import a2a, mcp
from playground.protocols.actions.extract import A2A, MCP
from playground.protocols.actions.plans import Headers
from playground.protocols.exchange import Exchange, Target

#: What is kept of an opened MCP server: no session, which is good for one run only.
_KEPT = ("generation", "version", "server", "tools", "more")


def exchange(protocol: str, url: str, headers: Headers, max_depth: int = 100) -> Exchange:
    """The exchange that reads the tools of an MCP server, or the card of an A2A agent.

    `headers` go to an MCP server, whose address the user has given, and never with the request
    for a card, whose place the action gives. What comes of it is in its `opening`, for
    `description`. Raises `ValueError` for a protocol that describes nothing.
    """
    if protocol == MCP:
        return mcp.list_tools(Target(url, headers=tuple(headers)), max_depth)
    if protocol == A2A:
        return a2a.CardExchange(url, max_depth=max_depth)
    raise ValueError("Only actions over MCP and A2A have something that describes them.")


def description(protocol: str, opening: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What is remembered of an exchange's `opening`, None where nothing was found."""
    if opening is None or protocol == A2A:
        return dict(opening) if opening is not None else None
    return {name: opening[name] for name in _KEPT if name in opening}


def tools_of(found: Any) -> dict[str, Mapping[str, Any]]:
    """The tools of a server's description by name, as it describes them."""
    tools = found.get("tools") if isinstance(found, Mapping) else None
    named = (tool for tool in tools if isinstance(tool, Mapping)) if isinstance(tools, list) else ()
    return {tool["name"]: tool for tool in named if isinstance(tool.get("name"), str)}


def message_url(protocol: str, found: Mapping[str, Any]) -> str:
    """Where a described agent takes messages; "" for an MCP server, which does not say."""
    return a2a.read_card(found).url if protocol == A2A else ""
