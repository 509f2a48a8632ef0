"""Trash: deleted collections, folders and requests, which can be restored for a day.

An entry is text: a line of JSON with the relations of the deleted part, and after it the fixture.
Relations are what no fixture contains: shares, runs, timestamps, positions. A delete would remove
them, so they are recorded before it, by primary key, and restored with the part. Rows that were
deleted meanwhile are skipped, and rows that belong to another owner by then are left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Model, QuerySet
from django.db.models.functions import Now

from playground.collections import shipped
from playground.collections.fixture import Fixture, dump_part
from playground.collections.fixture_parser import parse_trusted_fixture
from playground.collections.importer import BATCH, apply_import, batches, plan_import
from playground.collections.ordering import mark_modified
from playground.models import (
    Collection,
    CollectionRun,
    Folder,
    Run,
    SavedRequest,
    Share,
    Step,
    TrashedItem,
)
from playground.models.collections import RESERVED
from playground.models.ownership import Owner
from playground.models.slugs import free_slug

_COLLECTION_COLUMNS = ("position", "created_at", "modified_at", "file_digest")
_REQUEST_COLUMNS = ("created_at", "modified_at", "recorded_run")

#: All columns of a share but its relations.
_SHARE_COLUMNS = [
    field.attname
    for field in Share._meta.concrete_fields
    if field.name not in {"id", "owner", "run", "collection"}
]

Relations = Mapping[str, Any]

#: Time for which a deleted item can be restored, and the number of items that are kept.
TRASH_LIFETIME = timedelta(days=1)
MAX_TRASHED = 100

#: Limit on the runs, and on the steps of collection runs, that are linked again: the newest.
MAX_RELATIONS = 20_000


def delete(part: Collection | Folder | SavedRequest) -> TrashedItem:
    """Delete a collection, a folder with its requests, or a request; return the trashed item."""
    collection = part if isinstance(part, Collection) else part.collection
    with transaction.atomic():
        _purge(collection)
        text = f"{record_relations(part)}\n{dump_part(part)}"
        trashed: TrashedItem = TrashedItem.objects.create(
            owner=collection.owner, label=_label(part), fixture=text
        )
        if isinstance(part, Collection):
            shipped.mark_deleted(part)
        part.delete()
        if not isinstance(part, Collection):
            mark_modified(collection)
    return trashed


def recently_deleted(user: User | AnonymousUser) -> list[TrashedItem]:
    """Return the entries that the user can restore, latest first."""
    return list(
        get_trashed(user)
        .filter(created_at__gte=Now() - TRASH_LIFETIME)
        .defer("fixture")
        .order_by("-created_at", "-pk")
    )


def get_trashed(user: User | AnonymousUser) -> QuerySet[TrashedItem]:
    """Return all entries of a user."""
    found: QuerySet[TrashedItem] = TrashedItem.objects.owned_by(user)
    return shipped.restorable(found)


def restore(trashed: TrashedItem) -> Collection:
    """Restore an entry at its former position, with its shares and runs; return its collection.

    Raise `FixtureError` if the collection of a folder or a request was deleted, too.
    """
    relations, fixture = _split_entry(trashed.fixture)
    with transaction.atomic():
        result = restore_fixture(fixture, trashed.owner)
        # A whole collection is unchanged; one that gets back a part of it was modified.
        mark_modified(result.collection)
        if relations:
            restore_relations(relations, result)
        trashed.delete()
    return result.collection


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """The result of restoring a fixture."""

    collection: Collection
    #: The present slugs of its requests, by their former ones.
    requests: Mapping[str, str]


def restore_fixture(text: str, owner: Owner) -> RestoreResult:
    """Restore the text that `dump_part` wrote before the delete.

    Where a slug was given to another item meanwhile, the restored one gets a new slug: nothing that
    is stored is changed. Raise `FixtureError` if the collection of a part was deleted, too.
    """
    with transaction.atomic():
        fixture = parse_trusted_fixture(text)
        if fixture.collection is not None:
            owned = Collection.objects.filter(owner=owner.pk if owner is not None else None)
            slug = _unused_slug(fixture.slug, owned, RESERVED)
            collection = apply_import(plan_import(fixture.renamed(slug), owner))
            return RestoreResult(collection, {each: each for each in fixture.requests})
        target = plan_import(fixture, owner).collection
        assert target is not None  # Planning a part without its collection fails.
        requests = _free_slugs(fixture.requests, target.requests.all())
        part = _with_slugs(fixture, _free_slugs(fixture.folders, target.folders.all()), requests)
        return RestoreResult(apply_import(plan_import(part, owner)), requests)


def record_relations(part: Collection | Folder | SavedRequest) -> str:
    """Return the relations of a part that is about to be deleted, as JSON in one line of ASCII."""
    requests = _requests_of(part)
    runs = Run.objects.filter(saved_request__in=requests).order_by("-created_at")
    steps = Step.objects.filter(saved_request__in=requests).order_by("-pk")
    found: dict[str, Any] = {
        "requests": list(requests.order_by("pk").values("slug", *_REQUEST_COLUMNS).iterator(BATCH)),
        "runs": _by_request(runs),
        "steps": _by_request(steps),
    }
    if isinstance(part, Collection):
        found["collection"] = {name: getattr(part, name) for name in _COLLECTION_COLUMNS}
        found["shares"] = list(part.shares.order_by("pk").values(*_SHARE_COLUMNS))
        done = part.collection_runs.order_by("-created_at")
        found["collection_runs"] = list(done.values_list("pk", flat=True)[:MAX_RELATIONS])
    return json.dumps(found, default=_to_json)


def restore_relations(text: str, result: RestoreResult) -> None:
    """Restore the relations that `record_relations` wrote, as far as their rows exist."""
    found: Relations = json.loads(text)
    collection = result.collection
    if "collection" in found:
        _restore_collection_relations(found, collection)
    slugs = result.requests
    keys = {
        slug: pk
        for batch in batches(slugs.values())
        for slug, pk in collection.requests.filter(slug__in=batch).values_list("slug", "pk")
    }
    request_keys = {old: keys[new] for old, new in slugs.items() if new in keys}
    owner = collection.owner_id
    _restore_requests(found["requests"], request_keys, owner)
    runs = Run.objects.filter(owner=owner, saved_request=None)
    _link_rows(runs, _row_requests(found["runs"], request_keys))
    steps = Step.objects.filter(collection_run__owner=owner, saved_request=None)
    _link_rows(steps, _row_requests(found["steps"], request_keys))


def _label(part: Collection | Folder | SavedRequest) -> str:
    """Return a description of the deleted part that fits its column."""
    if isinstance(part, Collection):
        return f"the collection “{part.name}”"
    kind = "the folder" if isinstance(part, Folder) else "the request"
    return f"{kind} “{part.name}”"


def _purge(collection: Collection) -> None:
    """Delete the entries that are too old or too many, before one is added."""
    mine = shipped.restorable(TrashedItem.objects.filter(owner=collection.owner_id))
    mine.filter(created_at__lt=Now() - TRASH_LIFETIME).delete()
    newest = list(
        mine.order_by("-created_at", "-pk").values_list("pk", flat=True)[: MAX_TRASHED - 1]
    )
    mine.exclude(pk__in=newest).delete()


def _split_entry(text: str) -> tuple[str, str]:
    """Return the relations and the fixture; older entries are a fixture alone, a list."""
    relations, _, fixture = text.partition("\n") if text.startswith("{") else ("", "", text)
    return relations, fixture


def _with_slugs(
    fixture: Fixture, folders: Mapping[str, str], requests: Mapping[str, str]
) -> Fixture:
    """Return a part with other slugs, which are unused in its collection."""
    return replace(
        fixture,
        folders={
            folders[slug]: {**fields, "slug": folders[slug]}
            for slug, fields in fixture.folders.items()
        },
        requests={
            requests[slug]: {
                **fields,
                "slug": requests[slug],
                "folder": folders.get(fields["folder"], fields["folder"]),
            }
            for slug, fields in fixture.requests.items()
        },
    )


def _free_slugs(slugs: Iterable[str], siblings: Any) -> Mapping[str, str]:
    return {slug: _unused_slug(slug, siblings) for slug in slugs}


def _unused_slug(slug: str, siblings: Any, reserved: frozenset[str] = frozenset()) -> str:
    if slug not in reserved and not siblings.filter(slug=slug).exists():
        return slug
    return free_slug(slug, "restored", siblings, reserved)


def _requests_of(part: Collection | Folder | SavedRequest) -> QuerySet[SavedRequest]:
    if isinstance(part, SavedRequest):
        return SavedRequest.objects.filter(pk=part.pk)
    return part.requests.all()


def _by_request(rows: QuerySet[Any]) -> dict[str, list[Any]]:
    """Return the keys of rows, by the slug of their request."""
    pairs = sorted(
        rows.values_list("saved_request__slug", "pk")[:MAX_RELATIONS], key=lambda pair: str(pair[0])
    )
    return {
        slug: [pk for _, pk in found] for slug, found in groupby(pairs, key=lambda pair: pair[0])
    }


def _to_json(value: Any) -> str:
    """Return a key or a timestamp, to the microsecond: an open page compares those."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _restore_collection_relations(found: Relations, collection: Collection) -> None:
    fields = _column_values(Collection, found["collection"])
    Collection.objects.filter(pk=collection.pk).update(**fields)
    for name, value in fields.items():
        setattr(collection, name, value)
    links = [
        Share(owner_id=collection.owner_id, collection=collection, **_column_values(Share, row))
        for row in found["shares"]
    ]
    Share.objects.bulk_create(links, batch_size=BATCH, ignore_conflicts=True)
    runs = CollectionRun.objects.filter(owner=collection.owner_id, collection=None)
    for batch in batches(found["collection_runs"]):
        runs.filter(pk__in=batch).update(collection=collection)


def _restore_requests(
    rows: Iterable[Relations], request_keys: Mapping[str, int], owner: int | None
) -> None:
    """Restore the requests' timestamps, so that a page with an open one can go on with it."""
    recorded = [(request_keys[row["slug"]], row) for row in rows if row["slug"] in request_keys]
    for batch in batches(recorded):
        replies = [row["recorded_run"] for _, row in batch if row["recorded_run"]]
        existing = set(Run.objects.filter(owner=owner, pk__in=replies).values_list("pk", flat=True))
        requests = []
        for pk, row in batch:
            fields = _column_values(SavedRequest, {name: row[name] for name in _REQUEST_COLUMNS})
            reply = fields.pop("recorded_run_id")
            requests.append(
                SavedRequest(pk=pk, recorded_run_id=reply if reply in existing else None)
            )
            for name, value in fields.items():
                setattr(requests[-1], name, value)
        SavedRequest.objects.bulk_update(requests, _REQUEST_COLUMNS)


def _row_requests(
    recorded: Relations, request_keys: Mapping[str, int]
) -> Iterator[tuple[Any, int]]:
    """Yield (key of a row, key of its request)."""
    for slug, rows in recorded.items():
        if slug in request_keys:
            yield from ((row, request_keys[slug]) for row in rows)


def _link_rows(rows: QuerySet[Any], pairs: Iterator[tuple[Any, int]]) -> None:
    for batch in batches(pairs):
        request_keys = {rows.model._meta.pk.to_python(key): request for key, request in batch}
        existing = rows.filter(pk__in=request_keys).values_list("pk", flat=True)
        linked = [rows.model(pk=key, saved_request_id=request_keys[key]) for key in existing]
        rows.model._default_manager.bulk_update(linked, ["saved_request"])


def _column_values(model: type[Model], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a row, converted by its model's fields."""
    fields = [(model._meta.get_field(name), value) for name, value in row.items()]
    return {field.attname: field.to_python(value) for field, value in fields}  # type: ignore[union-attr]
