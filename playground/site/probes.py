"""Readiness and metrics of this process, for load balancers, container engines and monitors."""

from __future__ import annotations

import asyncio

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from playground.base.metrics import exposition
from playground.engine import runs
from playground.models.driving import database_now

#: Seconds in which the channel layer must accept a message.
LAYER_SECONDS = 2.0


@csrf_exempt  # So that other methods get status 405.
@login_not_required
@require_safe
async def readiness(request: HttpRequest) -> JsonResponse:
    """Respond with status 200 if this process can serve requests, otherwise with 503.

    The body is `{"ready": bool, "problems": {name: sentence}}`; the names are `database`,
    `channel_layer` and `process`. No login is needed.
    """
    problems: dict[str, str] = {}
    if runs.refuses_new_runs():
        problems["process"] = "It is stopping."
    try:
        await sync_to_async(database_now)()
    except DatabaseError:
        problems["database"] = "It does not respond."
    if settings.REDIS_URL and not await _layer_responds():
        problems["channel_layer"] = "It does not respond."
    body = {"ready": not problems, "problems": problems}
    return JsonResponse(body, status=503 if problems else 200)


async def _layer_responds() -> bool:
    layer = get_channel_layer()
    assert layer
    try:
        async with asyncio.timeout(LAYER_SECONDS):
            await layer.group_send("readiness", {"type": "readiness.check"})
    except Exception:  # Those of Redis and of its connections differ.
        return False
    return True


@csrf_exempt
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
