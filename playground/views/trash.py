"""Trash: delete parts of collections, restore them, and reload shipped collections."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from playground.collections import shipped, trash
from playground.collections.disk import DiskError
from playground.collections.fixture import FixtureError
from playground.models import Collection, Folder, SavedRequest
from playground.views.helpers import (
    changed_response,
    get_collection,
    get_folder,
    get_saved_request,
    is_htmx,
    redirect_with_note,
    refuse_without_room,
)


@require_POST
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a collection with everything in it."""
    return _delete(request, get_collection(request, slug))


@require_POST
def folder(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Delete a folder with its requests."""
    return _delete(request, get_folder(request, slug, folder))


@require_POST
def saved_request(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Delete a saved request. Its runs stay."""
    return _delete(request, get_saved_request(request, slug, saved))


def _delete(request: HttpRequest, part: Collection | Folder | SavedRequest) -> HttpResponse:
    """Delete a part of a collection, and offer to undo it."""
    removal = trash.delete(part)
    note, undo = f"Deleted {removal.label}.", reverse("trash-restore", args=[removal.pk])
    if is_htmx(request) and not isinstance(part, Collection):
        # The page removes the part itself; the response is the note with Undo.
        context = {"note": note, "undo": undo}
        return changed_response(render(request, "collections/deleted.html", context))
    target = reverse("collections") if isinstance(part, Collection) else part.collection
    return changed_response(redirect_with_note(request, target, note, undo))


@require_POST
def undo(request: HttpRequest, removal: int) -> HttpResponse:
    """Restore what was deleted."""
    found = get_object_or_404(trash.get_trashed(request.user), pk=removal)
    label = found.label
    try:
        target = trash.restore(found)
    except FixtureError as error:
        messages.error(request, f"Restoring {label} failed: {error}")
        return redirect("collections")
    return changed_response(redirect_with_note(request, target, f"Restored {label}."))


@require_POST
def reload_shipped(request: HttpRequest, slug: str) -> HttpResponse:
    """Load a shipped collection that was deleted."""
    if refusal := refuse_without_room(request, reverse("collections")):
        return refusal
    try:
        found = shipped.reload(slug)
    except (FixtureError, DiskError) as error:
        messages.error(request, f"Loading {slug} failed: {error}")
        return redirect("collections")
    if found is None:
        raise Http404
    return changed_response(redirect_with_note(request, found, f"{found.name} was loaded."))
