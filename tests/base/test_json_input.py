"""Parsers of headers and JSON documents that users type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.forms import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from playground.base.json_input import parse_document, parse_headers
from playground.protocols.headers import RESERVED


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", []),
        ("[]", []),
        ('[["X-A", "1"], ["", "left out"], [" ", ""]]', [("X-A", "1")]),
        ('[[" X-A ", "  1  "]]', [("X-A", "1")]),
        ('[["X-A", "tab\\tinside"]]', [("X-A", "tab\tinside")]),
        ('[["A", "1"], ["A", "2"]]', [("A", "1"), ("A", "2")]),
        ('[["!#$%&\'*+.^_`|~9z-", ""]]', [("!#$%&'*+.^_`|~9z-", "")]),
    ],
)
def test_headers(text: str, pairs: list[tuple[str, str]]) -> None:
    assert parse_headers(text) == pairs


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_headers_that_are_not_the_users(name: str) -> None:
    for spelling in (name, name.upper(), f" {name.title()} "):
        with pytest.raises(ValidationError, match="can’t be overridden"):
            parse_headers(json.dumps([[spelling, "x"]]))


@given(st.text(max_size=20), st.text(max_size=20))
def test_nothing_gets_through_that_could_end_a_header(name: str, value: str) -> None:
    try:
        pairs = parse_headers(json.dumps([[name, value]]))
    except ValidationError:
        return
    for each in pairs:
        assert not set("".join(each)) & set("\r\n\x00")
        assert "".join(each).isascii()
        assert not set(each[0]) & set(' :\t"')


json_values: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_every_json_object_is_read_as_it_is(document: dict[str, Any]) -> None:
    assert parse_document(json.dumps(document)) == document


@given(st.text(max_size=40))
def test_anything_else_is_refused_in_words(text: str) -> None:
    message = ""
    try:
        assert isinstance(parse_document(text), dict)
    except ValidationError as error:
        message = error.messages[0]
    assert message.endswith("." if message else "")


def test_a_name_that_is_given_twice_is_named() -> None:
    with pytest.raises(ValidationError, match="Line 1, column 38: Duplicate name “site”"):
        parse_document('{"query": {"text": "a", "site": "x", "site": "y"}}')
