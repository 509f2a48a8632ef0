"""The form of a request whose protocol describes only its schema."""

from __future__ import annotations

from typing import Any

import pytest

from playground.protocols import registry, schemas
from playground.protocols.request_form import FormSection, sections_of

MESSAGES = {"type": "array", "items": {"$ref": "#/$defs/message"}}
DEFS = {"message": {"type": "object", "properties": {"role": {}, "content": {}}}}


def sections(properties: dict[str, Any], *required: str) -> list[FormSection]:
    schema = {"properties": properties, "required": [*required], "$defs": DEFS}
    return [*sections_of(schema, "x")]


@pytest.mark.parametrize(
    ("schema", "types", "expected"),
    [
        ({"type": "string"}, "text", ""),
        ({"type": ["string", "null"]}, "text", ""),
        ({"type": "boolean"}, "boolean", ""),
        ({"type": "integer"}, "number", "An integer."),
        ({"type": "number", "minimum": 0}, "number", "A number of at least 0."),
        ({"type": "number", "minimum": 0, "maximum": 2}, "number", "A number from 0 to 2."),
        (
            {"type": ["string", "array"], "items": {"type": "string"}},
            "text list",
            "A string or an array of strings.",
        ),
        ({"type": "object"}, "json", ""),
        ({"type": "array", "items": {"type": "object"}}, "json", ""),
        ({"type": "array", "items": {"type": "string"}}, "list", ""),
        ({}, "text", ""),
    ],
)
def test_the_field_of_a_member(schema: dict[str, Any], types: str, expected: str) -> None:
    (section,) = sections({"a": schema}, "a")
    (field,) = section.fields
    assert (section.title, section.member) == ("Parameters", "")
    assert (field.pointer, field.types, field.expected) == ("/a", types, expected)
    assert field.is_required
    assert section.known == ["a", "raw"]


def test_lists_and_objects_have_sections_the_required_ones_first() -> None:
    inner = {"type": "object", "required": ["b"], "properties": {"b": {"type": "boolean"}}}
    tools = {"type": "array", "items": {"type": "object", "properties": {"function": {}}}}
    parts = {"options": inner, "tools": tools, "model": {"type": "string"}, "messages": MESSAGES}
    found = sections(parts, "messages")
    assert [(each.title, each.id, each.member) for each in found] == [
        ("Messages", "x-messages", "/messages"),
        ("Parameters", "x-parameters", ""),
        ("Options", "x-options", "/options"),
        ("Tools", "x-tools", "/tools"),
    ]
    messages, parameters, options, functions = found
    assert messages.entries
    assert (messages.entries.kind, messages.entries.name) == ("message", "")
    assert functions.entries
    assert (functions.entries.kind, functions.entries.name) == ("tool", "tools")
    assert {*parameters.known} == {"model", "messages", "options", "tools", "raw"}
    assert [(each.pointer, each.is_required) for each in options.fields] == [("/options/b", True)]


@pytest.mark.parametrize(
    "protocol", [name for name, row in registry.PROTOCOLS.items() if row.form is not None]
)
def test_a_described_form_has_every_member_that_its_schemas_have(protocol: str) -> None:
    row = registry.PROTOCOLS[protocol]
    assert row.form
    shown = {field.pointer for section in row.form() for field in section.fields}
    shown |= {section.member for section in row.form()}
    version = row.versions[-1].name
    members = {
        f"/{name}"
        for operation in row.operations
        for name in schemas.load(protocol, version, operation.schema)["properties"]
    }
    assert {f"/{pointer.split('/')[1]}" for pointer in shown if pointer} == members
