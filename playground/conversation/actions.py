"""Actions of results: the buttons of a card, the panel, running one, and those that were run.

A panel is read anew from each request: the action in the stored response, and the fields that were
submitted. Its template reads it as `panel`.
"""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Mapping, Sequence
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
from playground.conversation.thread import MAX_LABEL, Thread, anchor_of, render_started
from playground.engine import tasks
from playground.engine.calls import probe
from playground.engine.request import PreparedRequest, action_request
from playground.engine.runs import RunParent, create_run
from playground.models import ActionServer, Agent, Run, RunKind
from playground.models.conversations import ancestors
from playground.models.rows import owner_of
from playground.protocols import lenient, registry
from playground.protocols.a2a import card as a2a
from playground.protocols.actions import servers
from playground.protocols.actions.bindings import BINDINGS, plan
from playground.protocols.actions.extract import A2A, HTTP, MCP, Action, actions_of, attribute_text
from playground.protocols.actions.plans import UNSET, ActionPlan, ServerInfo, Unset, url_error
from playground.protocols.actions.servers import tools_of
from playground.protocols.actions.tool_form import PREFIX, ToolControl, arguments_of, controls_of
from playground.protocols.calls import HttpCall
from playground.protocols.events import EntryRef, Result
from playground.protocols.exchange import Exchange
from playground.protocols.mcp import versions
from playground.protocols.origins import MAX_URL, same_origin
from playground.protocols.problems import Problem
from playground.stored_runs import event_at
from playground.transport import OutboundPolicy, check_url
from playground.ui.calls import describe_call, is_new_origin
from playground.ui.formatting import label_text, readable, value_text
from playground.ui.helpers import get_run, is_htmx, room_problem

# The buttons of a card, and the actions below it

_NESTING = frozenset({dict, list})
#: Actions below one card, the newest.
MAX_ACTIONS = 10


def action_buttons(item: Any) -> list[dict[str, Any]]:
    """Return the buttons of an item, one for each of its actions at any depth, the primary first.

    The primary action is the first that the agent marks with `"primary": true`, else the first.
    """
    actions = list(enumerate(actions_of(item))) if _mentions_actions(item) else []
    marked = (
        number
        for number, action in actions
        if isinstance(action.raw, Mapping) and action.raw.get("primary") is True
    )
    primary = next(marked, 0)
    buttons = [
        {
            # Among the actions of the item.
            "number": number,
            "label": label_of(action),
            "description": value_text(action.description, 200),
            "protocol": value_text(action.protocol, 12) or "?",
        }
        for number, action in actions
    ]
    return sorted(buttons, key=lambda button: button["number"] != primary)


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


def _action_key(run: Run) -> tuple[str, ...]:
    """Return the key that runs of the same action share, however its parameters were edited."""
    request = lenient.members(run.request)
    url = value_text(request.get("url")).partition("?")[0]
    return value_text(request.get("action")), value_text(request.get("method")), url


def child_runs(thread: Thread, ref: EntryRef) -> dict[str, Any]:
    """Return the actions of a card that were run, oldest first."""
    runs = thread.runs_at(ref, RunKind.ACTION)[-MAX_ACTIONS:]
    latest = {_action_key(run): run.pk for run in runs}
    children = [
        replace(thread.child(run), is_outdated=latest[_action_key(run)] != run.pk) for run in runs
    ]
    return {"actions": children}


# The panel

#: The attribute that names the server or agent of an action.
IDENTIFIERS = {MCP: "server", A2A: "agent_url"}
#: The field with the URL of the server, or the one for messages to an agent.
_URL_FIELDS = {MCP: "server_url", A2A: "confirmed_url"}
#: Names of tools or skills that are listed.
MAX_NAMES = 30


@dataclass
class ActionPanel:
    """An action of a result, on the page of a run, with the fields of the panel.

    `replace` it to change a field: what follows from the fields is computed once.
    """

    run: Run
    #: The run whose page it is on: that of the result, or one of its ancestors.
    page: Run
    entry_ref: EntryRef
    number: int
    action: Action
    #: The stored server or agent that it names.
    stored: ActionServer | None = None

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
    as_form: bool = True

    mcp_versions = versions.CHOICES

    @property
    def agent(self) -> Agent:
        """Return the agent that returned the action; a deleted one has only a name and a URL."""
        return self.run.target_agent or Agent(name=self.run.agent_name, url=self.run.url)

    @property
    def anchor(self) -> str:
        """Return the id of the result's element on the page."""
        return anchor_of(self.run, self.entry_ref, self.page)

    @property
    def label(self) -> str:
        return label_of(self.action)

    @property
    def protocol(self) -> str:
        """Return the protocol of the action: HTTP, MCP or A2A."""
        return self.action.protocol

    @property
    def identifier(self) -> str:
        """Return how the action names its server or agent, "" without one or over HTTP."""
        name = IDENTIFIERS.get(self.protocol)
        return attribute_text(self.action, name) if name else ""

    # The server or agent

    @property
    def server_info(self) -> ServerInfo:
        """Return the stored facts about the server or agent, with the submitted URL."""
        description = self.stored.description if self.stored else None
        if self.protocol == MCP and self.stored and self.stored.url != self.url:
            description = None  # It is of another server.
        url = self.url or self.identifier
        is_agent = self.agent.binding == Agent.Binding.MCP and self.agent.url == url
        version = self.mcp_version or (self.agent.mcp_version if is_agent else "")
        return ServerInfo(self.url, version, description, self.message_id)

    @cached_property
    def server(self) -> McpServerView | A2AAgentView | None:
        """Return the server or agent as the panel shows it, None for an action over HTTP."""
        description = self.server_info.description
        read_at = self.stored.described_at if self.stored else None
        if self.protocol == MCP:
            tool = attribute_text(self.action, "tool")
            return McpServerView(description, read_at, self.identifier, self.url, tool)
        if self.protocol == A2A:
            skill = attribute_text(self.action, "skill")
            return A2AAgentView(description, read_at, self.identifier, skill)
        return None

    def controls_for(self, given: Any) -> Sequence[ToolControl]:
        """Return the arguments of the tool as a form, () if its schema is not loaded.

        `given` are its initial values.
        """
        tool = self.server.described if isinstance(self.server, McpServerView) else None
        return controls_of(tool.get("inputSchema"), given) if tool else ()

    @property
    def controls(self) -> Sequence[ToolControl]:
        return self.controls_for(self.plan.params)

    # The call

    @cached_property
    def plan(self) -> ActionPlan:
        return plan(
            self.action,
            self.run.url,
            params=self.params,
            headers=self.headers,
            server_info=self.server_info,
        )

    @property
    def params_text(self) -> str:
        return "" if self.plan.params is None else readable(self.plan.params)

    @property
    def is_own(self) -> bool:
        """Return whether it is sent to the origin of the agent."""
        return same_origin(self.plan.url, self.agent.url)

    @property
    def has_credentials(self) -> bool:
        return bool(self.agent.auth_headers())

    @property
    def sends_credentials(self) -> bool:
        """Return whether to send the agent's credentials: to its own origin only."""
        return self.as_agent and self.is_own

    @cached_property
    def prepared(self) -> PreparedRequest:
        binding = BINDINGS.get(self.plan.protocol)
        return action_request(
            self.agent,
            self.plan.request,
            self.plan.url,
            binding=binding.name if binding else "http",
            headers=self.headers,
            as_agent=self.sends_credentials,
        )

    @cached_property
    def call(self) -> dict[str, Any]:
        """Return the call as `describe_call` does."""
        return describe_call(self._exact_call(), self.prepared.redact)

    def _exact_call(self) -> HttpCall:
        """Return the call as the engine would make it.

        Where it would not make one, or makes others before it, return the planned call.
        """
        planned, target = self.plan, self.prepared.target
        if planned.sendable and planned.protocol == HTTP:
            call = registry.exchange(target, self.prepared.request).next_call()
            if call is not None:
                return call
        own = dict(target.headers) if planned.sendable else {}
        added = [pair for pair in own.items() if pair not in planned.headers]
        return HttpCall(planned.method, planned.url, (*planned.headers, *added), planned.body)

    @property
    def call_headers(self) -> list[tuple[str, str, bool, str]]:
        """Return the headers of the call as (name, value, whether that is masked, source).

        The source is `yours`, `credentials`, `action`, or "" for a header of the playground.
        """
        credentials = dict(self.agent.auth_headers()) if self.sends_credentials else {}
        own = lenient.members(lenient.members(self.action.raw).get("headers"))
        names = (("action", own), ("credentials", credentials), ("yours", dict(self.headers)))
        sources = {str(each).strip().lower(): source for source, found in names for each in found}
        return [(*row, sources.get(row[0].lower(), "")) for row in self.call["headers"]]

    # Whether it can be sent

    @cached_property
    def call_errors(self) -> list[str]:
        refusal = _policy_error(self.plan.url) if self.plan.sendable else ""
        return [*self.plan.errors, *filter(None, [refusal])]

    @property
    def errors(self) -> list[str]:
        return [*self.problems, *self.call_errors]

    @property
    def needs_confirmation(self) -> bool:
        """Return whether the agent card leads to another origin, which was not confirmed."""
        server = self.server
        is_other = isinstance(server, A2AAgentView) and server.has_other_origin
        return is_other and self.url != self.plan.url

    @property
    def can_be_called(self) -> bool:
        return self.plan.sendable and not self.call_errors

    @property
    def sendable(self) -> bool:
        return self.can_be_called and not self.problems and not self.needs_confirmation

    @property
    def fixable(self) -> bool:
        """Return whether other fields would make the call sendable."""
        if self.sendable or self.needs_confirmation:
            return not self.sendable
        url = self.stored.url if self.stored and self.protocol == MCP else self.url
        other = replace(self, params=UNSET, headers=[], url=url, mcp_version="")
        return other.can_be_called or (bool(other.plan.missing) and not other.plan.errors)


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

    @property
    def name(self) -> str:
        """Return the name that the server gives, "" for none."""
        info = lenient.members(lenient.members(self.description).get("server"))
        return value_text(info.get("title") or info.get("name"), 80)

    @cached_property
    def described(self) -> Mapping[str, Any] | None:
        """Return the tool by the server, None if it has no such tool."""
        return tools_of(self.description).get(self.tool)

    @property
    def tools(self) -> dict[str, Any]:
        return _name_choices(list(tools_of(self.description)), self.tool)


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
    def url(self) -> str:
        """Return the URL for messages in the agent card."""
        return self.card.url if self.card else ""

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
    def skills(self) -> dict[str, Any]:
        """Return the ids of its skills."""
        return _name_choices(
            [each.id for each in self.card.skills] if self.card else [], self.skill
        )


def _name_choices(names: Sequence[str], wanted: str) -> dict[str, Any]:
    """Return names to choose from: those `shown`, how many `more`, and the one `near` to another.

    `near` is "" for none.
    """
    near = difflib.get_close_matches(wanted[:100], [name[:100] for name in names], 1)
    return {
        "shown": [value_text(name, 80) for name in names[:MAX_NAMES]],
        "more": max(0, len(names) - MAX_NAMES),
        "near": value_text(near[0], 80) if near else "",
    }


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


def get_action_panel(
    request: HttpRequest, pk: str, seq: int, part: int, number: int
) -> ActionPanel:
    """Return the panel that a URL names, with the submitted fields. Raises `Http404`."""
    # Notifying viewers needs the parents, see `Run.viewer_groups`.
    run = get_run(request, pk, "agent", "conversation", "parent__parent__parent")
    event = event_at(run, (seq, part))
    actions = actions_of(event.item) if isinstance(event, Result) else []
    if number >= len(actions):
        raise Http404
    page_pk = request.POST.get("page") or request.GET.get("page")
    page = next((each for each in ancestors(run) if str(each.pk) == page_pk), run)
    panel = ActionPanel(run, page, (seq, part), number, actions[number])
    panel.stored = stored_server(request, panel)
    panel.message_id = str(uuid.uuid4())
    if request.method == "POST":
        _read_submitted(request, panel)
    elif panel.stored and panel.protocol == MCP:
        panel.url, panel.mcp_version = panel.stored.url, panel.stored.mcp_version
    return panel


def _read_submitted(request: HttpRequest, panel: ActionPanel) -> None:
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
        if controls := panel.controls_for(given):
            data = {name: str(value) for name, value in form.items()}
            panel.params, problems = arguments_of(controls, data, given)
            panel.problems += problems
    try:
        panel.headers = parse_headers(form.get("headers", ""))
    except ValidationError as error:
        panel.problems.append(error.messages[0])


def stored_server(request: HttpRequest, panel: ActionPanel) -> ActionServer | None:
    """Return the stored server or agent that the action of the panel names."""
    if not panel.identifier:
        return None
    found: ActionServer | None = (
        ActionServer.objects.owned_by(request.user)
        .filter(protocol=panel.protocol.lower(), identifier=panel.identifier[:MAX_URL])
        .first()
    )
    return found


@transaction.atomic
def save_server(request: HttpRequest, panel: ActionPanel, url: str, found: Any = None) -> None:
    """Store URL and version of a server and, if given, its description.

    A new URL drops an old description.
    """
    if not 0 < len(panel.identifier) <= MAX_URL:
        return
    server = stored_server(request, panel) or ActionServer(
        owner=owner_of(request.user), protocol=panel.protocol.lower(), identifier=panel.identifier
    )
    if server.url != url:
        server.url, server.description, server.described_at = url, None, None
    server.mcp_version = panel.mcp_version
    if found is not None:
        server.description, server.described_at = found, timezone.now()
    server.save()


# Views


@require_http_methods(["GET", "POST"])
async def action(request: HttpRequest, **place: Any) -> HttpResponse:
    """Show the panel of an action (GET), or run it (POST).

    All methods but GET need `confirmed=1`. `place` is the action that `get_action_panel` returns.
    """
    if request.method == "GET":
        return await sync_to_async(_show)(request, place)
    sent = await sync_to_async(_record)(request, place)
    if isinstance(sent, HttpResponse):
        return sent
    panel, run = sent
    await tasks.send(run, panel.prepared)
    if not is_htmx(request):
        return redirect(panel.page)
    return await sync_to_async(_started)(request, panel)


@require_POST
def preview(request: HttpRequest, **place: Any) -> HttpResponse:
    """Show the call as it would be made with the submitted fields."""
    context = _context(request, get_action_panel(request, **place))
    return render(request, "conversation/actions.html#preview", context)


@require_POST
async def server(request: HttpRequest, **place: Any) -> HttpResponse:
    """Load and store the tools of an MCP server, or the card of an A2A agent."""
    prepared = await sync_to_async(_prepare_probe)(request, place)
    if isinstance(prepared, HttpResponse):
        return prepared
    panel, exchange, secrets = prepared
    _, problem = await probe(exchange, owner=panel.run.owner_id, redact=secrets)
    return await sync_to_async(_loaded)(request, panel, exchange, problem)


def _context(request: HttpRequest, panel: ActionPanel, **more: Any) -> dict[str, Any]:
    is_new = bool(panel.plan.origin) and is_new_origin(request, panel.plan.url)
    return {"panel": panel, "anchor": panel.anchor, "run": panel.run, "is_new": is_new, **more}


def _show(request: HttpRequest, place: dict[str, Any]) -> HttpResponse:
    panel = get_action_panel(request, **place)
    findings = [problem for problem in panel.action.problems if problem not in panel.errors]
    context = _context(request, panel, findings=findings)
    return render(request, "conversation/actions.html#panel", context)


def _record(request: HttpRequest, place: dict[str, Any]) -> HttpResponse | tuple[ActionPanel, Run]:
    """Record the run of an action; or return a page with errors, or one that asks to confirm."""
    panel = get_action_panel(request, **place)
    context = _context(request, panel)
    if not panel.sendable:
        response = render(request, "conversation/actions.html#preview", context, status=422)
        return reswap(retarget(response, f"#action-panel-{panel.anchor}-call"), "innerHTML")
    if panel.plan.method != "GET" and request.POST.get("confirmed") != "1":
        response = render(request, "conversation/actions.html#confirmation", context)
        return reswap(retarget(response, f"#action-panel-{panel.anchor}-confirmation"), "innerHTML")
    if panel.protocol == MCP:
        save_server(request, panel, panel.plan.url)
    parent = RunParent(RunKind.ACTION, panel.run, *panel.entry_ref)
    return panel, create_run(panel.prepared, owner_of(request.user), parent)


def _started(request: HttpRequest, panel: ActionPanel) -> HttpResponse:
    """Return the fragments that change: the child runs of the result, and the page's socket."""
    entry_ref = next(
        (run.parent_entry for run in ancestors(panel.run) if run.parent_id == panel.page.pk), None
    )
    if panel.run == panel.page or entry_ref is None:
        entry_ref = panel.entry_ref
    return render_started(request, panel.page, entry_ref)


def _prepare_probe(
    request: HttpRequest, place: dict[str, Any]
) -> HttpResponse | tuple[ActionPanel, Exchange, Sequence[str]]:
    """Return the exchange that loads a server's description; or a page that says why not."""
    panel = get_action_panel(request, **place)
    if panel.protocol not in IDENTIFIERS:
        raise Http404
    url = panel.plan.url if panel.protocol == MCP else panel.identifier
    # A description is as large as the server wants.
    if refusal := url_error(url) or room_problem(request, is_begun=True):
        context = _context(request, panel, probe_error=refusal)
        return render(request, "conversation/actions.html#server_loaded", context)
    prepared = panel.prepared
    # Only an MCP server is where the user says, so headers are meant for it.
    headers = prepared.target.headers if panel.protocol == MCP else ()
    panel = replace(panel, url=url if panel.protocol == MCP else "")
    depth, version = settings.RUN_LIMITS.max_depth, panel.server_info.mcp_version
    exchange = servers.exchange(panel.protocol, url, headers, depth, mcp_version=version)
    return panel, exchange, prepared.redact


def _loaded(
    request: HttpRequest, panel: ActionPanel, exchange: Exchange, problem: Problem | None
) -> HttpResponse:
    """Store the description of a server, and show the panel with it."""
    found = None if problem else servers.description(panel.protocol, exchange.handshake)
    if found is not None:
        url = str(servers.message_url(panel.protocol, found) or panel.url)
        save_server(request, panel, url[:MAX_URL], found)
        panel = replace(panel, stored=stored_server(request, panel))
    is_silent = found is None and problem is None
    context = _context(request, panel, problem=problem, is_silent=is_silent)
    return render(request, "conversation/actions.html#server_loaded", context)
