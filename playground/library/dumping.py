"""From the database to the text of a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F

from playground.library import credentials
from playground.library.shape import Fields, Fixture, render
from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import requests_in_order
from playground.models.json_text import storable

_FOLDER = ("name", "slug", "description", "position")
_REQUEST = (
    "name", "slug", "position", "agent", "address", "protocol", "binding", "version", "document",
    "headers", "auth", "notes", "expectations", "captures", "reply",
)  # fmt: skip
_TEXTS = frozenset({"name", "description", "agent", "address", "version", "notes"})


def dump(collection: Collection) -> str:
    """The text of the collection's file: a plain Django fixture, stable to the byte.

    No owner, moments or primary keys are in it, nor any literal credential. Text in it is what
    every database takes: U+0000 in a name or a note is U+FFFD there (documents keep theirs).
    """
    return render(fixture_of(collection).ordered())


def dump_part(part: Collection | Folder | SavedRequest) -> str:
    """The text of a collection, of a folder with its requests, or of one request.

    A part names its collection and does not hold it: taken in again (`restoring.restore`), it
    changes nothing else there.
    """
    if isinstance(part, Collection):
        return dump(part)
    if isinstance(part, Folder):
        folders = Folder.objects.filter(pk=part.pk)
        requests = requests_in_order(part.collection).filter(folder=part)
    else:
        folders = Folder.objects.none()
        requests = requests_in_order(part.collection).filter(pk=part.pk)
    return render(_fixture(part.collection.slug, None, folders, requests))


def fixture_of(collection: Collection) -> Fixture:
    """A collection as its file would say it, but with places as they are: two may be the same."""
    head = {
        "name": storable(collection.name),
        "slug": collection.slug,
        "description": storable(collection.description),
    }
    folders = collection.folders.order_by("position", "pk")
    return _fixture(collection.slug, head, folders, requests_in_order(collection))


def _fixture(slug: str, collection: Fields | None, folders: Any, requests: Any) -> Fixture:
    rows = requests.values(*_REQUEST, inside=F("folder__slug")).iterator(chunk_size=500)
    return Fixture(
        slug,
        collection,
        _by_slug(_texts(row) for row in folders.values(*_FOLDER)),
        _by_slug(_request(row) for row in rows),
    )


def _by_slug(rows: Iterable[dict[str, Any]]) -> dict[str, Fields]:
    return {row["slug"]: row for row in rows}


def _request(row: dict[str, Any]) -> dict[str, Any]:
    row = _texts(row)
    row["folder"] = row.pop("inside")
    row["headers"] = credentials.clean_headers(row["headers"])
    row["address"] = credentials.clean_url_template(row["address"])
    row["auth"] = credentials.clean_auth(row["auth"])
    return row


def _texts(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose text columns hold nothing that another database would refuse."""
    return {name: storable(text) if name in _TEXTS else text for name, text in row.items()}
