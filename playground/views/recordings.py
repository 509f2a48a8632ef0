"""Recorded runs: the saved response of a saved request, and HAR files in and out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import push_url

from playground.collections.fixture import FixtureError, FixtureProblem
from playground.collections.fixture_parser import MAX_BYTES, decode_file
from playground.collections.recordings import (
    RecordingError,
    run_from_recording,
    run_from_saved_response,
)
from playground.formats.har_export import to_har
from playground.formats.har_import import HarEntry, read_har
from playground.models import Collection, Run, SavedRequest
from playground.models.ownership import owner_of
from playground.rendering.live import response_context
from playground.views.helpers import get_run, is_htmx, make_download, room_problem
from playground.views.import_export import MAX_COMPRESSED, compress_text, decompress_text


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


@require_http_methods(["GET", "HEAD", "POST"])
def har(request: HttpRequest) -> HttpResponse:
    """Show the form (GET); list a HAR file's entries, or with `entry` open one as a run (POST).

    The browser sends the file back with the selected entry: the others are not stored.
    """
    if request.method != "POST":
        return _page(request)
    try:
        if cause := room_problem(request):
            raise FixtureError(FixtureProblem("", cause))
        text = _submitted_text(request)
        entries = read_har(text)
        if number := request.POST.get("entry"):
            return redirect(_open(request, entries, number))
    except FixtureError as error:
        return _page(request, status=422, problems=error.problems)
    packed = compress_text(text)
    if len(packed) > MAX_COMPRESSED:
        problem = FixtureProblem("", "The file is too large. Save fewer requests in it.")
        return _page(request, status=422, problems=[problem])
    if any(entry.response for entry in entries):
        return _page(request, entries=entries, packed=packed)
    problem = FixtureProblem("", f"0 of {len(entries):,} requests can be opened.")
    return _page(request, status=422, entries=entries, problems=[problem])


def _submitted_text(request: HttpRequest) -> str:
    """Return the text of the submitted HAR file. Raises `FixtureError`."""
    if packed := request.POST.get("packed"):
        return decompress_text(packed)
    upload = request.FILES.get("file")
    if upload is None:
        raise FixtureError(FixtureProblem("", "Choose a HAR file."))
    if (upload.size or 0) > MAX_BYTES:
        raise FixtureError(FixtureProblem("", f"The file is larger than {MAX_BYTES >> 20} MB."))
    return decode_file(upload.read())


def _open(request: HttpRequest, entries: list[HarEntry], number: str) -> Run:
    """Create a run from an entry. Raises `FixtureError`."""
    found = next((entry for entry in entries if str(entry.number) == number), None)
    if found is None or not found.response:
        raise FixtureError(FixtureProblem("", found.why if found else "The entry does not exist."))
    try:
        return run_from_recording(found.response, owner_of(request.user))
    except RecordingError as error:
        raise FixtureError(FixtureProblem("", str(error))) from error


def _page(request: HttpRequest, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, "formats/har.html", context, status=status)
