"""Changes between two versions."""

from __future__ import annotations

from typing import Any

from playground.protocols.reference import read_reference, reference
from playground.protocols.reference_changes import Change, changes


def between(before: dict[str, Any], after: dict[str, Any]) -> set[tuple[Any, ...]]:
    older, newer = read_reference("x", "1", before), read_reference("x", "2", after)
    found = changes(older, newer)
    assert len(found) == len(set(found))
    return {(each.kind, each.document, each.pointer, each.before, each.after) for each in found}


def thing(**properties: Any) -> dict[str, Any]:
    return {"thing": {"properties": properties}}


def test_names() -> None:
    found = between(
        {**thing(a={}, b={"properties": {"c": {}}}), "old": {}},
        {**thing(b={"properties": {"d": {}}}), "new": {}},
    )
    assert found == {
        ("removed", "thing", "/a", (), ()),
        ("removed", "thing", "/b/c", (), ()),
        ("added", "thing", "/b/d", (), ()),
        ("removed", "old", "", (), ()),
        ("added", "new", "", (), ()),
    }


def test_types_values_limits_and_defaults() -> None:
    found = between(
        thing(a={"type": "string"}, b={"enum": ["x", "y"]}, c={"minimum": 1, "default": 1}),
        thing(a={"type": ["string", "null"]}, b={"enum": ["y", "z"]}, c={"minimum": 2}),
    )
    assert found == {
        ("type", "thing", "/a", (), ("null",)),
        ("values", "thing", "/b", ("x",), ("z",)),
        ("limits", "thing", "/c", ("at least 1",), ("at least 2",)),
        ("default", "thing", "/c", ("1",), ()),
    }


def test_requirements_and_conditions() -> None:
    before = {"thing": {"properties": {"a": {}, "b": {}}}}
    condition = {"properties": {"k": {"const": "v"}}, "required": ["k"]}
    then = {"properties": {"b": {}}, "required": ["b"]}
    after = {"thing": {"required": ["a"], "properties": {"a": {}}, "if": condition, "then": then}}
    assert between(before, after) == {
        ("required", "thing", "/a", ("optional",), ("required",)),
        ("required", "thing", "/b", ("optional",), ("required",)),
        ("condition", "thing", "/b", (), ("k = v",)),
    }


def test_the_same_has_none() -> None:
    found = reference("nlweb", "0.55")
    assert changes(found, found) == ()


def test_nlweb() -> None:
    older, newer = reference("nlweb", "0.54"), reference("nlweb", "0.55")
    found = {(each.kind, each.document, each.pointer): each for each in changes(older, newer)}
    assert ("added", "event-error", "") in found
    assert ("removed", "event-end", "") in found
    assert ("removed", "request-meta", "/api_version") in found
    assert ("added", "action", "/server") in found
    change = found["required", "action", "/protocol"]
    assert isinstance(change, Change)
    assert (change.before, change.after) == (("optional",), ("required",))
    assert all(each.text for each in found.values())
