"""Schemas of servers: bounded, whatever they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from playground.conformance import Verdict
from playground.conformance.mcp.input_schemas import (
    MAX_DEPTH,
    MAX_VALUES,
    InputSchema,
    SchemaReferenceError,
    UncheckedError,
    find_property,
)
from tests.conformance.mcp.scripts import ask_schema

#: The most calls of functions that a refusal may take.
CALLS = 5_000_000
ASKED = {"query": {"text": "a" * 40}}


def text(schema: Any) -> dict[str, Any]:
    query = {"type": "object", "properties": {"text": schema}}
    return {"type": "object", "properties": {"query": query}}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth // 2):
        schema = {"properties": {"a": schema}}
    return schema


def doubled(keyword: str, **more: Any) -> dict[str, Any]:
    """References to references, twice each: 2 ** 30 validations."""
    parts: dict[str, Any] = {
        f"a{at}": {keyword: [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(30)
    }
    return {"$ref": "#/$defs/a0", "$defs": {**parts, "a30": True}, **more}


def chained(keyword: str) -> dict[str, Any]:
    """Two references in each of 60 parts, which jsonschema follows by itself."""
    parts: dict[str, Any] = {
        f"a{at}": {"$ref": f"#/$defs/a{at + 1}", "$dynamicRef": f"#/$defs/a{at + 1}"}
        for at in range(60)
    }
    return {keyword: False, "$ref": "#/$defs/a0", "$defs": {**parts, "a60": {}}}


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail as soon as more functions are called: the same number on every machine."""
    remaining = calls

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal remaining
        remaining -= event == "call"
        if remaining < 0:
            sys.setprofile(None)
            pytest.fail(f"There were more than {calls:,} calls.")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)


class TestBounds:
    @pytest.mark.parametrize(
        ("schema", "reason"),
        [
            (nested(10_000), f"{MAX_DEPTH} levels"),
            ({"enum": list(range(MAX_VALUES + 1))}, "2,000 values"),
            (doubled("allOf"), "50,000 steps"),
            (doubled("anyOf", unevaluatedProperties=False), "50,000 steps"),
            (text({"pattern": "(?=a)(a+)+$"}), "exponential time"),
            (text({"pattern": "a" * 1_001}), "1,000 characters"),
            ({"patternProperties": {"q": {}}, "unevaluatedProperties": False}, "unevaluated"),
            (chained("unevaluatedProperties"), "unevaluatedProperties and .dynamicRef"),
            ({"$schema": "https://example.com/dialect"}, "dialect"),
            ({"$schema": 5}, "dialect"),
        ],
    )
    def test_named(self, schema: Any, reason: str) -> None:
        with pytest.raises(UncheckedError, match=reason), at_most(CALLS):
            InputSchema(schema).rejection(ASKED)

    def test_unevaluated_items_are_bounded_as_well(self) -> None:
        expected = r"unevaluatedItems and \$dynamicRef"
        with pytest.raises(UncheckedError, match=expected), at_most(CALLS):
            InputSchema(chained("unevaluatedItems")).rejection(["a"])

    def test_a_catastrophic_pattern_is_matched(self) -> None:
        part = InputSchema(text({"pattern": "^(a+)+b$"})).rejection(ASKED)
        assert part is not None
        assert part.path[-1] == "pattern"

    def test_a_dialect_in_a_part_does_not_lift_the_bounds(self) -> None:
        part = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+b$"}
        assert InputSchema(text(part)).rejection(ASKED) is not None

    @pytest.mark.parametrize(
        ("schema", "path", "is_dangling"),
        [
            ({"$ref": "#"}, ("$ref",), False),
            ({"$dynamicRef": "#"}, ("$dynamicRef",), False),
            ({"allOf": [{"$ref": "#"}]}, ("allOf", 0, "$ref"), False),
            ({"$ref": "https://example.com/schema"}, ("$ref",), False),
            ({"$ref": "#/$defs/a"}, ("$ref",), True),
            ({"title": "a", "$ref": "#/title"}, ("$ref",), True),
        ],
    )
    def test_references(self, schema: Any, path: Any, is_dangling: bool) -> None:
        with pytest.raises(SchemaReferenceError) as caught:
            InputSchema(schema).rejection(ASKED)
        assert (caught.value.part.path, caught.value.is_dangling) == (path, is_dangling)

    def test_a_long_schema_is_not_checked(self) -> None:
        report = ask_schema({"type": "object", "description": "a" * 300_000}).report_for()
        assert report.verdicts["mcp.tool-ask-schema"] is Verdict.INCOMPLETE
        assert report.verdicts["mcp.tool-schema"] is Verdict.INCOMPLETE


class TestDialects:
    def test_the_default_is_2020_12(self) -> None:
        schema = {"dependentRequired": {"query": ["meta"]}}
        assert InputSchema(schema).rejection(ASKED) is not None

    def test_the_dialect_that_the_schema_names(self) -> None:
        """Draft 7 has dependencies instead."""
        draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
        newer, older = {"dependentRequired": {"query": ["m"]}}, {"dependencies": {"query": ["m"]}}
        assert InputSchema({**draft, **newer}).rejection(ASKED) is None
        assert InputSchema({**draft, **older}).rejection(ASKED) is not None

    @pytest.mark.parametrize(
        ("schema", "path"),
        [
            ({"type": "objekt"}, ("type",)),
            ({"required": "query"}, ("required",)),
            ({"properties": {"a": {"minLength": "1"}}}, ("properties", "a", "minLength")),
        ],
    )
    def test_invalid_schemas(self, schema: Any, path: Any) -> None:
        part = InputSchema(schema).invalid_part()
        assert part is not None
        assert part.path == path


@pytest.mark.parametrize(
    ("schema", "path", "is_defined"),
    [
        ({"properties": {"a": {}}}, ("properties", "a"), True),
        ({"allOf": [{}, {"properties": {"a": {}}}]}, ("allOf", 1, "properties", "a"), True),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {}}}, ("$defs", "A"), True),
        ({}, ("properties", "a"), False),
        (True, ("properties", "a"), False),
        ({"$ref": "#"}, ("properties", "a"), False),
        ({"$ref": "#/$ref"}, ("$ref", "properties", "a"), False),
    ],
)
def test_find_property(schema: Any, path: Any, is_defined: bool) -> None:
    assert find_property(schema, ["a"]) == (path, is_defined)


def test_a_property_is_searched_once_in_each_part() -> None:
    many = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}] * 20}
    schema = {**many, "$defs": {"a": many, "b": many}}
    assert find_property(schema, ["a"]) == (("properties", "a"), False)
