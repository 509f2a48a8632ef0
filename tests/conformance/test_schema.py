"""Grouped validation gives the same violations as the schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.conformance.nlweb.schema import SchemaFilter, SchemaViolation, schema_violations

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=2)
)
WORDS = st.sampled_from(["HTTP", "MCP", "A2A", "answer", "Answer", "promise", "text"])
VALUES = SCALARS | WORDS | st.lists(SCALARS, max_size=1) | st.just({})
NAMES = {
    "action": [
        *("@context", "@type", "name", "description", "protocol", "method", "endpoint", "params"),
        *("headers", "server", "tool", "arguments", "agent_url", "skill", "message", "other"),
    ],
    "response-meta": [
        *("response_type", "response_format", "version", "session_context", "summary", "other"),
        *("openai/outputTemplate", "openai/widgetAccessible"),
    ],
    "event-content": ["type", "text", "step", "other"],
}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_one_of_a_sort_speaks_for_all(name: str, data: st.DataObject) -> None:
    version = "0.54" if name == "event-content" else data.draw(st.sampled_from(["0.54", "0.55"]))
    schema_filter = SchemaFilter(version, name)
    objects = st.dictionaries(st.sampled_from(NAMES[name]), VALUES, max_size=7)
    for value in data.draw(st.lists(objects | VALUES, min_size=1, max_size=12)):
        assert schema_filter.violations(value) == schema_violations(version, name, value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({}, ["/name", "/description", "/protocol"]),
        ({"name": 1, "description": "d", "protocol": "HTTP"}, ["/endpoint", "/method", "/name"]),
        ("save", [""]),
    ],
)
def test_what_is_missing_is_named_where_it_belongs(value: Any, found: list[str]) -> None:
    assert sorted(d.pointer for d in schema_violations("0.55", "action", value)) == sorted(found)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("response-meta", {"response_type": "x", "version": "1"}, '"answer", "elicitation"'),
        ("event-start", {"_meta": {"response_type": "answer", "version": "1"}}, "Add streaming."),
        ("promise", {"_meta": {}, "promise": {"token": "p", "progress": 2}}, "maximum"),
        ("answer", {"_meta": {"response_type": "answer", "version": "1"}}, "none of the forms"),
        ("action", [], "This is an array; the schema requires: object."),
    ],
)
def test_words(name: str, value: Any, message: str) -> None:
    assert any(message in found.message for found in schema_violations("0.55", name, value))


def test_each_place_is_named_once() -> None:
    found = schema_violations(
        "0.55", "failure", {"_meta": {"response_type": "answer"}, "error": {}}
    )
    assert [isinstance(one, SchemaViolation) for one in found] == [True] * 3
    assert [one.pointer for one in found] == [
        "/_meta/response_type",
        "/_meta/version",
        "/error/code",
    ]
