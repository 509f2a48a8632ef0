"""The server or agent that an action names, as the desk shows it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from playground.protocols import a2a
from playground.protocols.actions.servers import tools_of
from playground.protocols.actions.tool_form import ToolControl, controls_of
from playground.protocols.origins import origin_of, same_origin
from playground.rendering.cards import value_text

#: Names that are listed.
MAX_NAMES = 30


@dataclass(frozen=True, slots=True)
class NameChoices:
    """What there is to choose from, by name."""

    shown: Sequence[str]
    #: How many there are beyond those.
    more: int = 0
    #: The one that was perhaps meant, "" for none.
    near: str = ""


@dataclass(frozen=True, slots=True)
class ReadInfo:
    """When something was read."""

    #: None before it was.
    read_at: datetime | None

    @property
    def is_fresh(self) -> bool:
        """Whether that is less than a minute ago."""
        return self.read_at is not None and timezone.now() - self.read_at < timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class McpServerView(ReadInfo):
    """An MCP server."""

    #: What the action calls it.
    identifier: str
    #: Where the user says that it is.
    url: str
    tool: str
    #: Its own name, "" where it has none.
    name: str
    version: str
    #: What it says of the tool, None where it has no such tool.
    described: Mapping[str, Any] | None
    tools: NameChoices
    controls: Sequence[ToolControl] = ()

    @property
    def is_read(self) -> bool:
        """Whether its tools are known."""
        return self.read_at is not None

    @property
    def about(self) -> str:
        """What the server says that the tool does."""
        return value_text((self.described or {}).get("description"), 500)


@dataclass(frozen=True, slots=True)
class A2AAgentView(ReadInfo):
    """An A2A agent."""

    #: The address that the action names.
    agent_url: str
    skill: str
    card: a2a.AgentCard | None
    skills: NameChoices

    @property
    def is_read(self) -> bool:
        """Whether its card is known."""
        return self.card is not None

    @property
    def requested_origin(self) -> str:
        """The origin that the action names."""
        return origin_of(self.agent_url)

    @property
    def url(self) -> str:
        """Where the card says that messages go."""
        return self.card.url if self.card else ""

    @property
    def origin(self) -> str:
        """The origin that the card names."""
        return origin_of(self.url)

    @property
    def differs(self) -> bool:
        """Whether the card names another address than the action."""
        return self.card is not None and not a2a.is_same(self.url, self.agent_url)

    @property
    def has_other_origin(self) -> bool:
        """Whether the card names another origin than the action."""
        return self.card is not None and bool(self.url) and not self._same_origin

    @property
    def has_skill(self) -> bool:
        """Whether the card has the skill that the action names."""
        return self.card is not None and self.card.has_skill(self.skill)

    @property
    def version(self) -> str:
        """The version that is spoken."""
        return self.card.version.name if self.card and self.card.version else ""

    @property
    def _same_origin(self) -> bool:
        return same_origin(self.url, self.agent_url)


def server_of(
    identifier: str, url: str, tool: str, description: Any, read_at: datetime | None, given: Any
) -> McpServerView:
    """What is known of an MCP server; `given` are the arguments that the form begins with."""
    tools = tools_of(description)
    own = description if isinstance(description, Mapping) else {}
    info = own.get("server")
    info = info if isinstance(info, Mapping) else {}
    described = tools.get(tool)
    schema = described.get("inputSchema") if described else None
    return McpServerView(
        read_at if description is not None else None,
        identifier=identifier,
        url=url,
        tool=tool,
        name=value_text(info.get("title") or info.get("name"), 80),
        version=value_text(own.get("version"), 20),
        described=described,
        tools=_names(list(tools), tool),
        controls=controls_of(schema, given) if described else (),
    )


def agent_of(
    agent_url: str, skill: str, description: Any, read_at: datetime | None
) -> A2AAgentView:
    """What is known of an A2A agent."""
    card = a2a.read_card(description) if description is not None else None
    ids = [each.id for each in card.skills] if card else []
    return A2AAgentView(read_at, agent_url, skill, card, _names(ids, skill))


def _names(names: Sequence[str], wanted: str) -> NameChoices:
    near = difflib.get_close_matches(wanted[:100], [name[:100] for name in names], 1)
    return NameChoices(
        [value_text(name, 80) for name in names[:MAX_NAMES]],
        max(0, len(names) - MAX_NAMES),
        value_text(near[0], 80) if near else "",
    )
