"""Explanations of names, from schemas."""

from __future__ import annotations

from typing import Any

import pytest

from playground.protocols.explanations import (
    explain,
    explain_in,
    schema_of_request,
    schema_of_response,
)

ACTION: dict[str, Any] = {"protocol": "HTTP", "method": "POST"}


def test_a_member_of_a_member() -> None:
    found = explain("nlweb", "0.55", "ask-request", "/query/text")
    assert found
    assert (found.name, found.is_listed) == ("text", True)
    assert found.text
    assert isinstance(found.example, str)


def test_an_element_of_an_array_is_explained_by_its_schema() -> None:
    found = explain("nlweb", "0.55", "answer", "/results/17/@type")
    assert found
    assert found.name == "@type"


def test_a_name_that_is_not_listed_is_an_extension() -> None:
    found = explain("nlweb", "0.55", "ask-request", "/query/diet")
    assert found
    assert not found.is_listed


def test_a_place_that_no_schema_describes() -> None:
    assert explain("nlweb", "0.55", "failure", "/error/message/nested/9") is None


def test_an_unknown_schema() -> None:
    with pytest.raises(ValueError, match="No schema"):
        explain("nlweb", "0.55", "nothing", "")


def test_conditions_apply_as_to_the_document() -> None:
    answer = {"results": [{"actions": [ACTION, {"protocol": "MCP", "tool": "x"}]}]}
    at = "/results/0/actions/{}/{}"
    assert explain("nlweb", "0.55", "answer", at.format(0, "method"), answer)
    assert not explain("nlweb", "0.55", "answer", at.format(1, "method"), answer)
    assert explain("nlweb", "0.55", "answer", at.format(1, "method"))


SCHEMA: dict[str, Any] = {
    "title": "Thing",
    "description": "A thing.",
    "x-section": "1",
    "properties": {
        "kind": {
            "description": "Kind of the thing.",
            "examples": ["a", "b"],
            "x-otherwise": "Without it, the thing is an a.",
            "x-values": {"a": "First kind."},
        },
        "part": {"$ref": "#/$defs/part"},
        "own": {"description": "Of its own.", "$ref": "#/$defs/part"},
    },
    "$defs": {
        "part": {
            "description": "A part.",
            "x-section": "2",
            "properties": {"part": {"$ref": "#/$defs/part"}, "size": {"description": "Size."}},
        }
    },
}


def test_section_example_values_and_effect() -> None:
    found = explain_in(SCHEMA, "/kind")
    assert found
    assert (found.section, found.example, found.values) == ("1", "a", {"a": "First kind."})
    assert found.otherwise == "Without it, the thing is an a."


def test_the_section_of_the_nearest_schema_counts() -> None:
    found = explain_in(SCHEMA, "/part/part/size")
    assert found
    assert found.section == "2"


def test_the_description_beside_a_reference_has_precedence() -> None:
    found = explain_in(SCHEMA, "/own")
    assert found
    assert found.text == "Of its own."


def test_schemas_that_refer_to_each_other_end() -> None:
    endless = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert explain_in({**endless, "$ref": "#/$defs/a"}, "/x") is None


def test_the_document_itself() -> None:
    found = explain_in(SCHEMA, "")
    assert found
    assert (found.name, found.text) == ("Thing", "A thing.")


@pytest.mark.parametrize(
    ("protocol", "document", "schema"),
    [
        ("nlweb", {"query": {"text": "x"}}, "ask-request"),
        ("nlweb", {"promise_token": "x"}, "await-request"),
        ("nlweb", [], "ask-request"),
        ("agent-api", {"input": []}, "request"),
    ],
)
def test_the_schema_of_a_request(protocol: str, document: Any, schema: str) -> None:
    assert schema_of_request(protocol, document) == schema


@pytest.mark.parametrize(
    ("protocol", "version", "document", "event", "schema"),
    [
        ("nlweb", "0.55", {"_meta": {"response_type": "Promise"}}, "", "promise"),
        ("nlweb", "0.55", {"_meta": {"response_type": "failure"}}, "error", "event-error"),
        ("nlweb", "0.54", {"_meta": {}}, "start", "event-start"),
        ("nlweb", "0.55", {"results": []}, "unheard", "response"),
        ("nlweb", "0.55", None, "", "response"),
        ("agent-api", "1", {"object": "message"}, "", "message"),
        ("agent-api", "1", {"error": "broken"}, "", "error"),
    ],
)
def test_the_schema_of_a_response(
    protocol: str, version: str, document: Any, event: str, schema: str
) -> None:
    assert schema_of_response(protocol, version, document, event) == schema
