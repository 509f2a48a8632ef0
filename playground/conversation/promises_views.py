"""Promises: poll one, cancel its task, resume or stop polling."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import aget_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from playground.base.query_params import int_param
from playground.conversation.promises import DURATION_CHOICES
from playground.conversation.thread import Thread
from playground.engine import promise_polling
from playground.models import PolledPromise, Run
from playground.ui.helpers import is_htmx


@require_POST
async def poll(request: HttpRequest, pk: str) -> HttpResponse:
    """Poll the promise now."""
    promise = await _get_promise(request, pk)
    return await _respond(request, promise, promise_polling.poll_now(promise.pk))


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Tell the agent to cancel the task."""
    promise = await _get_promise(request, pk)
    return await _respond(request, promise, promise_polling.cancel_promise(promise.pk))


@require_POST
async def polling(request: HttpRequest, pk: str) -> HttpResponse:
    """Poll the promise for `polling_seconds` from now, or with `polling=0` stop polling."""
    promise = await _get_promise(request, pk)
    if request.POST.get("polling") == "0":
        return await _respond(request, promise, promise_polling.stop_polling(promise.pk))
    if not request.POST.get("polling_seconds"):
        return await _respond(request, promise, promise_polling.resume_polling(promise.pk))
    seconds = int_param(request.POST, "polling_seconds", None, maximum=99_999)
    if seconds is None:
        return HttpResponseBadRequest("polling_seconds must be a number of seconds.")
    duration = min(seconds, DURATION_CHOICES[-1])
    return await _respond(request, promise, promise_polling.resume_polling(promise.pk, duration))


async def _get_promise(request: HttpRequest, pk: str) -> PolledPromise:
    """Return the user's promise of a run. Raises `Http404`."""
    user = await request.auser()
    runs = Run.objects.owned_by(user)
    found: PolledPromise = await aget_object_or_404(
        PolledPromise.objects.select_related("run"), run__in=runs, run=pk
    )
    return found


async def _respond(
    request: HttpRequest, promise: PolledPromise, work: Awaitable[Any]
) -> HttpResponse:
    """Await the work, and show its result."""
    await work
    if not is_htmx(request):
        return redirect(promise.run)
    return await sync_to_async(_render)(request, promise)


def _render(request: HttpRequest, promise: PolledPromise) -> HttpResponse:
    """Render the child runs of the promise, with a live connection."""
    thread = Thread(promise.run)
    children = thread.render_children((promise.entry_seq, promise.entry_part))
    context = {"children": children, "run": promise.run, "live": True}
    return render(request, "runs/children/started.html", context)
