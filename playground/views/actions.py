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
from playground.protocols.actions import Plan, addresses, describing
from playground.protocols.actions.reading import MCP
from playground.protocols.exchange import Exchange
from playground.protocols.problems import Problem
from playground.rendering.thread import Thread
from playground.views.action_call import context_of, is_own, plan_of, prepared_of
from playground.views.action_desk import (
    IDENTIFIERS,
    MAX_ADDRESS,
    Desk,
    ancestors,
    find_desk,
    identifier_of,
    remember,
)
from playground.views.action_form import Filled, empty, read_filled
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
    desk = find_desk(request, pk, (seq, part), number)
    context = context_of(request, desk, read_filled(request, desk))
    return render(request, "runs/desk/preview.html", context)


@require_POST
async def peer(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Read the tools of an MCP server, or the card of an A2A agent, and remember them."""
    asked = await sync_to_async(_ask)(request, pk, (seq, part), number)
    if isinstance(asked, HttpResponse):
        return asked
    desk, filled, exchange, secrets = asked
    _, problem = await engine.peek(exchange, owner=desk.run.owner_id, redact=secrets)
    return await sync_to_async(_described)(request, desk, filled, exchange, problem)


def _show(request: HttpRequest, pk: str, place: tuple[int, int], number: int) -> HttpResponse:
    desk = find_desk(request, pk, place, number)
    context = context_of(request, desk, empty(desk))
    told = context["refusals"]
    context["findings"] = [problem for problem in desk.action.problems if problem not in told]
    return render(request, "runs/desk/desk.html", context)


def _record(
    request: HttpRequest, pk: str, place: tuple[int, int], number: int
) -> HttpResponse | tuple[Desk, Run, engine.PreparedRequest]:
    desk = find_desk(request, pk, place, number)
    filled = read_filled(request, desk)
    context = context_of(request, desk, filled)
    if not context["sendable"]:
        response = render(request, "runs/desk/preview.html", context, status=422)
        return reswap(retarget(response, f"#desk-{desk.anchor}-call"), "innerHTML")
    planned: Plan = context["plan"]
    if planned.method != "GET" and request.POST.get("confirmed") != "1":
        response = render(request, "runs/desk/confirmation.html", context)
        return reswap(retarget(response, f"#desk-{desk.anchor}-confirmation"), "innerHTML")
    if desk.protocol == MCP:
        remember(request, desk, planned.url)
    prepared = prepared_of(desk, filled, planned)
    link = engine.Link(RunKind.ACTION, desk.run, *desk.place)
    run = engine.create_run(prepared, owner_of(request.user), link)
    return desk, run, prepared


def _started(request: HttpRequest, desk: Desk) -> HttpResponse:
    """What changes on the page: what stands under the result, and the page's socket."""
    place = next((run.cause for run in ancestors(desk.run) if run.parent_id == desk.page.pk), None)
    if desk.run == desk.page or place is None:
        place = desk.place
    children = Thread(desk.page).render_children(place)
    context = {"children": children, "run": desk.page, "live": True}
    return render(request, "runs/children/begun.html", context)


def _ask(
    request: HttpRequest, pk: str, place: tuple[int, int], number: int
) -> HttpResponse | tuple[Desk, Filled, Exchange, list[str]]:
    """What has to be asked, and of whom; a page where that cannot be."""
    desk = find_desk(request, pk, place, number)
    if desk.protocol not in IDENTIFIERS:
        raise Http404
    filled = read_filled(request, desk)
    planned = plan_of(desk, filled)
    url = planned.url if desk.protocol == MCP else identifier_of(desk.action)
    if refusal := addresses.refusal_of(url):
        context = {**context_of(request, desk, filled), "unasked": refusal}
        return render(request, "runs/desk/peer_read.html", context)
    filled.as_agent = filled.as_agent and is_own(desk.agent, planned)
    prepared = prepared_of(desk, filled, planned)
    # Only an MCP server is where the user says, so headers are meant for it.
    headers = prepared.target.headers if desk.protocol == MCP else ()
    depth = settings.RUN_LIMITS.max_depth
    exchange = describing.exchange(desk.protocol, url, headers, depth)
    filled.url = url if desk.protocol == MCP else ""
    return desk, filled, exchange, prepared.redact


def _described(
    request: HttpRequest, desk: Desk, filled: Filled, exchange: Exchange, problem: Problem | None
) -> HttpResponse:
    """Remember what was read, and show the desk with it."""
    found = None if problem else describing.description(desk.protocol, exchange.opening)
    if found is not None:
        url = str(describing.address_of(desk.protocol, found) or filled.url)
        remember(request, desk, url[:MAX_ADDRESS], found)
        desk = find_desk(request, str(desk.run.pk), desk.place, desk.number)
    context: dict[str, Any] = context_of(request, desk, filled)
    context |= {"problem": problem, "is_silent": found is None and problem is None}
    return render(request, "runs/desk/peer_read.html", context)
