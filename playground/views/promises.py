"""Promises: ask after one, cancel it, follow it or leave it alone."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import aget_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from playground.engine import tracking
from playground.models import PolledPromise, Run
from playground.query_params import int_param
from playground.rendering.promises import DURATION_CHOICES
from playground.rendering.thread import Thread
from playground.views.helpers import is_htmx


@require_POST
async def poll(request: HttpRequest, pk: str) -> HttpResponse:
    """Ask after the promise now."""
    tracker = await _tracker(request, pk)
    return await _done(request, tracker, tracking.poll_now(tracker.pk))


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Tell the agent to cancel the task."""
    tracker = await _tracker(request, pk)
    return await _done(request, tracker, tracking.cancel_promise(tracker.pk))


@require_POST
async def polling(request: HttpRequest, pk: str) -> HttpResponse:
    """Follow the promise for `patience` seconds from now, or with `follow=0` no longer."""
    tracker = await _tracker(request, pk)
    if request.POST.get("follow") == "0":
        return await _done(request, tracker, tracking.stop_polling(tracker.pk))
    if not request.POST.get("patience"):
        return await _done(request, tracker, tracking.resume_polling(tracker.pk))
    chosen = int_param(request.POST, "patience", None, maximum=99_999)
    if chosen is None:
        return HttpResponseBadRequest("A promise is followed for a number of seconds.")
    patience = min(chosen, DURATION_CHOICES[-1])
    return await _done(request, tracker, tracking.resume_polling(tracker.pk, patience))


async def _tracker(request: HttpRequest, pk: str) -> PolledPromise:
    user = await request.auser()
    runs = Run.objects.owned_by(user)
    found: PolledPromise = await aget_object_or_404(
        PolledPromise.objects.select_related("run"), run__in=runs, run=pk
    )
    return found


async def _done(request: HttpRequest, tracker: PolledPromise, work: Awaitable[Any]) -> HttpResponse:
    await work
    if not is_htmx(request):
        return redirect(tracker.run)
    return await sync_to_async(_shown)(request, tracker)


def _shown(request: HttpRequest, tracker: PolledPromise) -> HttpResponse:
    """What stands under the promise now, and the page listens (again)."""
    thread = Thread(tracker.run)
    children = thread.render_children((tracker.entry_seq, tracker.entry_part))
    context = {"children": children, "run": tracker.run, "live": True}
    return render(request, "runs/children/started.html", context)
