"""Import of a fixture: its differences from the stored collection, the plan, and the transaction.

All of a fixture is imported, or nothing. A plan is made by comparing the fixture with the
collection that has its slug.
"""

from __future__ import annotations

import difflib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from playground.collections.fixture import (
    COLLECTION,
    FIELDS,
    FOLDER,
    REQUEST,
    Fields,
    Fixture,
    FixtureError,
    fixture_of,
)
from playground.models import Collection, Folder, LimitError, SavedRequest
from playground.models.collections import STEP
from playground.models.rows import Owner
from playground.models.storage import check_rows
from playground.protocols.diff.json_values import identical
from playground.protocols.text import shorten

#: Limits on the lines of a value that are compared, and on the lines of a diff that are shown.
MAX_LINES, MAX_SHOWN = 2_000, 60

#: Limit on the characters of a line that are shown.
_MAX_WIDTH = 400
_CONTEXT = 2

#: Changes of one group that are listed; the others are counted.
MAX_LISTED = 100

#: Number of rows written at once.
_BATCH = 500

T = TypeVar("T")

#: Of an item that the fixture does not have, `kept` if it stays and `removed` if it is deleted.
Status = Literal["added", "changed", "same", "kept", "removed"]

#: Status, label and sign of the groups of changes, in the order of the page.
_GROUPS = (
    ("added", "Added", "+"),
    ("changed", "Changed", "~"),
    ("removed", "Removed", "−"),
    ("same", "Unchanged", "="),
    ("kept", "Kept, not in the file", "="),
)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff."""

    #: "-" for a stored line, "+" for its replacement, " " for both, "…" for a gap.
    sign: str
    text: str


@dataclass(frozen=True)
class FieldDifference:
    """A field whose value changes from `old`, which is stored, to `new`."""

    field: str
    old: Any
    new: Any

    @property
    def lines(self) -> list[DiffLine]:
        return self._all_lines[:MAX_SHOWN]

    @property
    def more(self) -> int:
        return max(0, len(self._all_lines) - MAX_SHOWN)

    @cached_property
    def _all_lines(self) -> list[DiffLine]:
        """Return all lines, computed on demand: of thousands of changes a page shows few."""
        before, after = _lines(self.old), _lines(self.new)
        if max(len(before), len(after)) > MAX_LINES:
            text = f"too long to compare: {len(before):,} and {len(after):,} lines"
            return [DiffLine("…", text)]
        return list(_unified_diff(before, after))


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A change of the collection itself, of one folder or of one request."""

    model: str
    slug: str
    name: str
    status: Status
    differences: tuple[FieldDifference, ...] = ()

    @property
    def kind(self) -> str:
        return {COLLECTION: "collection", FOLDER: "folder"}.get(self.model, "request")


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes with the same status."""

    status: str
    label: str
    sign: str
    changes: list[ItemChange]

    @property
    def rows(self) -> list[ItemChange]:
        return self.changes[:MAX_LISTED]

    @property
    def more(self) -> int:
        return max(0, len(self.changes) - MAX_LISTED)

    @property
    def is_quiet(self) -> bool:
        return self.status in {"same", "kept"}


class Changes(list[ItemChange]):
    """The changes that lead from one state of a collection to another."""

    @property
    def counts(self) -> Counter[str]:
        """Return the number of items by status."""
        return Counter(change.status for change in self)

    @property
    def groups(self) -> list[ChangeGroup]:
        groups = (
            ChangeGroup(*row, [change for change in self if change.status == row[0]])
            for row in _GROUPS
        )
        return [group for group in groups if group.changes]

    @property
    def summary(self) -> str:
        """Return the number of changes by status: `2 added, 1 changed`."""
        groups = (group for group in self.groups if not group.is_quiet)
        return (
            ", ".join(f"{len(group.changes):,} {group.status}" for group in groups) or "no changes"
        )


def compare_fixtures(before: Fixture | None, after: Fixture, *, missing: Status) -> Changes:
    """Return the changes that lead from `before` to `after`, in the order of `after`.

    `before` is None if the collection does not exist. `missing` is the status of items that `after`
    does not have; they come last.
    """
    old = dict(_items(before)) if before is not None else {}
    found = Changes(_item_change(key, old.pop(key, None), new) for key, new in _items(after))
    found += [ItemChange(*key, fields["name"], missing) for key, fields in old.items()]
    return found


def _items(fixture: Fixture) -> Iterator[tuple[tuple[str, str], Fields]]:
    yield (COLLECTION, fixture.slug), fixture.collection
    for slug, folder in fixture.folders.items():
        yield (FOLDER, slug), folder
    for slug, request in fixture.requests.items():
        yield (REQUEST, slug), request


def _item_change(key: tuple[str, str], old: Fields | None, new: Fields) -> ItemChange:
    if old is None:
        return ItemChange(*key, new["name"], "added")
    differences = tuple(
        FieldDifference(name, old[name], new[name])
        for name in FIELDS[key[0]]
        # Down to the order of members and the type of numbers.
        if name not in {"collection", "slug"} and not identical(old[name], new[name])
    )
    return ItemChange(*key, new["name"], "changed" if differences else "same", differences)


def _lines(value: Any) -> list[str]:
    if value is None or value in ("", [], {}):
        return []
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return text.split("\n")


def _unified_diff(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    rows = difflib.unified_diff(before, after, n=_CONTEXT, lineterm="")
    for number, row in enumerate(rows):
        if number < 2:
            continue  # The names of the two files.
        if row.startswith("@@"):
            if number > 2:
                yield DiffLine("…", "")
            continue
        text = row[1:]
        yield DiffLine(row[0], shorten(text, _MAX_WIDTH + 1))


@dataclass(frozen=True)
class ImportPlan:
    """The changes that importing a fixture makes to the collections of an owner."""

    fixture: Fixture
    owner: Owner
    #: The collection to be changed, None for a new one.
    collection: Collection | None
    changes: Changes
    #: Whether items that the fixture does not have are removed; loading a file of fixtures/ does.
    exact: bool = False

    @property
    def changes_nothing(self) -> bool:
        """Return whether the collection equals the fixture already."""
        return all(change.status in ("same", "kept") for change in self.changes)


def plan_import(fixture: Fixture, owner: Owner, *, exact: bool = False) -> ImportPlan:
    """Return the changes that `import_fixture` would make. Change nothing.

    The fixture is compared with the owner's collection that has its slug. Items that are stored and
    not in the fixture are kept, unless `exact`.
    """
    found = Collection.objects.filter(owner=owner, slug=fixture.slug).first()
    before = fixture_of(found) if found is not None else None
    changes = compare_fixtures(before, fixture, missing="removed" if exact else "kept")
    return ImportPlan(fixture, owner, found, changes, exact)


def apply_import(plan: ImportPlan) -> Collection:
    """Carry out a plan, compared anew with the stored rows; return the collection."""
    done = import_fixture(plan.fixture, plan.owner, exact=plan.exact)
    assert done.collection is not None
    return done.collection


def import_fixture(fixture: Fixture, owner: Owner, *, exact: bool = False) -> ImportPlan:
    """Import a fixture in one transaction: all of it or nothing.

    Return the changes made, with the collection.
    """
    try:
        with transaction.atomic():
            # Locked, so that nothing is added to it meanwhile.
            Collection.objects.select_for_update().filter(owner=owner, slug=fixture.slug).first()
            plan = plan_import(fixture, owner, exact=exact)
            collection = _save_collection(plan)
            if not plan.changes_nothing:
                _write_items(plan, collection)
            return replace(plan, collection=collection)
    except LimitError as error:
        raise FixtureError(str(error)) from error


def unsaved_collection(fixture: Fixture) -> tuple[Collection, list[SavedRequest]]:
    """Return the collection and its requests, in order, with their folders."""
    collection = Collection(slug=fixture.slug, name=fixture.collection["name"])
    folders = {slug: _folder(collection, fields) for slug, fields in fixture.folders.items()}
    requests = fixture.ordered().requests.values()
    return collection, [_request(collection, folders, fields) for fields in requests]


def _folder(collection: Collection, fields: Fields) -> Folder:
    return Folder(**{**fields, "collection": collection})


def _request(collection: Collection, folders: Mapping[str, Folder], fields: Fields) -> SavedRequest:
    folder = folders.get(fields["folder"])
    return SavedRequest(**{**fields, "collection": collection, "folder": folder})


def _save_collection(plan: ImportPlan) -> Collection:
    fields, found = plan.fixture.collection, plan.collection
    if found is None:
        last = Collection.objects.filter(owner=plan.owner).aggregate(last=Max("position"))["last"]
        position = (last or 0) + STEP
        found = Collection(owner=plan.owner, slug=plan.fixture.slug, position=position)
    elif plan.changes_nothing:
        return found
    found.name, found.description = fields["name"], fields["description"]
    found.lesson = fields["lesson"]
    found.modified_at = timezone.now()
    found.save()
    return found


def _write_items(plan: ImportPlan, collection: Collection) -> None:
    """Insert, update and delete the rows of folders and requests."""
    changed = _changed(plan, plan.fixture.folders, FOLDER)
    _upsert(FOLDER, collection.folders, (_folder(collection, each) for each in changed))
    folders = {folder.slug: folder for folder in collection.folders.all()}
    changed = _changed(plan, plan.fixture.requests, REQUEST)
    _upsert(REQUEST, collection.requests, (_request(collection, folders, each) for each in changed))
    # Requests first: one that is kept may have left the folder that is deleted.
    for related, model in ((collection.requests, REQUEST), (collection.folders, FOLDER)):
        for slugs in _batches(_slugs(plan, model, "removed")):
            related.filter(slug__in=slugs).delete()


def _changed(plan: ImportPlan, items: Mapping[str, Fields], model: str) -> Iterator[Fields]:
    return (items[slug] for slug in _slugs(plan, model, "added", "changed"))


def _slugs(plan: ImportPlan, model: str, *statuses: str) -> Iterator[str]:
    found = (change for change in plan.changes if change.model == model)
    return (change.slug for change in found if change.status in statuses)


def _upsert(model: str, related: Any, rows: Iterable[Any]) -> None:
    """Insert rows, or update those whose slug is stored, a bounded number at a time."""
    keys = dict(related.values_list("slug", "pk"))
    columns = [name for name in FIELDS[model] if name not in {"collection", "slug"}]
    columns += ["modified_at"] if model == REQUEST else []
    for batch in _batches(rows):
        for row in batch:
            row.pk = keys.get(row.slug)
        check_rows(batch, added=sum(row.pk is None for row in batch))
        related.model._default_manager.bulk_create(
            batch, update_conflicts=True, unique_fields=["pk"], update_fields=columns
        )


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    while batch := list(itertools.islice(remaining, _BATCH)):
        yield batch
