"""Recorded runs: the reply that is kept with a saved request, and HAR files in and out."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_safe

from playground.library.har import to_har
from playground.library.recordings import RecordingError
from playground.library.replaying import replay_saved
from playground.models import Collection, Run, SavedRequest


@require_safe
def saved_reply(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """The recorded reply of a saved request, opened as the run that it was: the same every time."""
    owned = Collection.objects.owned_by(request.user)
    found = get_object_or_404(
        SavedRequest.objects.select_related("collection").filter(collection__in=owned),
        collection__slug=slug,
        slug=saved,
    )
    try:
        return redirect(replay_saved(found, request.user))
    except RecordingError as error:
        messages.error(request, str(error))
        return redirect(found)


@require_safe
def run_har(request: HttpRequest, pk: str) -> HttpResponse:
    """A run as an HTTP archive, to be downloaded."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    response = HttpResponse(to_har(run), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}.har"'
    return response
