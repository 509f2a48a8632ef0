"""Servers of actions: tools of an MCP server and card of an A2A agent, before an action runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import mcp
from playground.protocols.a2a.card import CardExchange, read_card
from playground.protocols.actions.extract import A2A, MCP
from playground.protocols.actions.plans import Headers
from playground.protocols.exchange import Exchange, Target

#: The stored members of an MCP handshake: no session, which is valid for one run only.
_STORED_MEMBERS = ("generation", "version", "server", "tools", "more")


def exchange(
    protocol: str, url: str, headers: Headers, max_depth: int = 100, *, mcp_version: str = ""
) -> Exchange:
    """Return the exchange that reads the tools of an MCP server, or the card of an A2A agent.

    `headers` are sent to an MCP server, whose URL the user has entered, and never with the request
    for a card, whose URL the action gives. `mcp_version` is that of `Target`. The result is its
    `handshake`, for `description`. Raise `ValueError` for any other protocol.
    """
    if protocol == MCP:
        return mcp.list_tools(
            Target(url, headers=tuple(headers), mcp_version=mcp_version), max_depth
        )
    if protocol == A2A:
        return CardExchange(url, max_depth=max_depth)
    raise ValueError("Only MCP and A2A actions have a server description.")


def description(protocol: str, handshake: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return what is stored of an exchange's `handshake`, None if it failed."""
    if handshake is None or protocol == A2A:
        return dict(handshake) if handshake is not None else None
    return {name: handshake[name] for name in _STORED_MEMBERS if name in handshake}


def tools_of(found: Any) -> dict[str, Mapping[str, Any]]:
    tools = found.get("tools") if isinstance(found, Mapping) else None
    named = (tool for tool in tools if isinstance(tool, Mapping)) if isinstance(tools, list) else ()
    return {tool["name"]: tool for tool in named if isinstance(tool.get("name"), str)}


def message_url(protocol: str, found: Mapping[str, Any]) -> str:
    """Return the URL for messages in a stored card; "" for an MCP server, which has none."""
    return read_card(found).url if protocol == A2A else ""
