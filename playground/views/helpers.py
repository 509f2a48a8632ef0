"""Helpers of all views: what a request is about, and which kind of reply it wants."""

from __future__ import annotations

from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header

from playground.models import Agent, Run
from playground.models.liveness import mark_interrupted

Response = TypeVar("Response", bound=HttpResponseBase)


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


def get_agent(request: HttpRequest, slug: str) -> Agent:
    """Return the user's agent with this slug. Raises `Http404` where they have none."""
    found: Agent = get_object_or_404(Agent.objects.owned_by(request.user), slug=slug)
    return found


def is_htmx(request: HttpRequest) -> bool:
    """Return whether a part of a page is asked for, and not a page."""
    return bool(request.htmx)  # type: ignore[attr-defined]


def make_download(response: Response, name: str) -> Response:
    """Let the browser save a response as a file of this name, and show it nowhere."""
    response["Content-Disposition"] = content_disposition_header(True, name)
    return response
