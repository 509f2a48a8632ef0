"""Files of collections: their status, load and save, and those that are loaded on start."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from playground.collections import files, trash
from playground.collections.fixture import FixtureError, dump
from playground.collections.importer import ImportPlan
from playground.models import Collection, SavedRequest, SkippedCollection
from playground.models.collections import purge_trash
from playground.server import startup
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("directory"), pytest.mark.database]
Edit = Callable[[str, str], None]


@pytest.fixture
def directory(settings: Any, tmp_path: Path) -> Path:
    """Return the directory of collections' files, the test's only one."""
    settings.FIXTURE_DIRS = [tmp_path]
    settings.DEMO_ENABLED = False
    return tmp_path


@pytest.fixture
def path(directory: Path) -> Path:
    """Return the path of the collection “Soups”, which may not exist."""
    return directory / "soups.json"


@pytest.fixture
def edit(path: Path) -> Edit:
    """Return a function that replaces a text of the file."""

    def replace(old: str, new: str) -> None:
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    return replace


@pytest.fixture
def saved(path: Path) -> Collection:
    """Return a collection that equals its file."""
    collection = example_collections.example()
    files.save(collection, "")
    return collection


def state(collection: Collection) -> str:
    collection.refresh_from_db()
    return files.file_status(collection).state


def load(collection: Collection) -> ImportPlan:
    return files.load(collection, files.file_status(collection).digest)


def save(collection: Collection) -> Path:
    return files.save(collection, files.file_status(collection).digest)


def change_here(collection: Collection, notes: str = "Changed here.") -> None:
    collection.requests.filter(slug="first").update(notes=notes)


def test_there_is_no_file_at_first(path: Path) -> None:
    collection = example_collections.example()
    assert state(collection) == "none"
    assert save(collection) == path
    assert path.read_bytes().decode() == dump(collection)
    assert state(collection) == "same"
    assert [each.name for each in path.parent.iterdir()] == ["soups.json"]


def test_only_the_file_has_changed(saved: Collection, edit: Edit) -> None:
    edit("About Leek.", "Of leeks.")
    found = files.file_status(saved)
    assert found.state == "file"
    assert found.loading
    assert found.loading.changes.counts["changed"] == 1
    load(saved)
    assert saved.requests.get(slug="leek").notes == "Of leeks."
    assert state(saved) == "same"


def test_only_the_collection_has_changed(saved: Collection) -> None:
    change_here(saved)
    SavedRequest.objects.create(collection=saved, name="Mine", document={})
    found = files.file_status(saved)
    assert found.state == "here"
    assert sorted((change.slug, change.status) for change in found.saving)[:2] == [
        ("cold", "same"), ("first", "changed")
    ]  # fmt: skip
    save(saved)
    assert state(saved) == "same"


def test_both_have_changed_and_the_file_is_loaded(saved: Collection, edit: Edit) -> None:
    change_here(saved)
    edit("About Leek.", "Of leeks.")
    assert state(saved) == "both"
    load(saved)
    assert saved.requests.get(slug="leek").notes == "Of leeks."
    assert saved.requests.get(slug="first").notes == "About First."
    assert state(saved) == "same"


def test_what_was_taken_out_of_the_file_goes_if_nothing_was_changed_here(
    saved: Collection, path: Path
) -> None:
    items = [item for item in json.loads(path.read_text()) if item["fields"]["slug"] != "leek"]
    path.write_text(json.dumps(items), "utf-8")
    planned = load(saved)
    assert planned.changes.counts["removed"] == 1
    assert state(saved) == "same"


def test_what_was_added_here_stays_when_the_file_is_loaded(saved: Collection, edit: Edit) -> None:
    SavedRequest.objects.create(collection=saved, name="Mine", document={})
    edit("About Leek.", "Of leeks.")
    load(saved)
    assert saved.requests.filter(slug="mine").exists()
    assert state(saved) == "here"


def test_how_a_file_is_laid_out_does_not_count(saved: Collection, path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_text())), "utf-8")
    assert state(saved) == "same"


def test_what_was_loaded_by_loaddata_is_known_once_it_was_looked_at(path: Path) -> None:
    collection = example_collections.example()
    path.write_text(dump(collection), "utf-8")
    assert collection.file_digest == ""
    assert state(collection) == "same"
    change_here(collection)
    assert state(collection) == "here"


def test_a_file_that_differs_and_was_never_loaded(path: Path) -> None:
    collection = example_collections.example()
    path.write_text(dump(collection), "utf-8")
    change_here(collection)
    assert state(collection) == "apart"


def test_the_file_of_something_else_is_never_overwritten(path: Path) -> None:
    path.write_text('[{"model": "playground.agent", "fields": {}}]', "utf-8")
    collection = example_collections.example()
    assert state(collection) == "unreadable"
    with pytest.raises(files.DiskError, match="was not overwritten"):
        save(collection)
    path.write_text(dump(example_collections.example("broths")), "utf-8")
    with pytest.raises(files.DiskError, match="contains another collection, “broths”"):
        save(collection)
    with pytest.raises(FixtureError):
        load(collection)


def test_a_file_that_came_meanwhile_is_not_overwritten(path: Path) -> None:
    collection = example_collections.example()
    seen = files.file_status(collection).digest
    path.write_text(dump(collection).replace("About Leek.", "Of leeks."), "utf-8")
    with pytest.raises(files.DiskError, match="has changed since the page was loaded"):
        files.save(collection, seen)


def test_there_is_nothing_to_load() -> None:
    collection = example_collections.example()
    with pytest.raises(FixtureError, match=r"soups\.json does not exist"):
        files.load(collection, "")


@pytest.mark.parametrize("slug", ["../escaped", "a/b", "", "a b", "é"])
def test_nothing_is_written_elsewhere(directory: Path, slug: str) -> None:
    collection = example_collections.example()
    collection.slug = slug
    with pytest.raises(files.DiskError, match="not a valid file name"):
        files.save(collection, "")
    assert list(directory.parent.glob("*.json")) == list(directory.iterdir()) == []


def test_a_link_is_not_followed(path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.json"
    outside.write_text("untouched")
    path.symlink_to(outside)
    with pytest.raises(files.DiskError, match="is a symbolic link"):
        files.save(example_collections.example(), "")
    assert outside.read_text() == "untouched"


def test_a_directory_that_is_not_there(settings: Any, tmp_path: Path) -> None:
    settings.FIXTURE_DIRS = [tmp_path / "missing"]
    with pytest.raises(files.DiskError, match=r"Writing .*soups\.json failed: No such file"):
        files.save(example_collections.example(), "")


def test_a_directory_in_place_of_the_file(path: Path) -> None:
    path.mkdir()
    with pytest.raises(files.DiskError, match=r"Reading soups\.json failed"):
        files.file_status(example_collections.example())


def test_somebodys_own_collection_has_no_file(django_user_model: Any) -> None:
    owner = django_user_model.objects.create_user("owner")
    with pytest.raises(files.DiskError, match="does not save collections to files"):
        files.save(example_collections.example(owner=owner), "")


def test_hosted_playgrounds_keep_no_files(settings: Any) -> None:
    settings.HOSTED = True
    with pytest.raises(files.DiskError, match="does not save collections to files"):
        files.save(example_collections.example(), "")


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
            assert not files.missing()
            trash.delete(Collection.objects.get())
            self.start()
            (missing,) = files.missing()
            assert (missing.slug, missing.name, missing.path) == ("soups", "Soups", shipped)
            assert files.load_shipped("soups") == Collection.objects.get()
        assert files.load_shipped("soups") is None
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
        assert {each.slug for each in files.missing()} <= {"soups", "odd"}

    def test_hosted_playgrounds_load_none(self, path: Path, settings: Any) -> None:
        collection = example_collections.example()
        path.write_text(dump(collection), "utf-8")
        collection.delete()
        settings.HOSTED = True
        self.start()
        assert not Collection.objects.exists()
