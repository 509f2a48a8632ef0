"""Restoring the fixture of a deleted part: slugs, folders, and collections that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from playground.collections.fixture import (
    FixtureError,
    dump,
    dump_part,
)
from playground.collections.trash import restore_fixture
from playground.models import Collection, Folder, SavedRequest
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.database]


class TestRestore:
    """Deleted parts are restored, and nothing else changes."""

    @pytest.mark.parametrize("model", [Collection, Folder, SavedRequest])
    def test_it_comes_back_as_it_was(self, model: Any) -> None:
        collection = example_collections.example()
        text = dump(collection)
        part = {Collection: collection, Folder: collection.folders.get(slug="hot")}.get(
            model, collection.requests.order_by("pk").last()
        )
        removed = dump_part(part)
        part.delete()
        restored = restore_fixture(removed, None).collection
        assert dump(restored) == text

    def test_a_slug_that_was_taken_meanwhile_is_left_to_its_owner(self) -> None:
        collection = example_collections.example()
        folder = collection.folders.get(slug="hot")
        removed = dump_part(folder)
        folder.delete()
        Folder.objects.create(collection=collection, name="New", slug="hot")
        SavedRequest.objects.create(collection=collection, name="New", slug="leek", document={})
        restore_fixture(removed, None)
        assert collection.folders.get(slug="hot").name == "New"
        assert collection.requests.get(slug="leek").name == "New"
        back = collection.requests.get(slug="leek-2")
        assert back.name == "Leek"
        assert back.folder == collection.folders.get(slug="hot-2")

    def test_a_collection_whose_slug_was_taken_comes_back_beside_it(self) -> None:
        collection = example_collections.example()
        removed = dump_part(collection)
        collection.delete()
        other = Collection.objects.create(name="Others", slug="soups")
        restored = restore_fixture(removed, None).collection
        assert (restored.slug, restored.requests.count()) == ("soups-2", 4)
        assert other.requests.count() == 0

    def test_a_request_whose_folder_is_gone_comes_before_the_folders(self) -> None:
        collection = example_collections.example()
        removed = dump_part(collection.requests.get(slug="leek"))
        collection.folders.get(slug="hot").delete()
        restore_fixture(removed, None)
        assert collection.requests.get(slug="leek").folder is None

    def test_it_cannot_come_back_without_its_collection(self) -> None:
        collection = example_collections.example()
        removed = dump_part(collection.requests.get(slug="leek"))
        collection.delete()
        with pytest.raises(FixtureError, match="The collection “soups” no longer exists"):
            restore_fixture(removed, None)

    def test_what_was_kept_unfinished_comes_back_unfinished(self) -> None:
        collection = example_collections.example()
        unfinished = [{"type": "json", "path": "$["}]
        collection.requests.filter(slug="leek").update(expectations=unfinished, name="")
        removed = dump_part(collection.requests.get(slug="leek"))
        collection.requests.filter(slug="leek").delete()
        restore_fixture(removed, None)
        assert collection.requests.get(slug="leek").expectations == unfinished
