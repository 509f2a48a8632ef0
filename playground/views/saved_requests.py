"""Saved requests as parts of a collection: named, described, moved, made twice.

What a request sends is edited in the workbench: see `playground.views.saved`.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.collection_forms import PositionForm, SavedRequestForm
from playground.library import organising
from playground.models import Collection, Folder, SavedRequest
from playground.views.collections import outline_of, render_form
from playground.views.helpers import is_htmx
from playground.views.shelf import (
    changed_response,
    get_collection,
    get_saved_request,
    moved_response,
    redirect_with_note,
)


@require_http_methods(["GET", "HEAD", "POST"])
def details(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """GET is the form for name and notes, and for its place; POST saves name and notes."""
    found = get_saved_request(request, slug, saved)
    if request.method != "POST":
        return _form(request, SavedRequestForm(instance=found), found)
    form = SavedRequestForm(request.POST, instance=found)
    if not form.is_valid():
        return _form(request, form, get_saved_request(request, slug, saved), 422)
    form.save()
    organising.mark_modified(found.collection)
    if not is_htmx(request):
        return redirect_with_note(request, found.collection)
    return changed_response(_row(request, found))


def _row(request: HttpRequest, saved: SavedRequest) -> HttpResponse:
    row = outline_of(request, saved.collection).row(saved)
    return render(request, "collections/row.html", {"row": row})


def _form(
    request: HttpRequest, form: SavedRequestForm, saved: SavedRequest, status: int = 200
) -> HttpResponse:
    key = [saved.collection.slug, saved.slug]
    context: dict[str, Any] = {
        "form": form,
        "collection": saved.collection,
        "thing": "request",
        "item": saved,
        "action": reverse("saved-request-details", args=key),
        "target": f"#request-{saved.slug}",
    }
    return render_form(request, context, status)


@require_safe
def notes(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """The notes of a request, whole."""
    context = {"saved": get_saved_request(request, slug, saved)}
    return render(request, "collections/notes.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def move(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """GET asks where to; POST moves it.

    `folder` is a folder's slug, "" for none; without it the folder stays. `to`, from the form,
    is "collection" or "collection/folder": the end of that.
    """
    found = get_saved_request(request, slug, saved)
    if request.method != "POST":
        return _places(request, found)
    if "to" in request.POST:
        return _moved(request, found, request.POST["to"])
    form = PositionForm(request.POST)
    if form.is_valid():
        wanted = request.POST.get("folder")
        folder = found.folder if wanted is None else _folder(found.collection, wanted)
        organising.reorder_request(found, folder, form.relative_position)
    return moved_response(request, found.collection)


def _folder(collection: Collection, slug: str) -> Folder | None:
    if not slug:
        return None
    found: Folder = get_object_or_404(collection.folders, slug=slug)
    return found


def _places(request: HttpRequest, saved: SavedRequest) -> HttpResponse:
    collections = Collection.objects.owned_by(request.user).prefetch_related("folders")
    context = {
        "saved": saved,
        "collection": saved.collection,
        "collections": collections,
    }
    part = is_htmx(request)
    name = "collections/move.html" if part else "collections/move_page.html"
    return render(request, name, context)


def _moved(request: HttpRequest, saved: SavedRequest, to: str) -> HttpResponse:
    slug, _, folder = to.partition("/")
    target = get_collection(request, slug)
    organising.move_request(saved, target, _folder(target, folder))
    return changed_response(redirect_with_note(request, target, f"{saved.name} was moved."))


@require_POST
def duplication(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Make the request once more, behind the first."""
    twin = organising.duplicate_request(get_saved_request(request, slug, saved))
    if not is_htmx(request):
        return redirect_with_note(request, twin.collection)
    return changed_response(_row(request, twin))
