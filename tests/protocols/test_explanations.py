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


@pytest.mark.parametrize(
    ("pointer", "name", "text", "section"),
    [
        ("", "Thing", "A thing.", "1"),
        ("/kind", "kind", "Kind of the thing.", "1"),
        # The section of the nearest schema counts, and the description beside a reference.
        ("/part/part/size", "size", "Size.", "2"),
        ("/own", "own", "Of its own.", "1"),
    ],
)
def test_the_parts_of_a_schema(pointer: str, name: str, text: str, section: str) -> None:
    found = explain_in(SCHEMA, pointer)
    assert found
    assert (found.name, found.text, found.section) == (name, text, section)
    is_kind = pointer == "/kind"
    assert found.example == ("a" if is_kind else None)
    assert found.values == ({"a": "First kind."} if is_kind else {})
    assert found.otherwise == ("Without it, the thing is an a." if is_kind else "")


@pytest.mark.parametrize(
    ("schema", "pointer", "listed"),
    [
        ("ask-request", "/query/text", True),
        ("answer", "/results/17/@type", True),
        # An extension, and a place that no schema describes.
        ("ask-request", "/query/diet", False),
        ("failure", "/error/message/nested/9", None),
    ],
)
def test_the_places_of_a_document(schema: str, pointer: str, listed: bool | None) -> None:
    found = explain("nlweb", "0.55", schema, pointer)
    assert (found and found.is_listed) is listed
    assert found is None or found.name == pointer.rpartition("/")[2]


def test_an_unknown_schema() -> None:
    with pytest.raises(ValueError, match="No schema"):
        explain("nlweb", "0.55", "nothing", "")


def test_conditions_apply_as_to_the_document() -> None:
    answer = {"results": [{"actions": [ACTION, {"protocol": "MCP", "tool": "x"}]}]}
    at = "/results/0/actions/{}/{}"
    assert explain("nlweb", "0.55", "answer", at.format(0, "method"), answer)
    assert not explain("nlweb", "0.55", "answer", at.format(1, "method"), answer)
    assert explain("nlweb", "0.55", "answer", at.format(1, "method"))


def test_schemas_that_refer_to_each_other_end() -> None:
    endless = {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert explain_in({**endless, "$ref": "#/$defs/a"}, "/x") is None


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
