"""Sources and facts of a result."""

from __future__ import annotations

from typing import Any

import pytest

from playground.rendering.grounding import grounding_of


class TestGrounding:
    """NLWeb 4.1.1, which does not define the members of grounding."""

    @pytest.mark.parametrize(
        ("grounding", "sources", "facts"),
        [
            ({"source_urls": ["https://a.example/x/", "https://www.b.example"]},
             ["a.example/x", "b.example"], []),
            ({"url": "https://a.example", "source": "https://a.example"}, ["a.example"], []),
            ({"citations": [{"title": "T", "url": "https://a.example", "quote": "so"}, "Paper"]},
             ["T"], [("Citations", "Quote: so; Paper")]),
            ({"citations": [{"text": "So it is."}]}, [], [("Citations", "So it is.")]),
            ({"schema_objects": [{"@type": "Recipe", "@id": "https://a.example/1", "name": "N"}]},
             ["N"], []),
            ({"source": "user-submitted", "author": "Chef Maria"}, [],
             [("Source", "user-submitted"), ("Author", "Chef Maria")]),
            ({"rating": {"@type": "Rating", "ratingValue": 4, "bestRating": 5,
                         "ratingExplanation": "of two"}}, [],
             [("Rating", "4 of 5; Rating explanation: of two")]),
            ({"confidence": 0.9, "verified": True}, [],
             [("Confidence", "0.9"), ("Verified", "yes")]),
            ({"source_urls": ["javascript:alert(1)"]}, [],
             [("Source URLs", "javascript:alert(1)")]),
            ({"span": {"from": 1, "to": 5}}, [], [("Span", "From: 1; To: 5")]),
            (["https://a.example", "elsewhere"], ["a.example"], [("Source", "elsewhere")]),
            ("https://a.example", ["a.example"], []),
            ("the archive", [], [("Source", "the archive")]),
            (7, [], [("Source", "7")]),
            ({"@context": "https://schema.org", "empty": [], "none": None}, [], []),
            (None, [], []),
        ],
    )  # fmt: skip
    def test_links_and_facts(
        self, grounding: Any, sources: list[str], facts: list[tuple[str, str]]
    ) -> None:
        found = grounding_of({"name": "N", "grounding": grounding})
        assert [source.label for source in found.sources] == sources
        assert found.facts == facts
        assert bool(found) is bool(sources or facts)

    def test_says_what_kind_a_source_is(self) -> None:
        (source,) = grounding_of(
            {"grounding": {"a": {"@type": "Book", "url": "https://b.example"}}}
        ).sources
        assert (source.url, source.kind) == ("https://b.example", "Book")

    @pytest.mark.parametrize("item", [None, 3, "text", [], {}])
    def test_of_what_has_none(self, item: Any) -> None:
        assert not grounding_of(item)

    def test_a_flood_is_bounded(self) -> None:
        urls = [f"https://a.example/{'x' * 500}{n}" for n in range(1000)]
        found = grounding_of(
            {"grounding": {"urls": urls} | {f"k{n}": "v" * 9999 for n in range(99)}}
        )
        assert (len(found.sources), len(found.facts)) == (12, 12)
        assert all(len(source.label) <= 60 for source in found.sources)
        assert all(len(value) <= 300 for _, value in found.facts)
