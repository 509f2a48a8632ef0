"""Import of a fixture: the plan of its changes, their preview in groups, and the transaction.

All of a fixture is imported, or nothing. A plan is made by comparing the fixture with the
collection that has its slug (`import_diff`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Max, Model
from django.utils import timezone

from playground.collections.fixture import (
    FIELDS,
    FOLDER,
    REQUEST,
    Fields,
    Fixture,
    FixtureError,
    fixture_of,
)
from playground.collections.import_diff import ItemChange, compare_fixtures, count_by_status
from playground.models import Collection, Folder, LimitError, SavedRequest
from playground.models.collections import STEP
from playground.models.ownership import Owner
from playground.models.storage import check_rows

#: Number of rows written at once.
BATCH = 500

T = TypeVar("T")


@dataclass(frozen=True)
class ImportPlan:
    """The changes that importing a fixture makes to the collections of an owner."""

    fixture: Fixture
    owner_id: int | None
    #: The collection to be changed, None for a new one.
    collection: Collection | None
    changes: list[ItemChange]
    #: Whether items that the fixture does not have are removed; loading a file of fixtures/ does.
    exact: bool = False

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Return the number of items added, changed, the same, kept and removed."""
        return count_by_status(self.changes)

    @property
    def changes_nothing(self) -> bool:
        """Return whether the collection equals the fixture already."""
        return not (self.counts["added"] + self.counts["changed"] + self.counts["removed"])

    def of(self, status: str) -> list[ItemChange]:
        return [change for change in self.changes if change.status == status]


def plan_import(fixture: Fixture, owner: Owner, *, exact: bool = False) -> ImportPlan:
    """Return the changes that `import_fixture` would make. Change nothing.

    The fixture is compared with the owner's collection that has its slug. Items that are stored and
    not in the fixture are kept, unless `exact`.
    """
    return _plan(fixture, owner.pk if owner is not None else None, exact)


def apply_import(plan: ImportPlan) -> Collection:
    """Carry out a plan, compared anew with the stored rows; return the collection."""
    current = _import(plan.fixture, plan.owner_id, plan.exact)
    assert current.collection is not None
    return current.collection


def import_fixture(fixture: Fixture, owner: Owner, *, exact: bool = False) -> ImportPlan:
    """Import a fixture in one transaction: all of it or nothing.

    Return the changes made, with the collection.
    """
    return _import(fixture, owner.pk if owner is not None else None, exact)


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield items in lists of at most `BATCH`."""
    remaining = iter(items)
    while batch := list(itertools.islice(remaining, BATCH)):
        yield batch


def _plan(fixture: Fixture, owner_id: int | None, exact: bool) -> ImportPlan:
    found = Collection.objects.filter(owner=owner_id, slug=fixture.slug).first()
    before = fixture_of(found) if found is not None else None
    changes = compare_fixtures(before, fixture, missing="removed" if exact else "kept")
    return ImportPlan(fixture, owner_id, found, changes, exact)


def _import(fixture: Fixture, owner_id: int | None, exact: bool) -> ImportPlan:
    try:
        with transaction.atomic():
            # Locked, so that nothing is added to it meanwhile.
            Collection.objects.select_for_update().filter(owner=owner_id, slug=fixture.slug).first()
            current = _plan(fixture, owner_id, exact)
            collection = _save_collection(current)
            if not current.changes_nothing:
                _write_folders(current, collection)
                _write_requests(current, collection)
                _delete_missing(current, collection)
            return replace(current, collection=collection)
    except LimitError as error:
        raise FixtureError(str(error)) from error


def _save_collection(current: ImportPlan) -> Collection:
    fields, found = current.fixture.collection, current.collection
    if found is None:
        last = Collection.objects.filter(owner=current.owner_id).aggregate(last=Max("position"))
        position = (last["last"] or 0) + STEP
        found = Collection(owner_id=current.owner_id, slug=current.fixture.slug, position=position)
    elif current.changes_nothing:
        return found
    found.name, found.description = fields["name"], fields["description"]
    found.lesson = fields["lesson"]
    found.modified_at = timezone.now()
    found.save()
    return found


def _slugs(current: ImportPlan, model: str, *statuses: str) -> set[str]:
    return {
        change.slug
        for change in current.changes
        if change.model == model and change.status in statuses
    }


def _write_folders(current: ImportPlan, collection: Collection) -> None:
    slugs = _slugs(current, FOLDER, "added", "changed")
    rows = (
        Folder(collection=collection, **fields)
        for slug, fields in current.fixture.folders.items()
        if slug in slugs
    )
    _upsert(Folder, rows, _keys(collection.folders), _columns(FOLDER))


def _write_requests(current: ImportPlan, collection: Collection) -> None:
    slugs = _slugs(current, REQUEST, "added", "changed")
    folders = _keys(collection.folders)

    def row(fields: Mapping[str, Any]) -> SavedRequest:
        values = dict(fields)
        folder = folders.get(values.pop("folder"))
        return SavedRequest(collection_id=collection.pk, folder_id=folder, **values)

    requests = current.fixture.requests.items()
    rows = (row(fields) for slug, fields in requests if slug in slugs)
    keys = _keys(collection.requests)
    _upsert(SavedRequest, rows, keys, [*_columns(REQUEST), "modified_at"])


def _keys(rows: Any) -> dict[str, int]:
    return dict(rows.values_list("slug", "pk"))


def _columns(model: str) -> list[str]:
    """Return the columns that an import updates: all but the natural key."""
    return [name for name in FIELDS[model] if name not in {"collection", "slug"}]


def _upsert(
    model: type[Model], rows: Iterable[Any], keys: Mapping[str, int], fields: list[str]
) -> None:
    """Insert rows, or update those whose slug is one of `keys`, a bounded number at a time."""
    for batch in batches(rows):
        for row in batch:
            row.pk = keys.get(row.slug)
        check_rows(batch, added=sum(row.pk is None for row in batch))
        model._default_manager.bulk_create(
            batch, update_conflicts=True, unique_fields=["pk"], update_fields=fields
        )


def _delete_missing(current: ImportPlan, collection: Collection) -> None:
    """Delete items that are not in the fixture; only an exact plan has any."""
    # Requests first: one that is kept may have left the folder that is deleted.
    for related, model in ((collection.requests, REQUEST), (collection.folders, FOLDER)):
        for batch in batches(_slugs(current, model, "removed")):
            related.filter(slug__in=batch).delete()


#: Changes of one group that are listed; the others are counted.
MAX_LISTED = 100

#: Status, label and sign of the groups, in the order of the page.
_GROUPS = (
    ("added", "Added", "+"),
    ("changed", "Changed", "~"),
    ("removed", "Removed", "−"),
    ("same", "Unchanged", "="),
    ("kept", "Kept, not in the file", "="),
)


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes with the same status."""

    status: str
    label: str
    sign: str
    count: int
    rows: tuple[ItemChange, ...]

    @property
    def more(self) -> int:
        """Return the number of changes that are not listed."""
        return self.count - len(self.rows)

    @property
    def is_quiet(self) -> bool:
        return self.status in {"same", "kept"}


def groups_of(changes: Iterable[ItemChange]) -> list[ChangeGroup]:
    """Return the groups that are not empty."""
    found = list(changes)
    groups: list[ChangeGroup] = []
    for status, label, sign in _GROUPS:
        rows = [change for change in found if change.status == status]
        if rows:
            groups.append(ChangeGroup(status, label, sign, len(rows), tuple(rows[:MAX_LISTED])))
    return groups


def summary(changes: Iterable[ItemChange]) -> str:
    """Return the number of changes by status: `2 added, 1 changed`."""
    words = [
        f"{group.count:,} {group.status}" for group in groups_of(changes) if not group.is_quiet
    ]
    return ", ".join(words) or "no changes"


def unsaved_collection(fixture: Fixture) -> tuple[Collection, list[SavedRequest]]:
    """Return the collection and its requests, in order, with their folders."""
    collection = Collection(slug=fixture.slug, name=fixture.collection["name"])
    folders = {
        slug: Folder(collection=collection, **_without(fields, "collection"))
        for slug, fields in fixture.folders.items()
    }
    requests = [
        SavedRequest(
            collection=collection,
            folder=folders.get(str(fields.get("folder"))),
            **_without(fields, "collection", "folder"),
        )
        for fields in fixture.ordered().requests.values()
    ]
    return collection, requests


def _without(fields: Fields, *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}
