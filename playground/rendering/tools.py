"""The tools of an agent over MCP, as the last opening of its server found them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.models import Agent
from playground.protocols.mcp import sessions
from playground.rendering.pretty import pretty
from playground.rendering.words import value_text


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool, ready to print."""

    name: str
    title: str
    description: str
    #: The schema of its arguments as JSON, "" where there is none.
    schema: str
    #: The operations of NLWeb that it is used for.
    uses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolListView:
    """What is known of a server."""

    url: str
    #: Name and version as the server gives them, "" where it gives none.
    server: str
    #: How it is opened, in words, and the version of MCP that it speaks.
    handshake_text: str
    version: str
    instructions: str
    tools: tuple[ToolView, ...]
    more: bool
    #: Entries of the server's list that are no tools.
    invalid_tools: int
    #: What the list of tools suggests for `ask` and for `await`.
    suggested: Mapping[str, str]
    #: Operations whose tool is not in the list, and the tool that is called all the same.
    missing: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        """What the tools are called."""
        return [tool.name for tool in self.tools]


_OPENED = {
    sessions.DISCOVERED: "Answers server/discover; there is no session.",
    sessions.INITIALIZED: "Opened with initialize.",
    sessions.BARE: "Knows neither server/discover nor initialize, and takes calls all the same.",
}


def tool_list_view(agent: Agent, address: str) -> ToolListView | None:
    """What is known of `agent` over MCP at `address`; None where nothing is yet."""
    session = sessions.from_json(agent.handshake, address)
    if session is None:
        return None
    wanted = (agent.ask_tool, agent.await_tool)
    used = {name: session.tool_for(name, wanted) for name in sessions.OPERATIONS}
    tools = tuple(_tool(each, used) for each in session.tools if isinstance(each, Mapping))
    names = {tool.name for tool in tools}
    opened = _OPENED.get(session.generation, "")
    if session.generation == sessions.INITIALIZED:
        opened += " The server keeps a session." if session.id else " The server keeps no session."
    return ToolListView(
        url=address,
        server=_server(session.server),
        handshake_text=opened,
        version=session.version,
        instructions=session.instructions,
        tools=tools,
        more=session.more,
        invalid_tools=session.invalid_tools,
        suggested={name: session.tool_for(name) for name in sessions.OPERATIONS},
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


def _server(info: Any) -> str:
    if not isinstance(info, Mapping):
        return ""
    told = (value_text(info.get(name), 120) for name in ("title", "name", "version"))
    return " ".join(dict.fromkeys(filter(None, told)))
