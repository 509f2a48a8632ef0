"""Actions of results: the panel, the preview, loading a server's tools, and running the action."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget

from playground import engine
from playground.conversation.action_panel import (
    IDENTIFIERS,
    ActionPanel,
    get_action_panel,
    is_agent_origin,
    panel_context,
    read_submitted,
    save_server,
    stored_server,
)
from playground.conversation.thread import Thread
from playground.models import Run, RunKind
from playground.models.conversations import ancestors
from playground.models.ownership import owner_of
from playground.protocols.actions import ActionPlan, endpoints, servers
from playground.protocols.actions.extract import MCP
from playground.protocols.exchange import Exchange
from playground.protocols.origins import MAX_URL
from playground.protocols.problems import Problem
from playground.ui.helpers import is_htmx, room_problem


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
    await engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(panel.page)
    return await sync_to_async(_started)(request, panel)


@require_POST
def preview(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Show the call as it would be made with the submitted fields."""
    panel = get_action_panel(request, pk, (seq, part), number)
    read_submitted(request, panel)
    context = panel_context(request, panel)
    return render(request, "runs/action_panel/preview.html", context)


@require_POST
async def server(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Load and store the tools of an MCP server, or the card of an A2A agent."""
    probe = await sync_to_async(_prepare_probe)(request, pk, (seq, part), number)
    if isinstance(probe, HttpResponse):
        return probe
    panel, exchange, secrets = probe
    _, problem = await engine.probe(exchange, owner=panel.run.owner_id, redact=secrets)
    return await sync_to_async(_loaded)(request, panel, exchange, problem)


def _show(request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int) -> HttpResponse:
    """Render the panel."""
    panel = get_action_panel(request, pk, entry_ref, number)
    context = panel_context(request, panel)
    errors = context["errors"]
    context["findings"] = [problem for problem in panel.action.problems if problem not in errors]
    return render(request, "runs/action_panel/panel.html", context)


def _record(
    request: HttpRequest, pk: str, entry_ref: tuple[int, int], number: int
) -> HttpResponse | tuple[ActionPanel, Run, engine.PreparedRequest]:
    """Record the run of an action; or return a page with errors, or one that asks to confirm."""
    panel = get_action_panel(request, pk, entry_ref, number)
    read_submitted(request, panel)
    context = panel_context(request, panel)
    if not context["sendable"]:
        response = render(request, "runs/action_panel/preview.html", context, status=422)
        return reswap(retarget(response, f"#action-panel-{panel.anchor}-call"), "innerHTML")
    planned: ActionPlan = context["plan"]
    if planned.method != "GET" and request.POST.get("confirmed") != "1":
        response = render(request, "runs/action_panel/confirmation.html", context)
        return reswap(retarget(response, f"#action-panel-{panel.anchor}-confirmation"), "innerHTML")
    if panel.protocol == MCP:
        save_server(request, panel, planned.url)
    prepared = panel.prepare(planned)
    parent = engine.RunParent(RunKind.ACTION, panel.run, *panel.entry_ref)
    run = engine.create_run(prepared, owner_of(request.user), parent)
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
    return render(request, "runs/children/started.html", context)


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
        return render(request, "runs/action_panel/server_loaded.html", context)
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
    return render(request, "runs/action_panel/server_loaded.html", context)
