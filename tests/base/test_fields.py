"""Parsers of headers, JSON documents and integers that users type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.forms import ValidationError
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from playground.base.fields import MAX_INT, int_param, parse_document, parse_headers
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


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 0),
        ("n=", 0),
        ("n=7", 7),
        ("n=0", 0),
        ("n=007", 7),
        ("n=3&n=7", 7),
        ("m=7", 0),
        # Written in another way.
        ("n=-7", 0),
        ("n=%2B7", 0),
        ("n=7.0", 0),
        ("n=1e3", 0),
        ("n=1_000", 0),
        ("n=0x10", 0),
        ("n=+7", 0),
        ("n=7+", 0),
        ("n=%0A7", 0),
        ("n=x", 0),
        ("n=NaN", 0),
        ("n=7%00", 0),
        # Digits that are not ASCII.
        ("n=%D9%A7", 0),
        ("n=%C2%B2", 0),
        ("n=%EF%BC%97", 0),
        # Large ones.
        ("n=999999999", MAX_INT),
        ("n=1000000000", 0),
        ("n=" + "9" * 5000, 0),
        ("n=0000000007", 0),
    ],
)
def test_the_number_of_a_field(query: str, number: int) -> None:
    assert int_param(QueryDict(query), "n", 0) == number


@pytest.mark.parametrize(
    ("text", "limits", "number"),
    [
        ("7", {"maximum": 7}, 7),
        ("8", {"maximum": 7}, None),
        ("10", {"maximum": 7}, None),
        ("07", {"maximum": 7}, None),
        ("7", {"minimum": 7}, 7),
        ("6", {"minimum": 7}, None),
        ("0", {"minimum": 1}, None),
    ],
)
def test_one_outside_of_its_limits_is_none(
    text: str, limits: dict[str, Any], number: int | None
) -> None:
    assert int_param({"n": text}, "n", None, **limits) == number


@pytest.mark.parametrize("default", [None, 0, 1, "all"])
def test_the_default_is_the_callers(default: Any) -> None:
    assert int_param({"n": "x"}, "n", default) is default
    assert int_param({}, "n", default) is default
