"""Unsaved model instances of a fixture, for a collection that is run without being imported."""

from __future__ import annotations

from typing import Any

from playground.collections.fixture import Fields, Fixture
from playground.models import Collection, Folder, SavedRequest


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
