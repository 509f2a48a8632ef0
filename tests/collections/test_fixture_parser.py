"""Parser of collection files: what it rejects, and the locations of problems."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.collections.fixture import FixtureError, fixture_text
from playground.collections.fixture_parser import (
    MAX_ITEMS,
    MAX_PROBLEMS,
    decode_file,
    parse_fixture,
)
from playground.import_export.import_formats import parse_import
from tests.support.example_collections import COLLECTION, FOLDER, REQUEST, with_fields
from tests.support.json_values import values


def without(item: dict[str, Any], name: str) -> dict[str, Any]:
    return {**item, "fields": {key: v for key, v in item["fields"].items() if key != name}}


def problems_of(text: str) -> list[str]:
    with pytest.raises(FixtureError) as error:
        parse_fixture(text)
    return [str(problem) for problem in error.value.problems]


def problems_of_items(*items: Any) -> list[str]:
    return problems_of(json.dumps(items))


def request_problems(**fields: Any) -> list[str]:
    """Return the problems of a request with these fields, without their location."""
    found = problems_of_items(COLLECTION, FOLDER, with_fields(REQUEST, **fields))
    prefix = "Item 3, playground.savedrequest, /fields"
    assert all(line.startswith(prefix) for line in found), found
    return [line.removeprefix(prefix) for line in found]


def test_a_file_that_is_right() -> None:
    found = parse_fixture(json.dumps([COLLECTION, FOLDER, REQUEST]))
    assert found.slug == "soups"
    assert found.requests["leek"]["folder"] == "hot"
    assert found.requests["leek"]["headers"] == []
    assert found.remarks == ()


def test_a_mark_in_front_of_the_text_is_no_part_of_it() -> None:
    assert parse_fixture("\ufeff" + json.dumps([COLLECTION])).slug == "soups"


def test_items_without_a_place_stand_as_in_the_file() -> None:
    items = [with_fields(REQUEST, slug=f"r{n}", folder=None) for n in range(3)]
    found = parse_fixture(json.dumps([COLLECTION, *(without(item, "position") for item in items)]))
    assert list(found.requests) == ["r0", "r1", "r2"]
    places = [fields["position"] for fields in found.requests.values()]
    assert places == sorted(set(places))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "The file is empty."),
        (" \n", "The file is empty."),
        ("{}", "A fixture must be a JSON array of items, each with a model and fields."),
        ("[]", "The file contains no collection (no item of model playground.collection)."),
        ("[1]", "Item 1: An item must be an object, not a number."),
        ("[\n  {,", "Line 2, column 4: Invalid JSON: expected a property name in double quotes."),
        ('[\n  {"model": "playground.col', "Line 2, column 13: Unexpected end of file"),
        ('[{"model": 1', "Line 1, column 13: Unexpected end of file: the JSON is incomplete."),
        ('[{"a": 1,\n "b": {"a": 2},\n "a": 3}]', "Line 3, column 2: Duplicate name “a”"),
        ('[{"a": {}}, {"b": 1, "\\u0062": 3}]', "Line 1, column 22: Duplicate name “b”"),
        ("[1e999]", "Line 1, column 2: Not a valid JSON number."),
        ('["NaN",\n NaN]', "Line 2, column 2: Not a valid JSON number."),
        (
            "[" * 100_000,
            "Line 1, column 104: Nested too deeply. The limit for a document is 100 levels.",
        ),
        ("[\n" * 104 + "]" * 104, "Line 104, column 1: Nested too deeply. The limit"),
    ],
    ids=range(14),
)
def test_what_is_no_json_list(text: str, wanted: str) -> None:
    found = problems_of(text)
    assert len(found) == 1
    assert found[0].startswith(wanted)


@pytest.mark.parametrize("at", range(0, 700, 23))
def test_a_file_that_was_cut(at: int) -> None:
    text = json.dumps([COLLECTION, FOLDER, REQUEST], indent=1)
    (found,) = problems_of(text[: min(at + 1, len(text) - 2)])
    assert "Line " in found


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        (
            {"model": "auth.user", "fields": {}},
            "Item 2: The model is “auth.user”. It must be one of playground.collection, "
            "playground.folder, playground.savedrequest.",
        ),
        ({"model": None}, "Item 2: The model is null. It must be one of "),
        (
            {**FOLDER, "more": 3},
            "Item 2, playground.folder, /more: Unknown member. An item has only",
        ),
        ({**FOLDER, "fields": []}, "Item 2, playground.folder, /fields: Must be an object"),
        (without(FOLDER, "name"), "Item 2, playground.folder, /fields: A folder requires “name”."),
        (
            with_fields(FOLDER, collection=["other"]),
            "Item 2, playground.folder, /fields/collection: The file contains the collection"
            " “soups”, not “other”.",
        ),
        (with_fields(FOLDER, collection="soups"), "Item 2, playground.folder, /fields/collection"),
        (
            with_fields(COLLECTION, slug="other"),
            "Item 2, playground.collection: The file contains a second collection.",
        ),
        (COLLECTION, "Item 2, playground.collection: The file contains a second collection."),
    ],
    ids=range(9),
)
def test_an_item_that_does_not_belong_there(item: dict[str, Any], wanted: str) -> None:
    found = problems_of_items(COLLECTION, item)
    assert len(found) == 1
    assert found[0].startswith(wanted)


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"document": {"a": "x" * 1_000_000}}, "/document: Longer than 1,000,000"),
        ({"folder": ["soups"]}, "/folder: Must be null, or an array"),
        ({"folder": ["other", "hot"]}, "/folder: Must be null, or an array"),
        ({"folder": ["soups", "cold"]}, "/folder: The file contains no folder “cold”."),
        ({"version": "0.1"}, "/version: Unknown version. The versions of this protocol are "),
        ({"protocol": "agent-api", "version": "1", "binding": "mcp"}, "/binding: Only NLWeb"),
        ({"headers": [["a"]]}, "/headers/0: Must be a pair of strings"),
        ({"headers": [["a", "b"], ["c d", "e"]]}, "/headers/1: Cannot be sent. “c d” is not"),
        ({"headers": [["Host", "a"]]}, "/headers/0: Cannot be sent. Host is set by"),
        ({"auth": {"type": "magic"}}, "/auth/type: Must be one of none, bearer"),
        ({"auth": {"type": {}}}, "/auth/type: Must be one of none, bearer"),
        ({"auth": {"type": "bearer", "secret": "a b"}}, "/auth/secret: Must be the name of"),
        ({"auth": {"type": "bearer"}}, "/auth/secret: Must be a string."),
        ({"auth": {"type": "none", "secret": "x"}}, "/auth/secret: Not a member of “none”"),
        (
            {"auth": {"type": "api_key", "header": "a b", "secret": "x"}},
            "/auth/header: Must be a valid header name.",
        ),
        ({"expectations": {}}, "/expectations: Expectations must be an array"),
        ({"expectations": [{"type": "state"}]}, "/expectations/0"),
        ({"expectations": [{"type": "json", "path": "$["}]}, "/expectations/0"),
        ({"captures": {"a": "$["}}, "/captures/a: "),
        ({"captures": []}, "/captures: Captures must be an object"),
        ({"reply": "text"}, "/reply: A recorded response must be a JSON object."),
        ({"reply": {"more": 1}}, "/reply/more: Unknown member of a recorded response."),
    ],
    ids=range(22),
)
def test_a_field_that_is_wrong(fields: dict[str, Any], wanted: str) -> None:
    assert request_problems(**fields)[0].startswith(wanted)


def test_a_folder_may_come_after_what_is_in_it() -> None:
    assert parse_fixture(json.dumps([COLLECTION, REQUEST, FOLDER])).folders.keys() == {"hot"}


def test_the_same_natural_key_twice() -> None:
    assert problems_of_items(COLLECTION, FOLDER, REQUEST, REQUEST) == [
        "Item 4, playground.savedrequest, /fields/slug: Duplicate slug: an earlier item also uses"
        " “leek”."
    ]
    assert problems_of_items(COLLECTION, FOLDER, FOLDER) == [
        "Item 3, playground.folder, /fields/slug: Duplicate slug: an earlier item also uses “hot”."
    ]


def test_all_that_is_wrong_is_said_at_once_up_to_a_limit() -> None:
    found = problems_of_items(COLLECTION, with_fields(FOLDER, name="", slug="a b"), {"model": "x"})
    assert [line.partition(":")[0] for line in found] == [
        "Item 2, playground.folder, /fields/name",
        "Item 2, playground.folder, /fields/slug",
        "Item 3",
    ]
    found = problems_of_items(*[{}] * 1000)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "Only the first problems are listed."


def test_many_requests_and_too_many() -> None:
    items = [with_fields(REQUEST, slug=f"r{number}", folder=None) for number in range(10_000)]
    assert len(parse_fixture(json.dumps([COLLECTION, *items])).requests) == 10_000
    found = problems_of(json.dumps([COLLECTION] * MAX_ITEMS))
    assert not [each for each in found if "can be read" in each]
    (found,) = problems_of(json.dumps([COLLECTION] * (MAX_ITEMS + 1)))
    assert found == "The file has 20,001 items. The limit is 20,000."
    (found,) = problems_of(" " * (32 * 1024 * 1024 + 1))
    assert found == "The file is longer than 32 million characters."


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ([["Authorization", "Bearer confidential"]], [["Authorization", ""]]),
        ([["X-API-Key", "confidential {{a}}"]], [["X-API-Key", ""]]),
        ([["Authorization", "Bearer {{token}}"]], [["Authorization", "Bearer {{token}}"]]),
        ([["X-API-Key", "{{ key }}"]], [["X-API-Key", "{{ key }}"]]),
        ([["X-Trace", "confidential"]], [["X-Trace", "confidential"]]),
    ],
    ids=range(5),
)
def test_literal_credentials_are_left_out(headers: Any, wanted: Any) -> None:
    item = with_fields(REQUEST, headers=headers)
    found = parse_fixture(json.dumps([COLLECTION, FOLDER, item]))
    assert found.requests["leek"]["headers"] == wanted
    assert bool(found.remarks) == (headers != wanted)
    assert "confidential" not in str(found.remarks)


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("https://me:confidential@a.example/ask", "https://a.example/ask"),
        ("https://{{login}}@a.example/ask", "https://{{login}}@a.example/ask"),
        ("https://me:{{pass}}@a.example/ask", "https://me:{{pass}}@a.example/ask"),
        ("https://{{me}}:confidential@a.example/ask", "https://a.example/ask"),
        ("https://me:confid@ential@a.example/ask", "https://a.example/ask"),
        ("me:confidential@a.example/ask", "a.example/ask"),
        ("https://a.example/@me?to=a@b", "https://a.example/@me?to=a@b"),
        ("https://a.example/?token=confidential&q=b", "https://a.example/?token=&q=b"),
        ("https://a.example/?token={{t}}&q=b", "https://a.example/?token={{t}}&q=b"),
        ("{{base}}/ask", "{{base}}/ask"),
    ],
    ids=range(10),
)
def test_an_address_without_credentials(address: str, wanted: str) -> None:
    item = with_fields(REQUEST, address=address)
    found = parse_fixture(json.dumps([COLLECTION, FOLDER, item]))
    assert found.requests["leek"]["address"] == wanted
    assert bool(found.remarks) == (address != wanted)


@given(st.text() | values(["model", "fields", "pk"], ["playground.folder"]).map(json.dumps))
def test_nothing_raises_anything_else(text: str) -> None:
    with pytest.raises(FixtureError):
        parse_import(text)


@given(
    st.sampled_from([COLLECTION, FOLDER, REQUEST]),
    st.sampled_from([*REQUEST["fields"], "headers", "auth", "captures", "expectations", "reply"]),
    values(["type", "path", "equals", "secret", "text"], ["hot", "soups", "json", "bearer"]),
)
def test_no_value_of_a_field_raises(item: dict[str, Any], name: str, value: Any) -> None:
    changed = with_fields(item, **{name: value})
    items = [changed if each is item else each for each in (COLLECTION, FOLDER, REQUEST)]
    with contextlib.suppress(FixtureError):
        found = parse_fixture(json.dumps(items))
        assert fixture_text(parse_fixture(fixture_text(found))) == fixture_text(found)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"\x1f\x8b\x08", "Not a text file: this is a gzip file"),
        (b'[{"name": "\xff"}]', "Byte 12: Not UTF-8 text"),
        (b" " * (32 * 1024 * 1024 + 1), "The file is larger than 32 MB."),
    ],
    ids=range(3),
)
def test_a_file_that_is_no_text(data: bytes, wanted: str) -> None:
    with pytest.raises(FixtureError) as error:
        decode_file(data)
    assert str(error.value).startswith(wanted)
