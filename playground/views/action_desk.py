"""Which action a desk is about, and what is remembered of the server or agent that it names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest
from django.utils import timezone

from playground.models import ActionServer, Agent, Run
from playground.models.ownership import owner_of
from playground.protocols.actions import Action
from playground.protocols.actions.extract import A2A, MCP, attribute_text
from playground.rendering.action_panel import action_at
from playground.rendering.thread import anchor_of
from playground.views.helpers import get_run

#: The attribute that names the server or agent of an action.
IDENTIFIERS = {MCP: "server", A2A: "agent_url"}
#: Characters of a server's address and of its name.
MAX_ADDRESS = 2_000


@dataclass(frozen=True, slots=True)
class ActionPanel:
    """One action of one result, on the page of a run."""

    run: Run
    #: The run whose page it is on: that of the result, or one that it came of.
    page: Run
    entry_ref: tuple[int, int]
    number: int
    action: Action
    #: What is remembered of the server or agent that it names.
    server: ActionServer | None = None

    @property
    def agent(self) -> Agent:
        """The agent that gave the action; one that was deleted is known by its name only."""
        return self.run.agent or Agent(name=self.run.agent_name, url=self.run.url)

    @property
    def anchor(self) -> str:
        """The id of the result's element on the page."""
        return anchor_of(self.run, self.entry_ref, self.page)

    @property
    def protocol(self) -> str:
        """What the action travels over."""
        return self.action.protocol

    @property
    def description(self) -> Any:
        """The tools or the card, None before they were read."""
        return self.server.description if self.server else None


def get_action_panel(
    request: HttpRequest, pk: str, place: tuple[int, int], number: int
) -> ActionPanel:
    """The desk that an address names. Raises `Http404`."""
    # The parents are at hand then for the nudges, see `Run.groups`.
    run = get_run(request, pk, "agent", "conversation", "parent__parent__parent")
    found = action_at(run, place, number)
    if found is None:
        raise Http404
    asked = request.POST.get("page") or request.GET.get("page")
    page = next((each for each in ancestors(run) if str(each.pk) == asked), run)
    return ActionPanel(run, page, place, number, found, _remembered(request, found))


def ancestors(run: Run) -> Iterator[Run]:
    """The run and those that it came of, up to its turn."""
    at: Run | None = run
    while at is not None:
        yield at
        at = None if at.is_turn else at.parent


def identifier_of(action: Action) -> str:
    """What an action calls its server or agent, "" where it has none or is over HTTP."""
    name = IDENTIFIERS.get(action.protocol)
    return attribute_text(action, name) if name else ""


def _remembered(request: HttpRequest, action: Action) -> ActionServer | None:
    identifier = identifier_of(action)
    if not identifier:
        return None
    servers = ActionServer.objects.owned_by(request.user)
    found: ActionServer | None = servers.filter(
        protocol=action.protocol.lower(), identifier=identifier[:MAX_ADDRESS]
    ).first()
    return found


@transaction.atomic
def save_server(request: HttpRequest, desk: ActionPanel, url: str, found: Any = None) -> None:
    """Keep where a server is, and what it says of itself; an old word of another is dropped."""
    identifier = identifier_of(desk.action)
    if len(identifier) > MAX_ADDRESS:
        return
    key = {"protocol": desk.protocol.lower(), "identifier": identifier}
    known = ActionServer.objects.owned_by(request.user).filter(**key).first()
    server = known or ActionServer(owner=owner_of(request.user), **key)
    if server.url != url:
        server.url, server.description, server.described_at = url, None, None
    if found is not None:
        server.description, server.described_at = found, timezone.now()
    server.save()
