"""Tool calls and tool outputs, read from the data of a message's content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.agent_api.constants import CALLS, OUTPUTS
from playground.protocols.agent_api.parts import first_text
from playground.protocols.events import EntryRef, Event, ToolCall, ToolOutput

#: Members with the id of the call, by message type: a request for approval has its own id.
_IDS = {
    "mcp_approval_request": ("id", "approval_request_id", "call_id"),
    "mcp_approval_response": ("approval_request_id", "id", "call_id"),
}
_ID = ("call_id", "id", "tool_call_id")


def is_tool(kind: str) -> bool:
    """Return whether messages of this type are tool calls or tool outputs."""
    return kind in CALLS or kind in OUTPUTS


def tool_event(seq: int, message_ref: EntryRef, kind: str, data: Any) -> Event | None:
    """Return the call or the output in the data of a message of type `kind`, None for neither."""
    if not is_tool(kind) or not isinstance(data, Mapping):
        return None
    call_id = first_text(data, *_IDS.get(kind, _ID))
    name = first_text(data, "name")
    if kind in CALLS:
        return ToolCall(seq, message_ref, call_id, name, data.get("arguments"), kind)
    return ToolOutput(seq, message_ref, call_id, name, data.get("output", data), kind)
