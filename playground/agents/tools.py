"""Tools over MCP, on the page of an agent: its server and tools as of the last handshake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.models import Agent
from playground.protocols.mcp import handshake
from playground.ui.formatting import pretty, value_text


@dataclass(frozen=True, slots=True)
class ToolView:
    """A tool as its template shows it."""

    name: str
    title: str
    description: str
    #: JSON Schema of its arguments as JSON, "" for none.
    schema: str
    #: NLWeb operations that call it.
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolListView:
    """A server with its tools."""

    url: str
    #: Name and version that the server gives, "" for none.
    server: str
    #: Kind of handshake as text, and version of MCP.
    handshake_text: str
    version: str
    instructions: str
    tools: tuple[ToolView, ...]
    more: bool
    #: Number of entries of `tools/list` that are no tools.
    invalid_tools: int
    #: Suggested tools for `ask` and for `await`.
    suggested: Mapping[str, str]
    #: Operations whose tool is not in the list, with the tool that is called all the same.
    missing: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        return [tool.name for tool in self.tools]


_HANDSHAKES = {
    handshake.DISCOVERED: "Supports server/discover; no session.",
    handshake.INITIALIZED: "Initialized with initialize.",
    handshake.BARE: "Supports neither server/discover nor initialize, but accepts tool calls.",
}


def tool_list_view(agent: Agent, url: str) -> ToolListView | None:
    """Return the stored tools of `agent` over MCP at `url`; None before the first handshake."""
    session = handshake.session_from_json(agent.handshake, url)
    if session is None:
        return None
    chosen_tools = (agent.ask_tool, agent.await_tool)
    used = {name: session.tool_for(name, chosen_tools) for name in handshake.OPERATIONS}
    tools = tuple(_tool(each, used) for each in session.tools if isinstance(each, Mapping))
    names = {tool.name for tool in tools}
    handshake_text = _HANDSHAKES.get(session.generation, "")
    if session.generation == handshake.INITIALIZED:
        handshake_text += (
            " The server uses a session."
            if session.uses_id
            else " The server does not use a session."
        )
    return ToolListView(
        url=url,
        server=_server_label(session.server),
        handshake_text=handshake_text,
        version=session.version,
        instructions=session.instructions,
        tools=tools,
        more=session.more,
        invalid_tools=session.invalid_tools,
        suggested={name: session.tool_for(name) for name in handshake.OPERATIONS},
        missing=tuple(pair for pair in used.items() if pair[1] not in names),
    )


def _tool(tool: Mapping[str, Any], used: Mapping[str, str]) -> ToolView:
    name = value_text(tool.get("name"), 128)
    schema = tool.get("inputSchema")
    return ToolView(
        name=name,
        title=value_text(tool.get("title"), 200),
        description=value_text(tool.get("description")),
        schema=pretty(schema) if schema is not None else "",
        uses=tuple(operation for operation, chosen in used.items() if chosen == name),
    )


def _server_label(info: Any) -> str:
    if not isinstance(info, Mapping):
        return ""
    parts = (value_text(info.get(name), 120) for name in ("title", "name", "version"))
    return " ".join(dict.fromkeys(filter(None, parts)))
