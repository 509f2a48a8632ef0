"""Actions over MCP and A2A: the JSON-RPC call that they are (0.55 section 5).

Shown only: where an MCP server is to be found is not in the action, and neither binding
sends anything yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.actions.plans import UNSET, Headers, Plan, Unset
from playground.protocols.actions.reading import A2A, MCP, Action
from playground.protocols.http import encode, merged

_DEFAULTS = (
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
)


def plan_mcp(action: Action, _agent_url: str, params: Any | Unset, headers: Headers) -> Plan:
    """The `tools/call` of an MCP action. Its server is a name: the user knows where it is."""
    arguments = action.raw.get("arguments") if params is UNSET else params
    call = {"name": _text(action, "tool"), "arguments": {} if arguments is None else arguments}
    return _plan(action, MCP, "server", "tool", ("tools/call", call), arguments, headers)


def plan_a2a(action: Action, _agent_url: str, params: Any | Unset, headers: Headers) -> Plan:
    """The `message/send` of an A2A action (A2A 0.3), with the skill as metadata."""
    message = action.raw.get("message") if params is UNSET else params
    call = {"message": _message(message), "metadata": {"skill": _text(action, "skill")}}
    return _plan(action, A2A, "agent_url", "skill", ("message/send", call), message, headers)


def _message(value: Any) -> Mapping[str, Any]:
    """The agent's message where it is one of A2A already, else a message that holds it."""
    envelope = {"kind": "message", "role": "user", "messageId": "1"}
    if isinstance(value, Mapping) and "parts" in value:
        return {**envelope, **value}
    if isinstance(value, str):
        return {**envelope, "parts": [{"kind": "text", "text": value}]}
    parts = [] if value is None else [{"kind": "data", "data": value}]
    return {**envelope, "parts": parts}


def _plan(
    action: Action,
    protocol: str,
    address: str,
    what: str,
    call: tuple[str, dict[str, Any]],
    params: Any,
    headers: Headers,
) -> Plan:
    """The plan of a JSON-RPC call: `address` and `what` are the attributes that it needs."""
    body = {"jsonrpc": "2.0", "id": 1, "method": call[0], "params": call[1]}
    missing = [name for name in (address, what) if not _text(action, name)]
    return Plan(
        protocol=protocol,
        method="POST",
        url=_text(action, address),
        headers=merged(_DEFAULTS, headers),
        params=params,
        body=encode(body),
        request={
            "action": action.name,
            "protocol": protocol,
            address: _text(action, address),
            "body": body,
        },
        inferred=action.inferred,
        refusals=tuple(f"The action has no {name}." for name in missing),
        placement="" if params is None else "body",
    )


def _text(action: Action, name: str) -> str:
    value = action.raw.get(name)
    return value.strip() if isinstance(value, str) else ""
