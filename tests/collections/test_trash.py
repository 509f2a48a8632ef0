"""Restoring deleted parts with their relations."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.collections import fixture_parser, trash
from playground.collections.fixture import FixtureError, dump, dump_part
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


def step_of(saved: SavedRequest, run: CollectionRun) -> Step:
    return Step.objects.create(
        collection_run=run, number=run.steps.count() + 1, name=saved.name, saved_request=saved
    )


def restored(part: Collection | Folder | SavedRequest) -> Collection:
    return trash.restore(trash.delete(part))


def parts_of(collection: Collection) -> list[Collection | Folder | SavedRequest]:
    leek = collection.requests.get(slug="leek")
    assert leek.folder
    return [collection, leek.folder, leek]


@pytest.mark.parametrize("which", [0, 1, 2], ids=["collection", "folder", "request"])
def test_runs_and_moments_come_back(collection: Collection, which: int) -> None:
    leek = collection.requests.get(slug="leek")
    reply = run_of(None)
    SavedRequest.objects.filter(pk=leek.pk).update(recorded_run=reply)
    runs = [run_of(leek) for _ in range(3)]
    step = step_of(leek, CollectionRun.objects.create(collection=collection, name="Tour"))
    before = dump(collection)
    assert dump(restored(parts_of(collection)[which])) == before
    again = SavedRequest.objects.get(slug="leek")
    assert again.pk != leek.pk
    assert set(again.runs.all()) == set(runs)
    step.refresh_from_db()
    assert step.saved_request == again
    assert (again.modified_at, again.created_at, again.recorded_run) == (MOMENT, MOMENT, reply)


class TestCollection:
    def test_its_place_and_moments(self, collection: Collection) -> None:
        for position, name in ((1, "First"), (2, "Last")):
            Collection.objects.create(name=name, position=position * 1000)
        Collection.objects.filter(pk=collection.pk).update(
            position=1500, modified_at=MOMENT, created_at=MOMENT, file_digest="ab"
        )
        collection.refresh_from_db()
        found = restored(collection)
        order = Collection.objects.order_by("position", "pk").values_list("name", flat=True)
        assert list(order) == ["First", collection.name, "Last"]
        for each in (found, Collection.objects.get(pk=found.pk)):
            assert (each.modified_at, each.created_at, each.file_digest) == (MOMENT, MOMENT, "ab")

    def test_its_runs(self, collection: Collection) -> None:
        run = CollectionRun.objects.create(collection=collection, name="Tour")
        found = restored(collection)
        assert list(found.collection_runs.all()) == [run]

    def test_its_links(self, collection: Collection) -> None:
        in_a_day = timezone.now() + timedelta(days=1)
        for expires_at in (None, in_a_day, MOMENT):
            Share.objects.create(collection=collection, expires_at=expires_at, created_at=MOMENT)
        Share.objects.create(run=run_of(None))
        names = ("token", "expires_at", "created_at", "owner")
        before = list(Share.objects.order_by("pk").values(*names, "collection__slug"))
        found = restored(collection)
        after = Share.objects.values(*names, "collection__slug")
        assert sorted(after, key=lambda row: row["token"]) == sorted(
            before, key=lambda row: row["token"]
        )
        assert found.shares.valid().count() == 2

    def test_under_another_slug_where_its_own_was_given_away(self, collection: Collection) -> None:
        run = run_of(collection.requests.get(slug="leek"))
        share = Share.objects.create(collection=collection)
        removal = trash.delete(collection)
        Collection.objects.create(name="Other", slug=collection.slug)
        found = trash.restore(removal)
        assert (found.slug, found.requests.count()) == ("soups-2", 4)
        assert found.shares.get().token == share.token
        assert found.requests.get(slug="leek").runs.get() == run


class TestPart:
    def test_a_request_under_another_slug(self, collection: Collection) -> None:
        leek = collection.requests.get(slug="leek")
        run, other = run_of(leek), run_of(None)
        removal = trash.delete(leek)
        instead = SavedRequest.objects.create(collection=collection, name="Leek", slug="leek")
        Run.objects.filter(pk=other.pk).update(saved_request=instead)
        trash.restore(removal)
        assert collection.requests.exclude(pk=instead.pk).get(runs=run).slug == "leek-2"
        assert instead.runs.get() == other

    def test_a_folder_under_another_slug(self, collection: Collection) -> None:
        removal = trash.delete(collection.folders.get(slug="hot"))
        Folder.objects.create(collection=collection, name="New", slug="hot")
        trash.restore(removal)
        assert collection.folders.get(slug="hot").name == "New"
        leek = collection.requests.get(slug="leek")
        assert leek.folder == collection.folders.get(slug="hot-2")

    def test_a_request_whose_folder_is_gone(self, collection: Collection) -> None:
        removal = trash.delete(collection.requests.get(slug="leek"))
        collection.folders.get(slug="hot").delete()
        trash.restore(removal)
        assert collection.requests.get(slug="leek").folder is None

    def test_a_request_whose_collection_is_gone(self, collection: Collection) -> None:
        removal = trash.delete(collection.requests.get(slug="leek"))
        collection.delete()
        with pytest.raises(FixtureError, match="The collection “soups” no longer exists"):
            trash.restore(removal)

    def test_an_unfinished_request(self, collection: Collection) -> None:
        unfinished = [{"type": "json", "path": "$["}]
        collection.requests.filter(slug="leek").update(expectations=unfinished, name="")
        restored(collection.requests.get(slug="leek"))
        assert collection.requests.get(slug="leek").expectations == unfinished

    def test_the_collection_has_changed(self, collection: Collection) -> None:
        removal = trash.delete(collection.requests.get(slug="leek"))
        Collection.objects.update(modified_at=MOMENT)
        assert trash.restore(removal).modified_at > MOMENT

    def test_links_to_the_collection_stay_as_they_are(self, collection: Collection) -> None:
        share = Share.objects.create(collection=collection)
        restored(collection.requests.get(slug="leek"))
        assert Share.objects.get() == share


def test_what_has_gone_or_has_another_request_is_passed_over(collection: Collection) -> None:
    leek = collection.requests.get(slug="leek")
    gone, moved, kept = (run_of(leek) for _ in range(3))
    SavedRequest.objects.filter(pk=leek.pk).update(recorded_run=gone)
    removal = trash.delete(leek)
    gone.delete()
    other = collection.requests.get(slug="first")
    Run.objects.filter(pk=moved.pk).update(saved_request=other)
    trash.restore(removal)
    again = collection.requests.get(slug="leek")
    assert (list(again.runs.all()), again.recorded_run) == ([kept], None)
    assert other.runs.get() == moved


def test_nothing_of_somebody_else_is_tied(collection: Collection, django_user_model: Any) -> None:
    leek = collection.requests.get(slug="leek")
    run = run_of(leek)
    removal = trash.delete(leek)
    Run.objects.filter(pk=run.pk).update(owner=django_user_model.objects.create_user("other"))
    trash.restore(removal)
    assert not collection.requests.get(slug="leek").runs.exists()


def test_of_many_runs_the_newest_find_back(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash, "MAX_RELATIONS", 2)
    leek = collection.requests.get(slug="leek")
    runs = [run_of(leek) for _ in range(3)]
    restored(leek)
    assert set(collection.requests.get(slug="leek").runs.all()) == set(runs[1:])


def test_what_an_older_version_has_kept_comes_back(collection: Collection) -> None:
    text, count = dump_part(collection), collection.requests.count()
    collection.delete()
    removal = TrashedItem.objects.create(label="x", fixture=text)
    assert trash.restore(removal).requests.count() == count


def test_larger_than_a_file_may_be(collection: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    count = collection.requests.count()
    monkeypatch.setattr(fixture_parser, "MAX_ITEMS", 1)
    monkeypatch.setattr(fixture_parser, "MAX_CHARACTERS", 10)
    assert restored(collection).requests.count() == count


@pytest.mark.slow
def test_a_large_collection_takes_few_queries(
    collection: Collection, django_assert_max_num_queries: Any
) -> None:
    many = [SavedRequest(collection=collection, name=f"R {n}", slug=f"r-{n}") for n in range(500)]
    SavedRequest.objects.bulk_create(many, batch_size=500)
    saved = SavedRequest.objects.get(slug="r-499")
    run = run_of(saved)
    with django_assert_max_num_queries(100):
        found = restored(collection)
    assert found.requests.get(slug="r-499").runs.get() == run
