"""What hangs on a part of a collection and is in no file: links, runs, moments, its place.

A delete takes it along, so it is noted before, and tied again when the part is put back. Notes
are plain JSON, of rows by their keys: what has gone for good meanwhile is passed over, and what
belongs to somebody else by then is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby, islice
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from playground.library.restoring import RestoreResult
from playground.models import Collection, CollectionRun, Folder, Run, SavedRequest, Share, Step

#: Runs, and steps of collection runs, that find back to their requests: the newest.
MAX_RELATIONS = 20_000
#: Rows that are written at once.
_BATCH = 500

_COLLECTION = ("position", "created_at", "modified_at", "file_digest")
_REQUEST = ("created_at", "modified_at", "recorded_run")
#: Of a link everything but what it is tied by.
_SHARE = [
    field.attname
    for field in Share._meta.concrete_fields
    if field.name not in {"id", "owner", "run", "collection"}
]

Notes = Mapping[str, Any]
T = TypeVar("T")


def record_relations(part: Collection | Folder | SavedRequest) -> str:
    """What hangs on a part that is about to be deleted, as JSON in one line of ASCII."""
    requests = _requests(part)
    runs = Run.objects.filter(saved_request__in=requests).order_by("-created_at")
    steps = Step.objects.filter(saved_request__in=requests).order_by("-pk")
    found: dict[str, Any] = {
        "requests": list(requests.order_by("pk").values("slug", *_REQUEST).iterator(_BATCH)),
        "runs": _by_request(runs),
        "steps": _by_request(steps),
    }
    if isinstance(part, Collection):
        found["collection"] = {name: getattr(part, name) for name in _COLLECTION}
        found["shares"] = list(part.shares.order_by("pk").values(*_SHARE))
        done = part.collection_runs.order_by("-created_at")
        found["collection_runs"] = list(done.values_list("pk", flat=True)[:MAX_RELATIONS])
    return json.dumps(found, default=_plain)


def _requests(part: Collection | Folder | SavedRequest) -> QuerySet[SavedRequest]:
    if isinstance(part, SavedRequest):
        return SavedRequest.objects.filter(pk=part.pk)
    return part.requests.all()


def _by_request(rows: QuerySet[Any]) -> dict[str, list[Any]]:
    """The keys of rows, by the slug of the request that they were made of."""
    pairs = sorted(
        rows.values_list("saved_request__slug", "pk")[:MAX_RELATIONS], key=lambda pair: str(pair[0])
    )
    return {
        slug: [pk for _, pk in found] for slug, found in groupby(pairs, key=lambda pair: pair[0])
    }


def _plain(value: Any) -> str:
    """A key or a moment, to the microsecond: a page that is open compares those."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def restore_relations(notes: str, restored: RestoreResult) -> None:
    """Tie again what `note` has noted, to what is there once more."""
    found: Notes = json.loads(notes)
    collection = restored.collection
    if "collection" in found:
        _tie_collection(found, collection)
    slugs = restored.requests
    keys = {
        slug: pk
        for some in _batches(slugs.values())
        for slug, pk in collection.requests.filter(slug__in=some).values_list("slug", "pk")
    }
    own = {old: keys[new] for old, new in slugs.items() if new in keys}
    owner = collection.owner_id
    _tie_requests(found["requests"], own, owner)
    runs = Run.objects.filter(owner=owner, saved_request=None)
    _tie_rows(runs, _pairs(found["runs"], own))
    steps = Step.objects.filter(collection_run__owner=owner, saved_request=None)
    _tie_rows(steps, _pairs(found["steps"], own))


def _tie_collection(found: Notes, collection: Collection) -> None:
    fields = _read(Collection, found["collection"])
    Collection.objects.filter(pk=collection.pk).update(**fields)
    for name, value in fields.items():
        setattr(collection, name, value)
    links = [
        Share(owner_id=collection.owner_id, collection=collection, **_read(Share, row))
        for row in found["shares"]
    ]
    Share.objects.bulk_create(links, batch_size=_BATCH, ignore_conflicts=True)
    runs = CollectionRun.objects.filter(owner=collection.owner_id, collection=None)
    for some in _batches(found["collection_runs"]):
        runs.filter(pk__in=some).update(collection=collection)


def _tie_requests(rows: Iterable[Notes], own: Mapping[str, int], owner: int | None) -> None:
    """Give requests their moments back, so that whoever has one open can go on with it."""
    noted = [(own[row["slug"]], row) for row in rows if row["slug"] in own]
    for some in _batches(noted):
        replies = [row["recorded_run"] for _, row in some if row["recorded_run"]]
        there = set(Run.objects.filter(owner=owner, pk__in=replies).values_list("pk", flat=True))
        requests = []
        for pk, row in some:
            fields = _read(SavedRequest, {name: row[name] for name in _REQUEST})
            reply = fields.pop("recorded_run_id")
            requests.append(SavedRequest(pk=pk, recorded_run_id=reply if reply in there else None))
            for name, value in fields.items():
                setattr(requests[-1], name, value)
        SavedRequest.objects.bulk_update(requests, _REQUEST)


def _pairs(noted: Notes, own: Mapping[str, int]) -> Iterator[tuple[Any, int]]:
    """(key of a row, key of the request that it was made of)."""
    for slug, rows in noted.items():
        if slug in own:
            yield from ((row, own[slug]) for row in rows)


def _tie_rows(rows: QuerySet[Any], pairs: Iterator[tuple[Any, int]]) -> None:
    for some in _batches(pairs):
        wanted = {rows.model._meta.pk.to_python(key): request for key, request in some}
        there = rows.filter(pk__in=wanted).values_list("pk", flat=True)
        tied = [rows.model(pk=key, saved_request_id=wanted[key]) for key in there]
        rows.model._default_manager.bulk_update(tied, ["saved_request"])


def _read(model: type[Model], row: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a row, read as its fields read them."""
    fields = [(model._meta.get_field(name), value) for name, value in row.items()]
    return {field.attname: field.to_python(value) for field, value in fields}  # type: ignore[union-attr]


def _batches(things: Iterable[T]) -> Iterator[list[T]]:
    waiting = iter(things)
    while some := list(islice(waiting, _BATCH)):
        yield some
