"""Collections for tests, and the items that a page shows of them."""

from __future__ import annotations

import re
from typing import Any

from django.test import Client

from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import STEP, requests_in_order

HTMX = {"HX-Request": "true"}


def make_collection(name: str = "Recipes", loose: str = "", **folders: str) -> Collection:
    """Return a collection with requests of these names, one word each, `loose` without a folder."""
    collection: Collection = Collection.objects.create(name=name)
    _fill(collection, None, loose)
    for index, (folder, names) in enumerate(folders.items()):
        made = Folder.objects.create(
            collection=collection, name=folder.title(), position=(index + 1) * STEP
        )
        _fill(collection, made, names)
    return collection


def _fill(collection: Collection, folder: Folder | None, names: str) -> None:
    for index, name in enumerate(names.split()):
        saved(collection, name, folder=folder, position=(index + 1) * STEP)


def saved(collection: Collection, name: str, **fields: Any) -> SavedRequest:
    """Return a saved request of a collection."""
    document = {"query": {"text": name}}
    return SavedRequest.objects.create(
        **{"collection": collection, "name": name, "document": document, **fields}
    )


def order(collection: Collection) -> str:
    """Return the collection's requests in order: "a b | folder: c d | other:"."""
    loose = [each.name for each in requests_in_order(collection) if each.folder is None]
    parts = [" ".join(loose)]
    for folder in collection.folders.order_by("position", "pk"):
        names = folder.requests.order_by("position", "pk").values_list("name", flat=True)
        parts.append(f"{folder.name}: {' '.join(names)}".strip())
    return " | ".join(parts).strip()


def url(collection: Collection, path: str = "") -> str:
    """Return a URL of a collection: `path` is "a/place/" for the request called a."""
    base = f"/collections/{collection.slug}/"
    return f"{base}requests/{path}" if path else base


def names(address: str) -> list[str]:
    """Return the slugs of the requests that a page shows, in its order."""
    page = Client().get(address).text
    return re.findall(r'data-item="request" data-slug="([^"]+)"', page)
