"""What the thread shows of a message: words for its kind and its status, parts, call, output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.rendering.message_parts import MessagePartView, ToolOutputView, readable_value
from playground.rendering.messages import JoinedMessage, MessagePart
from playground.rendering.words import value_text

#: Parts of a message and tools of a list that are shown.
MAX_SHOWN, MAX_TOOLS = 100, 100
#: Words that a status has in the page; another one is shown as the agent wrote it.
STATUSES = {
    "created": "begun",
    "queued": "queued",
    "in_progress": "under way",
    "completed": "complete",
    "incomplete": "incomplete",
    "failed": "failed",
    "canceled": "cancelled",
    "cancelled": "cancelled",
    "rejected": "rejected",
}
#: The statuses after which something has to follow.
OPEN = frozenset({"", "created", "queued", "in_progress"})
#: A message's type to what it is for the page, and what it is called.
TYPES = {
    "message": ("said", ""),
    "assistant": ("said", ""),
    "": ("said", ""),
    "reasoning": ("reasoning", "Reasoning"),
    "function_call": ("call", "Function call"),
    "plugin_call": ("call", "Plugin call"),
    "component_call": ("call", "Component call"),
    "mcp_call": ("call", "MCP call"),
    "function_call_output": ("output", "Function output"),
    "plugin_call_output": ("output", "Plugin output"),
    "component_call_output": ("output", "Component output"),
    "mcp_call_output": ("output", "MCP output"),
    "mcp_list_tools": ("tools", "Tools"),
    "mcp_approval_request": ("approval", "Approval request"),
    "mcp_approval_response": ("said", "Approval response"),
    "error": ("error", "Error"),
}
ROLES = {"assistant": "Assistant", "user": "User", "system": "System", "tool": "Tool"}


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message as its templates show it."""

    joined: JoinedMessage
    #: Whether the reply has ended, so that what is open stays open.
    is_over: bool = False

    @property
    def family(self) -> str:
        """`said`, `reasoning`, `call`, `output`, `tools`, `approval`, `error` or `other`."""
        return TYPES.get(self.joined.type, ("other", ""))[0]

    @property
    def label(self) -> str:
        """What it is called, in a word or two."""
        label = TYPES.get(self.joined.type, ("", self.joined.type))[1]
        role = self.joined.role
        return value_text(label or ROLES.get(role, role) or "Message", 80)

    @property
    def status(self) -> str:
        """Its status as the agent wrote it, cut."""
        return self.joined.status[:40]

    @property
    def status_label(self) -> str:
        """How it stands with it."""
        if self.is_over and self.is_unfinished:
            return "never completed"
        return STATUSES.get(self.joined.status, value_text(self.joined.status, 40))

    @property
    def is_unfinished(self) -> bool:
        """Whether its status says that something has to follow."""
        return self.joined.status in OPEN

    @property
    def is_open(self) -> bool:
        """Whether something may still come of it."""
        waits = self.makes_call and self.joined.output is None
        return not self.is_over and (self.is_unfinished or waits)

    @property
    def makes_call(self) -> bool:
        """Whether it calls a tool, or asks whether it may."""
        return self.family in ("call", "approval")

    @property
    def is_shown_by_call(self) -> bool:
        """Whether the call that it belongs to shows what it returns."""
        return self.joined.caller is not None

    @property
    def name(self) -> str:
        """What the call calls, cut."""
        call = self.joined.call
        return value_text(call.name, 120) if call else ""

    @property
    def caller_name(self) -> str:
        """What the call calls whose output it is, cut."""
        return MessageView(self.joined.caller).name if self.joined.caller else ""

    @property
    def parts(self) -> list[MessagePartView]:
        """Its parts in order, without those that the call or its output tells."""
        parts = (MessagePartView(part) for part in self.joined.ordered if not self._is_told(part))
        return list(islice(parts, MAX_SHOWN))

    @property
    def more(self) -> int:
        """Parts that only the JSON has."""
        return max(0, len(self.joined.parts) - MAX_SHOWN)

    @property
    def arguments(self) -> str:
        """What the call passes, as JSON for reading where it is JSON."""
        return readable_value(self.joined.call.arguments) if self.joined.call else ""

    @property
    def output(self) -> ToolOutputView | None:
        """What came of the call, None as long as nothing has."""
        return ToolOutputView(self.joined.output) if self.joined.output else None

    @property
    def tool_output(self) -> ToolOutputView | None:
        """What the message returns for a call."""
        return ToolOutputView(self.joined.tool_output) if self.joined.tool_output else None

    @property
    def tools(self) -> list[tuple[str, str]]:
        """Name and description of the tools that the message lists."""
        values = (part.value for part in self.joined.ordered if isinstance(part.value, Mapping))
        lists = (value.get("tools") for value in values)
        tools = (tool for each in lists if isinstance(each, list) for tool in each)
        return [_tool(tool) for tool in islice(tools, MAX_TOOLS)]

    @property
    def usage(self) -> list[tuple[str, str]]:
        """What the message has used, as facts."""
        return usage_rows(self.joined.usage)

    def _is_told(self, part: MessagePart) -> bool:
        if part.is_text:
            return False
        return bool(self.joined.call or self.joined.tool_output) or (
            self.family == "tools" and bool(self.tools)
        )


def usage_rows(usage: Any) -> list[tuple[str, str]]:
    """What was used, as (name, figure); empty for what says nothing."""
    if not isinstance(usage, Mapping):
        return []
    facts = ((value_text(str(name), 60), value_text(value, 60)) for name, value in usage.items())
    return [(name.replace("_", " "), value) for name, value in islice(facts, 12) if value]


def _tool(tool: Any) -> tuple[str, str]:
    described = tool if isinstance(tool, Mapping) else {"name": tool}
    inner = described.get("function")
    described = inner if isinstance(inner, Mapping) else described
    return value_text(described.get("name"), 120), value_text(described.get("description"), 300)
