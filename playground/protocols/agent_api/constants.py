"""The words of the Agent API: roles, types and statuses, and those that agents use beside them.

What the specification lists (section "Core Enums") and what is known from running agents are
kept apart: both are read and shown, and only the conformance report makes a difference.
"""

from __future__ import annotations

from typing import Final

#: Who speaks in a message.
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
DIALECT_MESSAGE_TYPES: Final = ("reasoning", "mcp_call_output", "a2ui_response", "a2ui_action")

#: What a part of a message holds (section "Content Models").
CONTENT_TYPES: Final = ("text", "image", "data")
DIALECT_CONTENT_TYPES: Final = ("file", "audio", "video", "refusal")

STATUSES: Final = (
    "created",
    "in_progress",
    "completed",
    "canceled",
    "failed",
    "rejected",
    "unknown",
)
DIALECT_STATUSES: Final = ("queued", "incomplete")

#: Statuses after which nothing more comes of a response, a message or a content.
FINAL_STATUSES: Final = frozenset({"completed", "canceled", "failed", "rejected", "incomplete"})
#: Final statuses that say no.
FAILED_STATUSES: Final = frozenset({"canceled", "failed", "rejected"})

#: Types of messages that ask for a tool to be called, and of those that say what it returned.
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
#: Calls that the agent leaves to its client: plugins, components and MCP tools it calls itself.
APPROVAL_TYPES: Final = frozenset({"function_call", "mcp_approval_request"})
