"""Order of collections, folders and requests: positions, moves and duplicates.

Positions are numbers. Neighbours are a step apart, and an item that moves between two takes the
middle, so only its own row changes; where no number is left between them, all are numbered anew.
Every change marks the collection as modified.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import STEP
from playground.models.columns import free_slug
from playground.models.storage import check_rows

#: Number of rows written at once.
_BATCH = 500
Key = TypeVar("Key", bound=Hashable)

#: Largest value of a position's column (32 bits, positive in Django).
LARGEST = 2**31 - 1


@dataclass(frozen=True)
class RelativePosition:
    """A position among siblings, by their slugs: before one, after one, or some steps on.

    Without any of these: the end.
    """

    before: str = ""
    after: str = ""
    step: int = 0

    def index_in(self, order: Sequence[str], key: str) -> int:
        """Return the index of `key` among the others of `order` after a move to this position.

        It is the end, too, if the other item is gone.
        """
        others = [each for each in order if each != key]
        if self.before in others:
            return others.index(self.before)
        if self.after in others:
            return others.index(self.after) + 1
        if self.step and key in order:
            return min(max(order.index(key) + self.step, 0), len(others))
        return len(others)


END = RelativePosition()


@dataclass(frozen=True)
class FormerPosition:
    """The position of a folder before it moved to another collection, for `move_folder`."""

    #: Slugs of the collection, of the folder, and of the folder after it, "" for none.
    collection: str
    folder: str
    before: str = ""
    #: Former slugs of its requests, by the present ones, where they differ.
    requests: Mapping[str, str] = field(default_factory=dict)


def move_collection(collection: Collection, where: RelativePosition) -> None:
    siblings = Collection.objects.filter(owner=collection.owner_id)
    with transaction.atomic():
        _place(siblings, collection, where)


def reorder_folder(folder: Folder, where: RelativePosition) -> None:
    with transaction.atomic():
        _place(folder.collection.folders.all(), folder, where)
        mark_modified(folder.collection)


def reorder_request(saved: SavedRequest, folder: Folder | None, where: RelativePosition) -> None:
    """Move a request in its collection: into `folder`, or before all folders."""
    with transaction.atomic():
        if saved.folder_id != (folder.pk if folder else None):
            saved.folder = folder
            saved.save(update_fields=["folder"])
        _place(saved.collection.requests.filter(folder=folder), saved, where)
        mark_modified(saved.collection)


def move_request(saved: SavedRequest, collection: Collection, folder: Folder | None) -> None:
    """Move a request to the end of a folder, also to one of another collection.

    Its slug stays, unless the other collection has one with that slug already.
    """
    with transaction.atomic():
        if saved.collection_id != collection.pk:
            mark_modified(saved.collection)
            saved.folder = None
            _move_all([saved], collection)
        reorder_request(saved, folder, END)


def move_folder(
    folder: Folder, collection: Collection, former: FormerPosition | None = None
) -> FormerPosition:
    """Move a folder with its requests to the end of another collection, or to its former position.

    Slugs stay, unless the other collection has the same. Return the former position.
    """
    with transaction.atomic():
        source = folder.collection
        following = source.folders.filter(
            Q(position__gt=folder.position) | Q(position=folder.position, pk__gt=folder.pk)
        )
        before = following.order_by("position", "pk").values_list("slug", flat=True).first() or ""
        slug, requests = folder.slug, list(folder.requests.all())
        mark_modified(source)
        folder.collection = collection
        folder.slug = former.folder if former else slug
        if collection.folders.filter(slug=folder.slug).exists():
            folder.slug = free_slug(folder.slug, "folder", collection.folders.all())
        folder.save()
        renamed = _move_all(requests, collection, former)
        reorder_folder(folder, RelativePosition(before=former.before) if former else END)
        return FormerPosition(source.slug, slug, before, renamed)


def duplicate_request(saved: SavedRequest) -> SavedRequest:
    """Duplicate a request; the copy follows it."""
    with transaction.atomic():
        siblings = saved.collection.requests
        duplicate = _copy_of(saved, _next_name(saved.name, siblings.all()))
        duplicate.save()
        reorder_request(duplicate, saved.folder, RelativePosition(after=saved.slug))
    return duplicate


def duplicate_folder(folder: Folder) -> Folder:
    """Duplicate a folder with its requests; the copy follows it."""
    with transaction.atomic():
        collection = folder.collection
        duplicate = Folder(
            collection=collection,
            name=_next_name(folder.name, collection.folders.all()),
            description=folder.description,
        )
        duplicate.save()
        _duplicate_all(folder.requests.all(), collection, {folder.pk: duplicate})
        reorder_folder(duplicate, RelativePosition(after=folder.slug))
    return duplicate


def duplicate_collection(collection: Collection) -> Collection:
    """Duplicate a collection with all its folders and requests; the copy follows it."""
    with transaction.atomic():
        siblings = Collection.objects.filter(owner=collection.owner_id)
        duplicate = Collection(
            owner=collection.owner,
            name=_next_name(collection.name, siblings),
            description=collection.description,
            lesson=collection.lesson,
        )
        duplicate.save()
        folders: dict[int | None, Folder | None] = {None: None}
        for folder in collection.folders.all():
            folders[folder.pk] = folder
            folder.pk, folder.collection = None, duplicate
            folder.save(force_insert=True)
        _duplicate_all(collection.requests.all(), duplicate, folders)
        move_collection(duplicate, RelativePosition(after=collection.slug))
    return duplicate


def mark_modified(collection: Collection) -> None:
    collection.modified_at = timezone.now()
    Collection.objects.filter(pk=collection.pk).update(modified_at=collection.modified_at)


def evenly_spaced(keys: Iterable[Key], step: int) -> dict[Key, int]:
    """Return positions for `keys` in this order, a step apart, or less if they are too many."""
    ordered = list(keys)
    spacing = max(1, min(step, LARGEST // (len(ordered) + 1)))
    return {key: spacing * (index + 1) for index, key in enumerate(ordered)}


def changed_positions(
    others: Sequence[tuple[Key, int]], key: Key, index: int, step: int
) -> Mapping[Key, int]:
    """Return the positions that change when `key` moves to `index` among `others`.

    `others` are the rest with their positions, in order. Equal positions leave no number between
    them, so all are numbered anew. An index beyond either end is that end.
    """
    index = min(max(index, 0), len(others))
    before = others[index - 1][1] if index else -1
    after = others[index][1] if index < len(others) else None
    # At the end never zero: an item that is moved before it later needs a number, too.
    position = max(before, 0) + step if after is None else (max(before, 0) + after) // 2
    if before < position < (LARGEST + 1 if after is None else after):
        return {key: position}
    keys = [each for each, _ in others]
    fresh = evenly_spaced([*keys[:index], key, *keys[index:]], step)
    known = dict(others)
    return {each: position for each, position in fresh.items() if known.get(each) != position}


def _duplicate_all(
    requests: Iterable[SavedRequest],
    collection: Collection,
    folders: Mapping[int | None, Folder | None],
) -> None:
    """Duplicate requests in a collection; `folders` are the copies' by the originals' folders."""
    used = set(collection.requests.values_list("slug", flat=True))
    copies = []
    for saved in requests:
        copy = _copy_of(saved, saved.name)
        copy.collection, copy.folder = collection, folders[saved.folder_id]
        copy.slug = _unused_slug(saved.slug, used)
        copies.append(copy)
    check_rows(copies, added=len(copies))
    SavedRequest.objects.bulk_create(copies, batch_size=_BATCH)


def _move_all(
    requests: list[SavedRequest], collection: Collection, position: FormerPosition | None = None
) -> dict[str, str]:
    """Move requests to another collection, with the slugs of `position`.

    Return the slugs that they had before, by the new ones, where they changed.
    """
    slugs = position.requests if position else {}
    used = set(collection.requests.values_list("slug", flat=True))
    renamed = {}
    for saved in requests:
        former = saved.slug
        saved.collection, saved.slug = collection, _unused_slug(slugs.get(former, former), used)
        if saved.slug != former:
            renamed[saved.slug] = former
    columns = ["collection", "folder", "slug"]
    SavedRequest.objects.bulk_update(requests, columns, batch_size=_BATCH)
    return renamed


def _unused_slug(slug: str, used: set[str]) -> str:
    """Return `slug`, with a number if it is used; add it to the used ones."""
    found, number = slug, 2
    while found in used:
        found, number = f"{slug[:120]}-{number}", number + 1
    used.add(found)
    return found


def _place(siblings: models.QuerySet[Any], item: Any, where: RelativePosition) -> None:
    """Set the position of `item` among `siblings`, and of others where necessary."""
    rows = list(siblings.order_by("position", "pk").values_list("slug", "position"))
    index = where.index_in([slug for slug, _ in rows], item.slug)
    others = [(slug, position) for slug, position in rows if slug != item.slug]
    changed = changed_positions(others, item.slug, index, STEP)
    found = list(siblings.filter(slug__in=changed) if len(changed) == 1 else siblings)
    for each in found:
        each.position = changed.get(each.slug, each.position)
        if each.slug == item.slug:
            item.position = each.position
    siblings.model._default_manager.bulk_update(found, ["position"], batch_size=_BATCH)


def _copy_of(saved: SavedRequest, name: str) -> SavedRequest:
    """Return a request with the same contents, not stored yet and without a slug."""
    excluded = {"id", "slug", "name", "recorded_run", "created_at", "modified_at"}
    copied = [field for field in SavedRequest._meta.concrete_fields if field.name not in excluded]
    return SavedRequest(
        name=name, **{each.attname: getattr(saved, each.attname) for each in copied}
    )


def _next_name(name: str, others: models.QuerySet[Any]) -> str:
    """Return `name` with the next number that none of `others` has."""
    stem, _, end = name.rpartition(" ")
    stem = stem if stem and end.isdecimal() and len(end) < 5 else name
    used = set(others.filter(name__startswith=stem[:110]).values_list("name", flat=True))
    number = 2
    while (found := f"{stem[:110]} {number}") in used:
        number += 1
    return found
