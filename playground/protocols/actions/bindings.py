"""Bindings of actions as one table: the plan and the exchange of an action of any protocol.

A binding that can send the actions of its protocol is one row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols.actions import extract, http, over_a2a, over_mcp
from playground.protocols.actions.extract import Action
from playground.protocols.actions.plans import UNSET, ActionPlan, Headers, ServerInfo, Unset
from playground.protocols.exchange import Exchange, Target
from playground.protocols.origins import same_origin


@dataclass(frozen=True, slots=True)
class ActionBinding:
    """One row: how the actions of one protocol are planned and sent."""

    #: (action, URL of the agent, edited parameters, headers of the user, facts about the server
    #: that the action names) to the plan.
    plan: Callable[[Action, str, Any | Unset, Headers, ServerInfo], ActionPlan]
    #: A request document to why it cannot be sent, as a sentence; None if it can.
    error: Callable[[Mapping[str, Any]], str | None]
    #: (target, such a document, nesting of JSON that is read) to the exchange that sends it.
    exchange: Callable[[Target, Mapping[str, Any], int], Exchange]
    #: The value of `Run.binding`.
    name: str


BINDINGS: Mapping[str, ActionBinding] = {
    extract.HTTP: ActionBinding(http.plan, http.error, http.exchange, "http"),
    extract.MCP: ActionBinding(over_mcp.plan, over_mcp.error, over_mcp.exchange, "mcp"),
    extract.A2A: ActionBinding(over_a2a.plan, over_a2a.error, over_a2a.exchange, "a2a"),
}


def plan(
    action: Action,
    agent_url: str,
    *,
    params: Any | Unset = UNSET,
    headers: Headers = (),
    server_info: ServerInfo | None = None,
) -> ActionPlan:
    """Return the plan of an `action` of the agent at `agent_url`. Never raises.

    `params` replaces the agent's parameters (MCP: arguments, A2A: message); None omits them.
    `headers` are the user's own: they replace the action's of the same name and are part of the
    plan, but not of its `request`, because they may be secrets. Sent with them as the target's
    headers, `request` makes exactly this call. `server_info` are the facts about the server or
    agent of an action over MCP or A2A; those make other calls before it.
    """
    if not isinstance(action.raw, Mapping):
        return _unusable(action, "The action is not an object and can’t be sent.")
    binding = BINDINGS.get(action.protocol)
    if binding is None:
        known = ", ".join(BINDINGS)
        return _unusable(action, f"Unsupported action protocol. Supported: {known}.")
    return binding.plan(action, agent_url, params, headers, server_info or ServerInfo())


def _unusable(action: Action, error: str) -> ActionPlan:
    request = {"action": action.name, "protocol": action.protocol}
    return ActionPlan(
        action.protocol, "", "", (), None, b"", request, action.inferred, errors=(error,)
    )


def exchange(target: Target, request: Mapping[str, Any], max_depth: int = 100) -> Exchange:
    """Return the exchange that makes the call of a request document (`ActionPlan.request`).

    `max_depth` is the nesting of JSON that is still read. Raise `ValueError` for a document that
    no binding can send, and if the target is of another origin than the document.
    """
    protocol = request.get("protocol") if isinstance(request, Mapping) else None
    binding = BINDINGS.get(protocol) if isinstance(protocol, str) else None
    if binding is None:
        raise ValueError("This action cannot be sent: unsupported protocol.")
    if error := binding.error(request):
        raise ValueError(error)
    # The headers of the target are sent.
    if not same_origin(target.url, request["url"]):
        raise ValueError("The origin of the target is not that of the action.")
    return binding.exchange(target, request, max_depth)
