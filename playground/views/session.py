"""The session ledger of a branch, and what is echoed next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods

from playground.models import Run
from playground.rendering.turns import branch_of


@require_http_methods(["GET", "HEAD", "POST"])
def session(request: HttpRequest, pk: str) -> HttpResponse:
    """GET shows the ledger; POST decides what the next request echoes."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    return render(request, "runs/session.html", {"run": run, "branch": branch_of(run)})
