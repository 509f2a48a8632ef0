"""Collections shipped in fixtures/: loaded on start, deleted, and loaded again."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from playground.collections import shipped as library
from playground.collections import trash
from playground.collections.fixture import dump
from playground.models import Collection, SavedRequest, SkippedCollection
from playground.models.collections import purge_trash
from playground.server import startup
from tests.collections.conftest import Edit
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("directory"), pytest.mark.database]


def change_here(collection: Collection, notes: str = "Changed here.") -> None:
    collection.requests.filter(slug="first").update(notes=notes)


class TestStart:
    """Loading the collections when the playground starts."""

    def start(self) -> None:
        startup.load_samples("http://127.0.0.1:8000")

    @pytest.fixture
    def shipped(self, path: Path) -> Path:
        collection = example_collections.example()
        path.write_text(dump(collection), "utf-8")
        collection.delete()
        self.start()
        return path

    def test_collections_are_added(self, shipped: Path) -> None:
        collection = Collection.objects.get()
        assert dump(collection) == shipped.read_text("utf-8")
        assert collection.file_digest

    def test_one_that_was_not_changed_follows_its_file(self, shipped: Path, edit: Edit) -> None:
        edit("About Leek.", "Of leeks.")
        items = [i for i in json.loads(shipped.read_text()) if i["fields"]["slug"] != "first"]
        shipped.write_text(json.dumps(items), "utf-8")
        self.start()
        assert SavedRequest.objects.get(slug="leek").notes == "Of leeks."
        assert SavedRequest.objects.count() == 3

    def test_one_that_was_changed_is_left_alone(self, shipped: Path, edit: Edit) -> None:
        change_here(Collection.objects.get())
        edit("About Leek.", "Of leeks.")
        self.start()
        assert SavedRequest.objects.get(slug="leek").notes == "About Leek."
        assert SavedRequest.objects.get(slug="first").notes == "Changed here."

    def test_one_that_was_there_before_is_left_alone(self, path: Path) -> None:
        collection = example_collections.example()
        path.write_text(dump(collection), "utf-8")
        change_here(collection)
        self.start()
        assert SavedRequest.objects.get(slug="first").notes == "Changed here."

    def test_nothing_happens_where_nothing_has_changed(self, shipped: Path) -> None:
        before = Collection.objects.get().modified_at
        self.start()
        assert Collection.objects.get().modified_at == before

    def test_other_fixtures_are_not_looked_at(self, directory: Path) -> None:
        (directory / "other.json").write_text('[{"model": "demo.item"', "utf-8")
        self.start()
        assert not Collection.objects.exists()

    def test_of_two_files_with_one_name_the_first_directorys_counts(
        self, shipped: Path, settings: Any, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        own = tmp_path_factory.mktemp("own")
        settings.FIXTURE_DIRS = [own, *settings.FIXTURE_DIRS]
        text = shipped.read_text("utf-8").replace("About Leek.", "Of leeks.")
        (own / "soups.json").write_text(text, "utf-8")
        for _ in range(2):
            self.start()
            assert SavedRequest.objects.get(slug="leek").notes == "Of leeks."

    def test_a_file_that_is_broken_is_told_and_passed_over(
        self, directory: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        begun = '[{"model": "playground.collection", "fields": {"name": "A"}}, {"pk"'
        (directory / "broken.json").write_text(begun, "utf-8")
        self.start()
        assert "broken.json was not loaded. Line 1, column " in caplog.text

    def test_one_that_was_deleted_stays_deleted(self, shipped: Path) -> None:
        trash.delete(Collection.objects.get())
        for _ in range(2):
            self.start()
            assert not Collection.objects.exists()
        # Even after it was purged.
        Collection.with_trashed.update(deleted_at=timezone.now() - timedelta(days=400))
        SavedRequest.with_trashed.update(deleted_at=timezone.now() - timedelta(days=400))
        while purge_trash():
            pass
        self.start()
        assert not Collection.objects.exists()

    def test_put_back_it_follows_its_file_again(self, shipped: Path, edit: Edit) -> None:
        collection = Collection.objects.get()
        trash.delete(collection)
        trash.restore(collection)
        edit("About Leek.", "Of leeks.")
        self.start()
        assert SavedRequest.objects.get(slug="leek").notes == "Of leeks."

    def test_deleted_again_it_stays_deleted_again(self, shipped: Path) -> None:
        for _ in range(2):
            assert not library.missing()
            trash.delete(Collection.objects.get())
            self.start()
            (missing,) = library.missing()
            assert (missing.slug, missing.name, missing.path) == ("soups", "Soups", shipped)
            assert library.reload("soups") == Collection.objects.get()
        assert library.reload("soups") is None
        assert dump(Collection.objects.get()) == shipped.read_text("utf-8")

    def test_one_without_a_file_leaves_nothing_behind(self, directory: Path) -> None:
        trash.delete(example_collections.example())
        assert not SkippedCollection.objects.exists()

    def test_somebodys_own_has_nothing_to_do_with_the_file(
        self, shipped: Path, django_user_model: Any
    ) -> None:
        owner = django_user_model.objects.create_user("owner")
        Collection.objects.all().delete()
        trash.delete(example_collections.example(owner=owner))
        self.start()
        assert Collection.objects.get().owner is None

    @pytest.mark.parametrize(
        "fields",
        ['"name": "\\x", "slug": "soups"', '"slug": "a/b", "name": "A"', '"slug": 5', '"slug": ""'],
    )
    def test_any_file_can_be_looked_at(self, directory: Path, fields: str) -> None:
        text = f'[{{"model": "playground.collection", "fields": {{{fields}}}}}]'
        (directory / "odd.json").write_text(text, "utf-8")
        self.start()
        assert {each.slug for each in library.missing()} <= {"soups", "odd"}

    def test_hosted_playgrounds_load_none(self, path: Path, settings: Any) -> None:
        collection = example_collections.example()
        path.write_text(dump(collection), "utf-8")
        collection.delete()
        settings.HOSTED = True
        self.start()
        assert not Collection.objects.exists()
