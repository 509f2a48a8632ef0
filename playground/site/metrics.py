"""The metrics of this process, for Prometheus."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from playground.base.metrics import exposition


@csrf_exempt  # So that other methods get status 405.
@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Show the metrics, in the text format unless `Accept` asks for OpenMetrics.

    No login is needed. Status 404 unless `PLAYGROUND_METRICS` is on.
    """
    if not settings.METRICS:
        raise Http404("PLAYGROUND_METRICS is off.")
    body, content_type = exposition(request.headers.get("Accept", ""))
    return HttpResponse(body, content_type=content_type)
