"""Every name that the code, the demo agent and cards know has an explanation.

Those of the specifications' examples and of captures: `test_annotation_coverage`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from playground.conversation import card_types
from playground.demo.a2a.skills import SKILLS
from playground.demo.mcp.tools import TOOLS
from playground.protocols import schemas
from playground.protocols.explanations import explain
from playground.protocols.json_pointer import pointer_of

FIXTURES = Path(__file__).parents[2] / "fixtures"


def unexplained(protocol: str, version: str, schema: str, document: Any) -> list[str]:
    """Return the pointers of the names in a document without an explanation."""
    return [
        pointer
        for pointer in pointers(document)
        if not has_explanation(protocol, version, schema, pointer, document)
    ]


def has_explanation(protocol: str, version: str, schema: str, pointer: str, document: Any) -> bool:
    found = explain(protocol, version, schema, pointer, document)
    return found is not None and bool(found.text and found.section)


def pointers(value: Any, keys: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the pointer of every member of a value, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield pointer_of((*keys, name))
            yield from pointers(inner, (*keys, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from pointers(inner, (*keys, str(number)))


def assert_listed(protocol: str, version: str, schema: str, pointer: str) -> None:
    found = explain(protocol, version, schema, pointer)
    assert found, pointer
    assert found.is_listed, pointer


def test_the_headers_that_the_code_names_are_explained() -> None:
    """What the playground and its demo send: every literal that looks like a header's name."""
    known = {
        name
        for schema in ("request-headers", "response-headers")
        for name in schemas.load("http", "1", schema)["properties"]
    }
    root = Path(schemas.__file__).parents[2]
    named = {
        name.lower()
        for folder in ("protocols", "transport", "demo")
        for path in sorted((root / folder).rglob("*.py"))
        for name in HEADER.findall(path.read_text())
    }
    assert {"content-type", "mcp-session-id", "retry-after"} <= named
    assert named - known == NO_HEADERS


HEADER = re.compile(r'"([A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+)"')
#: Literals of that form that are something else, and headers of scenarios that mean nothing.
NO_HEADERS = {"x-note", "x-count", "x-cart-source"}


@pytest.mark.parametrize("protocol", ["HTTP", "MCP", "A2A"])
def test_every_member_of_an_action_is_explained(protocol: str) -> None:
    members = {
        "HTTP": {
            "method": "POST",
            "endpoint": "/x",
            "params": {"a": {"b": 1}},
            "headers": {"X": "y"},
        },
        "MCP": {"server": "s", "tool": "t", "arguments": {"items": ["a"]}},
        "A2A": {"agent_url": "/x", "skill": "s", "message": {"text": "a"}},
    }[protocol]
    action = {"name": "a", "description": "b", "protocol": protocol, **members}
    assert unexplained("nlweb", "0.55", "item", {"actions": [action]}) == []


def test_every_attribute_of_the_demo_corpus_is_explained() -> None:
    rows = json.loads((FIXTURES / "demo_corpus.json").read_text("utf-8"))
    documents = [row["fields"]["document"] for row in rows if row["model"] == "demo.item"]
    assert len(documents) > 100
    # Items of one type have the same members.
    for found in {tuple(sorted(pointers(each))): each for each in documents}.values():
        assert unexplained("nlweb", "0.55", "item", found) == []
        for name in found:
            assert_listed("nlweb", "0.55", "item", pointer_of([name]))


def test_every_member_that_cards_show_is_listed() -> None:
    source = Path(card_types.__file__).read_text("utf-8")
    shown = set(re.findall(r'\.get\("([@\w]+)"', source)) | card_types.PLACED
    properties = set(names_of(schemas.load("nlweb", "0.55", "item")))
    assert "recipeIngredient" in shown
    assert shown - properties == {"type"}, "an alias of @type"


def names_of(schema: Any) -> Iterator[str]:
    """Yield the names of all properties within a schema."""
    if isinstance(schema, Mapping):
        if isinstance(found := schema.get("properties"), Mapping):
            yield from found
        for inner in schema.values():
            yield from names_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from names_of(inner)


def test_every_attribute_of_the_tools_and_skills_of_the_demo_is_explained() -> None:
    assert TOOLS
    for tool in TOOLS:
        assert unexplained("mcp", "1", "tool", tool) == []
    assert unexplained("a2a", "1", "card", {"skills": list(SKILLS)}) == []
