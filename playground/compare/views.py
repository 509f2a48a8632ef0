"""Comparison of two runs: any two, or one request that is sent to two targets."""

from __future__ import annotations

from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from csp.constants import SELF
from csp.decorators import csp_replace, csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from playground.compare.comparison import candidates_of, compare_runs
from playground.compare.twins import TwinTarget, twin_result, twin_sides, twin_targets_for
from playground.composer.views import error_response, parent_turn, prepare_form
from playground.conversation.updates import response_context
from playground.engine import tasks
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent, create_run
from playground.models import Agent, Run, RunKind, Twin
from playground.models.driving import mark_interrupted
from playground.models.history import comparison_candidates
from playground.models.rows import owner_of
from playground.protocols.diff.responses import IGNORED, UNSEEN
from playground.ui.helpers import get_current_run, is_htmx


@require_safe
@ensure_csrf_cookie
def compare(request: HttpRequest) -> HttpResponse:
    """Compare the runs `left` and `right`; `order=1` ignores the order of lists.

    Two of `run`, as the history names them, are ordered by time. With one run alone, ask for the
    other.
    """
    if selected := request.GET.getlist("run"):
        return _from_history(request, selected)
    runs = [_run(request, request.GET.get(side, "")) for side in ("left", "right")]
    one = runs[0] or runs[1]
    if one is None:
        return render(request, "compare/choose.html")
    if runs[0] is None or runs[1] is None:
        return render(request, "compare/choose.html", _choices(request, one))
    left, right = runs[0], runs[1]
    any_order = request.GET.get("order") == "1"
    waiting = not (left.is_final and right.is_final)
    context = {
        "left": left,
        "right": right,
        "any_order": any_order,
        "waiting": waiting,
        "outcome": None if waiting else compare_runs(left, right, ordered=not any_order),
    }
    return render(request, "compare/page.html", context)


@require_safe
def choices(request: HttpRequest) -> HttpResponse:
    """List the runs that the run `run` can be compared with, the likeliest first: a fragment."""
    run = _run(request, request.GET.get("run", ""))
    if run is None:
        raise Http404
    return render(request, "compare/choose.html#choices", _choices(request, run))


def _choices(request: HttpRequest, run: Run) -> dict[str, object]:
    others = comparison_candidates(run, Run.objects.owned_by(request.user))
    return {"run": run, "candidates": candidates_of(run, others)}


def _from_history(request: HttpRequest, selected: list[str]) -> HttpResponse:
    """Redirect to the comparison of the first two selected runs."""
    found = [run for key in selected[:2] if (run := _run(request, key))]
    found.sort(key=lambda run: run.created_at)
    sides = {side: run.pk for side, run in zip(("left", "right"), found, strict=False)}
    return redirect(f"{reverse('compare')}?{urlencode(sides)}")


def _run(request: HttpRequest, key: str) -> Run | None:
    """Return the user's run with this key, None without a key. Raises `Http404` for others."""
    if not key:
        return None
    return get_current_run(request, key, "polled_promise")


Sent = tuple[Run, PreparedRequest]


@require_POST
def twin_choices(request: HttpRequest) -> HttpResponse:
    """Show what the composer's request can be compared with, as a form."""
    prepared = prepare_form(request)
    found = _targets(request, prepared)
    return render(request, "compare/twin.html#choices", {"composed": prepared, "choices": found})


@require_POST
async def create(request: HttpRequest) -> HttpResponse:
    """Send the composer's request, and the same to the target that `other` names."""
    recorded = await sync_to_async(_record)(request)
    if isinstance(recorded, HttpResponse):
        return recorded
    twin, both = recorded
    for run, prepared in both:
        await tasks.send(run, prepared)
    if is_htmx(request):
        return HttpResponseClientRedirect(twin.get_absolute_url())
    return redirect(twin)


def _record(request: HttpRequest) -> HttpResponse | tuple[Twin, list[Sent]]:
    """Record the twin and its runs; or return why the requests cannot be sent."""
    prepared = prepare_form(request)
    parent = parent_turn(request, prepared)
    other = _selected(request, prepared)
    if other is not None:
        for reason in other.prepared.refusals():
            prepared.add_error("", f"{other.label}: {reason}")
    if other is None or prepared.errors:
        return error_response(request, prepared)
    link = RunParent(RunKind.ASK, parent)
    both = prepared, other.prepared
    owner = owner_of(request.user)
    left, right = (create_run(each, owner, link) for each in both)
    twin = Twin.objects.create(owner=left.owner, left=left, right=right)
    return twin, [(left, both[0]), (right, both[1])]


def _selected(request: HttpRequest, prepared: PreparedRequest) -> TwinTarget | None:
    """Return the target that `other` names; add an error where there is none."""
    value = request.POST.get("other", "")
    found = _targets(request, prepared)
    selected = next((each for each in found if each.value == value), None)
    if selected is None and not prepared.errors:
        prepared.add_error("", "Choose a second target.")
    return selected


def _targets(request: HttpRequest, prepared: PreparedRequest) -> list[TwinTarget]:
    if not prepared.has_call:
        return []
    return list(twin_targets_for(prepared, Agent.objects.owned_by(request.user)))


@require_safe
@ensure_csrf_cookie
@csp_update({"frame-src": [SELF]})  # type: ignore[arg-type]
def twin(request: HttpRequest, pk: str) -> HttpResponse:
    """Show both responses side by side, below their differences."""
    found = _twin(request, pk)
    sides = twin_sides(found)
    return render(request, "compare/twin.html", {"sides": sides, **_result_context(found)})


@require_safe
def difference(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the differences, or that a response is still in progress."""
    return render(request, "compare/twin.html#difference", _result_context(_twin(request, pk)))


def _twin(request: HttpRequest, pk: str) -> Twin:
    """Return the user's twin with this key. Raises `Http404`."""
    mark_interrupted()
    twins = Twin.objects.owned_by(request.user).select_related("left", "right")
    found: Twin = get_object_or_404(twins, pk=pk)
    return found


def _result_context(found: Twin) -> dict[str, object]:
    return {"twin": found, "verdict": twin_result(found), "ignored": IGNORED, "unseen": UNSEEN}


@require_safe
@ensure_csrf_cookie
@xframe_options_sameorigin
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[arg-type]
def run_frame(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the response of a run on a page that pages of the playground may frame."""
    run = get_current_run(request, pk)
    return render(request, "compare/pane.html", response_context(run))
