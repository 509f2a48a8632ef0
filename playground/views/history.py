"""The history of runs: the list beside the workbench, and a page with filters."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from playground.models import Agent, Run
from playground.models.history import HistoryCursor, history_page
from playground.models.liveness import mark_interrupted
from playground.query_params import int_param
from playground.rendering.history import rows_of
from playground.views.contexts import history_context
from playground.views.helpers import is_htmx
from playground.views.history_filters import (
    MADE_BY,
    MAX_WORDS,
    NOBODY,
    OUTCOMES,
    STATES,
    HistoryQuery,
)
from playground.views.runs import create


def _list(request: HttpRequest) -> HttpResponse:
    words = request.GET.get("q", "").strip()[:MAX_WORDS]
    shown = int_param(request.GET, "shown", 0)
    context = history_context(request.user, words, request.GET.get("before", ""), shown)
    return render(request, "runs/history.html", context)


async def runs(request: HttpRequest) -> HttpResponse:
    """GET lists runs (`q` searches, `before` pages); POST sends a request."""
    if request.method == "POST":
        return await create(request)
    if request.method in {"GET", "HEAD"}:
        return await sync_to_async(_list)(request)
    return HttpResponseNotAllowed(["GET", "HEAD", "POST"])


@require_safe
@ensure_csrf_cookie
def history(request: HttpRequest) -> HttpResponse:
    """Every run, newest first. The address holds the filters; see `history_filters.Asked`.

    `before` goes on from a place. To htmx it answers with the list alone, or with the rows from
    that place on.
    """
    asked = HistoryQuery.read(request.GET)
    context = {"asked": asked, **_rows(request, asked)}
    if not is_htmx(request):
        response = render(request, "history/page.html", {**context, **_choices(request)})
    elif context["before"]:
        response = render(request, "history/rows.html", context)
    else:
        response = render(request, "history/list.html", context)
        response = replace_url(response, asked.url)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _rows(request: HttpRequest, asked: HistoryQuery) -> dict[str, Any]:
    """One page of rows, and where the next one begins."""
    mark_interrupted()
    before = HistoryCursor.read(request.GET.get("before", ""))
    found = history_page(Run.objects.owned_by(request.user), asked.filters(request.user), before)
    rows = rows_of(found.runs)
    return {
        "rows": rows,
        "page": found,
        "before": before,
        # What was shown above, so that a search that comes to its end knows whether it found any.
        "shown": int_param(request.GET, "shown", 0) + len(rows),
    }


def _choices(request: HttpRequest) -> dict[str, Any]:
    """What the form offers."""
    agents = Agent.objects.owned_by(request.user).values_list("slug", "name")
    return {
        "agents": [*agents, (NOBODY, "Not saved any more")],
        "states": STATES,
        "outcomes": OUTCOMES,
        "makers": MADE_BY,
    }
