"""Differences between a fixture and a stored collection."""

from __future__ import annotations

from typing import Any

import pytest

from playground.collections.fixture import (
    dump,
    fixture_of,
    fixture_text,
)
from playground.collections.import_diff import MAX_SHOWN
from playground.collections.importer import apply_import, plan_import
from tests.collections.test_importer import slugs_by_status
from tests.support import example_collections

pytestmark = [pytest.mark.django_db, pytest.mark.database]


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
        (change,) = plan_import(fixture, None).of("changed")
        assert len(change.differences[0].lines) == shown


def test_a_difference_shows_only_what_is_around_it() -> None:
    collection = example_collections.example()
    lines = [f"line {number}" for number in range(30)]
    collection.requests.filter(slug="leek").update(notes="\n".join(lines))
    fixture = fixture_of(collection)
    lines[5], lines[25] = "x" * 500, "other"
    collection.requests.filter(slug="leek").update(notes="\n".join(lines))
    (change,) = plan_import(fixture, None).of("changed")
    shown = change.differences[0].lines
    assert [line.sign for line in shown] == [*"  -+  ", "…", *"  -+  "]
    assert shown[2].text == "x" * 400 + "…"
