"""Agents: list, add, edit and delete; load the tools of an MCP server."""

from __future__ import annotations

from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground import engine
from playground.agents.forms import AgentForm
from playground.agents.tools import tool_list_view
from playground.engine.preparation import (
    agent_for_url,
    available_bindings,
    free_name,
    version_and_binding,
)
from playground.models import Agent, Run
from playground.models.detection import detected_target
from playground.models.ownership import owner_of
from playground.protocols import mcp, registry
from playground.protocols.events import Event, Failure
from playground.protocols.origins import MAX_URL, same_origin
from playground.protocols.problems import Problem
from playground.ui.helpers import find_run, get_agent, is_htmx, room_problem, save_form


@require_http_methods(["GET", "HEAD", "POST"])
def agents(request: HttpRequest) -> HttpResponse:
    """List the agents (GET), or add one (POST)."""
    if request.method != "POST":
        found = Agent.objects.owned_by(request.user)
        return render(request, "agents/list.html", {"agents": found})
    owner = owner_of(request.user)
    form = AgentForm(request.POST, instance=Agent(owner=owner))
    if not form.is_valid() or not (agent := save_form(form)):
        return _form(request, form, status=422, run=_source_run(request, request.POST))
    messages.success(request, f"{agent.name} was added.")
    if run := _source_run(request, request.POST):
        _adopt(run, agent)
        return redirect(run)
    return redirect(f"{reverse('workbench')}?agent={agent.slug}")


@require_safe
def new_agent(request: HttpRequest) -> HttpResponse:
    """Show the form of a new agent.

    Prefilled from `run`, the key of a run that was sent to a URL, with what was detected there, or
    else from `url`, `protocol`,
    `binding` and `version`; `auth` is the kind of its authentication.
    """
    owner = owner_of(request.user)
    run = _source_run(request, request.GET)
    agent = run.target_agent if run else None
    if agent is None:
        agent = agent_for_url(
            request.GET.get("url", "")[:MAX_URL],
            request.GET.get("protocol", ""),
            owner.pk if owner else None,
        )
        agent.version, agent.binding = version_and_binding(
            agent, request.GET.get("version"), request.GET.get("binding")
        )
    initial = {name: getattr(agent, name) for name in ("url", "protocol", "binding", "version")}
    initial |= detected_target(run) if run else {}
    if agent.url:
        initial["name"] = free_name(agent)
    if (auth := request.GET.get("auth", "")) in Agent.Auth.values:
        initial["auth"] = auth
    return _form(request, AgentForm(initial=initial), run=run)


def _source_run(request: HttpRequest, fields: QueryDict) -> Run | None:
    """Return the run to a URL that an agent is made from, None without one."""
    run = find_run(request, fields["run"]) if fields.get("run") else None
    return run if run is not None and run.sent_to_url else None


def _adopt(run: Run, agent: Agent) -> None:
    """Assign the runs to a URL in a conversation to the agent that was made from one of them.

    Only where the URL stays at its origin: what follows these runs goes to the agent.
    """
    if not same_origin(run.url, agent.url) or run.protocol != agent.protocol:
        return
    Agent.objects.filter(pk=agent.pk).update(detected=run.detected)
    found = Run.objects.filter(owner=run.owner_id, sent_to_url=True, url=run.url)
    found.filter(conversation=run.conversation_id).update(agent=agent, sent_to_url=False)


@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of an agent (GET), or save it (POST)."""
    found = get_agent(request, slug)
    name = found.name
    if request.method != "POST":
        return _form(request, AgentForm(instance=found), found)
    form = AgentForm(request.POST, instance=found)
    if not form.is_valid() or not save_form(form):
        found.name = name  # The title shows the stored name.
        return _form(request, form, found, status=422)
    messages.success(request, f"{found.name} was saved.")
    return redirect(f"{reverse('workbench')}?agent={found.slug}")


def _form(
    request: HttpRequest,
    form: AgentForm,
    agent: Agent | None = None,
    status: int = 200,
    run: Run | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "agent": agent, "source_run": run}
    context["versions"] = [
        (name, spec.label, spec.versions) for name, spec in registry.PROTOCOLS.items()
    ]
    if agent is not None:
        # The form holds the typed values; the tools depend on the stored ones.
        context |= _tools_context(Agent.objects.get(pk=agent.pk))
    return render(request, "agents/form.html", context, status=status)


def _tools_context(agent: Agent) -> dict[str, Any]:
    """Return the stored tools of an agent, for `agents/tools.html`."""
    if Agent.Binding.MCP not in available_bindings(agent):
        return {"agent": agent}
    address = engine.agent_url_over(agent, Agent.Binding.MCP)
    return {"agent": agent, "tools_url": address, "toolbox": tool_list_view(agent, address)}


@require_POST
async def tools(request: HttpRequest, slug: str) -> HttpResponse:
    """Connect to the agent's MCP server, and show its tools."""
    found = await sync_to_async(get_agent)(request, slug)
    if Agent.Binding.MCP not in available_bindings(found):
        raise Http404
    # Their descriptions are as large as the server wants.
    if refusal := await sync_to_async(room_problem)(request, is_begun=True):
        context = {**await sync_to_async(_tools_context)(found), "cause": refusal}
        return await sync_to_async(render)(request, "agents/tools.html", context, status=422)
    over_mcp = partial(engine.request_over_binding, binding=Agent.Binding.MCP)
    prepared = await sync_to_async(over_mcp)(found, {})
    exchange = mcp.list_tools(prepared.target, settings.RUN_LIMITS.max_depth)
    events, problem = await engine.probe(exchange, owner=found.owner_id, redact=prepared.redact)
    if (handshake := exchange.handshake) is not None:
        await sync_to_async(found.save_handshake)(handshake)
        found.handshake = dict(handshake)
    if not is_htmx(request):
        return redirect(found)
    context = await sync_to_async(_tools_context)(found)
    errors = _error_context(events, problem)
    return await sync_to_async(render)(request, "agents/tools.html", {**context, **errors})


def _error_context(events: list[Event], problem: Problem | None) -> dict[str, Any]:
    """Return why the tools could not be loaded; empty where they could."""
    if problem is not None:
        return {"cause": problem.cause, "fix": problem.fix}
    failures = [event for event in events if isinstance(event, Failure)]
    return {"cause": failures[-1].message or failures[-1].code} if failures else {}


@require_POST
def deletion(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete an agent. Its runs stay; they hold a copy of what they need."""
    found = get_agent(request, slug)
    found.delete()
    messages.success(request, f"{found.name} was deleted.")
    return redirect("agents")
