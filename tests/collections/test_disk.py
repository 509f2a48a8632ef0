"""Files of collections: their status, load and save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.collections import disk
from playground.collections.fixture import FixtureError, dump
from playground.collections.importer import ImportPlan
from playground.models import Collection, SavedRequest
from tests.collections.conftest import Edit
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("directory"), pytest.mark.database]


@pytest.fixture
def saved(path: Path) -> Collection:
    """Return a collection that equals its file."""
    collection = example_collections.example()
    disk.save(collection, "")
    return collection


def state(collection: Collection) -> str:
    collection.refresh_from_db()
    return disk.file_status(collection).state


def load(collection: Collection) -> ImportPlan:
    return disk.load(collection, disk.file_status(collection).digest)


def save(collection: Collection) -> Path:
    return disk.save(collection, disk.file_status(collection).digest)


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
    found = disk.file_status(saved)
    assert found.state == "file"
    assert found.loading
    assert found.loading.counts["changed"] == 1
    load(saved)
    assert saved.requests.get(slug="leek").notes == "Of leeks."
    assert state(saved) == "same"


def test_only_the_collection_has_changed(saved: Collection) -> None:
    change_here(saved)
    SavedRequest.objects.create(collection=saved, name="Mine", document={})
    found = disk.file_status(saved)
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
    assert planned.counts["removed"] == 1
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
    with pytest.raises(disk.DiskError, match="was not overwritten"):
        save(collection)
    path.write_text(dump(example_collections.example("broths")), "utf-8")
    with pytest.raises(disk.DiskError, match="contains another collection, “broths”"):
        save(collection)
    with pytest.raises(FixtureError):
        load(collection)


def test_a_file_that_came_meanwhile_is_not_overwritten(path: Path) -> None:
    collection = example_collections.example()
    seen = disk.file_status(collection).digest
    path.write_text(dump(collection).replace("About Leek.", "Of leeks."), "utf-8")
    with pytest.raises(disk.DiskError, match="has changed since the page was loaded"):
        disk.save(collection, seen)


def test_there_is_nothing_to_load() -> None:
    collection = example_collections.example()
    with pytest.raises(FixtureError, match=r"soups\.json does not exist"):
        disk.load(collection, "")


@pytest.mark.parametrize("slug", ["../escaped", "a/b", "", "a b", "é"])
def test_nothing_is_written_elsewhere(directory: Path, slug: str) -> None:
    collection = example_collections.example()
    collection.slug = slug
    with pytest.raises(disk.DiskError, match="not a valid file name"):
        disk.save(collection, "")
    assert list(directory.parent.glob("*.json")) == list(directory.iterdir()) == []


def test_a_link_is_not_followed(path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.json"
    outside.write_text("untouched")
    path.symlink_to(outside)
    with pytest.raises(disk.DiskError, match="is a symbolic link"):
        disk.save(example_collections.example(), "")
    assert outside.read_text() == "untouched"


def test_a_directory_that_is_not_there(settings: Any, tmp_path: Path) -> None:
    settings.FIXTURE_DIRS = [tmp_path / "missing"]
    with pytest.raises(disk.DiskError, match=r"Writing .*soups\.json failed: No such file"):
        disk.save(example_collections.example(), "")


def test_a_directory_in_place_of_the_file(path: Path) -> None:
    path.mkdir()
    with pytest.raises(disk.DiskError, match=r"Reading soups\.json failed"):
        disk.file_status(example_collections.example())


def test_somebodys_own_collection_has_no_file(django_user_model: Any) -> None:
    owner = django_user_model.objects.create_user("owner")
    with pytest.raises(disk.DiskError, match="does not save collections to files"):
        disk.save(example_collections.example(owner=owner), "")


def test_hosted_playgrounds_keep_no_files(settings: Any) -> None:
    settings.HOSTED = True
    with pytest.raises(disk.DiskError, match="does not save collections to files"):
        disk.save(example_collections.example(), "")
