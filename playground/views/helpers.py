"""Helpers of all views: the run that a request is about, and which kind of reply it wants."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest

from playground.models import Run
from playground.models.liveness import mark_interrupted


def find_run(request: HttpRequest, pk: Any, *related: str) -> Run | None:
    """Return the user's run with this key, None where they have none or it is no key.

    `related` are the names of relations to read with it, as `select_related` takes them.
    """
    runs = Run.objects.owned_by(request.user)
    if related:
        runs = runs.select_related(*related)
    try:
        found: Run | None = runs.filter(pk=pk).first()
    except ValidationError:
        return None
    return found


def get_run(request: HttpRequest, pk: Any, *related: str) -> Run:
    """Return the run that `find_run` finds. Raises `Http404` where it finds none."""
    run = find_run(request, pk, *related)
    if run is None:
        raise Http404
    return run


def get_current_run(request: HttpRequest, pk: Any, *related: str) -> Run:
    """Return the run that `get_run` gets; interrupted, where nobody drives it any more."""
    run = get_run(request, pk, *related)
    if not run.is_final and mark_interrupted():
        run.refresh_from_db()
    return run


def is_htmx(request: HttpRequest) -> bool:
    """Return whether a part of a page is asked for, and not a page."""
    return bool(request.htmx)  # type: ignore[attr-defined]
