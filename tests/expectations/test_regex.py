"""Regular expressions: matches, rejected patterns, and their cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.expectations.jsonpath import select
from playground.expectations.regex import PatternError, filter_match, matches
from playground.expectations.step_limit import StepLimit, StepLimitError


class TestPatterns:
    def test_part_and_whole(self) -> None:
        assert matches("b", "abc", StepLimit())
        assert not matches("^b", "abc", StepLimit())
        assert filter_match("a|abc", "abc", StepLimit())
        assert not filter_match("a|ab", "abc", StepLimit())

    def test_the_dot_of_a_filter_stands_for_no_end_of_a_line(self) -> None:
        document = ["a\rb", "a\nb", "a.b", "axb"]
        assert select(r"$[?match(@, 'a.b')]", document).values == ["a.b", "axb"]
        assert select(r"$[?match(@, 'a[.]b')]", document).values == ["a.b"]
        assert select(r"$[?match(@, 'a\\.b')]", document).values == ["a.b"]

    @pytest.mark.parametrize("pattern", ["(x+x+)+y", "(a|a)*b", "(.*)*$x", "^(([a-z])+.)+[A-Z]$"])
    def test_what_runs_for_ever_elsewhere_is_harmless(self, pattern: str) -> None:
        assert not matches(pattern, "x" * 100_000, StepLimit())

    @pytest.mark.parametrize(
        "pattern", ["(", "[", "a{1001}", "(a{100}){100}", r"\1", "x" * 1001, "\ud800"], ids=ascii
    )
    def test_what_re2_does_not_take_is_told(self, pattern: str) -> None:
        with pytest.raises(PatternError, match="pattern"):
            matches(pattern, "", StepLimit())

    def test_a_parenthesis_does_not_leave_the_group(self) -> None:
        with pytest.raises(PatternError):
            filter_match("a)|(b", "a", StepLimit())

    def test_a_large_pattern_on_a_large_text_is_too_much(self) -> None:
        with pytest.raises(StepLimitError):
            matches("(a|b)*a(a|b){500}", "ab" * 1_000_000, StepLimit())

    @given(st.text(max_size=20), st.text(max_size=20))
    def test_any_text_is_a_pattern_or_is_told(self, pattern: str, text: str) -> None:
        told = "."
        try:
            matches(pattern, text, StepLimit())
        except PatternError as error:
            told = str(error)
        assert told.endswith(".")
