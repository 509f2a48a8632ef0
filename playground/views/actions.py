"""Actions of results: the desk that shows the call, what it is made of, and running it."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import reswap, retarget

from playground import engine
from playground.models import Run, RunKind
from playground.models.ownership import owner_of
from playground.protocols.actions import ActionPlan, endpoints, servers
from playground.protocols.actions.extract import MCP
from playground.protocols.exchange import Exchange
from playground.protocols.problems import Problem
from playground.rendering.thread import Thread
from playground.views.action_call import context_of, is_agent_origin, plan_of, prepared_of
from playground.views.action_desk import (
    IDENTIFIERS,
    MAX_ADDRESS,
    ActionPanel,
    ancestors,
    get_action_panel,
    identifier_of,
    save_server,
)
from playground.views.action_form import SubmittedAction, empty, read_filled
from playground.views.helpers import is_htmx


@require_http_methods(["GET", "POST"])
async def action(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """The desk of an action; POST runs it, `confirmed=1` for everything but GET."""
    if request.method == "GET":
        return await sync_to_async(_show)(request, pk, (seq, part), number)
    sent = await sync_to_async(_record)(request, pk, (seq, part), number)
    if isinstance(sent, HttpResponse):
        return sent
    desk, run, prepared = sent
    engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(desk.page)
    return await sync_to_async(_started)(request, desk)


@require_POST
def preview(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """The call as it would be made with what is filled in."""
    desk = get_action_panel(request, pk, (seq, part), number)
    context = context_of(request, desk, read_filled(request, desk))
    return render(request, "runs/action_panel/preview.html", context)


@require_POST
async def server(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Read the tools of an MCP server, or the card of an A2A agent, and remember them."""
    asked = await sync_to_async(_ask)(request, pk, (seq, part), number)
    if isinstance(asked, HttpResponse):
        return asked
    desk, filled, exchange, secrets = asked
    _, problem = await engine.peek(exchange, owner=desk.run.owner_id, redact=secrets)
    return await sync_to_async(_described)(request, desk, filled, exchange, problem)


def _show(request: HttpRequest, pk: str, place: tuple[int, int], number: int) -> HttpResponse:
    desk = get_action_panel(request, pk, place, number)
    context = context_of(request, desk, empty(desk))
    told = context["refusals"]
    context["findings"] = [problem for problem in desk.action.problems if problem not in told]
    return render(request, "runs/action_panel/panel.html", context)


def _record(
    request: HttpRequest, pk: str, place: tuple[int, int], number: int
) -> HttpResponse | tuple[ActionPanel, Run, engine.PreparedRequest]:
    desk = get_action_panel(request, pk, place, number)
    filled = read_filled(request, desk)
    context = context_of(request, desk, filled)
    if not context["sendable"]:
        response = render(request, "runs/action_panel/preview.html", context, status=422)
        return reswap(retarget(response, f"#desk-{desk.anchor}-call"), "innerHTML")
    planned: ActionPlan = context["plan"]
    if planned.method != "GET" and request.POST.get("confirmed") != "1":
        response = render(request, "runs/action_panel/confirmation.html", context)
        return reswap(retarget(response, f"#desk-{desk.anchor}-confirmation"), "innerHTML")
    if desk.protocol == MCP:
        save_server(request, desk, planned.url)
    prepared = prepared_of(desk, filled, planned)
    link = engine.RunParent(RunKind.ACTION, desk.run, *desk.entry_ref)
    run = engine.create_run(prepared, owner_of(request.user), link)
    return desk, run, prepared


def _started(request: HttpRequest, desk: ActionPanel) -> HttpResponse:
    """What changes on the page: what stands under the result, and the page's socket."""
    place = next(
        (run.parent_entry for run in ancestors(desk.run) if run.parent_id == desk.page.pk), None
    )
    if desk.run == desk.page or place is None:
        place = desk.entry_ref
    children = Thread(desk.page).render_children(place)
    context = {"children": children, "run": desk.page, "live": True}
    return render(request, "runs/children/started.html", context)


def _ask(
    request: HttpRequest, pk: str, place: tuple[int, int], number: int
) -> HttpResponse | tuple[ActionPanel, SubmittedAction, Exchange, list[str]]:
    """What has to be asked, and of whom; a page where that cannot be."""
    desk = get_action_panel(request, pk, place, number)
    if desk.protocol not in IDENTIFIERS:
        raise Http404
    filled = read_filled(request, desk)
    planned = plan_of(desk, filled)
    url = planned.url if desk.protocol == MCP else identifier_of(desk.action)
    if refusal := endpoints.url_error(url):
        context = {**context_of(request, desk, filled), "unasked": refusal}
        return render(request, "runs/action_panel/server_loaded.html", context)
    filled.as_agent = filled.as_agent and is_agent_origin(desk.agent, planned)
    prepared = prepared_of(desk, filled, planned)
    # Only an MCP server is where the user says, so headers are meant for it.
    headers = prepared.target.headers if desk.protocol == MCP else ()
    depth = settings.RUN_LIMITS.max_depth
    exchange = servers.exchange(desk.protocol, url, headers, depth)
    filled.url = url if desk.protocol == MCP else ""
    return desk, filled, exchange, prepared.redact


def _described(
    request: HttpRequest,
    desk: ActionPanel,
    filled: SubmittedAction,
    exchange: Exchange,
    problem: Problem | None,
) -> HttpResponse:
    """Remember what was read, and show the desk with it."""
    found = None if problem else servers.description(desk.protocol, exchange.handshake)
    if found is not None:
        url = str(servers.message_url(desk.protocol, found) or filled.url)
        save_server(request, desk, url[:MAX_ADDRESS], found)
        desk = get_action_panel(request, str(desk.run.pk), desk.entry_ref, desk.number)
    context: dict[str, Any] = context_of(request, desk, filled)
    context |= {"problem": problem, "is_silent": found is None and problem is None}
    return render(request, "runs/action_panel/server_loaded.html", context)
