"""Actions of results: the panel, the preview, loading a server's tools, and running the action."""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import transaction
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget

from playground.base.fields import parse_headers, parse_json_value
from playground.conversation.thread import MAX_LABEL, Thread, anchor_of
from playground.engine import tasks
from playground.engine.calls import probe
from playground.engine.request import PreparedRequest, action_request
from playground.models import ActionServer, Agent, Run, RunKind
from playground.models.conversations import ancestors
from playground.models.rows import owner_of
from playground.protocols import a2a, registry
from playground.protocols.actions import (
    UNSET,
    Action,
    ActionPlan,
    ServerInfo,
    Unset,
    actions_of,
    endpoints,
    plan,
    servers,
)
from playground.protocols.actions.bindings import BINDINGS
from playground.protocols.actions.extract import A2A, HTTP, MCP, attribute_text
from playground.protocols.actions.servers import tools_of
from playground.protocols.actions.tool_form import PREFIX, ToolControl, arguments_of, controls_of
from playground.protocols.calls import HttpCall
from playground.protocols.events import EntryRef, Result
from playground.protocols.exchange import Exchange
from playground.protocols.mcp import versions
from playground.protocols.origins import MAX_URL, origin_of, same_origin
from playground.protocols.problems import Problem
from playground.stored_runs import event_at
from playground.transport import OutboundPolicy, check_url
from playground.ui.calls import describe_call, is_new_origin
from playground.ui.formatting import label_text, readable, value_text
from playground.ui.helpers import get_run, is_htmx, room_problem

_NESTING = frozenset({dict, list})


@dataclass(frozen=True, slots=True)
class ActionButton:
    """An action as a button of a card."""

    #: Number among the actions of the item.
    number: int
    label: str
    #: Description by the agent, "" for none.
    description: str
    protocol: str
    #: Whether the agent marks it as the primary action.
    is_marked: bool = False


def action_buttons(item: Any) -> list[ActionButton]:
    """Return the buttons of an item, one for each of its actions at any depth, the primary first.

    The primary action is the first that the agent marks with `"primary": true`, else the first.
    """
    if not _mentions_actions(item):
        return []
    buttons = [
        ActionButton(
            number,
            label_of(action),
            value_text(action.description, 200),
            value_text(action.protocol, 12) or "?",
            isinstance(action.raw, Mapping) and action.raw.get("primary") is True,
        )
        for number, action in enumerate(actions_of(item))
    ]
    primary = next((button for button in buttons if button.is_marked), None)
    return sorted(buttons, key=lambda button: button is not primary)


def _mentions_actions(item: Any) -> bool:
    """Return whether an item may have actions: of a flood of cards most have none."""
    values = [item]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            if "actions" in value:
                return True
            value = value.values()
        elif not isinstance(value, list):
            continue
        values += [each for each in value if type(each) in _NESTING]
    return False


def label_of(action: Action) -> str:
    """Return the label of an action: its readable name, or a short description if it has none."""
    if "name" in action.inferred and 0 < len(action.description) <= MAX_LABEL:
        return action.description
    return label_text(action.name, MAX_LABEL)


def action_at(run: Run, ref: EntryRef, number: int) -> Action | None:
    event = event_at(run, ref)
    actions = actions_of(event.item) if isinstance(event, Result) else []
    return actions[number] if number < len(actions) else None


def action_key(run: Run) -> tuple[str, ...]:
    """Return the key that runs of the same action share, however its parameters were edited."""
    request = run.request if isinstance(run.request, Mapping) else {}
    url = value_text(request.get("url")).partition("?")[0]
    return value_text(request.get("action")), value_text(request.get("method")), url


def is_plain_data(item: Any) -> bool:
    """Return whether an item is plain data, with neither type nor name."""
    return not (isinstance(item, Mapping) and (item.get("@type") or item.get("name")))


#: Actions below one card, the newest.
MAX_ACTIONS = 10


def child_runs(thread: Thread, ref: EntryRef) -> dict[str, Any]:
    """Return the actions of a card that were run, oldest first."""
    runs = thread.runs_at(ref, RunKind.ACTION)[-MAX_ACTIONS:]
    latest = {action_key(run): run.pk for run in runs}
    children = [
        replace(thread.child(run), is_outdated=latest[action_key(run)] != run.pk) for run in runs
    ]
    return {"actions": children}


@require_http_methods(["GET", "POST"])
async def action(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Show the panel of an action (GET), or run it (POST).

    All methods but GET need `confirmed=1`.
    """
    if request.method == "GET":
        return await sync_to_async(_show)(request, pk, (seq, part), number)
    sent = await sync_to_async(_record)(request, pk, (seq, part), number)
    if isinstance(sent, HttpResponse):
        return sent
    panel, run, prepared = sent
    await tasks.send(run, prepared)
    if not is_htmx(request):
        return redirect(panel.page)
    return await sync_to_async(_started)(request, panel)


@require_POST
def preview(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Show the call as it would be made with the submitted fields."""
    panel = get_action_panel(request, pk, (seq, part), number)
    read_submitted(request, panel)
    context = panel_context(request, panel)
    return render(request, "conversation/actions.html#preview", context)


@require_POST
async def server(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Load and store the tools of an MCP server, or the card of an A2A agent."""
    prepared = await sync_to_async(_prepare_probe)(request, pk, (seq, part), number)
    if isinstance(prepared, HttpResponse):
        return prepared
    panel, exchange, secrets = prepared
    _, problem = await probe(exchange, owner=panel.run.owner_id, redact=secrets)
    return await sync_to_async(_loaded)(request, panel, exchange, problem)


def _show(request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int) -> HttpResponse:
    panel = get_action_panel(request, pk, entry_ref, number)
    context = panel_context(request, panel)
    errors = context["errors"]
    context["findings"] = [problem for problem in panel.action.problems if problem not in errors]
    return render(request, "conversation/actions.html#panel", context)


def _record(
    request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int
) -> HttpResponse | tuple[ActionPanel, Run, PreparedRequest]:
    """Record the run of an action; or return a page with errors, or one that asks to confirm."""
    panel = get_action_panel(request, pk, entry_ref, number)
    read_submitted(request, panel)
    context = panel_context(request, panel)
    if not context["sendable"]:
        response = render(request, "conversation/actions.html#preview", context, status=422)
        return reswap(retarget(response, f"#action-panel-{panel.anchor}-call"), "innerHTML")
    planned: ActionPlan = context["plan"]
    if planned.method != "GET" and request.POST.get("confirmed") != "1":
        response = render(request, "conversation/actions.html#confirmation", context)
        return reswap(retarget(response, f"#action-panel-{panel.anchor}-confirmation"), "innerHTML")
    if panel.protocol == MCP:
        save_server(request, panel, planned.url)
    prepared = panel.prepare(planned)
    parent = runs.RunParent(RunKind.ACTION, panel.run, *panel.entry_ref)
    run = runs.create_run(prepared, owner_of(request.user), parent)
    return panel, run, prepared


def _started(request: HttpRequest, panel: ActionPanel) -> HttpResponse:
    """Return the fragments that change: the child runs of the result, and the page's socket."""
    entry_ref = next(
        (run.parent_entry for run in ancestors(panel.run) if run.parent_id == panel.page.pk), None
    )
    if panel.run == panel.page or entry_ref is None:
        entry_ref = panel.entry_ref
    children = Thread(panel.page).render_children(entry_ref)
    context = {"children": children, "run": panel.page, "live": True}
    return render(request, "conversation/response.html#started", context)


def _prepare_probe(
    request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int
) -> HttpResponse | tuple[ActionPanel, Exchange, list[str]]:
    """Return the exchange that loads a server's description; or a page that says why not."""
    panel = get_action_panel(request, pk, entry_ref, number)
    if panel.protocol not in IDENTIFIERS:
        raise Http404
    read_submitted(request, panel)
    planned = panel.plan()
    url = planned.url if panel.protocol == MCP else panel.identifier
    # A description is as large as the server wants.
    if refusal := endpoints.url_error(url) or room_problem(request, is_begun=True):
        context = {**panel_context(request, panel), "probe_error": refusal}
        return render(request, "conversation/actions.html#server_loaded", context)
    panel.as_agent = panel.as_agent and is_agent_origin(panel.agent, planned)
    prepared = panel.prepare(planned)
    # Only an MCP server is where the user says, so headers are meant for it.
    headers = prepared.target.headers if panel.protocol == MCP else ()
    depth = settings.RUN_LIMITS.max_depth
    panel.url = url if panel.protocol == MCP else ""
    version = panel.server_info.mcp_version
    exchange = servers.exchange(panel.protocol, url, headers, depth, mcp_version=version)
    return panel, exchange, prepared.redact


def _loaded(
    request: HttpRequest,
    panel: ActionPanel,
    exchange: Exchange,
    problem: Problem | None,
) -> HttpResponse:
    """Store the description of a server, and show the panel with it."""
    found = None if problem else servers.description(panel.protocol, exchange.handshake)
    if found is not None:
        url = str(servers.message_url(panel.protocol, found) or panel.url)
        save_server(request, panel, url[:MAX_URL], found)
        panel.server = stored_server(request, panel.action)
    context: dict[str, Any] = panel_context(request, panel)
    context |= {"problem": problem, "is_silent": found is None and problem is None}
    return render(request, "conversation/actions.html#server_loaded", context)


#: The attribute that names the server or agent of an action.
IDENTIFIERS = {MCP: "server", A2A: "agent_url"}
#: The field with the URL of the server, or the one for messages to an agent.
_URL_FIELDS = {MCP: "server_url", A2A: "confirmed_url"}
#: Names of tools or skills that are listed.
MAX_NAMES = 30


@dataclass(slots=True)
class ActionPanel:
    """An action of a result, on the page of a run, with the fields of the panel."""

    run: Run
    #: The run whose page it is on: that of the result, or one of its ancestors.
    page: Run
    entry_ref: tuple[int, int]
    number: int
    action: Action
    #: The stored server or agent that it names.
    server: ActionServer | None = None

    #: The submitted fields, and the errors in them.
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
    def identifier(self) -> str:
        return identifier_of(self.action)

    @property
    def server_info(self) -> ServerInfo:
        """Return the stored facts about the server or agent, with the submitted URL."""
        description = self.server.description if self.server else None
        if self.protocol == MCP and self.server and self.server.url != self.url:
            description = None  # It is of another server.
        url = self.url or self.identifier
        is_agent = self.agent.binding == Agent.Binding.MCP and self.agent.url == url
        version = self.mcp_version or (self.agent.mcp_version if is_agent else "")
        return ServerInfo(self.url, version, description, self.message_id)

    def plan(self) -> ActionPlan:
        return plan(
            self.action,
            self.run.url,
            params=self.params,
            headers=self.headers,
            server_info=self.server_info,
        )

    def describe_server(self, given: Any) -> McpServerView | A2AAgentView | None:
        """Return the server or agent as the panel shows it, None for an action over HTTP.

        `given` are the initial arguments of the form.
        """
        description = self.server_info.description
        read_at = self.server.described_at if self.server else None
        if self.protocol == MCP:
            tool = attribute_text(self.action, "tool")
            return McpServerView(description, read_at, self.identifier, self.url, tool, given)
        if self.protocol == A2A:
            skill = attribute_text(self.action, "skill")
            return A2AAgentView(description, read_at, self.identifier, skill)
        return None

    def prepare(self, planned: ActionPlan) -> PreparedRequest:
        binding = BINDINGS.get(planned.protocol)
        return action_request(
            self.agent,
            planned.request,
            planned.url,
            binding=binding.name if binding else "http",
            headers=self.headers,
            as_agent=self.as_agent,
        )


@dataclass(frozen=True, slots=True)
class NameChoices:
    """Names to choose from."""

    shown: Sequence[str]
    #: Number of names that are not listed.
    more: int
    #: The name closest to the one in the action, "" for none.
    near: str


@dataclass(frozen=True)
class _ServerView:
    """A server or agent of an action, and what was loaded of it."""

    #: The stored tools or agent card, None before they were loaded.
    description: Any
    read_at: datetime | None

    @property
    def is_read(self) -> bool:
        """Return whether its tools or its agent card were loaded."""
        return self.description is not None

    @property
    def is_fresh(self) -> bool:
        """Return whether they were loaded less than a minute ago."""
        return self.read_at is not None and timezone.now() - self.read_at < timedelta(minutes=1)


@dataclass(frozen=True)
class McpServerView(_ServerView):
    """An MCP server of an action."""

    #: Name of the server in the action.
    identifier: str
    #: URL that the user gave.
    url: str
    tool: str
    #: Initial arguments of the form.
    given: Any

    @property
    def name(self) -> str:
        """Return the name that the server gives, "" for none."""
        info = _members(_members(self.description).get("server"))
        return value_text(info.get("title") or info.get("name"), 80)

    @property
    def version(self) -> str:
        """Return the version of MCP that is used."""
        return value_text(_members(self.description).get("version"), 20)

    @cached_property
    def described(self) -> Mapping[str, Any] | None:
        """Return the tool by the server, None if it has no such tool."""
        return tools_of(self.description).get(self.tool)

    @property
    def about(self) -> str:
        """Return the description of the tool by the server."""
        return value_text(_members(self.described).get("description"), 500)

    @property
    def tools(self) -> NameChoices:
        return _name_choices(list(tools_of(self.description)), self.tool)

    @cached_property
    def controls(self) -> Sequence[ToolControl]:
        return controls_of(self.described.get("inputSchema"), self.given) if self.described else ()


@dataclass(frozen=True)
class A2AAgentView(_ServerView):
    """An A2A agent of an action."""

    #: URL that the action names.
    agent_url: str
    skill: str

    @cached_property
    def card(self) -> a2a.AgentCard | None:
        return a2a.read_card(self.description) if self.is_read else None

    @property
    def requested_origin(self) -> str:
        return origin_of(self.agent_url)

    @property
    def url(self) -> str:
        """Return the URL for messages in the agent card."""
        return self.card.url if self.card else ""

    @property
    def origin(self) -> str:
        return origin_of(self.url)

    @property
    def url_at_action(self) -> str:
        """Return the URL in the agent card at the origin of the action."""
        return a2a.url_at(self.agent_url, self.url)

    @property
    def differs(self) -> bool:
        """Return whether the agent card has a different URL than the action."""
        return self.is_read and not a2a.is_same(self.url, self.agent_url)

    @property
    def has_other_origin(self) -> bool:
        return bool(self.url) and not same_origin(self.url, self.agent_url)

    @property
    def has_skill(self) -> bool:
        return self.card is not None and self.card.has_skill(self.skill)

    @property
    def skills(self) -> NameChoices:
        """Return the ids of its skills."""
        return _name_choices(
            [each.id for each in self.card.skills] if self.card else [], self.skill
        )

    @property
    def version(self) -> str:
        """Return the version of A2A that is used."""
        return self.card.version.name if self.card and self.card.version else ""


def _members(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _name_choices(names: Sequence[str], wanted: str) -> NameChoices:
    near = difflib.get_close_matches(wanted[:100], [name[:100] for name in names], 1)
    return NameChoices(
        [value_text(name, 80) for name in names[:MAX_NAMES]],
        max(0, len(names) - MAX_NAMES),
        value_text(near[0], 80) if near else "",
    )


def get_action_panel(
    request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int
) -> ActionPanel:
    """Return the panel that a URL names, as it is opened. Raises `Http404`."""
    # Notifying viewers needs the parents, see `Run.viewer_groups`.
    run = get_run(request, pk, "agent", "conversation", "parent__parent__parent")
    action = action_at(run, entry_ref, number)
    if action is None:
        raise Http404
    page_pk = request.POST.get("page") or request.GET.get("page")
    page = next((each for each in ancestors(run) if str(each.pk) == page_pk), run)
    panel = ActionPanel(run, page, entry_ref, number, action, stored_server(request, action))
    if panel.server and panel.protocol == MCP:
        panel.url, panel.mcp_version = panel.server.url, panel.server.mcp_version
    panel.message_id, panel.as_form = str(uuid.uuid4()), True
    return panel


def identifier_of(action: Action) -> str:
    """Return how an action names its server or agent, "" without one or over HTTP."""
    name = IDENTIFIERS.get(action.protocol)
    return attribute_text(action, name) if name else ""


def stored_server(request: HttpRequest, action: Action) -> ActionServer | None:
    identifier = identifier_of(action)
    if not identifier:
        return None
    servers = ActionServer.objects.owned_by(request.user)
    found: ActionServer | None = servers.filter(
        protocol=action.protocol.lower(), identifier=identifier[:MAX_URL]
    ).first()
    return found


@transaction.atomic
def save_server(request: HttpRequest, panel: ActionPanel, url: str, found: Any = None) -> None:
    """Store URL and version of a server and, if given, its description.

    A new URL drops an old description.
    """
    if len(panel.identifier) > MAX_URL:
        return
    key = {"protocol": panel.protocol.lower(), "identifier": panel.identifier}
    known = ActionServer.objects.owned_by(request.user).filter(**key).first()
    server = known or ActionServer(owner=owner_of(request.user), **key)
    if server.url != url:
        server.url, server.description, server.described_at = url, None, None
    server.mcp_version = panel.mcp_version
    if found is not None:
        server.description, server.described_at = found, timezone.now()
    server.save()


def read_submitted(request: HttpRequest, panel: ActionPanel) -> None:
    form = request.POST
    version = form.get("mcp_version", "") if panel.protocol == MCP else ""
    panel.as_agent = form.get("as_agent") == "1"
    panel.url = form.get(_URL_FIELDS.get(panel.protocol, ""), "").strip()[:MAX_URL]
    panel.mcp_version = version if version in versions.VERSIONS else ""
    panel.message_id = form.get("message_id", "")[:100] or panel.message_id
    panel.as_form = form.get("via", "form") == "form"
    if (text := form.get("params")) is not None:
        try:
            panel.params = parse_json_value(text) if text.strip() else None
        except ValidationError as error:
            panel.problems.append(f"Parameters: {error.messages[0]}")
    if panel.as_form and any(name.startswith(PREFIX) for name in form):
        # The arguments of the tool's form, over those of the submitted JSON.
        given = None if isinstance(panel.params, Unset) else panel.params
        server = panel.describe_server(given)
        if isinstance(server, McpServerView) and server.controls:
            data = {name: str(value) for name, value in form.items()}
            panel.params, problems = arguments_of(server.controls, data, given)
            panel.problems += problems
    try:
        panel.headers = parse_headers(form.get("headers", ""))
    except ValidationError as error:
        panel.problems.append(error.messages[0])


def panel_context(request: HttpRequest, panel: ActionPanel) -> dict[str, Any]:
    planned = panel.plan()
    server = panel.describe_server(planned.params)
    own = is_agent_origin(panel.agent, planned)
    panel.as_agent = panel.as_agent and own
    needs_confirmation = (
        isinstance(server, A2AAgentView) and server.has_other_origin and panel.url != planned.url
    )
    sendable = is_sendable(planned) and not panel.problems and not needs_confirmation
    prepared = panel.prepare(planned)
    described = describe_call(_exact_call(prepared, planned), prepared.redact)
    credentials = [name for name, _ in panel.agent.auth_headers()] if panel.as_agent else []
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
        "plan": planned,
        "server": server,
        "submitted": panel,
        "mcp_versions": versions.CHOICES,
        "controls": server.controls if isinstance(server, McpServerView) else (),
        "params": "" if planned.params is None else readable(planned.params),
        "call": described,
        "headers": _headers_of(
            described["headers"],
            panel.action,
            yours=[name for name, _ in panel.headers],
            credentials=credentials,
        ),
        "errors": [*panel.problems, *_call_errors(planned)],
        "sendable": sendable,
        # Something is missing that the user can enter, or without what was submitted it
        # could be sent.
        "fixable": not sendable and (needs_confirmation or _is_fixable(panel)),
        # The plan then comes from other fields, and is not shown as the plan of these.
        "has_input_errors": bool(panel.problems),
        "origin": planned.origin,
        "agent_origin": origin_of(panel.agent.url),
        "is_own": own,
        "is_new": bool(planned.origin) and is_new_origin(request, planned.url),
        "needs_confirmation": needs_confirmation,
        "as_agent": panel.as_agent,
        "has_credentials": bool(panel.agent.auth_headers()),
    }


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """A header of a call with its source."""

    name: str
    value: str
    #: Whether `value` is a mask of a secret.
    hidden: bool
    #: `yours`, `credentials`, `action`, or "" for a header of the playground.
    source: str = ""


def _headers_of(
    shown: Iterable[tuple[str, str, bool]],
    action: Action,
    *,
    yours: Collection[str],
    credentials: Collection[str],
) -> list[HeaderRow]:
    """Return the headers of a call with their sources.

    `yours` are the names of headers that the user added, `credentials` of those that
    authenticate with the agent.
    """
    own = _members(_members(action.raw).get("headers"))
    names = (("action", own), ("credentials", credentials), ("yours", yours))
    sources = {str(each).strip().lower(): source for source, found in names for each in found}
    return [HeaderRow(*row, sources.get(row[0].lower(), "")) for row in shown]


def _exact_call(prepared: PreparedRequest, planned: ActionPlan) -> HttpCall:
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
    return same_origin(planned.url, agent.url)


def is_sendable(planned: ActionPlan) -> bool:
    return planned.sendable and not _call_errors(planned)


def _call_errors(planned: ActionPlan) -> list[str]:
    refusals = list(planned.errors)
    if planned.sendable and (refusal := _policy_error(planned.url)):
        refusals.append(refusal)
    return refusals


def _is_fixable(panel: ActionPanel) -> bool:
    """Return whether other fields would make the call sendable."""
    url = panel.server.url if panel.server and panel.protocol == MCP else panel.url
    planned = replace(panel, params=UNSET, headers=[], url=url, mcp_version="").plan()
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
