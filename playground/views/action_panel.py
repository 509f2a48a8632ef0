"""State of the action panel: its action, the submitted fields, the server, and the call."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.forms import ValidationError
from django.http import Http404, HttpRequest, QueryDict
from django.utils import timezone

from playground import engine
from playground.json_input import parse_headers, parse_json_value
from playground.models import ActionServer, Agent, Run
from playground.models.conversations import ancestors
from playground.models.ownership import owner_of
from playground.protocols import registry
from playground.protocols.actions import UNSET, Action, ActionPlan, ServerInfo, Unset, plan
from playground.protocols.actions.bindings import BINDINGS
from playground.protocols.actions.extract import A2A, HTTP, MCP, attribute_text
from playground.protocols.actions.tool_form import PREFIX, arguments_of
from playground.protocols.calls import HttpCall
from playground.protocols.mcp import versions
from playground.protocols.origins import MAX_URL, origin_of, same_origin
from playground.rendering import action_panel_servers
from playground.rendering.action_buttons import action_at, headers_of, label_of
from playground.rendering.entry_runs import anchor_of
from playground.rendering.formatting import readable
from playground.transport import OutboundPolicy, check_url
from playground.views.calls import describe_call, is_new_origin
from playground.views.helpers import get_run

#: The attribute that names the server or agent of an action.
IDENTIFIERS = {MCP: "server", A2A: "agent_url"}
#: The field with the URL of the server, or the one for messages to an agent.
_URL_FIELDS = {MCP: "server_url", A2A: "confirmed_url"}


@dataclass(frozen=True, slots=True)
class ActionPanel:
    """An action of a result, on the page of a run."""

    run: Run
    #: The run whose page it is on: that of the result, or one of its ancestors.
    page: Run
    entry_ref: tuple[int, int]
    number: int
    action: Action
    #: The stored server or agent that it names.
    server: ActionServer | None = None

    @property
    def agent(self) -> Agent:
        """Return the agent that returned the action; a deleted one has only a name and a URL."""
        return self.run.target_agent or Agent(name=self.run.agent_name, url=self.run.url)

    @property
    def anchor(self) -> str:
        """Return the id of the result's element on the page."""
        return anchor_of(self.run, self.entry_ref, self.page)

    @property
    def protocol(self) -> str:
        """Return the protocol of the action: HTTP, MCP or A2A."""
        return self.action.protocol

    @property
    def description(self) -> Any:
        """Return the stored tools or agent card, None before they were loaded."""
        return self.server.description if self.server else None


@dataclass(slots=True)
class SubmittedAction:
    """The submitted fields of the panel, and the errors in them."""

    params: Any | Unset = UNSET
    headers: list[tuple[str, str]] = field(default_factory=list)
    #: Whether to send the agent's credentials.
    as_agent: bool = False
    problems: list[str] = field(default_factory=list)
    #: The URL of the MCP server, or the one for messages to an A2A agent that was confirmed.
    url: str = ""
    #: The version of MCP that is set for the server, "" to find out.
    mcp_version: str = ""
    #: The id of the message to an A2A agent: the previewed one is sent.
    message_id: str = ""
    #: Whether the arguments were submitted as a form and not as JSON.
    as_form: bool = False

    def server(self, panel: ActionPanel) -> ServerInfo:
        """Return the stored facts about the server or agent, with the submitted URL."""
        description = panel.description
        if panel.protocol == MCP and panel.server and panel.server.url != self.url:
            description = None  # It is of another server.
        return ServerInfo(
            url=self.url,
            mcp_version=self.mcp_version
            or _version_of_agent(panel.agent, self.url or identifier_of(panel.action)),
            description=description,
            message_id=self.message_id,
        )


def _version_of_agent(agent: Agent, url: str) -> str:
    """Return the version of MCP that is set for the agent, "" if it is another server."""
    is_server = agent.binding == Agent.Binding.MCP and agent.url == url
    return agent.mcp_version if is_server else ""


def get_action_panel(
    request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int
) -> ActionPanel:
    """Return the panel that a URL names. Raises `Http404`."""
    # Notifying viewers needs the parents, see `Run.viewer_groups`.
    run = get_run(request, pk, "agent", "conversation", "parent__parent__parent")
    found = action_at(run, entry_ref, number)
    if found is None:
        raise Http404
    page_pk = request.POST.get("page") or request.GET.get("page")
    page = next((each for each in ancestors(run) if str(each.pk) == page_pk), run)
    return ActionPanel(run, page, entry_ref, number, found, _stored_server(request, found))


def identifier_of(action: Action) -> str:
    """Return how an action names its server or agent, "" without one or over HTTP."""
    name = IDENTIFIERS.get(action.protocol)
    return attribute_text(action, name) if name else ""


def _stored_server(request: HttpRequest, action: Action) -> ActionServer | None:
    """Return the user's stored server of an action, None where there is none."""
    identifier = identifier_of(action)
    if not identifier:
        return None
    servers = ActionServer.objects.owned_by(request.user)
    found: ActionServer | None = servers.filter(
        protocol=action.protocol.lower(), identifier=identifier[:MAX_URL]
    ).first()
    return found


@transaction.atomic
def save_server(
    request: HttpRequest,
    panel: ActionPanel,
    submitted: SubmittedAction,
    url: str,
    found: Any = None,
) -> None:
    """Store URL and version of a server and, if given, its description.

    A new URL drops an old description.
    """
    identifier = identifier_of(panel.action)
    if len(identifier) > MAX_URL:
        return
    key = {"protocol": panel.protocol.lower(), "identifier": identifier}
    known = ActionServer.objects.owned_by(request.user).filter(**key).first()
    server = known or ActionServer(owner=owner_of(request.user), **key)
    if server.url != url:
        server.url, server.description, server.described_at = url, None, None
    server.mcp_version = submitted.mcp_version
    if found is not None:
        server.description, server.described_at = found, timezone.now()
    server.save()


def initial_action(panel: ActionPanel) -> SubmittedAction:
    """Return the fields of a panel that was just opened."""
    server = panel.server if panel.protocol == MCP else None
    return SubmittedAction(
        url=server.url if server else "",
        mcp_version=server.mcp_version if server else "",
        message_id=str(uuid.uuid4()),
        as_form=True,
    )


def read_submitted(request: HttpRequest, panel: ActionPanel) -> SubmittedAction:
    """Return the fields of a submitted panel."""
    form = request.POST
    submitted = SubmittedAction(
        as_agent=form.get("as_agent") == "1",
        url=form.get(_URL_FIELDS.get(panel.protocol, ""), "").strip()[:MAX_URL],
        mcp_version=_submitted_version(form) if panel.protocol == MCP else "",
        message_id=form.get("message_id", "")[:100] or str(uuid.uuid4()),
        as_form=form.get("via", "form") == "form",
    )
    if (text := form.get("params")) is not None:
        try:
            submitted.params = parse_json_value(text) if text.strip() else None
        except ValidationError as error:
            submitted.problems.append(f"Parameters: {error.messages[0]}")
    if submitted.as_form and any(name.startswith(PREFIX) for name in form):
        _read_arguments(request, panel, submitted)
    try:
        submitted.headers = parse_headers(form.get("headers", ""))
    except ValidationError as error:
        submitted.problems.append(error.messages[0])
    return submitted


def _submitted_version(form: QueryDict) -> str:
    version = form.get("mcp_version", "")
    return version if version in versions.VERSIONS else ""


def _read_arguments(request: HttpRequest, panel: ActionPanel, submitted: SubmittedAction) -> None:
    """Read the arguments from the tool's form, over those of the submitted JSON."""
    given = None if isinstance(submitted.params, Unset) else submitted.params
    server = server_facts(panel, submitted, given)
    if not isinstance(server, action_panel_servers.McpServerView) or not server.controls:
        return
    data = {name: str(value) for name, value in request.POST.items()}
    submitted.params, problems = arguments_of(server.controls, data, given)
    submitted.problems += problems


def panel_context(
    request: HttpRequest, panel: ActionPanel, submitted: SubmittedAction
) -> dict[str, Any]:
    """Return the template context of the panel: the exact call and everything about it."""
    planned = plan_of(panel, submitted)
    facts = server_facts(panel, submitted, planned.params)
    own = is_agent_origin(panel.agent, planned)
    submitted.as_agent = submitted.as_agent and own
    needs_confirmation = (
        isinstance(facts, action_panel_servers.A2AAgentView) and facts.has_other_origin
    )
    needs_confirmation = needs_confirmation and submitted.url != planned.url
    sendable = is_sendable(planned) and not submitted.problems and not needs_confirmation
    prepared = prepared_action(panel, submitted, planned)
    described = describe_call(_exact_call(prepared, planned), prepared.redact)
    credentials = [name for name, _ in panel.agent.auth_headers()] if submitted.as_agent else []
    return {
        **_entry_context(panel),
        "plan": planned,
        "server": facts,
        "submitted": submitted,
        "mcp_versions": versions.CHOICES,
        "controls": facts.controls if isinstance(facts, action_panel_servers.McpServerView) else (),
        "params": "" if planned.params is None else readable(planned.params),
        "call": described,
        "headers": headers_of(
            described["headers"],
            panel.action,
            yours=[name for name, _ in submitted.headers],
            credentials=credentials,
        ),
        "errors": [*submitted.problems, *_call_errors(planned)],
        "sendable": sendable,
        # Something is missing that the user can enter, or without what was submitted it
        # could be sent.
        "fixable": not sendable and (needs_confirmation or _is_fixable(panel, submitted)),
        # The plan then comes from other fields, and is not shown as the plan of these.
        "has_input_errors": bool(submitted.problems),
        "origin": planned.origin,
        "agent_origin": origin_of(panel.agent.url),
        "is_own": own,
        "is_new": bool(planned.origin) and is_new_origin(request, planned.url),
        "needs_confirmation": needs_confirmation,
        "as_agent": submitted.as_agent,
        "has_credentials": bool(panel.agent.auth_headers()),
    }


def _entry_context(panel: ActionPanel) -> dict[str, Any]:
    """Return the part of the context that names the action and its result."""
    return {
        "run": panel.run,
        "page": panel.page,
        "anchor": panel.anchor,
        "seq": panel.entry_ref[0],
        "part": panel.entry_ref[1],
        "number": panel.number,
        "action": panel.action,
        "label": label_of(panel.action),
        "agent": panel.agent,
    }


def server_facts(
    panel: ActionPanel, submitted: SubmittedAction, given: Any
) -> action_panel_servers.McpServerView | action_panel_servers.A2AAgentView | None:
    """Return the server or agent as the panel shows it, None for an action over HTTP."""
    server = submitted.server(panel)
    read_at = panel.server.described_at if panel.server else None
    identifier = identifier_of(panel.action)
    if panel.protocol == MCP:
        tool = attribute_text(panel.action, "tool")
        return action_panel_servers.server_of(
            identifier, submitted.url, tool, server.description, read_at, given
        )
    if panel.protocol == A2A:
        skill = attribute_text(panel.action, "skill")
        return action_panel_servers.agent_of(identifier, skill, server.description, read_at)
    return None


def plan_of(panel: ActionPanel, submitted: SubmittedAction) -> ActionPlan:
    """Return the planned call of the action with the submitted fields."""
    return plan(
        panel.action,
        panel.run.url,
        params=submitted.params,
        headers=submitted.headers,
        server_info=submitted.server(panel),
    )


def prepared_action(
    panel: ActionPanel, submitted: SubmittedAction, planned: ActionPlan
) -> engine.PreparedRequest:
    """Return the action as a request that the engine can send."""
    binding = BINDINGS.get(planned.protocol)
    return engine.action_request(
        panel.agent,
        planned.request,
        planned.url,
        binding=binding.name if binding else "http",
        headers=submitted.headers,
        as_agent=submitted.as_agent,
    )


def _exact_call(prepared: engine.PreparedRequest, planned: ActionPlan) -> HttpCall:
    """Return the call as the engine would make it.

    Where it would not make one, or makes others before it, return the planned call.
    """
    if planned.sendable and planned.protocol == HTTP:
        call = registry.exchange(prepared.target, prepared.request).next_call()
        if call is not None:
            return call
    own = dict(prepared.target.headers) if planned.sendable else {}
    added = [pair for pair in own.items() if pair not in planned.headers]
    return HttpCall(planned.method, planned.url, (*planned.headers, *added), planned.body)


def is_agent_origin(agent: Agent, planned: ActionPlan) -> bool:
    """Return whether the call goes to the agent's own origin."""
    return same_origin(planned.url, agent.url)


def is_sendable(planned: ActionPlan) -> bool:
    """Return whether the call can be made."""
    return planned.sendable and not _call_errors(planned)


def _call_errors(planned: ActionPlan) -> list[str]:
    """Return the reasons why a call cannot be made, as sentences."""
    refusals = list(planned.errors)
    if planned.sendable and (refusal := _policy_error(planned.url)):
        refusals.append(refusal)
    return refusals


def _is_fixable(panel: ActionPanel, submitted: SubmittedAction) -> bool:
    """Return whether other fields would make the call sendable."""
    url = panel.server.url if panel.server and panel.protocol == MCP else submitted.url
    planned = plan_of(panel, SubmittedAction(url=url, message_id=submitted.message_id))
    return is_sendable(planned) or (bool(planned.missing) and not planned.errors)


def _policy_error(url: str) -> str:
    """Return why the outbound policy refuses a URL, "" where only its name resolution decides.

    Before that, only a literal IP address can be checked.
    """
    if problem := check_url(url):
        return problem
    host = (urlsplit(url).hostname or "").lower()
    literal = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
    policy = OutboundPolicy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    try:
        refusal = policy.verdict(ip_address(literal), host)
    except ValueError:
        return ""
    return refusal.message if refusal else ""
