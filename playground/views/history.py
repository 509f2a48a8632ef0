"""The history of runs: a list that can be searched; sending adds to it."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render

from playground.views.contexts import history_context
from playground.views.runs import create


def _list(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:200]
    try:
        context = history_context(request.user, words, request.GET.get("before", ""))
    except (ValueError, OverflowError):
        context = history_context(request.user, words)
    return render(request, "runs/history.html", context)


async def runs(request: HttpRequest) -> HttpResponse:
    """GET lists runs (`q` searches, `before` pages); POST sends a request."""
    if request.method == "POST":
        return await create(request)
    if request.method in {"GET", "HEAD"}:
        return await sync_to_async(_list)(request)
    return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
