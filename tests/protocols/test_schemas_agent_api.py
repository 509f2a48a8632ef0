"""The schema files of the Agent API: valid, described, and each with examples that hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from playground.protocols import schemas
from playground.protocols.agent_api.parameters import PARAMETERS
from tests.support.agent_api_examples import REQUEST, STREAMS

NAMES = schemas.names("agent-api", "1")
#: What a property is bound to elsewhere, where it is described.
CONSTRAINTS = {"const", "enum", "$ref", "allOf", "properties", "required", "type"}
#: A user's own identification is AgentScope's addition, and no part of the specification.
DIALECT = {"user_id"}


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas.load("agent-api", "1", name))


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, dict | list):
            yield from nodes(inner)


def test_there_is_one_for_everything_that_travels() -> None:
    expected = {"request", "response", "message", "content", "event", "error", "tool"}
    assert expected <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestFiles:
    def test_is_a_schema(self, name: str) -> None:
        schema = schemas.load("agent-api", "1", name)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["title"].startswith("Agent API 1 ")
        assert schema["description"]

    def test_examples_hold(self, name: str) -> None:
        examples = schemas.load("agent-api", "1", name)["examples"]
        assert [list(validator(name).iter_errors(example)) for example in examples] == (
            [[]] * len(examples)
        )

    def test_properties_are_described(self, name: str) -> None:
        for node in nodes(schemas.load("agent-api", "1", name)):
            for property_name, value in node.get("properties", {}).items():
                if isinstance(value, dict) and not value.keys() <= CONSTRAINTS:
                    assert value.get("description"), property_name


def test_the_request_of_the_specification_holds() -> None:
    assert list(validator("request").iter_errors(REQUEST)) == []


@pytest.mark.parametrize("stream", STREAMS, ids=("sequence", "use case"))
def test_the_streams_of_the_specification_hold(stream: list[dict[str, Any]]) -> None:
    for event in stream:
        assert list(validator("event").iter_errors(event)) == [], event


def test_the_ranges_are_those_of_the_parameters() -> None:
    properties = schemas.load("agent-api", "1", "request")["properties"]
    assert PARAMETERS.keys() - DIALECT <= properties.keys()
    for name, parameter in PARAMETERS.items() - {(d, PARAMETERS[d]) for d in DIALECT}:
        assert properties[name].get("minimum") == parameter.low
        assert properties[name].get("maximum") == parameter.high


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("event", {"object": "thing"}),
        ("event", {"object": "response", "status": "created"}),
        ("event", {"object": "message", "id": "msg_1"}),
        ("event", {"object": "content", "delta": True, "text": "x"}),
        ("content", {"type": "text", "text": 5}),
        ("response", {"id": "r", "object": "response", "status": "failed", "error": "no"}),
        ("request", {"input": []}),
        ("request", {"input": [{"role": "user", "type": "message", "content": []}]}),
        ("request", {**REQUEST, "n": 6}),
        ("request", {**REQUEST, "tools": [{"type": "function", "function": {}}]}),
        ("input-content", {"type": "image"}),
    ],
)
def test_what_does_not_hold(name: str, value: Any) -> None:
    assert list(validator(name).iter_errors(value))
