"""Twins: one request sent two ways, and what the replies do not have in common."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from csp.constants import SELF
from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from playground import engine
from playground.models import Agent, Run, RunKind, Twin
from playground.models.liveness import mark_interrupted
from playground.models.ownership import owner_of
from playground.rendering.twins import twin_result, twin_sides
from playground.twin_targets import TwinTarget, twin_targets_for
from playground.views.compose import read_form
from playground.views.contexts import response_context
from playground.views.helpers import get_current_run, is_htmx
from playground.views.runs import error_response, parent_turn

Sent = tuple[Run, engine.PreparedRequest]


@require_POST
def choices(request: HttpRequest) -> HttpResponse:
    """What the composed request can be compared with, as a form."""
    composed = read_form(request)
    found = _counterparts(request, composed.prepared)
    return render(request, "twins/choices.html", {"composed": composed, "choices": found})


@require_POST
async def create(request: HttpRequest) -> HttpResponse:
    """Send what the compose pane holds, and the same the way that `other` names."""
    recorded = await sync_to_async(_record)(request)
    if isinstance(recorded, HttpResponse):
        return recorded
    twin, both = recorded
    for run, prepared in both:
        engine.send(run, prepared)
    if is_htmx(request):
        return HttpResponseClientRedirect(twin.get_absolute_url())
    return redirect(twin)


def _record(request: HttpRequest) -> HttpResponse | tuple[Twin, list[Sent]]:
    composed = read_form(request)
    parent = parent_turn(request, composed)
    other = _chosen(request, composed)
    if composed.prepared is None or other is None or composed.errors:
        return error_response(request, composed)
    for reason in other.prepared.refusals():
        composed.refuse("", f"{other.label}: {reason}")
    if composed.errors:
        return error_response(request, composed)
    composed.keep_agent()
    # With an agent that was made of an address, the other side has changed, too.
    other = _chosen(request, composed) or other
    link = engine.RunParent(RunKind.ASK, parent)
    both = composed.prepared, other.prepared
    owner = owner_of(request.user)
    left, right = (engine.create_run(prepared, owner, link) for prepared in both)
    twin = Twin.objects.create(owner=left.owner, left=left, right=right)
    return twin, [(left, both[0]), (right, both[1])]


def _chosen(request: HttpRequest, composed: engine.PreparationResult) -> TwinTarget | None:
    wanted = request.POST.get("other", "")
    found = _counterparts(request, composed.prepared)
    chosen = next((each for each in found if each.value == wanted), None)
    if chosen is None and not composed.errors:
        composed.refuse("", "Choose what the request is to be compared with.")
    return chosen


def _counterparts(
    request: HttpRequest, prepared: engine.PreparedRequest | None
) -> list[TwinTarget]:
    if prepared is None:
        return []
    return twin_targets_for(prepared, list(Agent.objects.owned_by(request.user)))


@require_safe
@ensure_csrf_cookie
@csp_update({"frame-src": [SELF]})  # type: ignore[arg-type]
def twin(request: HttpRequest, pk: str) -> HttpResponse:
    """Both replies side by side, below what they do not have in common."""
    found = _twin(request, pk)
    sides = twin_sides(found)
    return render(request, "twins/page.html", {"sides": sides, **_verdict(found)})


@require_safe
def difference(request: HttpRequest, pk: str) -> HttpResponse:
    """What the replies do not have in common, or that they are still coming."""
    return render(request, "twins/difference.html", _verdict(_twin(request, pk)))


def _twin(request: HttpRequest, pk: str) -> Twin:
    mark_interrupted()
    twins = Twin.objects.owned_by(request.user).select_related("left", "right")
    found: Twin = get_object_or_404(twins, pk=pk)
    return found


def _verdict(found: Twin) -> dict[str, object]:
    return {"twin": found, "verdict": twin_result(found)}


@require_safe
@ensure_csrf_cookie
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[arg-type]
def run_frame(request: HttpRequest, pk: str) -> HttpResponse:
    """The response to a run on a page of its own, which pages of the playground may frame."""
    run = get_current_run(request, pk)
    return render(request, "twins/pane.html", response_context(run))
