"""Import of fixtures: the plan with its differences, the transaction, and owners."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection
from hypothesis import HealthCheck, given, settings

from playground.collections.fixture import (
    Fixture,
    dump,
    fixture_of,
    fixture_text,
)
from playground.collections.fixture_parser import parse_fixture
from playground.collections.importer import (
    MAX_SHOWN,
    ImportPlan,
    ItemChange,
    apply_import,
    import_fixture,
    plan_import,
)
from playground.models import Collection, Folder, SavedRequest
from playground.models.collections import requests_in_order
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def slugs_by_status(plan: ImportPlan) -> dict[str, list[str]]:
    """Return the slugs of a plan's changes by their status."""
    found: dict[str, list[str]] = {}
    for change in plan.changes:
        found.setdefault(change.status, []).append(change.slug)
    return found


def changed(plan: ImportPlan) -> list[ItemChange]:
    return [change for change in plan.changes if change.status == "changed"]


def edited(text: str, old: str, new: str) -> Fixture:
    assert old in text
    return parse_fixture(text.replace(old, new))


def test_a_new_collection_is_added_behind_the_others() -> None:
    text = dump(example_collections.example())
    other = Collection.objects.create(name="Broths", position=5)
    Collection.objects.get(slug="soups").delete()
    plan = plan_import(parse_fixture(text), None)
    assert slugs_by_status(plan) == {
        "added": ["soups", "hot", "cold", "first", "lentils", "leek", "gazpacho"]
    }
    assert plan.collection is None
    collection = apply_import(plan)
    assert collection.position > other.position
    assert [request.slug for request in requests_in_order(collection)] == [
        "first", "lentils", "leek", "gazpacho"
    ]  # fmt: skip


def test_what_is_there_is_brought_up_to_date_and_nothing_is_removed() -> None:
    collection = example_collections.example()
    before = collection.modified_at
    leek = collection.requests.get(slug="leek")
    text = dump(collection)
    SavedRequest.objects.create(collection=collection, name="Mine", document={})
    collection.requests.filter(slug="first").delete()
    fixture = edited(text, "About Leek.", "Of leeks.")
    plan = plan_import(fixture, None)
    assert slugs_by_status(plan) == {
        "same": ["soups", "hot", "cold", "lentils", "gazpacho"],
        "changed": ["leek"],
        "added": ["first"],
        "kept": ["mine"],
    }
    (change,) = changed(plan)
    (difference,) = change.differences
    assert difference.field == "notes"
    assert [(line.sign, line.text) for line in difference.lines] == [
        ("-", "About Leek."), ("+", "Of leeks.")
    ]  # fmt: skip
    apply_import(plan)
    leek.refresh_from_db()
    assert leek.notes == "Of leeks."
    collection.refresh_from_db()
    assert collection.modified_at > before
    assert collection.requests.count() == 5
    assert plan_import(fixture, None).changes_nothing


def test_what_is_taken_in_is_told_as_it_was_done() -> None:
    collection = example_collections.example()
    fixture = edited(dump(collection), "About Leek.", "Of leeks.")
    collection.requests.filter(slug="first").delete()
    done = import_fixture(fixture, None)
    assert done.collection == collection
    assert slugs_by_status(done) == {
        "same": ["soups", "hot", "cold", "lentils", "gazpacho"],
        "changed": ["leek"],
        "added": ["first"],
    }
    again = import_fixture(fixture, None)
    assert again.collection == collection
    assert again.changes_nothing


def test_nothing_to_do_leaves_no_trace() -> None:
    collection = example_collections.example()
    moment = collection.modified_at
    apply_import(plan_import(fixture_of(collection), None))
    collection.refresh_from_db()
    assert collection.modified_at == moment


def test_a_request_may_change_its_folder_and_the_folders_their_order() -> None:
    collection = example_collections.example()
    text = dump(collection)
    moved = text.replace(
        '"folder": [\n        "soups",\n        "cold"\n      ],\n      "name": "Gazpacho"',
        '"folder": [\n        "soups",\n        "hot"\n      ],\n      "name": "Gazpacho"',
    ).replace('"slug": "hot",\n      "position": 1024', '"slug": "hot",\n      "position": 4096')
    apply_import(plan_import(parse_fixture(moved), None))
    assert [
        (request.slug, request.folder and request.folder.slug)
        for request in requests_in_order(collection)
    ] == [("first", None), ("lentils", "hot"), ("leek", "hot"), ("gazpacho", "hot")]
    assert [folder.slug for folder in collection.folders.all()] == ["cold", "hot"]


def test_an_exact_plan_removes_what_the_file_does_not_have() -> None:
    collection = example_collections.example()
    fixture = fixture_of(collection)
    extra = Folder.objects.create(collection=collection, name="Extra", slug="extra")
    collection.requests.filter(slug="leek").update(folder=extra)
    SavedRequest.objects.create(collection=collection, name="Mine", document={}, folder=extra)
    plan = plan_import(fixture, None, exact=True)
    assert slugs_by_status(plan)["removed"] == ["extra", "mine"]
    apply_import(plan)
    assert fixture_of(collection) == fixture


@pytest.mark.parametrize(
    "where", ["UPDATE playground_folder", "playground_savedrequest", "DELETE FROM"]
)
def test_all_or_nothing(where: str) -> None:
    collection = example_collections.example()
    text = dump(collection)
    SavedRequest.objects.create(collection=collection, name="Mine", document={})
    before = dump(collection)
    changed = text.replace('"name": "Soups"', '"name": "Stews"').replace('"Hot"', '"Warm"')
    plan = plan_import(edited(changed, "About Leek.", "Of leeks."), None, exact=True)

    def fail(execute: Any, sql: str, *rest: Any) -> Any:
        written = sql.replace('"', "").replace("INSERT INTO", "UPDATE")
        if where in written and not written.startswith("SELECT"):
            raise DatabaseError("the disk is full")
        return execute(sql, *rest)

    with connection.execute_wrapper(fail), pytest.raises(DatabaseError):
        apply_import(plan)
    assert dump(collection) == before
    collection.refresh_from_db()
    assert collection.name == "Soups"


def test_what_changed_since_the_plan_was_made_is_seen() -> None:
    collection = example_collections.example()
    text = dump(collection)
    plan = plan_import(edited(text, "About Leek.", "Of leeks."), None)
    collection.requests.filter(slug="first").delete()
    apply_import(plan)
    assert collection.requests.filter(slug="first").exists()


def test_collections_of_others_are_not_touched(django_user_model: Any) -> None:
    mine = django_user_model.objects.create_user("me")
    theirs = django_user_model.objects.create_user("you")
    shared, other = example_collections.example(), example_collections.example(owner=theirs)
    fixture = edited(dump(shared), "About Leek.", "Of leeks.")
    plan = plan_import(fixture, mine)
    assert plan.collection is None
    made = apply_import(plan)
    assert made.owner == mine
    for each in (shared, other):
        assert each.requests.get(slug="leek").notes == "About Leek."
    apply_import(plan_import(fixture, theirs))
    assert other.requests.get(slug="leek").notes == "Of leeks."
    assert Collection.objects.count() == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (1, 1.0), (1, True), (None, False), ([], {}), ({}, {"n": None}), ([[0]], [[False]]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}), (2**53, 2**53 + 1),
    ],
    ids=range(8),
)  # fmt: skip
def test_values_that_are_equal_in_python_only_are_not_the_same(old: Any, new: Any) -> None:
    collection = example_collections.example()
    collection.requests.filter(slug="leek").update(document={"value": old})
    fixture = fixture_of(collection)
    assert plan_import(fixture, None).changes_nothing
    collection.requests.filter(slug="leek").update(document={"value": new})
    plan = plan_import(fixture, None)
    assert slugs_by_status(plan)["changed"] == ["leek"]
    apply_import(plan)
    assert dump(collection) == fixture_text(fixture)


def test_differences_are_bounded() -> None:
    collection = example_collections.example()
    for size, shown in ((1_000, MAX_SHOWN), (5_000, 1)):
        document = {"values": list(range(size))}
        collection.requests.filter(slug="leek").update(document=document)
        fixture = fixture_of(collection)
        collection.requests.filter(slug="leek").update(document={"values": [-1] * size})
        (change,) = changed(plan_import(fixture, None))
        assert len(change.differences[0].lines) == shown


def test_a_difference_shows_only_what_is_around_it() -> None:
    collection = example_collections.example()
    lines = [f"line {number}" for number in range(30)]
    collection.requests.filter(slug="leek").update(notes="\n".join(lines))
    fixture = fixture_of(collection)
    lines[5], lines[25] = "x" * 500, "other"
    collection.requests.filter(slug="leek").update(notes="\n".join(lines))
    (change,) = changed(plan_import(fixture, None))
    shown = change.differences[0].lines
    assert [line.sign for line in shown] == [*"  -+  ", "…", *"  -+  "]
    assert shown[2].text == "x" * 400 + "…"


@given(example_collections.fixtures(), example_collections.fixtures())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_an_import_the_same_import_has_nothing_to_do(one: Fixture, two: Fixture) -> None:
    two = two.renamed(one.slug)
    collection = apply_import(plan_import(one, None))
    apply_import(plan_import(two, None))
    assert plan_import(two, None).changes_nothing
    assert len(fixture_of(collection).requests) == len({*one.requests, *two.requests})
    same = apply_import(plan_import(two, None, exact=True))
    assert dump(same) == fixture_text(two)
    same.delete()
