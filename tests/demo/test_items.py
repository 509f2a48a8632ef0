"""Phrases in result items and summaries."""

from __future__ import annotations

from playground.demo.items import listed, minutes_text


def test_phrases() -> None:
    assert [listed(names) for names in ([], ["A"], ["A", "B"], ["A", "B", "C"])] == [
        "", "A", "A and B", "A, B and C",
    ]  # fmt: skip
    assert [minutes_text(m) for m in (0, 1, 45, 60, 75, 121)] == [
        "0 minutes", "1 minute", "45 minutes", "1 hour", "1 hour 15 minutes", "2 hours 1 minute",
    ]  # fmt: skip
