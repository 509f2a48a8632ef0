"""History of runs: a page with filters."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from django_htmx.http import replace_url

from playground.base.fields import int_param
from playground.history.filters import (
    MADE_BY,
    MAX_WORDS,
    OUTCOMES,
    STATES,
    UNSAVED_AGENT,
    HistoryQuery,
)
from playground.history.rows import MAX_STEPS, sidebar_history, sidebar_steps
from playground.models import Agent, CollectionRun, Run
from playground.models.history import HistoryCursor, history_page
from playground.models.liveness import mark_interrupted
from playground.models.ownership import owner_of
from playground.models.storage import COUNT_LIFETIME, StorageUsage
from playground.ui.helpers import is_htmx


@require_safe
@ensure_csrf_cookie
def history(request: HttpRequest) -> HttpResponse:
    """Show all runs, newest first. The URL holds the filters; see `history_filters.HistoryQuery`.

    `before` continues from a cursor. An htmx request gets the list alone, or the rows from that
    cursor on.
    """
    query = HistoryQuery.read(request.GET)
    context = {"asked": query, **_rows(request, query)}
    if not is_htmx(request):
        context |= {**_choices(request), "usage": _usage(request)}
        response = render(request, "history/page.html", context)
    elif context["before"]:
        response = render(request, "history/page.html#rows", context)
    else:
        response = render(request, "history/page.html#list", context)
        response = replace_url(response, query.url)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _usage(request: HttpRequest) -> StorageUsage | None:
    """Return the usage of the user's quota, None where there is no quota."""
    if not settings.QUOTA:
        return None
    owner = owner_of(request.user)
    return StorageUsage.of(owner.pk if owner else None, max_age=COUNT_LIFETIME)


def _rows(request: HttpRequest, query: HistoryQuery) -> dict[str, Any]:
    """Return one page of rows, and the cursor of the next one."""
    mark_interrupted()
    before = HistoryCursor.read(request.GET.get("before", ""))
    found = history_page(Run.objects.owned_by(request.user), query.filters(request.user), before)
    return {
        "page": found,
        "before": before,
        # The rows shown before, so that the end of a search knows whether there were any.
        "shown": int_param(request.GET, "shown", 0) + len(found.runs),
    }


def _choices(request: HttpRequest) -> dict[str, Any]:
    agents = Agent.objects.owned_by(request.user).values_list("slug", "name")
    return {
        "agents": [*agents, (UNSAVED_AGENT, "Not saved")],
        "states": STATES,
        "outcomes": OUTCOMES,
        "makers": MADE_BY,
    }


def list_runs(request: HttpRequest) -> HttpResponse:
    """Render a page of the sidebar's history, or with `collection_run` the runs of one."""
    mark_interrupted()
    if key := request.GET.get("collection_run", ""):
        return _list_steps(request, key)
    query = request.GET.get("q", "").strip()[:MAX_WORDS]
    before = HistoryCursor.read(request.GET.get("before", ""))
    page = sidebar_history(request.user, query, before)
    shown = int_param(request.GET, "shown", 0) + len(page.rows)
    return render(request, "history/sidebar.html", {"history": page, "q": query, "shown": shown})


def _list_steps(request: HttpRequest, key: str) -> HttpResponse:
    """Render the runs of a collection run as rows of the sidebar."""
    try:
        found = CollectionRun.objects.owned_by(request.user).filter(pk=key).first()
    except ValidationError:
        found = None
    if found is None:
        raise Http404
    steps = sidebar_steps(found)
    context = {"collection_run": found, "steps": steps[:MAX_STEPS], "more": steps[MAX_STEPS:]}
    return render(request, "history/sidebar.html#steps", context)
