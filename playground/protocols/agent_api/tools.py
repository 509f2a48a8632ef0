"""Calls of tools and what they returned, read from the data of a message's content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.agent_api.constants import CALLS, OUTPUTS
from playground.protocols.agent_api.failures import first_text
from playground.protocols.events import EntryRef, Event, ToolCall, ToolOutput

#: Where a message says which call it is about: a request for approval has an id of its own.
_IDS = {
    "mcp_approval_request": ("id", "approval_request_id", "call_id"),
    "mcp_approval_response": ("approval_request_id", "id", "call_id"),
}
_ID = ("call_id", "id", "tool_call_id")


def is_tool(kind: str) -> bool:
    """Whether messages of this type are about a call."""
    return kind in CALLS or kind in OUTPUTS


def tool_event(seq: int, home: EntryRef, kind: str, data: Any) -> Event | None:
    """The call or the output in the data of a message of type `kind`; None for neither."""
    if not is_tool(kind) or not isinstance(data, Mapping):
        return None
    call_id = first_text(data, *_IDS.get(kind, _ID))
    name = first_text(data, "name")
    if kind in CALLS:
        return ToolCall(seq, home, call_id, name, data.get("arguments"), kind)
    return ToolOutput(seq, home, call_id, name, data.get("output", data), kind)
