from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import json_decoder, json_errors

#: How the sentences of the standard library's decoder begin.
THEIRS = re.compile(r"Expecting|Extra data|Unterminated|Invalid|Illegal|delimiter")

BROKEN = [
    ("{,", "expected a property name in double quotes"),
    ("[x]", "expected a value"),
    ('{"a" 1}', "expected a colon"),
    ("[1 2]", "expected a comma or the end of the array or object"),
    ("[] []", "unexpected text after the end of the document"),
    ('["a', "unterminated string"),
    ('["a\nb"]', "control character in a string; write line breaks and tabs as \\n and \\t"),
    ('["\\u12x4"]', "invalid \\u escape: expected four hexadecimal digits"),
    ('["\\q"]', "invalid escape sequence"),
]


@pytest.mark.parametrize(("text", "words"), BROKEN, ids=range(len(BROKEN)))
def test_what_is_broken_is_said_in_plain_words(text: str, words: str) -> None:
    with pytest.raises(json.JSONDecodeError) as broken:
        json.loads(text)
    assert json_errors.describe_error(broken.value) == words


def said_of(text: str) -> str:
    """What is said of a text; nothing of one that is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return json_errors.describe_error(error)
    return ""


@given(st.text('{}[]",:\\ntu1.- ', max_size=20))
def test_no_sentence_of_the_decoder_is_repeated(text: str) -> None:
    assert not THEIRS.search(said_of(text))


@pytest.mark.parametrize(
    ("text", "position", "wanted"),
    [("", 0, (1, 1)), ("ab", 1, (1, 2)), ("a\nb", 1, (1, 2)), ("a\nb", 2, (2, 1))],
    ids=range(4),
)
def test_a_place(text: str, position: int, wanted: tuple[int, int]) -> None:
    assert json_errors.line_and_column(text, position) == wanted


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("[[", None),
        ("[[[", 2),
        ('["[[[", {"a": [', 14),
        ("[[], [], {}, [[]]]", 14),
        (r'["\"[[", [[', 10),
        ('"[[[[', None),
    ],
    ids=range(6),
)
def test_where_it_is_too_deep(text: str, at: int | None) -> None:
    assert json_errors.too_deep_at(text, 2) == at


@given(st.text('[]{}"\\a', max_size=60), st.integers(0, 5))
def test_what_has_a_place_is_what_is_refused(text: str, limit: int) -> None:
    if not json_decoder.exceeds_depth(text, limit):
        assert json_errors.too_deep_at(text, limit) is None


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("[1, -2.5e3, 0]", None),
        ("[NaN]", 1),
        ('["NaN", "a\\"1e999", -Infinity]', 20),
        ("[1,\n Infinity]", 5),
        ("[1e308, 1e309]", 8),
        ("[1, " + "9" * 4301 + "]", 4),
        ("[" + "9" * 4300 + "]", None),
        ("[1-1.e]", None),
    ],
    ids=range(8),
)
def test_where_a_number_is_none(text: str, at: int | None) -> None:
    assert json_errors.number_at(text) == at
