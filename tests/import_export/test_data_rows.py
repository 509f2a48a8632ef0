"""Values of variables: assignments `name=value`, and data files in CSV and JSON."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.import_export.data_rows import (
    MAX_BYTES,
    MAX_LINES,
    AssignmentError,
    DataError,
    parse_assignments,
    read_rows,
)
from tests.support.json_values import values as json_values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        ("city=Oslo", {"city": "Oslo"}),
        ("city=Oslo\r\n\n  day=Monday\n", {"city": "Oslo", "day": "Monday"}),
        ("n=5\nyes=true\nwords=[\"a\"]", {"n": 5, "yes": True, "words": ["a"]}),
        ("n=\"5\"", {"n": "5"}),
        ("query=a=b&c", {"query": "a=b&c"}),
        ("empty=", {"empty": ""}),
        ("twice=1\ntwice=2", {"twice": 2}),
    ],
    ids=range(8),
)  # fmt: skip
def test_they_are_read(text: str, found: dict[str, Any]) -> None:
    assert parse_assignments(text) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a=1\nhunter2", "Line 2: expected name=value."),
        ("two words=1", "Line 1: expected name=value."),
        ("=1", "Line 1: expected name=value."),
        ("$uuid=1", "Line 1: expected name=value."),
        ("a=1\n" * (MAX_LINES + 1), f"Too many lines. The limit is {MAX_LINES}."),
    ],
    ids=range(5),
)
def test_what_is_none_is_said_with_its_line_and_not_quoted(text: str, told: str) -> None:
    with pytest.raises(AssignmentError) as error:
        parse_assignments(text)
    assert str(error.value) == told


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_assignments(text), dict)
    except AssignmentError:
        assert text.strip()


NAMES = st.text("abcXYZ_-.09", min_size=1, max_size=10)


@pytest.mark.parametrize(
    ("data", "name", "rows"),
    [
        ("a,b\n1,x y\n", "d.csv", [{"a": "1", "b": "x y"}]),
        ("\ufeffa , b\r\n1,\r\n\r\n2,3", "", [{"a": "1", "b": ""}, {"a": "2", "b": "3"}]),
        ('a\n"1\n2"\n', "", [{"a": "1\n2"}]),
        ('a\n"say ""hi"""\n', "", [{"a": 'say "hi"'}]),
        ('[{"a": 1, "b": [null]}, {}]', "", [{"a": 1, "b": [None]}, {}]),
        ("a\n[1]\n", "x.CSV", [{"a": "[1]"}]),
    ],
    ids=["csv", "windows", "line break", "quotes", "json", "by its ending"],
)
def test_rows(data: str, name: str, rows: list[dict[str, Any]]) -> None:
    assert read_rows(data.encode(), name) == rows


@pytest.mark.parametrize(
    ("data", "name", "told"),
    [
        (b"", "", "missing header with the column names"),
        (b"a,b\n", "", "no rows"),
        (b"a,b\n1,2\n3\n", "", "Line 3: 1 values for 2 columns"),
        (b"a,a\n1,2\n", "", "Line 1, column 2: duplicate name “a”"),
        (b"a,two words\n1,2\n", "", "Line 1, column 2: “two words”"),
        (b"a,\n1,2\n", "", "Line 1, column 2"),
        (b'a\n"1\n', "", "Line 2"),
        (b"a\n\xff\n", "", "Line 2: not UTF-8"),
        (b"a\n1\x00\n", "", "Line 2: unexpected null byte"),
        (b"x" * (MAX_BYTES + 1), "", "larger than 5 MiB"),
        (b"a\n" + b"1\n" * 10_001, "", "more than 10,000 rows"),
        (",".join(f"n{i}" for i in range(201)).encode() + b"\n", "", "more than 200 columns"),
        (b"a\n" + b'"' + b"x" * 200_000 + b'"\n', "", "Line 2"),
        (b"[1]", "", "Row 1: not an object"),
        (b'[{"a": 1}, {"b c": 1}]', "", "Row 2, column 1: “b c”"),
        (b'{"a": 1}', "", "a JSON array"),
        (b"[]", "", "no rows"),
        (b"a,b\n1,2\n", "d.json", "Invalid JSON"),
        (b'[{"a": 1}', "", "Invalid JSON"),
        (b"[" * 100_000, "", "nested more than"),
    ],
    ids=range(20),
)
def test_what_is_wrong_is_said_with_its_place(data: bytes, name: str, told: str) -> None:
    with pytest.raises(DataError) as error:
        read_rows(data, name)
    assert told in str(error.value)


# A few rows of a few columns: a single value may be a tree, and large tables are slow to generate.
@given(
    st.lists(
        st.dictionaries(NAMES, json_values(["a"]), min_size=1, max_size=3), min_size=1, max_size=3
    )
)
def test_json_comes_back(rows: list[dict[str, Any]]) -> None:
    assert read_rows(json.dumps(rows).encode()) == rows


@given(
    st.lists(NAMES, min_size=1, max_size=4, unique=True),
    st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=4)),
)
def test_csv_comes_back(names: list[str], values: list[list[str]]) -> None:
    padded = [[*row, *[""] * len(names)][: len(names)] for row in values]
    # A line of one empty value is an empty line.
    rows = [row for row in padded if row != [""]]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([names, *rows])
    wanted = [dict(zip(names, row, strict=True)) for row in rows]
    if not wanted:
        with pytest.raises(DataError):
            read_rows(file.getvalue().encode(), "x.csv")
    else:
        assert read_rows(file.getvalue().encode(), "x.csv") == wanted


@given(st.binary())
def test_anything_else_is_refused_in_words(data: bytes) -> None:
    with contextlib.suppress(DataError):
        assert all(isinstance(row, dict) for row in read_rows(data))
