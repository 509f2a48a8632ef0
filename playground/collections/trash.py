"""Trash: deleted collections, folders and requests, which can be restored for a day.

A deleted part stays where it is, with its shares, runs, position and progress, and has the time of
its deletion (see `playground.models.rows`), as has everything in it that is deleted with it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeAlias

from django.contrib import messages
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from playground.collections import files
from playground.collections.fixture import FixtureError
from playground.collections.ordering import mark_modified
from playground.models import Collection, Folder, LessonProgress, SavedRequest
from playground.models.collections import TRASH_LIFETIME
from playground.models.columns import free_slug
from playground.models.driving import database_now
from playground.ui.helpers import (
    changed_response,
    get_collection,
    get_folder,
    get_saved_request,
    is_htmx,
    redirect_with_note,
)

Part: TypeAlias = Collection | Folder | SavedRequest

#: Parts of an owner that are kept.
MAX_TRASHED = 100


class RestoreError(Exception):
    """A part cannot be restored, since its collection was deleted, too."""


def delete(part: Part) -> None:
    """Put a collection, a folder with its requests, or a request into the trash."""
    collection = collection_of(part)
    with transaction.atomic():
        if part is collection:
            LessonProgress.objects.filter(collection=collection).update(is_open=False)
            files.mark_deleted(collection)
        else:
            mark_modified(collection)
        before = recently_deleted(Collection.with_trashed.filter(owner=collection.owner_id))
        for beyond in before[MAX_TRASHED - 1 :]:
            for rows in _together(beyond):
                rows.delete()
        together, part.deleted_at = _together(part), database_now()
        if before:  # No two deletions have the same time: SQLite's clock has milliseconds.
            part.deleted_at = max(part.deleted_at, before[0].deleted_at + timedelta(microseconds=1))
        for rows in together:
            rows.update(deleted_at=part.deleted_at)


def restore(part: Part) -> Collection:
    """Restore a deleted part with what was deleted with it; return its collection.

    Where a slug was given to another item meanwhile, the restored one gets a new slug. Raise
    `RestoreError` if the collection of a folder or a request was deleted, too.
    """
    collection = collection_of(part)
    if part is not collection and collection.deleted_at:
        raise RestoreError(f"The collection “{collection.slug}” no longer exists.")
    with transaction.atomic():
        for rows in _together(part):
            is_collection = rows.model is Collection
            within = {"owner": collection.owner_id} if is_collection else {"collection": collection}
            siblings = rows.model.objects.filter(**within)
            rows.exclude(slug__in=siblings.values("slug")).update(deleted_at=None)
            for row in rows.all():  # Those whose slug was given to another item.
                row.slug, row.deleted_at = free_slug(row.slug, "restored", siblings), None
                row.save(update_fields=["slug", "deleted_at"])
        if part is not collection:
            mark_modified(collection)
        if isinstance(part, SavedRequest):  # Its folder was deleted, or moved elsewhere.
            in_folder = {"folder__deleted_at": None, "folder__collection": collection}
            SavedRequest.objects.filter(pk=part.pk).exclude(**in_folder).update(folder=None)
    collection.refresh_from_db()
    return collection


def _together(part: Part) -> list[QuerySet[Any]]:
    """Return the rows of a part and of what is in it, all stored or all deleted at one time."""
    filters: dict[type[Part], dict[str, Any]] = {type(part): {"pk": part.pk}}
    if isinstance(part, Collection):
        filters |= {Folder: {"collection": part}, SavedRequest: {"collection": part}}
    elif isinstance(part, Folder):
        filters |= {SavedRequest: {"folder": part}}
    return [
        model.with_trashed.filter(deleted_at=part.deleted_at, **found)
        for model, found in reversed(filters.items())
    ]


def part_of(request: HttpRequest, slug: str, folder: str = "", saved: str = "") -> Part:
    """Return the user's collection, or a folder or request in it, by slugs. Raises `Http404`."""
    if saved:
        return get_saved_request(request, slug, saved)
    return get_folder(request, slug, folder) if folder else get_collection(request, slug)


def collection_of(part: Part) -> Collection:
    return part if isinstance(part, Collection) else part.collection


def kind(part: Part) -> str:
    """Return the key of a part in `restorable`."""
    return "request" if isinstance(part, SavedRequest) else type(part).__name__.lower()


def label(part: Part) -> str:
    """Return a description of a part, such as "the folder “Soups”"."""
    return f"the {kind(part)} “{part.name}”"


def restorable(collections: QuerySet[Collection]) -> dict[str, QuerySet[Any]]:
    """Return the parts that can be restored, by kind, of an owner's collections with the trash.

    What was deleted with its collection or its folder is restored with it and not by itself.
    """
    recent = {"deleted_at__gte": Now() - TRASH_LIFETIME}
    with_collection = {"deleted_at": F("collection__deleted_at")}
    folders = Folder.with_trashed.filter(collection__in=collections, **recent)
    requests = SavedRequest.with_trashed.filter(collection__in=collections, **recent)
    return {
        "collection": collections.filter(**recent),
        "folder": folders.exclude(**with_collection),
        "request": requests.exclude(**with_collection).exclude(deleted_at=F("folder__deleted_at")),
    }


def recently_deleted(collections: QuerySet[Collection]) -> list[Any]:
    """Return the parts that can be restored, latest first."""
    found = restorable(collections).values()
    parts = [part for rows in found for part in rows.only("name", "deleted_at")]
    return sorted(parts, key=lambda part: part.deleted_at, reverse=True)


@require_POST
def deletion(request: HttpRequest, slug: str, folder: str = "", saved: str = "") -> HttpResponse:
    """Delete a collection, a folder with its requests, or a request, and offer to undo it."""
    part = part_of(request, slug, folder, saved)
    delete(part)
    note, undo = f"Deleted {label(part)}.", undo_url(part)
    if is_htmx(request) and not isinstance(part, Collection):
        # The page removes the part itself; the response is the note with Undo.
        context = {"note": note, "undo": undo}
        return changed_response(render(request, "collections/list.html#deleted", context))
    target = reverse("collections") if isinstance(part, Collection) else part.collection
    return changed_response(redirect_with_note(request, target, note, undo))


def undo_url(part: Part) -> str:
    return reverse("trash-restore", args=[kind(part), part.pk])


@require_POST
def undo(request: HttpRequest, model: str, key: int) -> HttpResponse:
    owned = Collection.with_trashed.owned_by(request.user)
    part = get_object_or_404(restorable(owned).get(model, owned.none()), pk=key)
    try:
        target = restore(part)
    except RestoreError as error:
        messages.error(request, f"Restoring {label(part)} failed: {error}")
        return redirect("collections")
    note = f"Restored {label(part)}."
    return changed_response(redirect_with_note(request, target, note))


@require_POST
def reload_shipped(request: HttpRequest, slug: str) -> HttpResponse:
    """Load a shipped collection that was deleted."""
    try:
        found = files.load_shipped(slug)
    except (FixtureError, files.DiskError) as error:
        messages.error(request, f"Loading {slug} failed: {error}")
        return redirect("collections")
    if found is None:
        raise Http404
    return changed_response(redirect_with_note(request, found, f"{found.name} was loaded."))
