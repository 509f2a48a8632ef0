"""Recorded runs: the reply that is kept with a saved request, and HAR files in and out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import push_url

from playground.library.har import to_har
from playground.library.har_reading import HarEntry, read_har
from playground.library.reading import MAX_BYTES, text_of
from playground.library.recordings import RecordingError
from playground.library.replaying import run_from_recording, run_from_saved_response
from playground.library.shape import FixtureError, FixtureProblem
from playground.models import Collection, Run, SavedRequest
from playground.models.ownership import owner_of
from playground.views.contexts import response_context
from playground.views.helpers import get_run, is_htmx, make_download
from playground.views.imports import MAX_CARRIED, compress_text, decompress_text


@require_http_methods(["GET", "HEAD", "POST"])
def saved_response(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """POST opens the recorded reply of a saved request as the run that it was, every time the same.

    GET leads to that run once there is one, and to the saved request, which offers it, until
    then: whoever only follows links makes no runs.
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
        return _unread(request, found, str(error))
    if not is_htmx(request):
        return redirect(run)
    response = render(request, "runs/response.html", response_context(run))
    return push_url(response, run.get_absolute_url())


def _unread(request: HttpRequest, saved: SavedRequest, why: str) -> HttpResponse:
    if is_htmx(request):
        return render(request, "runs/response.html", {"run": None, "reply": saved, "why": why})
    messages.error(request, why)
    return redirect(saved)


@require_safe
def run_har(request: HttpRequest, pk: str) -> HttpResponse:
    """A run as an HTTP archive, to be downloaded."""
    run = get_run(request, pk)
    response = HttpResponse(to_har(run), content_type="application/json")
    return make_download(response, f"run-{run.pk}.har")


@require_http_methods(["GET", "HEAD", "POST"])
def har(request: HttpRequest) -> HttpResponse:
    """GET asks for a file; POST lists what is in it, or with `entry` opens one as a run.

    The browser carries the file from the list to the run: nothing is kept of the others.
    """
    if request.method != "POST":
        return _page(request)
    try:
        text = _given(request)
        entries = read_har(text)
        if chosen := request.POST.get("entry"):
            return redirect(_open(request, entries, chosen))
    except FixtureError as error:
        return _page(request, status=422, problems=error.problems)
    packed = compress_text(text)
    if len(packed) > MAX_CARRIED:
        problem = FixtureProblem(
            "", "The file is too large to choose from. Save fewer requests in it."
        )
        return _page(request, status=422, problems=[problem])
    return _page(request, entries=entries, packed=packed)


def _given(request: HttpRequest) -> str:
    if packed := request.POST.get("packed"):
        return decompress_text(packed)
    upload = request.FILES.get("file")
    if upload is None:
        raise FixtureError(FixtureProblem("", "Choose a HAR file."))
    if (upload.size or 0) > MAX_BYTES:
        raise FixtureError(FixtureProblem("", f"The file is larger than {MAX_BYTES >> 20} MB."))
    return text_of(upload.read())


def _open(request: HttpRequest, entries: list[HarEntry], chosen: str) -> Run:
    found = next((entry for entry in entries if str(entry.number) == chosen), None)
    if found is None or not found.response:
        raise FixtureError(FixtureProblem("", found.why if found else "There is no such entry."))
    try:
        return run_from_recording(found.response, owner_of(request.user))
    except RecordingError as error:
        raise FixtureError(FixtureProblem("", str(error))) from error


def _page(request: HttpRequest, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, "formats/har.html", context, status=status)
