"""Where JSON pointers lead in the text of a document."""

from __future__ import annotations

import json

import pytest

from playground.ui.json_spans import Span, span_of

NESTED = json.dumps({"text": json.dumps({"a": 'Crème "x"', "b": [1, {"é": None}]})})


@pytest.mark.parametrize(
    ("text", "pointer", "marked"),
    [
        ('{"a": 1, "b": 2}', "/b", '"b": 2'),
        ('{ "a" : [ 1 , {"b": "x"} ] }', "/a/1/b", '"b": "x"'),
        ('[1, [2, 3], 4]', "/1", "[2, 3]"),
        ('["a", "b"]', "/1", '"b"'),
        ('{"a/b": {"~": 0}}', "/a~1b/~0", '"~": 0'),
        ('{"a": 1, "b": 2, "a": 3}', "/a", '"a": 3'),
        ('{"a": NaN}', "/a", '"a": NaN'),
        ('{"\\u0061": 1}', "/a", '"\\u0061": 1'),
        ('{"a": 1} trailing', "/a", '"a": 1'),
        (' {"a": 1}', "", '{"a": 1}'),
        ('{"a#b": 1}', "/a#b", '"a#b": 1'),
        (NESTED, "/text#/b/0", "1"),
        (NESTED, "/text#/a", r"\"a\": \"Cr\\u00e8me \\\"x\\\"\""),
        (NESTED, "/text#/b/1/é", r"\"\\u00e9\": null"),
    ],
)  # fmt: skip
def test_a_value(text: str, pointer: str, marked: str) -> None:
    found = span_of(text, pointer)
    assert found
    assert not found.is_missing
    assert text[found.start : found.end] == marked


@pytest.mark.parametrize(
    ("text", "pointer", "at"),
    [
        ("{}", "/a", 0),
        ('{"a": {}}', "/a/b", 6),
        ("[[]]", "/0/0", 1),
        ('{"a": [1]}', "/a/x", 6),
        ('{"t": "{}"}', "/t#/a", 7),
    ],
)
def test_a_missing_value(text: str, pointer: str, at: int) -> None:
    assert span_of(text, pointer) == Span(at, at + 1, is_missing=True)


@pytest.mark.parametrize("text", ["", "<html>", '{"a"', '{"a": ', "[1, ", '{"a": 1 "b": 2'])
def test_text_that_is_not_json(text: str) -> None:
    assert span_of(text, "/b") is None


def test_json_in_a_string_that_is_not_json() -> None:
    text = '{"t": "{"}'
    assert span_of(text, "/t#/a") == Span(6, 9)
    assert span_of('{"t": 1}', "/t#/a") == Span(6, 7)


def test_moved() -> None:
    assert Span(1, 2, is_missing=True).moved(3) == Span(4, 5, is_missing=True)
