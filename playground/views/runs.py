"""Runs: send one, send it again, stop one."""

from __future__ import annotations

from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import push_url, reswap, retarget

from playground import engine
from playground.models import Run, RunKind
from playground.models.conversations import turn_of
from playground.models.ownership import owner_of
from playground.protocols import registry
from playground.views.compose import read_form
from playground.views.contexts import response_context
from playground.views.helpers import find_run, get_run, is_htmx


async def create(request: HttpRequest) -> HttpResponse:
    """Send what the compose pane holds: a new run, driven in the background."""
    sent = await sync_to_async(_record)(request)
    if isinstance(sent, HttpResponse):
        return sent
    return await start_run(request, *sent)


async def start_run(
    request: HttpRequest, run: Run, prepared: engine.PreparedRequest
) -> HttpResponse:
    """Drive a run that was recorded; the response pane opens on it."""
    engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(run)
    response = await sync_to_async(render)(
        request, "runs/response.html", await sync_to_async(response_context)(run)
    )
    # In a pane of another page, what is shown changes, and not where the page is.
    in_pane = urlsplit(request.headers.get("HX-Current-URL", "")).path.endswith("/pane/")
    return response if in_pane else push_url(response, run.get_absolute_url())


def _record(request: HttpRequest) -> HttpResponse | tuple[Run, engine.PreparedRequest]:
    composed = read_form(request)
    parent = parent_turn(request, composed)
    if composed.prepared is None or composed.errors:
        return error_response(request, composed)
    composed.keep_agent()
    link = engine.RunParent(RunKind.ASK, parent)
    return engine.create_run(composed.prepared, owner_of(request.user), link), composed.prepared


def error_response(request: HttpRequest, composed: engine.PreparationResult) -> HttpResponse:
    """Why what was composed is not sent, above the composer's fields."""
    problems = {"problems": composed.errors or composed.problems}
    response = render(request, "compose/problems.html", problems, status=422)
    return reswap(retarget(response, "#compose-problems"), "innerHTML")


def parent_turn(request: HttpRequest, composed: engine.PreparationResult) -> Run | None:
    """The turn that the composer continues, None for a new conversation."""
    pk = request.POST.get("parent", "")
    if not pk:
        return None
    if found := find_run(request, pk):
        return turn_of(found)
    composed.refuse("", "The turn that this continues is gone: press “New conversation”.")
    return None


@require_POST
async def repeat(request: HttpRequest, pk: str) -> HttpResponse:
    """Send the request of a turn once more, the same way and at the same place.

    Credentials are those that the agent has now: a run keeps none of its own. Names that the user
    put into it stand for what they stand for now.
    """
    sent = await sync_to_async(_repeat)(request, pk)
    return sent if isinstance(sent, HttpResponse) else await start_run(request, *sent)


def _repeat(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, engine.PreparedRequest]:
    found = Run.objects.turns().filter(agent__isnull=False, protocol__in=registry.PROTOCOLS)
    run = get_object_or_404(found.owned_by(request.user).select_related("agent", "parent"), pk=pk)
    try:
        composed = engine.repeated(run)
    except engine.WithheldError as error:
        composed = engine.refused(str(error))
    if composed.prepared is None or composed.errors:
        return error_response(request, composed)
    composed.keep_agent()
    prepared = composed.prepared.resuming(run.resume)
    link = engine.RunParent(
        kind=RunKind(run.kind),
        parent=run.parent,
        seq=run.parent_entry_seq,
        part=run.parent_entry_part,
        answers=run.answers,
    )
    return engine.create_run(prepared, owner_of(request.user), link), prepared


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Stop a run. Stopping one that has ended is not an error: the wish is fulfilled."""
    run = await sync_to_async(get_run)(request, pk)
    await engine.cancel(run)
    if is_htmx(request):
        return HttpResponse(status=204)
    return redirect(run)
