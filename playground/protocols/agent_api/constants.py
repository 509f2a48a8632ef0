"""Roles, types and statuses of the Agent API, and the extra ones that agents use.

Those of the specification (section "Core Enums") and those of known agents are kept apart: both
are read and shown, and only the conformance report distinguishes them.
"""

from __future__ import annotations

from typing import Final

#: Roles of a message.
ROLES: Final = ("assistant", "user", "system")
EXTRA_ROLES: Final = ("tool",)

MESSAGE_TYPES: Final = (
    "message",
    "function_call",
    "function_call_output",
    "plugin_call",
    "plugin_call_output",
    "component_call",
    "component_call_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_call",
    "mcp_approval_response",
    "heartbeat",
    "error",
)
EXTRA_MESSAGE_TYPES: Final = ("reasoning", "mcp_call_output", "a2ui_response", "a2ui_action")

#: Types of the contents of a message (section "Content Models").
CONTENT_TYPES: Final = ("text", "image", "data")
EXTRA_CONTENT_TYPES: Final = ("file", "audio", "video", "refusal")

STATUSES: Final = (
    "created",
    "in_progress",
    "completed",
    "canceled",
    "failed",
    "rejected",
    "unknown",
)
EXTRA_STATUSES: Final = ("queued", "incomplete")

#: Statuses after which a response, a message or a content does not change.
FINAL_STATUSES: Final = frozenset({"completed", "canceled", "failed", "rejected", "incomplete"})
#: Final statuses that are failures.
FAILED_STATUSES: Final = frozenset({"canceled", "failed", "rejected"})

#: Types of messages with a tool call, and of messages with a tool output.
CALLS: Final = frozenset(
    {"function_call", "plugin_call", "component_call", "mcp_call", "mcp_approval_request"}
)
OUTPUTS: Final = frozenset(
    {
        "function_call_output",
        "plugin_call_output",
        "component_call_output",
        "mcp_call_output",
        "mcp_approval_response",
    }
)
#: Calls that the client has to make or approve; the agent makes the others itself.
CLIENT_CALLS: Final = frozenset({"function_call", "mcp_approval_request"})
