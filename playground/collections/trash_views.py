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
from playground.models import Collection
from playground.ui.helpers import (
    changed_response,
    get_collection,
    get_folder,
    get_saved_request,
    is_htmx,
    redirect_with_note,
)


@require_POST
def deletion(request: HttpRequest, slug: str, folder: str = "", saved: str = "") -> HttpResponse:
    """Delete a collection, a folder with its requests, or a request, and offer to undo it."""
    part: trash.Part
    if saved:
        part = get_saved_request(request, slug, saved)
    elif folder:
        part = get_folder(request, slug, folder)
    else:
        part = get_collection(request, slug)
    trash.delete(part)
    note, undo = f"Deleted {trash.label(part)}.", undo_url(part)
    if is_htmx(request) and not isinstance(part, Collection):
        # The page removes the part itself; the response is the note with Undo.
        context = {"note": note, "undo": undo}
        return changed_response(render(request, "collections/deleted.html", context))
    target = reverse("collections") if isinstance(part, Collection) else part.collection
    return changed_response(redirect_with_note(request, target, note, undo))


def undo_url(part: trash.Part) -> str:
    """Return the URL that restores a deleted part."""
    return reverse("trash-restore", args=[trash.kind(part), part.pk])


@require_POST
def undo(request: HttpRequest, model: str, key: int) -> HttpResponse:
    """Restore what was deleted."""
    owned = Collection.with_trashed.owned_by(request.user)
    part = get_object_or_404(trash.restorable(owned).get(model, owned.none()), pk=key)
    try:
        target = trash.restore(part)
    except trash.RestoreError as error:
        messages.error(request, f"Restoring {trash.label(part)} failed: {error}")
        return redirect("collections")
    note = f"Restored {trash.label(part)}."
    return changed_response(redirect_with_note(request, target, note))


@require_POST
def reload_shipped(request: HttpRequest, slug: str) -> HttpResponse:
    """Load a shipped collection that was deleted."""
    try:
        found = shipped.reload(slug)
    except (FixtureError, DiskError) as error:
        messages.error(request, f"Loading {slug} failed: {error}")
        return redirect("collections")
    if found is None:
        raise Http404
    return changed_response(redirect_with_note(request, found, f"{found.name} was loaded."))
