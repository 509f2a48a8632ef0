"""What an import would do, that it does just that, and that it does nothing by halves."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError
from hypothesis import HealthCheck, given, settings

from playground.library import fixtures, planning
from playground.library.comparing import MAX_SHOWN, is_same_item
from playground.library.shape import REQUEST, Fixture, FixtureError
from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import requests_in_order
from tests.library import examples

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def stands(plan: fixtures.ImportPlan) -> dict[str, list[str]]:
    """The slugs by what happens to them."""
    found: dict[str, list[str]] = {}
    for change in plan.changes:
        found.setdefault(change.status, []).append(change.slug)
    return found


def edited(text: str, old: str, new: str) -> Fixture:
    assert old in text
    return fixtures.parse_fixture(text.replace(old, new))


def test_a_new_collection_is_added_behind_the_others() -> None:
    text = fixtures.dump(examples.example())
    other = Collection.objects.create(name="Broths", position=5)
    Collection.objects.get(slug="soups").delete()
    plan = fixtures.plan_import(fixtures.parse_fixture(text), None)
    assert stands(plan) == {
        "added": ["soups", "hot", "cold", "first", "lentils", "leek", "gazpacho"]
    }
    assert plan.collection is None
    collection = fixtures.apply_import(plan)
    assert collection.position > other.position
    assert [request.slug for request in requests_in_order(collection)] == [
        "first", "lentils", "leek", "gazpacho"
    ]  # fmt: skip


def test_what_is_there_is_brought_up_to_date_and_nothing_is_removed() -> None:
    collection = examples.example()
    before = collection.modified_at
    leek = collection.requests.get(slug="leek")
    text = fixtures.dump(collection)
    SavedRequest.objects.create(collection=collection, name="Mine", document={})
    collection.requests.filter(slug="first").delete()
    fixture = edited(text, "About Leek.", "Of leeks.")
    plan = fixtures.plan_import(fixture, None)
    assert stands(plan) == {
        "same": ["soups", "hot", "cold", "lentils", "gazpacho"],
        "changed": ["leek"],
        "added": ["first"],
        "kept": ["mine"],
    }
    (change,) = plan.of("changed")
    (difference,) = change.differences
    assert difference.field == "notes"
    assert [(line.sign, line.text) for line in difference.lines] == [
        ("-", "About Leek."), ("+", "Of leeks.")
    ]  # fmt: skip
    fixtures.apply_import(plan)
    leek.refresh_from_db()
    assert leek.notes == "Of leeks."
    collection.refresh_from_db()
    assert collection.modified_at > before
    assert collection.requests.count() == 5
    assert fixtures.plan_import(fixture, None).changes_nothing


def test_what_is_taken_in_is_told_as_it_was_done() -> None:
    collection = examples.example()
    fixture = edited(fixtures.dump(collection), "About Leek.", "Of leeks.")
    collection.requests.filter(slug="first").delete()
    done = fixtures.import_fixture(fixture, None)
    assert done.collection == collection
    assert stands(done) == {
        "same": ["soups", "hot", "cold", "lentils", "gazpacho"],
        "changed": ["leek"],
        "added": ["first"],
    }
    again = fixtures.import_fixture(fixture, None)
    assert again.collection == collection
    assert again.changes_nothing


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"n": 1}, {"n": 1.0}, id="whole and not"),
        pytest.param({"n": 1}, {"n": True}, id="number and true"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="order of members"),
        pytest.param({"n": [[0]]}, {"n": [[False]]}, id="deep down"),
        pytest.param({}, {"n": None}, id="null and none"),
        pytest.param({"n": 2**53}, {"n": 2**53 + 1}, id="large"),
    ],
)
def test_documents_differ_that_are_equal_in_python_only(one: Any, other: Any) -> None:
    fields = fixtures.fixture_of(examples.example()).requests["leek"]
    assert is_same_item({**fields, "document": one}, {**fields, "document": dict(one)}, REQUEST)
    assert not is_same_item({**fields, "document": one}, {**fields, "document": other}, REQUEST)


def test_nothing_to_do_leaves_no_trace() -> None:
    collection = examples.example()
    moment = collection.modified_at
    fixtures.apply_import(fixtures.plan_import(fixtures.fixture_of(collection), None))
    collection.refresh_from_db()
    assert collection.modified_at == moment


def test_a_request_may_change_its_folder_and_the_folders_their_order() -> None:
    collection = examples.example()
    text = fixtures.dump(collection)
    moved = text.replace(
        '"folder": [\n        "soups",\n        "cold"\n      ],\n      "name": "Gazpacho"',
        '"folder": [\n        "soups",\n        "hot"\n      ],\n      "name": "Gazpacho"',
    ).replace('"slug": "hot",\n      "position": 1024', '"slug": "hot",\n      "position": 4096')
    fixtures.apply_import(fixtures.plan_import(fixtures.parse_fixture(moved), None))
    assert [
        (request.slug, request.folder and request.folder.slug)
        for request in requests_in_order(collection)
    ] == [("first", None), ("lentils", "hot"), ("leek", "hot"), ("gazpacho", "hot")]
    assert [folder.slug for folder in collection.folders.all()] == ["cold", "hot"]


def test_an_exact_plan_removes_what_the_file_does_not_have() -> None:
    collection = examples.example()
    fixture = fixtures.fixture_of(collection)
    extra = Folder.objects.create(collection=collection, name="Extra", slug="extra")
    collection.requests.filter(slug="leek").update(folder=extra)
    SavedRequest.objects.create(collection=collection, name="Mine", document={}, folder=extra)
    plan = fixtures.plan_import(fixture, None, exact=True)
    assert stands(plan)["removed"] == ["extra", "mine"]
    fixtures.apply_import(plan)
    assert fixtures.fixture_of(collection) == fixture


@pytest.mark.parametrize("where", ["_write_folders", "_write_requests", "_remove"])
def test_all_or_nothing(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    collection = examples.example()
    text = fixtures.dump(collection)
    plan = fixtures.plan_import(edited(text, '"name": "Soups"', '"name": "Stews"'), None)

    def fail(*_: Any) -> None:
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(planning, where, fail)
    with pytest.raises(DatabaseError):
        fixtures.apply_import(plan)
    assert fixtures.dump(collection) == text
    collection.refresh_from_db()
    assert collection.name == "Soups"


def test_what_changed_since_the_plan_was_made_is_seen() -> None:
    collection = examples.example()
    text = fixtures.dump(collection)
    plan = fixtures.plan_import(edited(text, "About Leek.", "Of leeks."), None)
    collection.requests.filter(slug="first").delete()
    fixtures.apply_import(plan)
    assert collection.requests.filter(slug="first").exists()


def test_collections_of_others_are_not_touched(django_user_model: Any) -> None:
    mine = django_user_model.objects.create_user("me")
    theirs = django_user_model.objects.create_user("you")
    shared, other = examples.example(), examples.example(owner=theirs)
    fixture = edited(fixtures.dump(shared), "About Leek.", "Of leeks.")
    plan = fixtures.plan_import(fixture, mine)
    assert plan.collection is None
    made = fixtures.apply_import(plan)
    assert made.owner == mine
    for each in (shared, other):
        assert each.requests.get(slug="leek").notes == "About Leek."
    fixtures.apply_import(fixtures.plan_import(fixture, theirs))
    assert other.requests.get(slug="leek").notes == "Of leeks."
    assert Collection.objects.count() == 3


@pytest.mark.parametrize(
    ("old", "new"), [(1, 1.0), (1, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1})], ids=range(3)
)
def test_values_that_are_equal_in_python_only_are_not_the_same(old: Any, new: Any) -> None:
    collection = examples.example()
    collection.requests.filter(slug="leek").update(document={"value": old})
    fixture = fixtures.fixture_of(collection)
    collection.requests.filter(slug="leek").update(document={"value": new})
    plan = fixtures.plan_import(fixture, None)
    assert stands(plan)["changed"] == ["leek"]
    fixtures.apply_import(plan)
    assert fixtures.dump(collection) == fixtures.render(fixture)


def test_differences_are_bounded() -> None:
    collection = examples.example()
    for size, shown in ((1_000, MAX_SHOWN), (5_000, 1)):
        document = {"values": list(range(size))}
        collection.requests.filter(slug="leek").update(document=document)
        fixture = fixtures.fixture_of(collection)
        collection.requests.filter(slug="leek").update(document={"values": [-1] * size})
        (change,) = fixtures.plan_import(fixture, None).of("changed")
        assert len(change.differences[0].lines) == shown


def test_a_difference_shows_only_what_is_around_it() -> None:
    collection = examples.example()
    lines = [f"line {number}" for number in range(30)]
    collection.requests.filter(slug="leek").update(notes="\n".join(lines))
    fixture = fixtures.fixture_of(collection)
    lines[5], lines[25] = "x" * 500, "other"
    collection.requests.filter(slug="leek").update(notes="\n".join(lines))
    (change,) = fixtures.plan_import(fixture, None).of("changed")
    shown = change.differences[0].lines
    assert [line.sign for line in shown] == [*"  -+  ", "…", *"  -+  "]
    assert shown[2].text == "x" * 400 + "…"


@given(examples.fixtures(), examples.fixtures())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_an_import_the_same_import_has_nothing_to_do(one: Fixture, two: Fixture) -> None:
    two = two.renamed(one.slug)
    collection = fixtures.apply_import(fixtures.plan_import(one, None))
    fixtures.apply_import(fixtures.plan_import(two, None))
    assert fixtures.plan_import(two, None).changes_nothing
    assert len(fixtures.fixture_of(collection).requests) == len({*one.requests, *two.requests})
    same = fixtures.apply_import(fixtures.plan_import(two, None, exact=True))
    assert fixtures.dump(same) == fixtures.render(two)
    same.delete()


class TestRestore:
    """What was deleted comes back, and nothing else changes."""

    @pytest.mark.parametrize("model", [Collection, Folder, SavedRequest])
    def test_it_comes_back_as_it_was(self, model: Any) -> None:
        collection = examples.example()
        text = fixtures.dump(collection)
        part = {Collection: collection, Folder: collection.folders.get(slug="hot")}.get(
            model, collection.requests.order_by("pk").last()
        )
        removed = fixtures.dump_part(part)
        part.delete()
        restored = fixtures.restore_fixture(removed, None).collection
        assert fixtures.dump(restored) == text

    def test_a_slug_that_was_taken_meanwhile_is_left_to_its_owner(self) -> None:
        collection = examples.example()
        folder = collection.folders.get(slug="hot")
        removed = fixtures.dump_part(folder)
        folder.delete()
        Folder.objects.create(collection=collection, name="New", slug="hot")
        SavedRequest.objects.create(collection=collection, name="New", slug="leek", document={})
        fixtures.restore_fixture(removed, None)
        assert collection.folders.get(slug="hot").name == "New"
        assert collection.requests.get(slug="leek").name == "New"
        back = collection.requests.get(slug="leek-2")
        assert back.name == "Leek"
        assert back.folder == collection.folders.get(slug="hot-2")

    def test_a_collection_whose_slug_was_taken_comes_back_beside_it(self) -> None:
        collection = examples.example()
        removed = fixtures.dump_part(collection)
        collection.delete()
        other = Collection.objects.create(name="Others", slug="soups")
        restored = fixtures.restore_fixture(removed, None).collection
        assert (restored.slug, restored.requests.count()) == ("soups-2", 4)
        assert other.requests.count() == 0

    def test_a_request_whose_folder_is_gone_comes_before_the_folders(self) -> None:
        collection = examples.example()
        removed = fixtures.dump_part(collection.requests.get(slug="leek"))
        collection.folders.get(slug="hot").delete()
        fixtures.restore_fixture(removed, None)
        assert collection.requests.get(slug="leek").folder is None

    def test_it_cannot_come_back_without_its_collection(self) -> None:
        collection = examples.example()
        removed = fixtures.dump_part(collection.requests.get(slug="leek"))
        collection.delete()
        with pytest.raises(FixtureError, match="There is no collection “soups” any more"):
            fixtures.restore_fixture(removed, None)

    def test_what_was_kept_unfinished_comes_back_unfinished(self) -> None:
        collection = examples.example()
        unfinished = [{"type": "json", "path": "$["}]
        collection.requests.filter(slug="leek").update(expectations=unfinished, name="")
        removed = fixtures.dump_part(collection.requests.get(slug="leek"))
        collection.requests.filter(slug="leek").delete()
        fixtures.restore_fixture(removed, None)
        assert collection.requests.get(slug="leek").expectations == unfinished
