"""Actions over MCP: the call of a tool (NLWeb 0.55 section 5).

The action names its server by an identifier, which is no URL: the user enters the URL once. The
handshake before the call is that of the binding (`protocols.mcp`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import mcp
from playground.protocols.actions import endpoints
from playground.protocols.actions.extract import MCP, Action, attribute_text
from playground.protocols.actions.plans import UNSET, ActionPlan, Headers, ServerInfo, Unset
from playground.protocols.exchange import Exchange, Target
from playground.protocols.mcp import messages
from playground.protocols.origins import same_origin

#: The id of the call in the plan; a handshake before it may use others.
_PLANNED_ID = 1


def plan(
    action: Action, _agent_url: str, params: Any | Unset, headers: Headers, server_info: ServerInfo
) -> ActionPlan:
    """See `playground.protocols.actions.bindings.plan`."""
    given = action.raw.get("arguments") if params is UNSET else params
    server, tool = attribute_text(action, "server"), attribute_text(action, "tool")
    # An identifier may be a URL nevertheless.
    url = server_info.url or (server if endpoints.url_error(server) is None else "")
    arguments = {} if given is None else given
    missing = [
        f"The action has no {name}."
        for name in ("server", "tool")
        if not attribute_text(action, name)
    ]
    wrong = [] if isinstance(arguments, Mapping) else ["Tool arguments must be a JSON object."]
    unusable = [error] if url and (error := endpoints.url_error(url)) else []
    errors = (*missing, *wrong, *unusable)
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
    """Return the exchange that does the handshake and calls the tool.

    Raise `ValueError` for a document that is no request of an action over MCP, and if the target
    is of another origin than the URL in it.
    """
    if not _is_complete(request):
        raise ValueError("This is not a request of an MCP action.")
    if error := endpoints.url_error(request["url"]):
        raise ValueError(error)
    if not same_origin(target.url, request["url"]):
        raise ValueError("The origin of the target is not that of the action.")
    return mcp.call_tool(target, request["tool"], request["arguments"], max_depth)


def _is_complete(request: Mapping[str, Any]) -> bool:
    return (
        isinstance(request.get("url"), str)
        and isinstance(request.get("tool"), str)
        and isinstance(request.get("arguments"), Mapping)
    )
