"""Deleting parts of collections, and taking that back; loading what ships once more."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from playground.library import removals, shipped
from playground.library.disk import DiskError
from playground.library.fixtures import FixtureError
from playground.models import Collection, Folder, SavedRequest
from playground.views.helpers import is_htmx
from playground.views.shelf import (
    changed_response,
    get_collection,
    get_folder,
    get_saved_request,
    redirect_with_note,
)


@require_POST
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a collection with all that is in it."""
    return _remove(request, get_collection(request, slug))


@require_POST
def folder(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Delete a folder with its requests."""
    return _remove(request, get_folder(request, slug, folder))


@require_POST
def saved_request(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Delete a saved request. Its runs stay."""
    return _remove(request, get_saved_request(request, slug, saved))


def _remove(request: HttpRequest, part: Collection | Folder | SavedRequest) -> HttpResponse:
    removal = removals.delete(part)
    note, undo = f"Deleted {removal.label}.", reverse("trash-restore", args=[removal.pk])
    if is_htmx(request) and not isinstance(part, Collection):
        # The page takes the part out; what is left to bring is the note with its Undo.
        context = {"note": note, "undo": undo}
        return changed_response(render(request, "collections/deleted.html", context))
    target = reverse("collections") if isinstance(part, Collection) else part.collection
    return changed_response(redirect_with_note(request, target, note, undo))


@require_POST
def undo(request: HttpRequest, removal: int) -> HttpResponse:
    """Put back what was deleted."""
    found = get_object_or_404(removals.get_trashed(request.user), pk=removal)
    label = found.label
    try:
        target = removals.restore(found)
    except FixtureError as error:
        messages.error(request, f"Could not put back {label}: {error}")
        return redirect("collections")
    return changed_response(redirect_with_note(request, target, f"Put back {label}."))


@require_POST
def reload_shipped(request: HttpRequest, slug: str) -> HttpResponse:
    """Load a collection of fixtures/ that was deleted."""
    try:
        found = shipped.reload(slug)
    except (FixtureError, DiskError) as error:
        messages.error(request, f"Could not load {slug}: {error}")
        return redirect("collections")
    if found is None:
        raise Http404
    return changed_response(redirect_with_note(request, found, f"{found.name} was loaded."))
