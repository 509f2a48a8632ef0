"""The file of a collection in fixtures/: its differences, loading and saving it."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseForbidden
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRefresh

from playground.collections import disk
from playground.collections.fixture import FixtureError
from playground.collections.import_preview import groups_of, summary
from playground.models import Collection
from playground.ui.helpers import get_collection, is_htmx


@require_http_methods(["GET", "HEAD", "POST"])
def collection_disk(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how the collection and its file differ (GET); load (`do=load`) or save it (POST).

    A fragment of the collection's page; empty in hosted mode, where POST is refused.
    """
    found = get_collection(request, slug)
    if settings.HOSTED:
        return HttpResponseForbidden() if request.method == "POST" else HttpResponse()
    if request.method != "POST":
        return _section(request, found)
    loads = request.POST.get("do") == "load"
    try:
        message = _load(request, found) if loads else _save(request, found)
    except (disk.DiskError, FixtureError) as error:
        return _section(request, found, str(error), status=422)
    messages.success(request, message)
    if not is_htmx(request):
        return redirect(found)
    return HttpResponseClientRefresh()


def _load(request: HttpRequest, collection: Collection) -> str:
    result = disk.load(collection, request.POST.get("seen", ""))
    return f"{collection.name} was loaded from its file: {summary(result.changes)}."


def _save(request: HttpRequest, collection: Collection) -> str:
    path = disk.save(collection, request.POST.get("seen", ""))
    return f"{collection.name} was saved to {path.parent.name}/{path.name}."


def _section(
    request: HttpRequest, collection: Collection, error_message: str = "", status: int = 200
) -> HttpResponse:
    context: dict[str, object] = {"collection": collection, "trouble": error_message}
    try:
        file_status = disk.file_status(collection)
    except disk.DiskError as error:
        context["impossible"] = str(error)
    else:
        loading = file_status.loading.changes if file_status.loading else []
        context |= {
            "standing": file_status,
            "loading": groups_of(loading),
            "loading_told": summary(loading),
            "saving": groups_of(file_status.saving),
            "saving_told": summary(file_status.saving),
        }
    return render(request, "collections/disk.html", context, status=status)
