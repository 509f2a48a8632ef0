"""Differences of two JSON values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from playground.protocols.diff.json_values import (
    MAX_DEPTH,
    MISSING,
    Values,
    identical,
)
from playground.protocols.diff.responses import compare_documents
from playground.protocols.json_pointer import resolve
from tests.support import json_values

VALUES = json_values.values(["a", "b", "a/b", "~", "url", "name"], ["x", "1"])

#: Left, right, and the changes as (pointer, left, right).
TABLE: list[tuple[str, Any, Any, list[tuple[str, Any, Any]]]] = [
    ("nothing", {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, []),
    ("scalars", 1, 2, [("", 1, 2)]),
    ("1 is 1.0", [1, {"a": 2.0}], [1.0, {"a": 2}], []),
    ("0 is -0.0", 0, -0.0, []),
    ("1 is not true", 1, True, [("", 1, True)]),
    ("0 is not false", [0.0], [False], [("/0", 0.0, False)]),
    ("null is a value", {"a": None}, {}, [("/a", None, MISSING)]),
    ("null is not false", None, False, [("", None, False)]),
    ("1 is not its text", 1, "1", [("", 1, "1")]),
    ("an integer beyond a float", 10**400, 10**400 + 1, [("", 10**400, 10**400 + 1)]),
    ("an integer beside its float", 2**53 + 1, float(2**53), [("", 2**53 + 1, float(2**53))]),
    ("half of a character", "\ud800", "\ud801", [("", "\ud800", "\ud801")]),
    ("no list is an object", [], {}, [("", [], {})]),
    ("members in another order", {"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
    ("added", {}, {"a": 1}, [("/a", MISSING, 1)]),
    ("removed", {"a": {"b": 1}}, {"a": {}}, [("/a/b", 1, MISSING)]),
    ("names with escapes", {"a/b": {"~": 1}}, {"a/b": {"~": 2}}, [("/a~1b/~0", 1, 2)]),
    ("an empty name", {"": 1}, {"": 2}, [("/", 1, 2)]),
    ("elements in another order", [1, 2], [2, 1], [("/0", 1, 2), ("/1", 2, 1)]),
    ("in the middle of a list", [1, 2, 3], [1, 3], [("/1", 2, MISSING)]),
    ("at the end", [1], [1, 2], [("/1", MISSING, 2)]),
    ("by what names them", [{"url": "a"}, {"url": "b", "x": 1}], [{"url": "b", "x": 2}],
     [("/0", {"url": "a"}, MISSING), ("/1/x", 1, 2)]),
    ("by an @id", [{"@id": "1", "n": 1}, {"@id": "2", "n": 2}], [{"@id": "2", "n": 2}],
     [("/0", {"@id": "1", "n": 1}, MISSING)]),
    ("names that are not unique", [{"name": "a"}, {"name": "a"}], [{"name": "a"}],
     [("/1", {"name": "a"}, MISSING)]),
    ("names that two share", [{"name": "A", "n": 1}, {"name": "A", "n": 2}],
     [{"name": "A", "n": 1}, {"name": "A", "n": 3}], [("/1/n", 2, 3)]),
    ("one of two alike", ["a", "a"], ["a"], [("/1", "a", MISSING)]),
    ("another kind of value", {"a": [1]}, {"a": {"b": 1}}, [("/a", [1], {"b": 1})]),
]  # fmt: skip


def changes(left: Any, right: Any, **options: Any) -> list[tuple[str, Any, Any]]:
    found = Values(**options).changes(left, right)
    return [(each.pointer, each.left, each.right) for each in found]


@pytest.mark.parametrize(
    ("left", "right", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_changes(left: Any, right: Any, wanted: list[tuple[str, Any, Any]]) -> None:
    # As text, because for Python 1 equals 1.0 and True.
    found = compare_documents(left, right).differences
    told = [
        (
            each.pointer,
            *(
                MISSING if each.change == end else value
                for end, value in (("added", each.left), ("removed", each.right))
            ),
        )
        for each in found
    ]
    assert sorted(map(repr, told)) == sorted(map(repr, wanted))
    back = {(pointer.count("/"), repr(b), repr(a)) for pointer, a, b in changes(right, left)}
    assert back == {(pointer.count("/"), repr(a), repr(b)) for pointer, a, b in wanted}


def test_by_place_the_elements_beside_each_other_are_compared() -> None:
    assert changes([1, 2, 3], [1, 3], by_place=True) == [("/1", 2, 3), ("/2", 3, MISSING)]
    left, right = [{"url": "a"}, {"url": "b"}], [{"url": "b"}]
    found = [("/0/url", "a", "b"), ("/1", {"url": "b"}, MISSING)]
    assert changes(left, right, by_place=True) == found


@pytest.mark.parametrize("levels", [0, 1, 12, MAX_DEPTH])
@pytest.mark.parametrize("depth", [300, 2_000])
def test_what_is_deeper_is_compared_as_a_whole(levels: int, depth: int) -> None:
    def nest(value: Any) -> Any:
        for _ in range(depth):
            value = {"a": value}
        return value

    [(pointer, _, _)] = changes(nest(1), nest(2), levels=levels)
    assert pointer == "/a" * levels
    assert changes(nest(1), nest(1.0), levels=levels) == []
    assert changes(nest(1), nest(True), levels=levels) != []


@given(VALUES, VALUES)
def test_changes_are_where_they_say(left: Any, right: Any) -> None:
    found = changes(left, right, by_place=True)
    assert bool(found) == (Values().digest(left) != Values().digest(right))
    for pointer, one, other in found:
        for document, value in ((left, one), (right, other)):
            if value is MISSING:
                with pytest.raises(LookupError):
                    resolve(document, pointer)
            else:
                assert resolve(document, pointer) is value


@given(VALUES)
def test_what_was_written_and_read_again_is_the_same(value: Any) -> None:
    again = json.loads(json.dumps(value))
    assert changes(value, again) == []
    assert identical(value, again)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([f"a{n}" for n in range(8_000)], [f"b{n}" for n in range(8_000)]),
        ([{"t": n} for n in range(8_000)], [{"t": -n} for n in range(1, 8_000)]),
        ([n % 7 for n in range(8_000)], [n % 11 for n in range(8_000)]),
        ([{"url": str(n)} for n in range(8_000)], [{"url": str(n)} for n in range(8_000, 0, -1)]),
    ],
)
@pytest.mark.parametrize("ordered", [True, False])
def test_time_is_bounded(left: Any, right: Any, ordered: bool) -> None:
    """Comparing each with each would take longer than this test may."""
    changes(left, right, ordered=ordered)
