"""What an older server told about its work, read when somebody opens it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from playground.models import Run
from playground.rendering.told import notes_of


@require_safe
def told(request: HttpRequest, pk: str) -> HttpResponse:
    """The run's informational messages, in the order in which they came."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    notes, more = notes_of(run)
    return render(request, "runs/told.html", {"notes": notes, "more": more})
