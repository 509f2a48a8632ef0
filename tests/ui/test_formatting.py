"""Values, durations, sizes and JSON as text; URLs that may become links."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.ui.formatting import (
    ago,
    count_text,
    is_local_path,
    iso_duration_text,
    json_preview,
    label_text,
    milliseconds,
    pretty,
    safe_url,
    seconds_text,
    size,
    table_of,
    value_text,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""), ([], ""), ({}, ""), (0, "0"), (False, "no"), (True, "yes"), (2.0, "2.0"),
        ("  a  ", "a"), ([1, None, "", "b"], "1, b"), ({"name": "n", "text": "t"}, "n"),
        ({"text": "t"}, "t"), ({"name": 5}, "5"),
        ({"name": {"@value": "v"}}, "v"), ({"@id": "#z"}, "#z"), ({"a": 5}, '{"a": 5}'),
        ([["a"], ["b", ["c"]]], "a, b, c"),
    ],
)  # fmt: skip
def test_words(value: Any, expected: str) -> None:
    assert value_text(value) == expected


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("estimatedCost", "Estimated cost"),
        ("ratingExplanation", "Rating explanation"),
        ("source_urls", "Source URLs"),
        ("item-id", "Item ID"),
        ("HTMLText", "HTML text"),
        ("SKU", "SKU"),
        ("isbn13", "Isbn13"),
        ("schema:cookTime", "Cook time"),
        ("@reverse", "Reverse"),
        ("name", "Name"),
        ("A", "A"),
        ("a name, with words", "a name, with words"),
        ("приготовление", "приготовление"),
        ("__", "__"),
        ("", ""),
        ("x" * 100, "x" * 59 + "…"),
    ],
)
def test_names_as_labels(name: str, label: str) -> None:
    assert label_text(name) == label


def test_a_megabyte_is_not_written_out_to_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    deep = {"a": [{"b": n} for n in range(200_000)]}
    encode = json.JSONEncoder.iterencode
    pieces = []

    def counting(self: json.JSONEncoder, value: Any, _one_shot: bool = False) -> Any:
        for piece in encode(self, value, _one_shot):
            pieces.append(piece)
            yield piece

    monkeypatch.setattr(json.JSONEncoder, "iterencode", counting)
    assert len(value_text(deep, 100)) == 100
    assert 0 < len(pieces) < 200
    assert json_preview([1, {"a": None}]) == '[1, {"a": null}]'
    assert json_preview("  as it is ") == "as it is"


def test_json_is_cut_where_it_would_drown_the_page() -> None:
    value = {"text": "é" * 300_000}
    shown = pretty(value)
    assert len(shown) < 201_000
    assert "more characters, see Wire" in shown
    assert pretty({"half": "\ud800"}).encode()
    assert json.loads(pretty({"half": "\ud800"})) == {"half": "\ud800"}


def test_tables_are_bounded() -> None:
    deep: Any = "end"
    for _ in range(60):
        deep = [{"in": deep}]
    table = table_of({"deep": deep} | {f"k{n}": n for n in range(100)})
    assert table
    assert (len(table.rows), table.more) == (40, True)
    assert table_of(None) is table_of({}) is table_of([]) is None
    assert table_of({"a": None, "b": []}).rows == [("a", "null"), ("b", "empty")]  # type: ignore[union-attr]
    assert len(table_of({"x" * 500: "y" * 5000}).rows[0][1]) <= 600  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.0 ms"), (9.94, "9.9 ms"), (84.4, "84 ms"), (999, "999 ms"), (1000, "1.0 s"),
        (59_900, "59.9 s"), (60_000, "1 min 00 s"), (185_400, "3 min 05 s"),
    ],
)  # fmt: skip
def test_milliseconds(value: float, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"), (-4, "0 s"), (8.4, "8 s"), (60, "1 min"), (200, "3 min 20 s"),
        (7_500, "2 h 5 min"), (3_601, "1 h"), (31_536_000, "365 d"), (1e12, "11574074 d 1 h"),
    ],
)  # fmt: skip
def test_seconds(seconds: float, words: str) -> None:
    assert seconds_text(seconds) == words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("PT30M", "30 min"),
        ("PT1H5M10S", "1 h 5 min 10 s"),
        ("P2D", "2 d"),
        ("PT0S", "none"),
        ("PT1.5S", "1 s"),
        ("PT1M trailing", "PT1M trailing"),
        ("half an hour", "half an hour"),
        ("PT-5M", "PT-5M"),
        ("P" + "9" * 5000 + "D", "P" + "9" * 58 + "…"),
        (90, "90"),
        (None, ""),
        (["PT1M"], "PT1M"),
    ],
)
def test_iso_durations(value: Any, expected: str) -> None:
    assert iso_duration_text(value) == expected


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"), (0, "now"), (59, "now"), (60, "1 min ago"), (3_599, "59 min ago"),
        (3_600, "1 h ago"), (86_399, "23 h ago"), (90_000, "1 d ago"), (10**8, "1157 d ago"),
    ],
)  # fmt: skip
def test_how_long_ago(seconds: int, text: str) -> None:
    assert ago(timezone.now() - timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (1024**2, "1.0 MB"), (3_500_000, "3.3 MB")],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_counts() -> None:
    assert [count_text(n, "difference") for n in (0, 1, 2)] == [
        "0 differences", "1 difference", "2 differences",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "HTTPS://Example.com/Path?q=1&r=a%20b#frag",
        "http://127.0.0.1:8000/",
        "http://[::1]:8000/x",
        "https://example.com/ünïcode",
        "https://example.com/?next=javascript:alert(1)",
    ],
)
def test_web_addresses_are_links_as_they_are(url: str) -> None:
    assert safe_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "\x01javascript:1",
        " javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
        "blob:https://example.com/1", "ftp://example.com/", "mailto:a@example.com",
        "//example.com/x", "/relative", "relative", "#fragment", "?query", "",
        "https:/example.com", "https:example.com", "https://", "http:///example.com",
        "https:\\\\example.com", "https://example.com\\@evil.example", "https://exa mple.com",
        "https://example.com/\n", "https://example.com/\t", "https://example.com/\x00",
        "http://[::1", "http://[zz]/", "https://example.com/" + "a" * 4000,
        None, 1, True, ["https://example.com"], {"url": "https://example.com"}, b"https://a.example",
    ],
)  # fmt: skip
def test_everything_else_is_none(url: Any) -> None:
    assert safe_url(url) is None


@pytest.mark.parametrize(
    ("value", "is_local"),
    [
        ("/demo/", True), ("/reference/nlweb/0.55/#ask-request/query", True), ("/rules/", True),
        ("/", False), ("/?q=a", False), ("/collections/mine/deletion/", False),
        ("/demo/../collections/mine/deletion/", False), ("/demo/%2e%2e/collections/", False),
        ("//example.com/x", False), ("/\\example.com", False), ("\\/example.com", False),
        ("/\t/example.com", False), (" /x", False), ("x", False), ("", False), ("#x", False),
        ("/demo/" + "a" * 4000, False), ("https://example.com/", False),
    ],
)  # fmt: skip
def test_paths_of_this_playground(value: str, is_local: bool) -> None:
    assert is_local_path(value) is is_local


@given(st.text() | st.from_regex(r"\A[a-z]{0,6}:?[/\\]{0,3}[a-z@:\[\].]{0,9}", fullmatch=True))
def test_it_never_raises(url: str) -> None:
    assert safe_url(url) in (None, url)
