"""MCP servers and A2A agents of actions, as the action panel shows them."""

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
from playground.rendering.formatting import value_text

#: Names that are listed.
MAX_NAMES = 30


@dataclass(frozen=True, slots=True)
class NameChoices:
    """Names to choose from."""

    shown: Sequence[str]
    #: Number of names that are not listed.
    more: int = 0
    #: The name closest to the one in the action, "" for none.
    near: str = ""


@dataclass(frozen=True, slots=True)
class ReadInfo:
    """Time at which a description was fetched."""

    #: None before the first time.
    read_at: datetime | None

    @property
    def is_fresh(self) -> bool:
        """Return whether it was fetched less than a minute ago."""
        return self.read_at is not None and timezone.now() - self.read_at < timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class McpServerView(ReadInfo):
    """An MCP server of an action."""

    #: Name of the server in the action.
    identifier: str
    #: URL that the user gave.
    url: str
    tool: str
    #: Name that the server gives, "" for none.
    name: str
    version: str
    #: Description of the tool by the server, None if it has no such tool.
    described: Mapping[str, Any] | None
    tools: NameChoices
    controls: Sequence[ToolControl] = ()

    @property
    def is_read(self) -> bool:
        """Return whether its tools were fetched."""
        return self.read_at is not None

    @property
    def about(self) -> str:
        """Return the description of the tool by the server."""
        return value_text((self.described or {}).get("description"), 500)


@dataclass(frozen=True, slots=True)
class A2AAgentView(ReadInfo):
    """An A2A agent of an action."""

    #: URL that the action names.
    agent_url: str
    skill: str
    card: a2a.AgentCard | None
    skills: NameChoices

    @property
    def is_read(self) -> bool:
        """Return whether its agent card was fetched."""
        return self.card is not None

    @property
    def requested_origin(self) -> str:
        """Return the origin that the action names."""
        return origin_of(self.agent_url)

    @property
    def url(self) -> str:
        """Return the URL for messages in the agent card."""
        return self.card.url if self.card else ""

    @property
    def origin(self) -> str:
        """Return the origin of the URL in the agent card."""
        return origin_of(self.url)

    @property
    def url_at_action(self) -> str:
        """Return the URL in the agent card at the origin of the action."""
        return a2a.url_at(self.agent_url, self.url)

    @property
    def differs(self) -> bool:
        """Return whether the agent card has a different URL than the action."""
        return self.card is not None and not a2a.is_same(self.url, self.agent_url)

    @property
    def has_other_origin(self) -> bool:
        """Return whether the agent card has a different origin than the action."""
        return self.card is not None and bool(self.url) and not self._same_origin

    @property
    def has_skill(self) -> bool:
        """Return whether the agent card has the skill of the action."""
        return self.card is not None and self.card.has_skill(self.skill)

    @property
    def version(self) -> str:
        """Return the version of A2A that is used."""
        return self.card.version.name if self.card and self.card.version else ""

    @property
    def _same_origin(self) -> bool:
        return same_origin(self.url, self.agent_url)


def server_of(
    identifier: str, url: str, tool: str, description: Any, read_at: datetime | None, given: Any
) -> McpServerView:
    """Return the view of an MCP server; `given` are the initial arguments of the form."""
    tools = tools_of(description)
    document = description if isinstance(description, Mapping) else {}
    info = document.get("server")
    info = info if isinstance(info, Mapping) else {}
    described = tools.get(tool)
    schema = described.get("inputSchema") if described else None
    return McpServerView(
        read_at if description is not None else None,
        identifier=identifier,
        url=url,
        tool=tool,
        name=value_text(info.get("title") or info.get("name"), 80),
        version=value_text(document.get("version"), 20),
        described=described,
        tools=_name_choices(list(tools), tool),
        controls=controls_of(schema, given) if described else (),
    )


def agent_of(
    agent_url: str, skill: str, description: Any, read_at: datetime | None
) -> A2AAgentView:
    """Return the view of an A2A agent."""
    card = a2a.read_card(description) if description is not None else None
    ids = [each.id for each in card.skills] if card else []
    return A2AAgentView(read_at, agent_url, skill, card, _name_choices(ids, skill))


def _name_choices(names: Sequence[str], wanted: str) -> NameChoices:
    near = difflib.get_close_matches(wanted[:100], [name[:100] for name in names], 1)
    return NameChoices(
        [value_text(name, 80) for name in names[:MAX_NAMES]],
        max(0, len(names) - MAX_NAMES),
        value_text(near[0], 80) if near else "",
    )
