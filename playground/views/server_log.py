"""What an older server told about its work, read when somebody opens it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.rendering.server_log import log_lines
from playground.views.helpers import get_run


@require_safe
def server_log(request: HttpRequest, pk: str) -> HttpResponse:
    """The run's informational messages, in the order in which they came."""
    run = get_run(request, pk)
    notes, more = log_lines(run)
    return render(request, "runs/server_log.html", {"notes": notes, "more": more})
