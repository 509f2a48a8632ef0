"""Putting collections in order: what moves, and what is made twice.

Everything here keeps an order in numbers with steps between them (`playground.library.ordering`)
and marks the collection as changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from playground.library.ordering import changed_positions, index_among
from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import STEP, free_slug

#: Rows that are written at once.
_BATCH = 500


@dataclass(frozen=True)
class RelativePosition:
    """A place among siblings, by their slugs: before one, after one, or some steps on.

    Without any of these: the end.
    """

    before: str = ""
    after: str = ""
    step: int = 0


END = RelativePosition()


def mark_modified(collection: Collection) -> None:
    """Mark a collection as changed now."""
    collection.modified_at = timezone.now()
    Collection.objects.filter(pk=collection.pk).update(modified_at=collection.modified_at)


def move_collection(collection: Collection, where: RelativePosition) -> None:
    """Put a collection elsewhere among those of its owner."""
    siblings = Collection.objects.filter(owner=collection.owner_id)
    with transaction.atomic():
        _settle(siblings, collection, where)


def reorder_folder(folder: Folder, where: RelativePosition) -> None:
    """Put a folder elsewhere among those of its collection."""
    with transaction.atomic():
        _settle(folder.collection.folders.all(), folder, where)
        mark_modified(folder.collection)


def reorder_request(saved: SavedRequest, folder: Folder | None, where: RelativePosition) -> None:
    """Put a request elsewhere in its collection: into `folder`, or before all folders."""
    with transaction.atomic():
        if saved.folder_id != (folder.pk if folder else None):
            saved.folder = folder
            saved.save(update_fields=["folder"])
        _settle(saved.collection.requests.filter(folder=folder), saved, where)
        mark_modified(saved.collection)


def move_request(saved: SavedRequest, collection: Collection, folder: Folder | None) -> None:
    """Move a request to the end of a folder, also to one of another collection.

    Its slug stays, unless the other collection has one with that slug already.
    """
    with transaction.atomic():
        if saved.collection_id != collection.pk:
            mark_modified(saved.collection)
            _into(saved, collection)
            saved.folder = None
            saved.save(update_fields=["collection", "folder", "slug"])
        reorder_request(saved, folder, END)


@dataclass(frozen=True)
class FormerPosition:
    """Where a folder was before it moved to another collection; `move_folder` takes it back."""

    #: Slugs: of the collection, of the folder, and of the folder behind it, "" for none.
    collection: str
    folder: str
    before: str = ""
    #: The slugs of its requests that are others now: by those, what they were.
    requests: Mapping[str, str] = field(default_factory=dict)


def move_folder(
    folder: Folder, collection: Collection, back: FormerPosition | None = None
) -> FormerPosition:
    """Move a folder with its requests to the end of another collection, or `back` to where it was.

    Slugs stay, unless the other collection has the same. Returns the way back.
    """
    with transaction.atomic():
        source = folder.collection
        behind = source.folders.filter(
            Q(position__gt=folder.position) | Q(position=folder.position, pk__gt=folder.pk)
        )
        before = behind.order_by("position", "pk").values_list("slug", flat=True).first() or ""
        slug, requests = folder.slug, list(folder.requests.all())
        mark_modified(source)
        folder.collection = collection
        folder.slug = back.folder if back else slug
        if collection.folders.filter(slug=folder.slug).exists():
            folder.slug = free_slug(folder.slug, "folder", collection.folders.all())
        folder.save()
        renamed = _move_all(requests, collection, back.requests if back else {})
        reorder_folder(folder, RelativePosition(before=back.before) if back else END)
        return FormerPosition(source.slug, slug, before, renamed)


def _into(saved: SavedRequest, collection: Collection) -> None:
    saved.collection = collection
    if collection.requests.filter(slug=saved.slug).exists():
        saved.slug = free_slug(saved.slug, "request", collection.requests.all())


def _move_all(
    requests: list[SavedRequest], collection: Collection, wanted: Mapping[str, str]
) -> dict[str, str]:
    """Move requests, to the slugs `wanted` by those they have; returns what has changed."""
    taken = set(collection.requests.values_list("slug", flat=True))
    renamed = {}
    for saved in requests:
        saved.collection = collection
        was, saved.slug = saved.slug, _unused(wanted.get(saved.slug, saved.slug), taken)
        if saved.slug != was:
            renamed[saved.slug] = was
    SavedRequest.objects.bulk_update(requests, ["collection", "slug"], batch_size=_BATCH)
    return renamed


def _unused(slug: str, taken: set[str]) -> str:
    """`slug`, with a number where it is taken; it is taken from then on."""
    found, number = slug, 2
    while found in taken:
        found, number = f"{slug[:120]}-{number}", number + 1
    taken.add(found)
    return found


def _settle(siblings: models.QuerySet[Any], item: models.Model, where: RelativePosition) -> None:
    """Give `item` the number of its new place among `siblings`, and others where they must."""
    rows = siblings.order_by("position", "pk").values_list("pk", "slug", "position")
    order = [(pk, slug) for pk, slug, _ in rows]
    keys = {slug: pk for pk, slug in order}
    index = index_among(
        [pk for pk, _ in order],
        item.pk,
        before=keys.get(where.before),
        after=keys.get(where.after),
        step=where.step,
    )
    others = [(pk, position) for pk, _, position in rows if pk != item.pk]
    changed = changed_positions(others, item.pk, index, STEP)
    found = list(siblings.filter(pk__in=changed) if len(changed) == 1 else siblings)
    for each in found:
        each.position = changed.get(each.pk, each.position)
        if each.pk == item.pk:
            item.position = each.position  # type: ignore[attr-defined]
    siblings.model._default_manager.bulk_update(found, ["position"], batch_size=_BATCH)


def duplicate_request(saved: SavedRequest) -> SavedRequest:
    """The same request once more, behind the first."""
    with transaction.atomic():
        siblings = saved.collection.requests
        twin = _twin_of(saved, _next_name(saved.name, siblings.all()))
        twin.save()
        reorder_request(twin, saved.folder, RelativePosition(after=saved.slug))
    return twin


def duplicate_folder(folder: Folder) -> Folder:
    """The same folder with its requests once more, behind the first."""
    with transaction.atomic():
        collection = folder.collection
        twin = Folder(
            collection=collection,
            name=_next_name(folder.name, collection.folders.all()),
            description=folder.description,
        )
        twin.save()
        taken = set(collection.requests.values_list("slug", flat=True))
        copies = []
        for saved in folder.requests.all():
            copy = _twin_of(saved, saved.name)
            copy.folder, copy.slug = twin, _unused(saved.slug, taken)
            copies.append(copy)
        SavedRequest.objects.bulk_create(copies, batch_size=_BATCH)
        reorder_folder(twin, RelativePosition(after=folder.slug))
    return twin


def duplicate_collection(collection: Collection) -> Collection:
    """The same collection with all its folders and requests once more, behind the first."""
    with transaction.atomic():
        siblings = Collection.objects.filter(owner=collection.owner_id)
        twin = Collection(
            owner=collection.owner,
            name=_next_name(collection.name, siblings),
            description=collection.description,
        )
        twin.save()
        folders = {folder.pk: folder for folder in collection.folders.all()}
        for folder in folders.values():
            folder.pk, folder.collection = None, twin
            folder.save(force_insert=True)
        copies = []
        for saved in collection.requests.all():
            copy = _twin_of(saved, saved.name)
            copy.collection, copy.slug = twin, saved.slug
            copy.folder = folders[saved.folder_id] if saved.folder_id else None
            copies.append(copy)
        SavedRequest.objects.bulk_create(copies, batch_size=_BATCH)
        move_collection(twin, RelativePosition(after=collection.slug))
    return twin


def _twin_of(saved: SavedRequest, name: str) -> SavedRequest:
    """A request with the same contents, not stored yet and without a slug."""
    own = {"id", "slug", "name", "recorded_run", "created_at", "modified_at"}
    kept = [field for field in SavedRequest._meta.concrete_fields if field.name not in own]
    return SavedRequest(name=name, **{each.attname: getattr(saved, each.attname) for each in kept})


def _next_name(name: str, others: models.QuerySet[Any]) -> str:
    """`name` with the next number that none of `others` has."""
    stem, _, end = name.rpartition(" ")
    stem = stem if stem and end.isdecimal() and len(end) < 5 else name
    taken = set(others.filter(name__startswith=stem[:110]).values_list("name", flat=True))
    number = 2
    while (found := f"{stem[:110]} {number}") in taken:
        number += 1
    return found
