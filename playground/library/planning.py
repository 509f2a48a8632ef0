"""What an import would do, and doing it: all of it, or nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Model
from django.utils import timezone

from playground.library.comparing import ItemChange, compare_fixtures, count
from playground.library.dumping import fixture_of
from playground.library.shape import FOLDER, REQUEST, Fixture, FixtureError, FixtureProblem
from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import STEP

#: Whose collections are meant: a user's, or the shared ones of local mode.
Owner = User | None
#: Rows that are written at once.
_BATCH = 500

_FOLDER_FIELDS = ["name", "description", "position"]
_REQUEST_FIELDS = [
    "folder", "name", "position", "agent", "address", "protocol", "binding", "version", "document",
    "headers", "auth", "notes", "expectations", "captures", "reply", "modified_at",
]  # fmt: skip


@dataclass(frozen=True)
class ImportPlan:
    """What taking in a fixture would do to the collections of an owner."""

    fixture: Fixture
    owner_id: int | None
    #: The collection that it goes into, None for a new one.
    collection: Collection | None
    changes: list[ItemChange]
    #: Whether what the fixture does not have is removed. An import never does that.
    exact: bool = False

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many things are added, changed, the same, kept and removed."""
        return count(self.changes)

    @property
    def changes_nothing(self) -> bool:
        """Whether everything is there as the fixture says it."""
        return not (self.counts["added"] + self.counts["changed"] + self.counts["removed"])

    def of(self, status: str) -> list[ItemChange]:
        """The changes with one status."""
        return [change for change in self.changes if change.status == status]


def plan_import(fixture: Fixture, owner: Owner, *, exact: bool = False) -> ImportPlan:
    """What `apply` would do. Changes nothing.

    A collection of the owner with the fixture's slug is the one that is meant. What is there
    and not in the fixture is kept, unless `exact`. Raises `FixtureError` for a part whose
    collection is not there.
    """
    return _plan(fixture, owner.pk if owner is not None else None, exact)


def _plan(fixture: Fixture, owner_id: int | None, exact: bool) -> ImportPlan:
    found = Collection.objects.filter(owner=owner_id, slug=fixture.slug).first()
    if found is None and fixture.collection is None:
        raise FixtureError(FixtureProblem("", f"There is no collection “{fixture.slug}” any more."))
    before = fixture_of(found) if found is not None else None
    changes = compare_fixtures(before, fixture, missing="removed" if exact else "kept")
    return ImportPlan(fixture, owner_id, found, changes, exact)


def apply_import(planned: ImportPlan) -> Collection:
    """Carry a plan out as `take_in` does; what is there by then decides. Returns the collection."""
    done = _take_in(planned.fixture, planned.owner_id, planned.exact)
    assert done.collection is not None
    return done.collection


def import_fixture(fixture: Fixture, owner: Owner, *, exact: bool = False) -> ImportPlan:
    """Take a fixture in, in one transaction: all of it or nothing.

    Returns what was done, with the collection that it went into. Raises `FixtureError` as `plan`.
    """
    return _take_in(fixture, owner.pk if owner is not None else None, exact)


def _take_in(fixture: Fixture, owner_id: int | None, exact: bool) -> ImportPlan:
    with transaction.atomic():
        current = _plan(fixture, owner_id, exact)
        collection = _collection(current)
        if not current.changes_nothing:
            _write_folders(current, collection)
            _write_requests(current, collection)
            _remove(current, collection)
        return replace(current, collection=collection)


def _collection(current: ImportPlan) -> Collection:
    fields, found = current.fixture.collection, current.collection
    if found is None:
        assert fields is not None
        last = Collection.objects.filter(owner=current.owner_id).aggregate(last=Max("position"))
        position = (last["last"] or 0) + STEP
        found = Collection(owner_id=current.owner_id, slug=current.fixture.slug, position=position)
    elif current.changes_nothing:
        return found
    if fields is not None:
        found.name, found.description = fields["name"], fields["description"]
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
    wanted = _slugs(current, FOLDER, "added", "changed")
    _upsert(
        Folder,
        (
            Folder(collection=collection, **fields)
            for slug, fields in current.fixture.folders.items()
            if slug in wanted
        ),
        _FOLDER_FIELDS,
    )


def _write_requests(current: ImportPlan, collection: Collection) -> None:
    wanted = _slugs(current, REQUEST, "added", "changed")
    folders = dict(collection.folders.values_list("slug", "pk"))

    def row(fields: Mapping[str, Any]) -> SavedRequest:
        values = dict(fields)
        # A part may name a folder that was deleted meanwhile: it then comes before the folders.
        folder = folders.get(values.pop("folder"))
        return SavedRequest(collection_id=collection.pk, folder_id=folder, **values)

    requests = current.fixture.requests.items()
    rows = (row(fields) for slug, fields in requests if slug in wanted)
    _upsert(SavedRequest, rows, _REQUEST_FIELDS)


def _upsert(model: type[Model], rows: Iterable[Model], fields: list[str]) -> None:
    """Insert, or update what has the same natural key; a bounded number of rows at a time."""
    for batch in _batches(rows):
        model._default_manager.bulk_create(
            batch,
            update_conflicts=True,
            unique_fields=["collection", "slug"],
            update_fields=fields,
        )


def _batches(rows: Iterable[Model]) -> Iterator[list[Model]]:
    waiting = iter(rows)
    while batch := list(itertools.islice(waiting, _BATCH)):
        yield batch


def _remove(current: ImportPlan, collection: Collection) -> None:
    """Remove what is not in the fixture; only a plan that is exact has any."""
    # Requests first: one that stays may have left the folder that goes.
    for related, model in ((collection.requests, REQUEST), (collection.folders, FOLDER)):
        for batch in _batches(iter(_slugs(current, model, "removed"))):  # type: ignore[arg-type]
            related.filter(slug__in=batch).delete()
