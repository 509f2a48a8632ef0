"""Requests checked by their schemas: where as jsonschema, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import schemas
from playground.protocols.agent_api.requests import validate_request
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import escape, pointer_of
from playground.protocols.schema_check import (
    MAX_ALIKE,
    MAX_PROBLEMS,
    MAX_VALUES,
    compiled,
    expected,
    load,
    problems,
)
from tests.support.json_values import values

REQUESTS = [
    *(
        ("nlweb", version, name)
        for version in ("legacy", "0.54", "0.55")
        for name in ("ask-request", "await-request")
    ),
    ("agent-api", "1", "request"),
    ("chat-completions", "1", "request"),
]

#: Keywords that `schema_check` knows, and those that constrain nothing.
CHECKED = {
    *("type", "required", "properties", "items", "const", "enum", "minLength", "pattern"),
    *("minimum", "maximum", "minItems", "$ref", "allOf", "if", "then"),
}
DESCRIBING = {"$schema", "$defs", "additionalProperties"}


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all schemas in it that constrain something."""
    yield schema
    inner = [schema[keyword] for keyword in ("items", "if", "then") if keyword in schema]
    inner += schema.get("allOf", [])
    inner += [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    for each in inner:
        yield from nodes(each)


@pytest.mark.parametrize("row", REQUESTS, ids="-".join)
class TestSchemas:
    def test_use_the_keywords_that_are_checked(self, row: tuple[str, str, str]) -> None:
        for node in nodes(schemas.load_constraints(*row)):
            assert node.keys() <= CHECKED | DESCRIBING
            assert "additionalProperties" not in node
            assert all(
                isinstance(each, str) for each in (*node.get("enum", ()), node.get("const", ""))
            )
            assert node.get("pattern", r"\S") == r"\S"
            assert ("maximum" in node) <= ("minimum" in node)

    def test_have_words_for_what_is_expected(self, row: tuple[str, str, str]) -> None:
        for node in nodes(schemas.load(*row)):
            if not node.keys().isdisjoint({"type", "enum", "const", "minimum"}):
                assert expected(node)

    def test_have_words_that_are_sentences(self, row: tuple[str, str, str]) -> None:
        for node in nodes(schemas.load(*row)):
            for keyword in ("x-missing", "x-listed", "x-closed"):
                assert node.get(keyword, ".").endswith(".")
            assert "{name}" in node.get("x-closed", "{name}")
            assert ("x-listed" in node) <= ("x-values" in node)
            assert node.get("x-essential", True) is True


# The oracle


def constrained(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose annotations for `schema_check` are constraints of jsonschema as well."""
    made = {**schema}
    for keyword in ("items", "then"):
        if keyword in schema:
            made[keyword] = constrained(schema[keyword])
    for keyword in ("properties", "$defs"):
        members = schema.get(keyword, {}).items()
        made[keyword] = {name: constrained(each) for name, each in members}
    made["allOf"] = [constrained(each) for each in schema.get("allOf", [])]
    missed = [name for name, each in made["properties"].items() if "x-missing" in each]
    made["required"] = [*schema.get("required", ()), *missed]
    if "x-missing" in schema:
        made["pattern"] = r"\S"
    if "x-closed" in schema:
        made["additionalProperties"] = False
    if "x-listed" in schema:
        made["enum"] = [*schema["x-values"]]
    return made


def pointers(document: Any, schema: dict[str, Any]) -> set[str]:
    """Where jsonschema finds an error, with the members that are missing or not allowed."""
    found = set()
    for error in jsonschema.Draft202012Validator(constrained(schema)).iter_errors(document):
        pointer = pointer_of(error.absolute_path)
        names = None
        if error.validator == "required":
            names = [name for name in error.validator_value if name not in error.instance]
        elif error.validator == "additionalProperties":
            names = [name for name in error.instance if name not in error.schema["properties"]]
        found |= {pointer} if names is None else {f"{pointer}/{escape(name)}" for name in names}
    return found


def names_of(schema: dict[str, Any]) -> list[str]:
    return sorted({name for node in nodes(schema) for name in node.get("properties", {})})


@st.composite
def documents(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """An example of a schema, with some of its values left out or replaced by any."""
    anything = values(names_of(schema), ["text", "image", "data", "message", "user", " "])
    document = draw(st.sampled_from(schema["examples"]) | anything)
    for _ in range(draw(st.integers(0, 3))):
        document = draw(_changed(document, anything))
    return document


def _changed(value: Any, anything: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    if isinstance(value, dict) and value:
        return st.sampled_from([*value]).flatmap(
            lambda name: (
                st.just({each: inner for each, inner in value.items() if each != name})
                | _changed(value[name], anything).map(lambda inner: {**value, name: inner})
            )
        )
    if isinstance(value, list) and value:
        return _changed(value[-1], anything).map(lambda inner: [*value[:-1], inner]) | anything
    return anything


@pytest.mark.parametrize("row", REQUESTS, ids="-".join)
@given(data=st.data())
def test_problems_are_where_jsonschema_finds_errors(
    row: tuple[str, str, str], data: st.DataObject
) -> None:
    schema = schemas.load(*row)
    document = data.draw(documents(schema))
    found = problems(document, load(*row))
    assert {problem.pointer for problem in found} == pointers(document, schema)
    assert len({problem.pointer for problem in found}) == len(found)
    assert all(problem.message.endswith(".") for problem in found)


# Words and levels

SCHEMA: dict[str, Any] = {
    "type": "object",
    "x-essential": True,
    "required": ["name", "plain"],
    "x-closed": "The specification does not define {name}.",
    "properties": {
        "name": {
            "type": "string",
            "x-missing": "The request has no name.",
            "x-essential": True,
        },
        "plain": {"type": "string", "minLength": 1},
        "mode": {"type": "string", "enum": ["on", "off"], "x-missing": "There is no mode."},
        "kind": {
            "type": "string",
            "x-values": {"a": "", "b": "", "c": ""},
            "x-additions": ["c"],
            "x-listed": "The kinds are {values}.",
        },
        "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1.5},
        "count": {"type": "integer", "minimum": 1},
        "stop": {"type": ["string", "array", "null"], "items": {"type": "string"}},
        "parts": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/part"}},
        "user": {"type": ["string", "object"]},
        "flag": {"type": "boolean", "x-expected": "yes or no"},
        "free": {"x-otherwise": "Anything."},
    },
    "$defs": {
        "part": {
            "type": "object",
            "properties": {"type": {}, "text": {}, "a/b": {"type": "string"}},
            "allOf": [
                {
                    "if": {"properties": {"type": {"const": "text"}}, "required": ["type"]},
                    "then": {
                        "required": ["text"],
                        "properties": {"text": {"x-missing": "A text has none."}},
                    },
                },
            ],
        },
    },
}
GOOD = {"name": "n", "plain": "p", "mode": "on"}


def row(
    members: Any, pointer: str, message: str, level: str = "warning"
) -> tuple[Any, list[RequestProblem]]:
    document = {**GOOD, **members} if isinstance(members, dict) else members
    return document, [RequestProblem(pointer, message, level)]


#: Documents with the problems that they have.
FOUND: list[tuple[Any, list[RequestProblem]]] = [
    (GOOD, []),
    *(({**GOOD, "free": value}, []) for value in (None, [], math.nan, -math.inf)),
    ({**GOOD, "share": None, "stop": None, "count": 1.0, "kind": "c", "user": {}}, []),
    *(row(value, "", "The request must be a JSON object.", "error")
      for value in (None, [], "a", 7, True)),
    *(row({"name": value}, "/name", "The request has no name.", "error")
      for value in (None, "", " ")),
    row({"name": 7}, "/name", "name must be a string.", "error"),
    row({"plain": ""}, "/plain", "plain must not be empty."),
    row({"plain": None}, "/plain", "plain must be a string."),
    *(row({"mode": value}, "/mode", "There is no mode.") for value in (None, " ")),
    row({"mode": 7}, "/mode", "mode must be on or off."),
    row({"mode": "x"}, "/mode", "mode must be on or off."),
    row({"kind": "d"}, "/kind", "The kinds are a, b."),
    *(row({"share": value}, "/share", "share must be a number from 0 to 1.5.")
      for value in (-1, 2, True, "1")),
    *(row({"count": value}, "/count", "count must be an integer of at least 1.")
      for value in (0, 1.5, None)),
    row({"stop": 1}, "/stop", "stop must be a string or an array of strings."),
    row({"stop": ["a", 1]}, "/stop/1", "Each entry of stop must be a string."),
    row({"parts": []}, "/parts", "parts must not be empty."),
    row({"stop": ["a"] * 2_000 + [1]}, "/stop/2000", "Each entry of stop must be a string."),
    row({"parts": ["a"]}, "/parts/0", "Each entry of parts must be a JSON object."),
    row({"parts": [{}, {"a/b": 1}]}, "/parts/1/a~1b", "a/b must be a string."),
    row({"parts": [{"type": "text"}]}, "/parts/0/text", "A text has none."),
    row({"user": 1}, "/user", "user must be a string or a JSON object."),
    row({"flag": 1}, "/flag", "flag must be yes or no."),
    row({"x~y": 1}, "/x~0y", "The specification does not define x~y."),
    ({}, [
        RequestProblem("/name", "The request has no name.", "error"),
        RequestProblem("/plain", "plain is required."),
        RequestProblem("/mode", "There is no mode."),
    ]),
    ({**GOOD, "parts": [{"a/b": 1}, 5], "flag": 1}, [
        RequestProblem("/parts/1", "Each entry of parts must be a JSON object."),
        RequestProblem("/flag", "flag must be yes or no."),
        RequestProblem("/parts/0/a~1b", "a/b must be a string."),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "found"), FOUND, ids=range(len(FOUND)))
def test_words_and_levels(document: Any, found: list[RequestProblem]) -> None:
    assert problems(document, compiled(SCHEMA)) == found
    assert {problem.pointer for problem in found} == pointers(document, SCHEMA)


# Large documents


class CountedObject(dict[str, Any]):
    """A JSON object that counts how often it is asked whether it has a member."""

    lookups = 0

    def __contains__(self, name: object) -> bool:
        self.lookups += 1
        return super().__contains__(name)


class TestLargeDocuments:
    @pytest.mark.parametrize("members", [{"stop": [1] * 50}, {str(n): n for n in range(50)}])
    def test_problems_that_are_alike(self, members: dict[str, Any]) -> None:
        assert len(problems({**GOOD, **members}, compiled(SCHEMA))) == MAX_ALIKE

    def test_warnings(self) -> None:
        document = {**GOOD, "flag": 1, "parts": [{"type": "text"}] * 1_000}
        found = problems(document, compiled(SCHEMA))
        assert len(found) == MAX_PROBLEMS
        assert found[0].pointer == "/flag"

    @pytest.mark.parametrize("kind", ["message", "function_call"])
    @pytest.mark.parametrize(("messages", "parts"), [(1_000, 100), (1, 100_000)])
    def test_members_of_so_many_values_are_checked(
        self, kind: str, messages: int, parts: int
    ) -> None:
        data = CountedObject(call_id="c", name="f", arguments="{}")
        part = CountedObject(type="data", data=data)
        message = {"role": "user", "type": kind, "content": [part] * parts}
        assert validate_request({"input": [message] * messages}, "1") == []
        assert MAX_VALUES / 10 < part.lookups < 8 * MAX_VALUES
        assert MAX_VALUES / 10 < data.lookups < 8 * MAX_VALUES
