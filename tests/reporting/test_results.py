"""Verdicts, counts and the facts of a whole run."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Step
from playground.reporting import (
    FORMATS,
    CollectionRunReport,
)
from playground.reporting.results import BAD, DONE, OPEN, WORDS, VerdictCounts, verdict_label
from tests.reporting.samples import MIXED, step


class TestTotals:
    def test_counts(self) -> None:
        totals = MIXED.totals
        assert totals.tally.counts == dict.fromkeys(WORDS.keys() - {"running", "waiting"}, 1)
        # What could not be judged is not met.
        assert (totals.checks, totals.checks_passed, totals.checks_failed) == (4, 2, 2)

    @pytest.mark.parametrize(
        ("state", "verdicts", "all_met", "word"),
        [
            ("completed", ["met", "met"], True, "All passed"),
            ("completed", ["met", "unmet"], False, "Failed"),
            ("completed", ["met", "unsent"], False, "Failed"),
            ("completed", ["met", "skipped"], False, "Failed"),
            ("completed", ["met", "stopped"], False, "Failed"),
            ("stopped", ["met"], False, "Stopped"),
            ("interrupted", ["met"], False, "Interrupted"),
            ("running", ["met"], False, "Running"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_verdict(self, state: str, verdicts: list[str], all_met: bool, word: str) -> None:
        steps = [step(number, verdict) for number, verdict in enumerate(verdicts)]
        report = CollectionRunReport("x", steps, state)
        assert (report.all_passed, report.verdict) == (all_met, word)


class TestVerdicts:
    def test_the_words_are_those_of_the_rows(self) -> None:
        assert {verdict: verdict_label(verdict) for verdict in WORDS} == dict(Step.Verdict.choices)

    @given(st.lists(st.sampled_from(sorted(WORDS))))
    def test_every_request_is_counted_once(self, verdicts: list[str]) -> None:
        tally = VerdictCounts(len(verdicts), Counter(verdicts))
        ended = tally.of("stopped", "skipped")
        assert tally.done + ended + tally.of(*OPEN) == tally.steps
        assert tally.done == tally.of("met") + tally.bad == tally.of(*DONE)
        assert tally.bad == tally.of(*BAD)
        assert tally.done + ended == sum(count for _, _, count in tally.figures)
        lengths = sum(length for _, _, length in tally.parts(1000))
        assert lengths <= 1000.1

    @pytest.mark.parametrize(
        ("steps", "counts", "told"),
        [
            (1, {"met": 1}, "1 of 1 request done, 1 passed"),
            (2, {}, "0 of 2 requests done, 0 passed"),
            (3, {"met": 1, "running": 1, "waiting": 1}, "1 of 3 requests done, 1 passed"),
            (
                2600,
                {"met": 1000, "unmet": 1, "stopped": 3, "skipped": 1596},
                "1,001 of 2,600 requests done, 1,000 passed, 1 failed, 3 stopped, 1,596 skipped",
            ),
        ],
        ids=range(4),
    )
    def test_in_one_line(self, steps: int, counts: dict[str, int], told: str) -> None:
        assert VerdictCounts(steps, counts).summary == told


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_without_steps(name: str) -> None:
    written, _, _ = FORMATS[name]
    assert written(CollectionRunReport("Nothing", []))
