"""Runs: list them, send a request (`POST /runs/`), repeat one, cancel one."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget, trigger_client_event

from playground.composer.views import prepare_form
from playground.conversation.sending import start_run
from playground.engine import preparation, tasks
from playground.engine.request import PreparedRequest, SecretNotAllowedError, refused
from playground.engine.runs import RunParent, create_run
from playground.history.views import list_runs
from playground.models import Run, RunKind, RunState
from playground.models.conversations import turn_of
from playground.models.ownership import owner_of
from playground.protocols import registry
from playground.ui.helpers import find_run, get_run, is_htmx


async def runs(request: HttpRequest) -> HttpResponse:
    """GET lists runs (`q` searches, `before` pages); POST sends the composer's request."""
    if request.method == "POST":
        return await send(request)
    if request.method in {"GET", "HEAD"}:
        return await sync_to_async(list_runs)(request)
    return HttpResponseNotAllowed(["GET", "HEAD", "POST"])


async def send(request: HttpRequest) -> HttpResponse:
    """Record the composer's request as a run, and start it in the background."""
    recorded = await sync_to_async(_record)(request)
    if isinstance(recorded, HttpResponse):
        return recorded
    return await start_run(request, *recorded)


def _record(request: HttpRequest) -> HttpResponse | tuple[Run, PreparedRequest]:
    """Record the composer's request as a run; or return why it cannot be sent."""
    prepared = prepare_form(request)
    parent = parent_turn(request, prepared)
    if prepared.errors:
        return error_response(request, prepared, anyway=prepared.can_send_anyway)
    link = RunParent(RunKind.ASK, parent)
    return create_run(prepared, owner_of(request.user), link), prepared


def error_response(
    request: HttpRequest, prepared: PreparedRequest, *, anyway: bool = False
) -> HttpResponse:
    """Show above the composer's fields why its request is not sent, and a button if it can be."""
    context = {"problems": prepared.errors or prepared.problems, "anyway": anyway}
    response = render(request, "composer/problems.html", context, status=422)
    return reswap(retarget(response, "#compose-problems"), "innerHTML")


def parent_turn(request: HttpRequest, prepared: PreparedRequest) -> Run | None:
    """Return the turn that the composer continues, None for a new conversation."""
    pk = request.POST.get("parent", "")
    if not pk:
        return None
    if found := find_run(request, pk):
        return turn_of(found)
    prepared.add_error(
        "", "The turn that this request continues was deleted. Press “New conversation”."
    )
    return None


@require_POST
async def repeat(request: HttpRequest, pk: str) -> HttpResponse:
    """Send the request of a turn again, to the same target and with the same parent.

    Credentials are the agent's current ones: a run stores none. Variables in its template get
    their current values. With `protocol`, `binding`, `version` or `url` the target is switched.
    """
    recorded = await sync_to_async(_repeat)(request, pk)
    if isinstance(recorded, HttpResponse):
        return recorded
    run, prepared = recorded
    response = await start_run(request, run, prepared)
    if not _switch_fields(request):
        return response
    # The composer follows.
    agent = run.agent.slug if run.agent else ""
    detail = {"agent": agent, "label": run.protocol, **run.describe_target()}
    return trigger_client_event(response, "target:switch", detail)


#: The fields of a repetition to another target.
_SWITCH = ("protocol", "binding", "version", "url")


def _switch_fields(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST[name] for name in _SWITCH if name in request.POST}


def _repeat(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, PreparedRequest]:
    """Record the repetition of a run; or return why it cannot be sent."""
    can_be_continued = Q(agent__isnull=False) | Q(sent_to_url=True)
    found = Run.objects.turns().filter(can_be_continued, protocol__in=registry.PROTOCOLS)
    run = get_object_or_404(found.owned_by(request.user).select_related("agent", "parent"), pk=pk)
    fields = _switch_fields(request)
    if run.state == RunState.REFUSED and not run.request:
        refusal = refused("The request was not stored. Send it from the composer.")
        return error_response(request, refusal)
    try:
        prepared = (
            preparation.switched_request(run, fields) if fields else preparation.repeat_request(run)
        )
    except SecretNotAllowedError as error:
        prepared = refused(str(error))
    if prepared.errors:
        return error_response(request, prepared)
    if not fields:
        prepared = prepared.resuming(run.resume)
    link = RunParent(
        kind=RunKind(run.kind),
        parent=run.parent,
        seq=run.parent_entry_seq,
        part=run.parent_entry_part,
        answers=run.answers,
    )
    return create_run(prepared, owner_of(request.user), link), prepared


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Cancel a run. Cancelling a completed one is not an error."""
    run = await sync_to_async(get_run)(request, pk)
    await tasks.cancel(run)
    if is_htmx(request):
        return HttpResponse(status=204)
    return redirect(run)
