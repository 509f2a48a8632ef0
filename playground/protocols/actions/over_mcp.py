"""Actions over MCP: the call of a tool (NLWeb 0.55 section 5).

The action names its server by an identifier, which is no URL: the user enters the URL once. The
handshake before the call is that of the binding (`protocols.mcp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import mcp
from playground.protocols.actions.extract import MCP, Action, attribute_text, missing_attributes
from playground.protocols.actions.plans import (
    UNSET,
    ActionPlan,
    Headers,
    ServerInfo,
    Unset,
    url_error,
)
from playground.protocols.exchange import Exchange, Target
from playground.protocols.mcp import messages

#: The id of the call in the plan; a handshake before it may use others.
_PLANNED_ID = 1


def plan(
    action: Action, _agent_url: str, params: Any | Unset, headers: Headers, server_info: ServerInfo
) -> ActionPlan:
    """See `playground.protocols.actions.bindings.plan`."""
    given = action.raw.get("arguments") if params is UNSET else params
    server, tool = attribute_text(action, "server"), attribute_text(action, "tool")
    # An identifier may be a URL nevertheless.
    url = server_info.url or (server if url_error(server) is None else "")
    arguments = {} if given is None else given
    missing = missing_attributes(action, "server", "tool")
    wrong = [] if isinstance(arguments, Mapping) else ["Tool arguments must be a JSON object."]
    unusable = url_error(url) if url else None
    errors = (*missing, *wrong, *filter(None, [unusable]))
    call = messages.post_message(
        Target(url, headers=tuple(headers)), messages.call_tool(_PLANNED_ID, tool, arguments)
    )
    version = {"mcp_version": server_info.mcp_version} if server_info.mcp_version else {}
    return ActionPlan(
        protocol=MCP,
        method="POST",
        url=url,
        headers=call.headers,
        params=given,
        body=call.body,
        request={
            "action": action.name,
            "protocol": MCP,
            "server": server,
            "url": url,
            "tool": tool,
            "arguments": arguments,
            **version,
        },
        inferred=action.inferred,
        errors=errors,
        params_in="" if given is None else "body",
        missing="" if url else "address",
        sendable=bool(url) and not errors,
    )


def exchange(target: Target, request: Mapping[str, Any], max_depth: int) -> Exchange:
    """Return the exchange that does the handshake and calls the tool."""
    return mcp.call_tool(target, request["tool"], request["arguments"], max_depth)


def error(request: Mapping[str, Any]) -> str | None:
    """See `playground.protocols.actions.bindings.ActionBinding`."""
    has_strings = all(isinstance(request.get(name), str) for name in ("url", "tool"))
    if not has_strings or not isinstance(request.get("arguments"), Mapping):
        return "This is not a request of an MCP action."
    return url_error(request["url"])
