"""Differences between two session contexts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from playground.rendering.session_history import MAX_CHANGES, MAX_DEPTH, Change, changes
from tests.support.json_values import values

VALUES = values(["turn", "topics", "a/b", "~"])

TABLE: list[tuple[str, Any, Any, list[Change]]] = [
    ("nothing", {"a": 1}, {"a": 1}, []),
    ("added", {}, {"a": 1}, [Change("added", "/a", after="1")]),
    ("dropped", {"a": "x"}, {}, [Change("dropped", "/a", before="“x”")]),
    ("changed", {"a": 1}, {"a": 2}, [Change("changed", "/a", "1", "2")]),
    ("another type", {"a": 1}, {"a": "1"}, [Change("changed", "/a", "1", "“1”")]),
    ("true is not 1", {"a": 1}, {"a": True}, [Change("changed", "/a", "1", "yes")]),
    ("null is a value", {"a": None}, {}, [Change("dropped", "/a", before="null")]),
    ("became null", {"a": []}, {"a": None}, [Change("changed", "/a", "[]", "null")]),
    ("nested", {"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}},
     [Change("changed", "/a/b", "1", "3")]),
    ("in a list", {"a": [1, 2]}, {"a": [1, 3, 4]},
     [Change("changed", "/a/1", "2", "3"), Change("added", "/a/2", after="4")]),
    ("a shorter list", {"a": [1, 2]}, {"a": [1]}, [Change("dropped", "/a/1", before="2")]),
    ("an object for a list", {"a": [1]}, {"a": {}}, [Change("changed", "/a", "1", "{}")]),
    ("names that need escapes", {}, {"a/b~c": 0}, [Change("added", "/a~1b~0c", after="0")]),
    ("an empty name", {"": 0}, {}, [Change("dropped", "/", before="0")]),
    ("no objects at all", 1, [], [Change("changed", "", "1", "[]")]),
    ("in the order of what was", {"b": 1, "a": 1}, {"c": 1, "a": 2},
     [Change("dropped", "/b", before="1"), Change("changed", "/a", "1", "2"),
      Change("added", "/c", after="1")]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_changes(before: Any, after: Any, wanted: list[Change]) -> None:
    assert changes(before, after) == wanted


def test_each_kind_has_a_sign_of_its_own() -> None:
    kinds = ("added", "changed", "dropped")
    assert len({Change(kind, "/a").sign for kind in kinds}) == len(kinds)


@given(VALUES)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert changes(value, value) == []


@given(VALUES, VALUES)
def test_any_two_values_have_a_difference(before: Any, after: Any) -> None:
    found = changes(before, after)
    assert len(found) <= MAX_CHANGES
    there, back = {c.pointer for c in found}, {c.pointer for c in changes(after, before)}
    assert there == back or len(found) == MAX_CHANGES


def test_what_is_huge_is_cut() -> None:
    found = changes({}, {str(number): "x" * 10_000 for number in range(5_000)})
    assert len(found) == MAX_CHANGES
    assert all(len(change.after) < 200 for change in found)


def test_what_is_very_deep_is_compared_as_a_whole() -> None:
    def nest(value: Any) -> Any:
        for _ in range(500):
            value = {"a": value}
        return value

    [change] = changes(nest(1), nest(2))
    assert change.pointer == "/a" * MAX_DEPTH
