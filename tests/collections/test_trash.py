"""Deleting parts of collections, restoring them with their relations, and purging them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from playground.collections import ordering, trash
from playground.models import (
    Collection,
    Folder,
    LessonProgress,
    Run,
    SavedRequest,
)
from playground.models.driving import database_now
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.database]

#: To the microsecond, as an open page compares those.
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)


@pytest.fixture
def collection() -> Collection:
    made = example_collections.example()
    made.requests.update(modified_at=MOMENT, created_at=MOMENT)
    return made


def run_of(saved: SavedRequest | None, **fields: Any) -> Run:
    return Run.objects.create(
        agent_name="A", url="http://a.example", protocol="nlweb", binding="http", version="0.55",
        request={}, saved_request=saved, **fields,
    )  # fmt: skip


def restored(part: trash.Part) -> Collection:
    trash.delete(part)
    return restore(part)


def restore(part: trash.Part) -> Collection:
    return trash.restore(type(part).with_trashed.get(pk=part.pk))


def recently_deleted() -> list[str]:
    found = trash.recently_deleted(Collection.with_trashed.filter(owner=None))
    return [trash.label(part) for part in found]


class TestCollection:
    def test_its_progress_but_not_that_it_was_open(self, collection: Collection) -> None:
        progress = LessonProgress.objects.create(collection=collection, is_open=True, step="a")
        trash.delete(collection)
        assert not LessonProgress.objects.exists()
        restore(collection)
        assert LessonProgress.objects.get() == progress
        assert (LessonProgress.objects.get().step, LessonProgress.objects.get().is_open) == (
            "a",
            False,
        )

    def test_under_another_slug_where_its_own_was_given_away(self, collection: Collection) -> None:
        trash.delete(collection)
        Collection.objects.create(name="Other", slug=collection.slug)
        found = restore(collection)
        assert (found.slug, found.requests.count()) == ("soups-2", 4)

    def test_what_was_deleted_from_it_before_stays_deleted(self, collection: Collection) -> None:
        leek = collection.requests.get(slug="leek")
        trash.delete(leek)
        restored(collection)
        assert not collection.requests.filter(slug="leek").exists()
        assert recently_deleted() == ["the request “Leek”"]
        restore(leek)
        assert collection.requests.filter(slug="leek").exists()


class TestPart:
    def test_a_request_under_another_slug(self, collection: Collection) -> None:
        leek = collection.requests.get(slug="leek")
        run, other = run_of(leek), run_of(None)
        trash.delete(leek)
        instead = SavedRequest.objects.create(collection=collection, name="Leek")
        assert instead.slug == "leek"
        Run.objects.filter(pk=other.pk).update(saved_request=instead)
        restore(leek)
        assert collection.requests.exclude(pk=instead.pk).get(runs=run).slug == "leek-2"
        assert instead.runs.get() == other

    def test_a_folder_and_its_requests_under_other_slugs(self, collection: Collection) -> None:
        hot = collection.folders.get(slug="hot")
        SavedRequest.objects.create(collection=collection, folder=hot, name="N", slug="leek-2")
        trash.delete(hot)
        Folder.objects.create(collection=collection, name="New", slug="hot")
        SavedRequest.objects.create(collection=collection, name="New", slug="leek")
        restore(hot)
        assert collection.folders.get(slug="hot").name == "New"
        back = collection.folders.get(slug="hot-2")
        assert {each.slug for each in back.requests.all()} == {"lentils", "leek-2", "leek-3"}
        assert back.requests.get(slug="leek-3").name == "Leek"

    @pytest.mark.parametrize("how", ["removed", "deleted", "moved"])
    def test_a_request_whose_folder_is_gone(self, collection: Collection, how: str) -> None:
        leek, hot = collection.requests.get(slug="leek"), collection.folders.get(slug="hot")
        trash.delete(leek)
        if how == "removed":
            hot.delete()
        elif how == "deleted":
            trash.delete(hot)
        else:
            ordering.move_folder(hot, Collection.objects.create(name="Other"))
        restore(leek)
        assert collection.requests.get(slug="leek").folder_id is None

    def test_the_collection_has_changed(self, collection: Collection) -> None:
        leek = collection.requests.get(slug="leek")
        trash.delete(leek)
        Collection.objects.update(modified_at=MOMENT)
        assert restore(leek).modified_at > MOMENT


def test_deletions_of_one_moment_are_told_apart(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = database_now()
    monkeypatch.setattr(trash, "database_now", lambda: now)
    trash.delete(collection.requests.get(slug="leek"))
    trash.delete(collection)
    assert recently_deleted() == ["the collection “Soups”", "the request “Leek”"]
    assert restore(collection).requests.count() == 3


def test_of_many_the_newest_are_kept(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "MAX_TRASHED", 2)
    for slug in ("first", "hot", "gazpacho"):
        parts = collection.folders if slug == "hot" else collection.requests
        trash.delete(parts.get(slug=slug))
    assert recently_deleted() == ["the request “Gazpacho”", "the folder “Hot”"]
    trash.delete(collection)
    assert recently_deleted() == ["the collection “Soups”", "the request “Gazpacho”"]
    # What was deleted with the folder went with it.
    assert set(SavedRequest.with_trashed.values_list("slug", flat=True)) == {"gazpacho"}


@pytest.mark.slow
def test_a_large_collection_takes_few_queries(
    collection: Collection, django_assert_max_num_queries: Any
) -> None:
    many = [SavedRequest(collection=collection, name=f"R {n}", slug=f"r-{n}") for n in range(500)]
    SavedRequest.objects.bulk_create(many, batch_size=500)
    with django_assert_max_num_queries(40):
        found = restored(collection)
    assert found.requests.count() == 504
