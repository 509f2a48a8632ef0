"""What is filled in on the desk of an action: parameters, headers, where a server is."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.forms import ValidationError
from django.http import HttpRequest

from playground.forms import read_headers, read_value
from playground.protocols.actions import UNSET, ServerInfo, Unset
from playground.protocols.actions.extract import A2A, MCP, attribute_text
from playground.protocols.actions.tool_form import PREFIX, arguments_of
from playground.rendering import action_servers
from playground.views.action_desk import MAX_ADDRESS, ActionPanel, identifier_of


@dataclass(slots=True)
class SubmittedAction:
    """What the user filled in, and what is wrong with it."""

    params: Any | Unset = UNSET
    headers: list[tuple[str, str]] = field(default_factory=list)
    #: Whether the agent's credentials shall go along.
    as_agent: bool = False
    problems: list[str] = field(default_factory=list)
    #: Where the MCP server is.
    url: str = ""
    #: The address of the card that the user agreed to send to.
    confirmed_url: str = ""
    #: The id of the message to an A2A agent: that which was shown is sent.
    message_id: str = ""
    #: Whether the arguments were filled in as a form and not as JSON.
    as_form: bool = False

    def server(self, desk: ActionPanel) -> ServerInfo:
        """What is known of the server or agent, with what was filled in."""
        description = desk.description
        if desk.protocol == MCP and desk.server and desk.server.url != self.url:
            description = None  # That of another server.
        return ServerInfo(self.url, description, self.message_id)


def empty(desk: ActionPanel) -> SubmittedAction:
    """What the desk holds when it is opened."""
    url = desk.server.url if desk.server and desk.protocol == MCP else ""
    return SubmittedAction(url=url, message_id=str(uuid.uuid4()), as_form=True)


def read_filled(request: HttpRequest, desk: ActionPanel) -> SubmittedAction:
    """What was submitted."""
    form = request.POST
    filled = SubmittedAction(
        as_agent=form.get("as_agent") == "1",
        url=form.get("server_url", "").strip()[:MAX_ADDRESS] if desk.protocol == MCP else "",
        confirmed_url=form.get("agreed", ""),
        message_id=form.get("message_id", "")[:100] or str(uuid.uuid4()),
        as_form=form.get("via", "form") == "form",
    )
    if (text := form.get("params")) is not None:
        try:
            filled.params = read_value(text) if text.strip() else None
        except ValidationError as error:
            filled.problems.append(f"Parameters: {error.messages[0]}")
    if filled.as_form and any(name.startswith(PREFIX) for name in form):
        _read_controls(request, desk, filled)
    try:
        filled.headers = read_headers(form.get("headers", ""))
    except ValidationError as error:
        filled.problems.append(error.messages[0])
    return filled


def _read_controls(request: HttpRequest, desk: ActionPanel, filled: SubmittedAction) -> None:
    """The arguments as the form has them; the JSON beside it gives what has no control."""
    given = None if isinstance(filled.params, Unset) else filled.params
    server = server_facts(desk, filled, given)
    if not isinstance(server, action_servers.McpServerView) or not server.controls:
        return
    data = {name: str(value) for name, value in request.POST.items()}
    filled.params, problems = arguments_of(server.controls, data, given)
    filled.problems += problems


def server_facts(
    desk: ActionPanel, filled: SubmittedAction, given: Any
) -> action_servers.McpServerView | action_servers.A2AAgentView | None:
    """The server or agent as the desk shows it, None for an action over HTTP."""
    peer = filled.server(desk)
    read_at = desk.server.described_at if desk.server else None
    identifier = identifier_of(desk.action)
    if desk.protocol == MCP:
        tool = attribute_text(desk.action, "tool")
        return action_servers.server_of(
            identifier, filled.url, tool, peer.description, read_at, given
        )
    if desk.protocol == A2A:
        skill = attribute_text(desk.action, "skill")
        return action_servers.agent_of(identifier, skill, peer.description, read_at)
    return None
