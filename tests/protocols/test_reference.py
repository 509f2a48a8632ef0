"""The reference: attributes of schemas, where they are found, and requests that use them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from playground.protocols import schemas
from playground.protocols.explanations import Condition, explain
from playground.protocols.reference import (
    Attribute,
    Change,
    Reference,
    anchor,
    changes,
    example_request,
    path_of,
    read_reference,
    reference,
)
from tests.support.schema_places import places

VERSIONS = schemas.versions()
BY_VERSION = pytest.mark.parametrize("pair", VERSIONS, ids="-".join)


def small(**roots: Mapping[str, Any]) -> Reference:
    """A reference of schemas that refer to each other as `schemas.load` leaves them."""
    bundled = {name: {**root, "$defs": roots} for name, root in roots.items()}
    return read_reference("example", "1", bundled)


def at(found: Reference, document: str, pointer: str) -> Attribute:
    attribute = found.attribute(document, pointer)
    assert attribute, pointer
    return attribute


# All schemas


@BY_VERSION
def test_every_property_of_every_schema_occurs_once(pair: tuple[str, str]) -> None:
    found = reference(*pair)
    assert {each.name for each in found.documents} == set(schemas.names(*pair))
    for document in found.documents:
        # References between the files of a version are left as they are.
        raw = schemas.load(*pair, document.name)
        rows = [each.pointer for each in document.attributes if each.name != "0"]
        named = {each.where for each in places(raw) if not each.where.endswith("/0")}
        assert sorted(rows) == sorted(named)
    anchors = Counter(each.anchor for each in found.attributes())
    assert anchors.most_common(1)[0][1] == 1
    assert not set(anchors) & {document.name for document in found.documents}


@BY_VERSION
def test_an_attribute_is_found_at_its_own_location(pair: tuple[str, str]) -> None:
    found = reference(*pair)
    for each in found.attributes():
        assert (each.document, each.pointer) in found.find(each.document, each.pointer)


@BY_VERSION
def test_the_texts_are_those_of_the_explanations(pair: tuple[str, str]) -> None:
    for each in reference(*pair).attributes():
        explanation = explain(*pair, each.document, each.pointer)
        assert each.text == (explanation.text if explanation else "")
        if explanation:
            assert each.is_listed == explanation.is_listed


@BY_VERSION
def test_an_example_request_is_valid_and_has_the_attribute(pair: tuple[str, str]) -> None:
    found = reference(*pair)
    for each in found.attributes():
        location, request = found.request_location(each), example_request(found, each)
        if request is None:
            # Without a name, or without a value.
            assert location is None or not each.is_listed or not (each.types or each.example)
            continue
        assert location
        schema = schemas.load(*pair, location[0])
        assert not list(Draft202012Validator(schema).iter_errors(request)), each
        if each.example is not None:
            assert found.find(*location)


@pytest.mark.parametrize(
    ("pair", "schema", "pointer", "expected"),
    [
        (("nlweb", "0.55"), "answer", "/results/12/actions/3/method", [("action", "/method")]),
        (("nlweb", "0.55"), "answer", "/content/3/text", [("answer", "/content/0/text")]),
        (("nlweb", "0.55"), "ask-request", "/query/diet", [("ask-request", "/query/*")]),
        (("nlweb", "0.55"), "ask-request", "/query", [("ask-request", "/query")]),
        (("nlweb", "0.55"), "ask-request", "", [("ask-request", "")]),
        (
            ("nlweb", "0.55"),
            "failure",
            "/_meta/response_type",
            [("failure", "/_meta/response_type"), ("response-meta", "/response_type")],
        ),
        (("nlweb", "0.55"), "response", "/error/code", [("failure", "/error/code")]),
        (("nlweb", "0.55"), "failure", "/nothing/below", [("failure", "")]),
        (("nlweb", "0.55"), "nothing", "/a", []),
        (("agent-api", "1"), "event", "/output/3/content/1/text", [("content", "/text")]),
    ],
)
def test_where_a_location_is_described(
    pair: tuple[str, str], schema: str, pointer: str, expected: list[tuple[str, str]]
) -> None:
    assert list(reference(*pair).find(schema, pointer)) == expected


@given(st.sampled_from(VERSIONS), st.text(max_size=30), st.data())
def test_any_pointer_leads_to_something_described(
    pair: tuple[str, str], rest: str, data: st.DataObject
) -> None:
    found = reference(*pair)
    document = data.draw(st.sampled_from(found.documents))
    for name, place in found.find(document.name, f"/{rest}"):
        assert place == "" or found.attribute(name, place)


# Keywords


def test_types_and_requirements() -> None:
    found = small(
        thing={
            "required": ["a"],
            "properties": {
                "a": {"type": ["null", "string"]},
                "b": {"type": "array", "items": {"enum": [1, 2]}},
                "c": {"const": "x", "default": "x"},
                "d": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/other"}]},
                "e": {"type": "array", "items": {"$ref": "#/$defs/other"}, "minItems": 1},
            },
            "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
        },
        other={"properties": {"x": {"type": "integer", "minimum": 0, "maximum": 9}}},
    )
    assert (at(found, "thing", "/a").types, at(found, "thing", "/a").is_required) == (
        ("string", "null"),
        True,
    )
    assert at(found, "thing", "/b").element_types == ("integer",)
    assert at(found, "thing", "/b").is_alternative
    assert not at(found, "thing", "/d").is_alternative
    assert at(found, "thing", "/c").choices == ("x",)
    assert at(found, "thing", "/c").default == "x"
    assert at(found, "thing", "/d").refers_to == ("other",)
    assert at(found, "thing", "/d").types == ("null",)
    assert at(found, "thing", "/e").elements_refer_to == ("other",)
    assert at(found, "thing", "/e").limits == ("minimum number of elements 1",)
    assert at(found, "other", "/x").limits == ("at least 0", "at most 9")
    assert {each.name: each.kind for each in found.documents} == {
        "thing": "document",
        "other": "part",
    }
    assert found.find("thing", "/e/7/x") == (("other", "/x"),)
    assert found.find("thing", "/d/x") == (("other", "/x"),)


def test_what_a_part_requires_is_required_where_it_is_used() -> None:
    found = small(
        thing={
            "properties": {
                "part": {
                    "allOf": [{"$ref": "#/$defs/part"}],
                    "properties": {"kind": {"const": "a"}},
                    "description": "A part.",
                }
            }
        },
        part={"required": ["kind"], "properties": {"kind": {}}, "examples": [{"kind": "b"}]},
    )
    assert at(found, "thing", "/part/kind").is_required
    # The example of the part is shown with the part.
    assert at(found, "thing", "/part").example is None


def test_what_several_forms_require_and_refer_to() -> None:
    found = small(
        thing={
            "properties": {"a": {"type": "string"}, "b": {"$ref": "#/$defs/other"}},
            "anyOf": [{"required": ["a"]}],
            "additionalProperties": {
                "anyOf": [
                    {"items": {"type": "integer", "description": "An element."}},
                    {"additionalProperties": {"type": "string"}},
                ]
            },
        },
        other={"anyOf": [{"$ref": "#/$defs/third"}, {"properties": {"x": {}}}]},
        third={"properties": {"child": {"$ref": "#/$defs/third"}}},
    )
    assert at(found, "thing", "/a").is_required
    assert at(found, "thing", "/b").refers_to == ("other",)
    assert found.attribute("thing", "/b/x") is None
    assert at(found, "thing", "/*/0").types == ("integer",)
    # Neither a form of a document nor what refers to itself is a part.
    kinds = {each.name: each.kind for each in found.documents}
    assert kinds == {"thing": "document", "other": "part", "third": "document"}


def test_conditions() -> None:
    kind = {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    found = small(
        thing={
            "properties": {"kind": {"type": "string"}, "always": {}},
            "if": kind,
            "then": {
                "required": ["one", "always"],
                "properties": {"one": {"type": "string"}, "two": {}},
            },
            "else": {"properties": {"two": {}, "three": {}}},
        }
    )
    given = Condition("/kind", ("a",))
    other = Condition("/kind", ("a",), is_negated=True)
    assert at(found, "thing", "/kind").conditions == ()
    assert at(found, "thing", "/one").conditions == ((given,),)
    assert at(found, "thing", "/one").is_required
    assert at(found, "thing", "/two").conditions == ((given,), (other,))
    assert at(found, "thing", "/three").conditions == ((other,),)
    assert not at(found, "thing", "/always").is_required
    assert at(found, "thing", "/always").required_if == ((given,),)


def test_a_condition_on_the_existence_of_a_member_and_one_that_may_be_missing() -> None:
    found = small(
        thing={
            "allOf": [
                {"if": {"required": ["a"]}, "then": {"properties": {"b": {}}}},
                {"if": {"properties": {"a": {"enum": [1]}}}, "then": {"properties": {"c": {}}}},
                {
                    "if": {"properties": {"a": {"properties": {"x": {"const": 1}}}}},
                    "then": {"properties": {"d": {}}},
                },
            ]
        }
    )
    assert at(found, "thing", "/b").conditions == ((Condition("/a", ()),),)
    assert at(found, "thing", "/c").conditions == ((Condition("/a", (1,), may_be_missing=True),),)
    assert at(found, "thing", "/d").conditions == ((Condition("/a/x", (1,), may_be_missing=True),),)


def test_recursion() -> None:
    found = small(
        node={"properties": {"child": {"$ref": "#/$defs/node"}, "other": {"$ref": "#/$defs/list"}}},
        list={"type": "array", "items": {"$ref": "#/$defs/node"}},
        loop={"$ref": "#/$defs/loop", "properties": {"a": {"$ref": "#/$defs/loop"}}},
    )
    assert at(found, "node", "/child").refers_to == ("node",)
    assert found.find("node", "/child/child/child") == (("node", "/child"),)
    assert found.find("node", "/other/3/child/other/0") == (("list", ""),)
    assert at(found, "loop", "/a")


def test_an_element_has_a_row_if_it_is_described() -> None:
    items = {"type": "string", "description": "A name.", "x-values": {"a": "The first."}}
    found = small(thing={"properties": {"a": {"type": "array", "items": items}}})
    element = at(found, "thing", "/a/0")
    assert (element.text, element.values) == ("A name.", {"a": "The first."})
    assert (element.path, element.depth) == ("a[]", 0)


def test_a_part_of_a_request_is_located_in_it() -> None:
    found = small(
        request={"properties": {"list": {"items": {"$ref": "#/$defs/part"}}}},
        part={
            "properties": {"kind": {}, "a": {"description": "A.", "examples": ["x"]}},
            "allOf": [
                {
                    "if": {"properties": {"kind": {"const": "k"}}, "required": ["kind"]},
                    "then": {"properties": {"b": {"type": "boolean"}}},
                }
            ],
        },
        response={"properties": {"c": {"examples": [1]}}},
    )
    assert found.request_location(at(found, "part", "/a")) == ("request", "/list/0/a")
    assert example_request(found, at(found, "part", "/a")) == {"list": [{"a": "x"}]}
    assert example_request(found, at(found, "part", "/b")) == {"list": [{"kind": "k", "b": True}]}
    assert example_request(found, at(found, "response", "/c")) is None


def test_an_attribute_is_set_in_the_first_element_of_an_example() -> None:
    entry = {"properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}}
    root = {"properties": {"list": {"items": entry}}, "examples": [{"list": [{"a": 1}, {"a": 2}]}]}
    found = small(request=root)
    expected = {"list": [{"a": 1, "b": True}, {"a": 2}]}
    assert example_request(found, at(found, "request", "/list/0/b")) == expected
    assert found.documents[0].examples == ({"list": [{"a": 1}, {"a": 2}]},)


def test_the_anchor_can_stand_in_a_url() -> None:
    assert anchor("answer", "/_meta/openai~1outputTemplate") == (
        "answer/_meta/openai~1outputTemplate"
    )
    assert anchor("a", "/@type/*/0/-") == "a/@type/*/0/-"
    assert anchor("a", '/two words/"><') == "a/two%20words/%22%3E%3C"


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [("/a", "a"), ("/a/0/b", "a[].b"), ("/a/*", "a.*"), ("/a~1b/0/0", "a/b[][]"), ("", "")],
)
def test_the_path(pointer: str, expected: str) -> None:
    assert path_of(pointer) == expected


def test_an_unknown_version() -> None:
    with pytest.raises(ValueError, match="No schemas"):
        reference("nlweb", "9")


def thing(**properties: Any) -> dict[str, Any]:
    return {"thing": {"properties": properties}}


IF_KIND = {
    "if": {"properties": {"k": {"const": "v"}}, "required": ["k"]},
    "then": {"properties": {"b": {}}, "required": ["b"]},
}
#: An older and a newer version, and the changes: kind, document, pointer, before, after.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any], set[tuple[Any, ...]]]] = {
    "names": (
        {**thing(a={}, b={"properties": {"c": {}}}), "old": {}},
        {**thing(b={"properties": {"d": {}}}), "new": {}},
        {
            ("removed", "thing", "/a", (), ()),
            ("removed", "thing", "/b/c", (), ()),
            ("added", "thing", "/b/d", (), ()),
            ("removed", "old", "", (), ()),
            ("added", "new", "", (), ()),
        },
    ),
    "types, values, limits and defaults": (
        thing(a={"type": "string"}, b={"enum": ["x", "y"]}, c={"minimum": 1, "default": 1}),
        thing(a={"type": ["string", "null"]}, b={"enum": ["y", "z"]}, c={"minimum": 2}),
        {
            ("type", "thing", "/a", (), ("null",)),
            ("values", "thing", "/b", ("x",), ("z",)),
            ("limits", "thing", "/c", ("at least 1",), ("at least 2",)),
            ("default", "thing", "/c", ("1",), ()),
        },
    ),
    "requirements and conditions": (
        thing(a={}, b={}),
        {"thing": {"required": ["a"], "properties": {"a": {}}, **IF_KIND}},
        {
            ("required", "thing", "/a", ("optional",), ("required",)),
            ("required", "thing", "/b", ("optional",), ("required",)),
            ("condition", "thing", "/b", (), ("k = v",)),
        },
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), CHANGES.values(), ids=CHANGES)
def test_changes_of(
    before: dict[str, Any], after: dict[str, Any], expected: set[tuple[Any, ...]]
) -> None:
    found = changes(read_reference("x", "1", before), read_reference("x", "2", after))
    assert len(found) == len(expected)
    assert {
        (each.kind, each.document, each.pointer, each.before, each.after) for each in found
    } == expected


def test_the_same_has_no_changes() -> None:
    found = reference("nlweb", "0.55")
    assert changes(found, found) == ()


def test_changes_of_nlweb() -> None:
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
