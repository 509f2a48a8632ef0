"""Deleting so that it can be undone: what goes is kept for a day, as a fixture and its ties.

What is kept is text: a line with what hung on the part (`playground.library.ties`), and after it
the fixture.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from playground.library import shipped, ties
from playground.library.fixtures import dump_part, restore_fixture
from playground.library.organising import mark_modified
from playground.models import Collection, Folder, SavedRequest, TrashedItem

#: How long something that was deleted can be put back, and how many of them are kept.
TRASH_LIFETIME = timedelta(days=1)
MAX_TRASHED = 100


def delete(part: Collection | Folder | SavedRequest) -> TrashedItem:
    """Delete a collection, a folder with its requests, or a request; returns the way back."""
    collection = part if isinstance(part, Collection) else part.collection
    with transaction.atomic():
        _purge(collection)
        kept = f"{ties.record_relations(part)}\n{dump_part(part)}"
        removal: TrashedItem = TrashedItem.objects.create(
            owner=collection.owner, label=_label(part), fixture=kept
        )
        if isinstance(part, Collection):
            shipped.mark_deleted(part)
        part.delete()
        if not isinstance(part, Collection):
            mark_modified(collection)
    return removal


def _label(part: Collection | Folder | SavedRequest) -> str:
    """What it was, in words; with the length that a column has."""
    if isinstance(part, Collection):
        return f"the collection “{part.name}”"
    kind = "the folder" if isinstance(part, Folder) else "the request"
    return f"{kind} “{part.name}”"


def _purge(collection: Collection) -> None:
    """Forget what is too old, or too much, before there is one more."""
    mine = shipped.restorable(TrashedItem.objects.filter(owner=collection.owner_id))
    mine.filter(created_at__lt=timezone.now() - TRASH_LIFETIME).delete()
    kept = list(mine.order_by("-created_at", "-pk").values_list("pk", flat=True)[: MAX_TRASHED - 1])
    mine.exclude(pk__in=kept).delete()


def recently_deleted(user: User | AnonymousUser) -> list[TrashedItem]:
    """What the user can put back, latest first."""
    since = timezone.now() - TRASH_LIFETIME
    return list(
        get_trashed(user)
        .filter(created_at__gte=since)
        .defer("fixture")
        .order_by("-created_at", "-pk")
    )


def get_trashed(user: User | AnonymousUser) -> QuerySet[TrashedItem]:
    """What of the user's is kept."""
    found: QuerySet[TrashedItem] = TrashedItem.objects.owned_by(user)
    return shipped.restorable(found)


def restore(removal: TrashedItem) -> Collection:
    """Put back what was deleted, where it was, with its links and runs; returns its collection.

    Raises `FixtureError` where the collection of a folder or a request was deleted, too.
    """
    notes, fixture = _read(removal.fixture)
    with transaction.atomic():
        restored = restore_fixture(fixture, removal.owner)
        # A whole collection is as it was; one that gets back a part of it has changed.
        mark_modified(restored.collection)
        if notes:
            ties.restore_relations(notes, restored)
        removal.delete()
    return restored.collection


def _read(kept: str) -> tuple[str, str]:
    """The line of the ties, and the fixture; an older version kept a fixture alone, a list."""
    notes, _, fixture = kept.partition("\n") if kept.startswith("{") else ("", "", kept)
    return notes, fixture
