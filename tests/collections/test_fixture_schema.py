"""JSON Schema of a file's items: equal to the models, and to both of its validators."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.collections import fixture
from playground.collections.fixture import (
    COLLECTION,
    FIELDS,
    FOLDER,
    REQUEST,
    FixtureError,
    schema_errors,
)
from playground.collections.fixture_parser import parse_fixture
from playground.collections.ordering import LARGEST
from playground.models import Agent, SavedRequest
from playground.models.collections import RESERVED
from playground.protocols import registry
from tests.support import json_values

LEAST: dict[str, dict[str, Any]] = {
    COLLECTION: {"name": "Soups", "slug": "soups"},
    FOLDER: {"collection": ["soups"], "name": "Hot", "slug": "hot"},
    REQUEST: {
        "collection": ["soups"], "name": "Leek", "slug": "leek", "protocol": "nlweb",
        "binding": "http", "version": "0.55", "document": {},
    },
}  # fmt: skip
SLUG = "Use ASCII letters, digits, hyphens and underscores, at least one character."
PLACE = "Must be an integer from 0 to 2,147,483,647."
HALF = "Contains U+0000 or a lone surrogate, which cannot be stored."
LONG = "Too long: {:,} characters. The limit is {:,}."
TAKEN = "“new” is reserved."
FLAT = "Folders cannot be nested: a folder has no parent."
LIST = "Must be an array of up to 100 pairs [name, value]."


PROTOCOLS = ", ".join(registry.PROTOCOLS)


def test_choices_and_limits_are_those_of_the_models() -> None:
    rules = fixture._RULES
    request = rules[REQUEST]["properties"]
    reserved = rules[COLLECTION]["properties"]["slug"]["allOf"][1]["not"]["enum"]
    assert set(reserved) == RESERVED
    assert request["protocol"]["enum"] == [*registry.PROTOCOLS]
    assert request["binding"]["enum"] == Agent.Binding.values
    assert rules["position"]["maximum"] == LARGEST
    for model, fields in FIELDS.items():
        without = {name for name, default in fields.items() if default is ...}
        assert {*rules[model]["required"]} == without - {"position"}
    limits = {name: request[name]["maxLength"] for name in ("agent", "version", "address")}
    limits |= {name: rules[name]["maxLength"] for name in ("name", "slug")}
    columns = SavedRequest._meta.get_field
    assert limits == {name: columns(name).max_length for name in limits}


@pytest.mark.parametrize(
    ("model", "fields", "pointer", "message"),
    [
        (COLLECTION, {"name": 1}, "/name", "Must be a string, not a number."),
        (COLLECTION, {"name": None}, "/name", "Must be a string, not null."),
        (COLLECTION, {"name": True}, "/name", "Must be a string, not true."),
        (COLLECTION, {"name": "x" * 121}, "/name", LONG.format(121, 120)),
        (COLLECTION, {"name": ""}, "/name", "Must not be empty."),
        (COLLECTION, {"name": " \n"}, "/name", "Must not be empty."),
        (COLLECTION, {"name": "a\0"}, "/name", HALF),
        (COLLECTION, {"description": "\udc00"}, "/description", HALF),
        (COLLECTION, {"description": "é" * 100_001}, "/description",
         "Too long: 100,001 characters. The limit is 100,000."),
        (COLLECTION, {"description": []}, "/description", "Must be a string, not an array."),
        (COLLECTION, {"slug": "a b"}, "/slug", SLUG),
        (COLLECTION, {"slug": "a\n"}, "/slug", SLUG),
        (COLLECTION, {"slug": "١"}, "/slug", SLUG),
        (COLLECTION, {"slug": {}}, "/slug", "Must be a string, not an object."),
        (COLLECTION, {"slug": "x" * 131}, "/slug", LONG.format(131, 130)),
        (COLLECTION, {"slug": "new"}, "/slug", TAKEN),
        (COLLECTION, {"slug": "import"}, "/slug", TAKEN.replace("new", "import")),
        (FOLDER, {"parent": None}, "/parent", FLAT),
        (FOLDER, {"a/b~": 1}, "/a~1b~0", "Unknown field of a folder."),
        (FOLDER, {"x" * 62: 1}, f"/{'x' * 60}…", "Unknown field of a folder."),
        (FOLDER, {"position": -1}, "/position", PLACE),
        (FOLDER, {"position": 1.0}, "/position", PLACE),
        (FOLDER, {"position": False}, "/position", PLACE),
        (FOLDER, {"position": "1"}, "/position", PLACE),
        (FOLDER, {"position": 2**31}, "/position", PLACE),
        (FOLDER, {"position": 10**400}, "/position", PLACE),
        (REQUEST, {"agent": "a b"}, "/agent", SLUG),
        (REQUEST, {"agent": "x" * 91}, "/agent", "Too long: 91 characters. The limit is 90."),
        (REQUEST, {"address": None}, "/address", "Must be a string, not null."),
        (REQUEST, {"address": "x" * 2001}, "/address", LONG.format(2001, 2000)),
        (REQUEST, {"colour": "red"}, "/colour", "Unknown field of a request."),
        (REQUEST, {"protocol": "x"}, "/protocol", f"Must be one of {PROTOCOLS}."),
        (REQUEST, {"protocol": {}}, "/protocol", f"Must be one of {PROTOCOLS}."),
        (REQUEST, {"binding": None}, "/binding", "Must be one of http, mcp."),
        (REQUEST, {"version": " "}, "/version", "Must not be empty."),
        (REQUEST, {"version": 0.55}, "/version", "Must be a string, not a number."),
        (REQUEST, {"notes": None}, "/notes", "Must be a string, not null."),
        (REQUEST, {"document": []}, "/document", "Must be an object, not an array."),
        (REQUEST, {"headers": {}}, "/headers", LIST),
        (REQUEST, {"headers": [["a", "b"]] * 101}, "/headers", LIST),
        (REQUEST, {"auth": "none"}, "/auth", "Must be an object, not a string."),
    ],
)  # fmt: skip
def test_what_is_wrong(model: str, fields: dict[str, Any], pointer: str, message: str) -> None:
    """In a file, and in a field that is checked alone."""
    others = [] if model == COLLECTION else [COLLECTION]
    items = [{"model": each, "fields": LEAST[each]} for each in others]
    items.append({"model": model, "fields": {**LEAST[model], **fields}})
    with pytest.raises(FixtureError) as error:
        parse_fixture(json.dumps(items))
    where = f"Item {len(items)}, {model}, /fields{pointer}"
    assert [str(problem) for problem in error.value.problems] == [f"{where}: {message}"]
    if pointer[1:] in FIELDS[model]:
        (value,) = fields.values()
        assert list(schema_errors(value, model, pointer[1:])) == [("", message)]


def test_what_a_file_may_have_all_the_same() -> None:
    """The parser makes a slug from the name, and ignores what `dumpdata` adds."""
    assert list(schema_errors({**LEAST[COLLECTION], "slug": ""}, COLLECTION)) == [("/slug", SLUG)]
    found = schema_errors({**LEAST[COLLECTION], "position": 1}, COLLECTION)
    assert list(found) == [("/position", "Unknown field of a collection.")]


@pytest.mark.parametrize("model", FIELDS)
def test_everything_that_is_missing(model: str) -> None:
    label = {COLLECTION: "collection", FOLDER: "folder", REQUEST: "request"}[model]
    wanted = [("", f"A {label} requires “{name}”.") for name in LEAST[model]]
    assert sorted(schema_errors({}, model)) == sorted(wanted)
    assert not list(schema_errors(LEAST[model], model))


NAMES = [*FIELDS[REQUEST], "parent", "owner", "pk", "a/b"]
TEXTS = ["", " ", "nlweb", "http", "mcp", "new", "a\n", "\0", "\ud800", "0.55", "x" * 91, "x" * 131]


@given(
    st.sampled_from([*FIELDS]),
    json_values.objects(NAMES, TEXTS),
    st.booleans(),
)
def test_both_readers_of_the_schema_agree(model: str, fields: Any, complete: bool) -> None:
    fields = {**LEAST[model], **fields} if complete else fields
    validator = fixture._schema(model, "").validator
    found = list(schema_errors(fields, model))
    assert bool(found) == (not validator.is_valid(fields))
    assert len(set(found)) == len(found)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "fields",
    [
        {"headers": [["a", "b"]] * 300_000},
        {"headers": [1] * 300_000},
        {"notes": "\0" * 3_000_000},
        {"slug": "-" * 3_000_000 + "!"},
        {"name": " " * 3_000_000},
        {"document": {str(n): [n] for n in range(300_000)}, "name": 1},
        {"protocol": ["nlweb"] * 300_000},
    ],
    ids=range(7),
)
def test_what_is_huge_is_refused_at_once(fields: dict[str, Any]) -> None:
    """Visiting each element would take longer than the timeout of this test."""
    assert len(list(schema_errors({**LEAST[REQUEST], **fields}, REQUEST))) == 1


def test_large_expectations_do_not_stay_in_memory() -> None:
    """Errors are cached, as many requests have the same few expectations."""
    tracemalloc.start()
    try:
        for number in range(20):
            large = {"type": "nothing", "equals": f"{number}" + "x" * 90_000}
            fields = {**LEAST[REQUEST], "expectations": [large]}
            items = [{"model": COLLECTION, "fields": LEAST[COLLECTION]},
                     {"model": REQUEST, "fields": fields}]  # fmt: skip
            with pytest.raises(FixtureError, match="/fields/expectations/0/type"):
                parse_fixture(json.dumps(items))
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
