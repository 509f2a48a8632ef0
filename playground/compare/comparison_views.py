"""Comparison of any two runs, and the choice of the runs to compare."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.compare.comparison import candidates_of, compare_runs
from playground.conversation.status import status_label
from playground.models import Run
from playground.models.history import comparison_candidates
from playground.ui.helpers import get_current_run


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
    return render(request, "compare/choices.html", _choices(request, run))


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
    run = get_current_run(request, key, "polled_promise")
    run.status_label = status_label(run)  # type: ignore[attr-defined]
    return run
