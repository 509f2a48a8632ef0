"""JSON Pointer, by the sections of RFC 6901."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.json_pointer import (
    descend,
    escape,
    keys_of,
    pointer_of,
    resolve,
    unescape,
)
from tests.support import json_values

#: The document of section 5.
EXAMPLE = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6,
    " ": 7, "m~n": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", EXAMPLE), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1),
        ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_section_5_the_examples(pointer: str, value: Any) -> None:
    assert resolve(EXAMPLE, pointer) == value
    assert pointer_of(keys_of(pointer)) == pointer


@pytest.mark.parametrize(
    ("key", "token"),
    [
        ("a", "a"), ("", ""), ("/", "~1"), ("~", "~0"), ("~1", "~01"), ("~0", "~00"),
        ("a/b~c", "a~1b~0c"), ("//~~", "~1~1~0~0"), (0, "0"), (12, "12"), ("é", "é"),
    ],
)  # fmt: skip
def test_section_3_what_is_escaped(key: object, token: str) -> None:
    assert escape(key) == token
    assert unescape(token) == str(key)


def test_section_4_an_escaped_tilde_before_a_one_is_no_slash() -> None:
    assert unescape("~01") == "~1"
    assert keys_of("/~01/~10") == ["~1", "/0"]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ({}, "a"), ({"a": 1}, "A"), ([1], "1"), ([1], "-"), ([1], "-1"), ([1], "00"), ([1], "01"),
        ([1], ""), ([1], "a"), ([1], "٠"), ([1], "0.0"), ([1] * 20, "1_0"), ([1], "9" * 5_000),
        ("text", "0"), (1, "0"), (None, "a"), (True, "0"),
    ],
)  # fmt: skip
def test_section_4_what_leads_nowhere(value: Any, key: str) -> None:
    with pytest.raises(LookupError):
        descend(value, key)
    with pytest.raises(LookupError):
        resolve({"a": value}, pointer_of(["a", key]))


@given(st.lists(st.text()))
def test_a_pointer_has_its_keys(keys: list[str]) -> None:
    assert keys_of(pointer_of(keys)) == keys


@given(json_values.values(["a", "a/b", "~", "~1", "", "0"], []))
def test_every_place_of_a_document_is_found(document: Any) -> None:
    places: list[tuple[list[object], Any]] = [([], document)]
    while places:
        keys, value = places.pop()
        assert resolve(document, pointer_of(keys)) is value
        if isinstance(value, dict):
            places += [([*keys, name], inner) for name, inner in value.items()]
        elif isinstance(value, list):
            places += [([*keys, place], inner) for place, inner in enumerate(value)]
