"""The server log of a run, loaded when it is opened."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.conversation.server_log import log_lines
from playground.ui.helpers import get_run


@require_safe
def server_log(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the run's log lines and informational messages, in order of arrival."""
    run = get_run(request, pk)
    notes, more = log_lines(run)
    return render(request, "runs/server_log.html", {"notes": notes, "more": more})
