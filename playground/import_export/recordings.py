"""Recorded runs: the saved response of a saved request as a run, and a run as a HAR file."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import push_url

from playground.collections.recordings import RecordingError, run_from_saved_response
from playground.conversation.updates import response_context
from playground.import_export.har_export import to_har
from playground.models import Collection, SavedRequest
from playground.models.ownership import owner_of
from playground.ui.helpers import get_run, is_htmx, make_download


@require_http_methods(["GET", "HEAD", "POST"])
def saved_response(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Open the saved response of a saved request as a run, each time the same one (POST).

    GET redirects to that run once it exists, and before that to the saved request: following links
    creates no runs.
    """
    owned = Collection.objects.owned_by(request.user)
    found = get_object_or_404(
        SavedRequest.objects.select_related("collection", "recorded_run").filter(
            collection__in=owned
        ),
        collection__slug=slug,
        slug=saved,
    )
    if request.method != "POST":
        return redirect(found.recorded_run or found)
    try:
        run = run_from_saved_response(found, owner_of(request.user))
    except RecordingError as error:
        return _error_response(request, found, str(error))
    if not is_htmx(request):
        return redirect(run)
    response = render(request, "runs/response.html", response_context(run))
    return push_url(response, run.get_absolute_url())


def _error_response(request: HttpRequest, saved: SavedRequest, reason: str) -> HttpResponse:
    """Show why a saved response could not be read."""
    if is_htmx(request):
        return render(request, "runs/response.html", {"run": None, "reply": saved, "why": reason})
    messages.error(request, reason)
    return redirect(saved)


@require_safe
def run_har(request: HttpRequest, pk: str) -> HttpResponse:
    """Download a run as a HAR file."""
    run = get_run(request, pk)
    response = HttpResponse(to_har(run), content_type="application/json")
    return make_download(response, f"run-{run.pk}.har")
