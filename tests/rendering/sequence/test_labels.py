"""Labels of sequence diagrams: one line, bounded, and as wide as estimated."""

from __future__ import annotations

import unicodedata
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.rendering.sequence.labels import fit, one_line, width_of


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" two\r\n\r\nlines\t ", "two lines"),
        ("a\x00\x1b[31mb\x85c\u2028d", "a [31mb c d"),
        ("\u202eevil\u202c \u2066x\u2069\u200f", "evil x"),
        ("half \ud83d and \uffff", "half \ufffd and \ufffd"),
        ("שלום", "שלום"),
        ("👩\u200d🍳", "👩\u200d🍳"),
        ("x" * 10_000, f"{'x' * 19}…"),
        (" " * 10_000 + "x", "…"),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text, 20) == line


@given(st.text(st.characters(), max_size=200), st.integers(1, 60))
def test_any_text_is_a_line_that_xml_may_contain(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.bidirectional(c) in {"RLO", "LRO", "RLE", "LRE"} for c in line)
    escaped = line.replace("&", "&amp;").replace("<", "&lt;")
    assert (ET.fromstring(f"<a>{escaped}</a>").text or "") == line
    assert one_line(line, limit) == line


@given(st.text(max_size=80), st.integers(20, 400))
def test_a_label_fits(text: str, width: int) -> None:
    label = fit(text, width, 13)
    assert label == text or (width_of(label, 13) <= width and label.endswith("…"))


def test_wide_characters_take_more_space() -> None:
    assert width_of("日本語", 10) > width_of("abc", 10) > width_of("ill", 10)
