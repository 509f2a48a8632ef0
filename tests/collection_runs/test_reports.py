"""Reports of collection runs: HTML, JSON, JUnit and text, and the counts in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from playground.collection_runs.reports import (
    BAD,
    DONE,
    FORMATS,
    OPEN,
    WORDS,
    CheckResult,
    CollectionRunReport,
    StepResult,
    VerdictCounts,
    as_html,
    as_json,
    as_junit,
    as_text,
    end_reason,
    verdict_label,
)
from playground.models import CollectionRun, Step
from tests.support.markup import read

EVIL = "<script>alert(1)</script> \"&'\x00\x1b[2J\ud800 {{x}}"

STATUS = {"type": "status", "equals": 200}
MET = CheckResult(STATUS, True, "the HTTP status is 200", "200", 200)
UNMET = CheckResult(STATUS, False, "the HTTP status is 200", "404", 404)
UNJUDGED = CheckResult({"type": "json"}, None, "a path", "It cannot be read.")


def step(number: int, verdict: str, *checks: CheckResult, **facts: Any) -> StepResult:
    facts = {"iteration": 1, "folder": "", "name": f"Request {number}", **facts}
    return StepResult(number=number, verdict=verdict, checks=checks, **facts)


MIXED = CollectionRunReport(
    "Tour",
    [
        step(1, "met", MET, took_ms=12.34, run="r1", agent="Demo", state="completed",
             outcome="answer", status=200),
        step(2, "unmet", MET, UNMET, UNJUDGED, folder="Soups", took_ms=1500.0, status=404),
        step(3, "unsent", folder="Soups", reason="There is no value for “city”."),
        step(4, "stopped", folder="Salads", iteration=2, reason="Halted.", took_ms=20.0),
        step(5, "skipped", folder="Salads", iteration=2, reason="Not begun."),
    ],
    state="stopped",
    started_at="2026-01-02T03:04:05+00:00",
    took_ms=65_000,
    environment="Staging",
    options={"parallel": 2, "bail": True, "agent": "", "variables": ["a", "b"]},
)  # fmt: skip


class TestHTML:
    def test_it_tells_everything(self) -> None:
        page = as_html(MIXED)
        for told in ("Tour", "Stopped", "Soups", "Request 2", "no value for “city”", "Staging"):
            assert told in page
        assert "a, b" in page
        assert re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page) == [
            ("Done", "3 of 5"), ("Passed", "1"), ("Failed", "1"), ("Not sent", "1"),
            ("Stopped", "1"), ("Skipped", "1"),
            ("Expectations passed", "2 of 4"), ("Time", "1 min 05 s"),
        ]  # fmt: skip

    def test_a_step_has_its_figures(self) -> None:
        figures = re.findall(r'<span class="about">([^<]*)</span>', as_html(MIXED))
        figures = [" ".join(each.split()) for each in figures]
        assert figures == ["200 · answer · 12 ms", "404 · 1.5 s", "", "20 ms", ""]

    def test_options_that_are_not_set_are_left_out(self) -> None:
        options = {"parallel": 1, "iterations": 2, "bail": False, "agent": ""}
        page = as_html(CollectionRunReport("One", [step(1, "met")], options=options))
        assert re.findall(r"(parallel|iterations|bail|agent)", page) == ["iterations"]

    def test_it_is_one_file_without_anything_that_runs(self) -> None:
        check = CheckResult(None, False, EVIL, EVIL, EVIL)
        evil = [step(1, "unmet", check, name=EVIL, folder=EVIL, reason=EVIL)]
        page = as_html(CollectionRunReport(EVIL, evil, environment=EVIL, options={EVIL: [EVIL]}))
        assert "<script" not in page
        assert not re.search(r"\s(src|href|on\w+)\s*=", page)
        assert "default-src 'none'" in page
        assert not read(page).find("script")

    def test_what_is_too_much_for_a_browser_is_left_out(self) -> None:
        page = as_html(
            CollectionRunReport("Many", [step(number, "met") for number in range(10_002)])
        )
        assert "2 more requests are in the JSON report" in page


class TestJSON:
    def test_its_shape(self) -> None:
        document = json.loads(as_json(MIXED))
        assert document["format"] == "nlweb-playground.collection-run/1"
        assert (document["state"], document["all_met"]) == ("stopped", False)
        assert document["ending"] == "The run was stopped. 1 of 5 requests passed."
        assert document["totals"] == {
            "steps": 5, "done": 3, "met": 1, "unmet": 1, "unsent": 1, "stopped": 1, "skipped": 1,
            "open": 0, "checks": 4, "checks_unmet": 2,
        }  # fmt: skip
        assert document["steps"][1] == {
            "number": 2, "iteration": 1, "folder": "Soups", "name": "Request 2",
            "verdict": "unmet", "reason": "", "took_ms": 1500.0, "run": "", "agent": "",
            "problem": "", "state": "", "outcome": "", "status": 404,
            "checks": [
                {"expectation": STATUS, "met": True, "wanted": "the HTTP status is 200",
                 "actual": "200", "value": 200},
                {"expectation": STATUS, "met": False, "wanted": "the HTTP status is 200",
                 "actual": "404", "value": 404},
                {"expectation": {"type": "json"}, "met": None, "wanted": "a path",
                 "actual": "It cannot be read.", "value": None},
            ],
        }  # fmt: skip

    def test_a_terminal_finds_nothing_to_obey(self) -> None:
        assert (
            as_json(CollectionRunReport(EVIL, [step(1, "met", name=EVIL)]))
            .replace("\n", "")
            .isprintable()
        )


class TestJUnit:
    def test_a_reader_of_junit_opens_it(self, tmp_path: Path) -> None:
        file = tmp_path / "report.xml"
        file.write_text(as_junit(MIXED), "utf-8")
        found = JUnitXml.fromfile(str(file))
        assert (found.tests, found.failures, found.errors, found.skipped) == (6, 1, 2, 2)
        assert found.time == 65
        suites = list(found)
        assert [suite.name for suite in suites] == ["Tour", "Soups", "Salads", "Tour"]
        assert [(s.tests, s.failures, s.errors, s.skipped) for s in suites] == [
            (1, 0, 0, 0), (2, 1, 1, 0), (2, 0, 0, 2), (1, 0, 1, 0),
        ]  # fmt: skip
        assert suites[0].timestamp == "2026-01-02T03:04:05"
        (bad, unsent) = list(suites[1])
        assert (bad.name, bad.classname, bad.time) == ("Request 2 [1]", "Tour.Soups", 1.5)
        (failure,) = bad.result
        assert failure.message == "the HTTP status is 200; actual: 404 (and 1 more)"
        assert "inconclusive" in failure.text
        assert failure.type == "failed"
        assert unsent.result[0].message == "There is no value for “city”."
        assert unsent.result[0].type == "not sent"
        assert [case.result[0].message for case in suites[2]] == [
            "Stopped. Halted.", "Skipped. Not begun.",
        ]  # fmt: skip

    @given(st.text(st.characters(codec=None)))
    def test_any_text_makes_xml(self, text: str) -> None:
        check = CheckResult(None, False, text, text)
        steps = [
            step(1, "unmet", check, name=text, folder=text),
            step(2, "unsent", reason=text),
        ]
        report = CollectionRunReport(text, steps, environment=text)
        root = ET.fromstring(as_junit(report).encode())
        assert len(root.findall(".//testcase")) == 2


class TestUnanswered:
    """A request that nobody answered: every report says why."""

    WHY = "127.0.0.1:1 refused the connection: nothing listens on that port."
    REPORT = CollectionRunReport(
        "Tour", [step(1, "unmet", UNMET, UNJUDGED, state="failed", problem=WHY)]
    )

    @pytest.mark.parametrize("name", FORMATS)
    def test_it_is_told(self, name: str) -> None:
        written, _, _ = FORMATS[name]
        assert self.WHY in written(self.REPORT)

    def test_it_is_an_error_of_junit(self) -> None:
        found = JUnitXml.fromstring(as_junit(self.REPORT).encode())
        assert (found.tests, found.failures, found.errors, found.skipped) == (1, 0, 1, 0)
        ((case,),) = found
        (error,) = case.result
        assert (error.type, error.message) == ("no response", f"{self.WHY} (and 2 more)")
        assert "actual: 404" in error.text

    def test_an_answer_that_broke_off_is_a_failure_with_its_cause(self) -> None:
        cut = step(1, "unmet", UNMET, state="truncated", status=200, problem="It broke off.")
        ((case,),) = JUnitXml.fromstring(as_junit(CollectionRunReport("Tour", [cut])).encode())
        (failure,) = case.result
        assert failure.type == "failed"
        assert failure.text.endswith("It broke off.")

    def test_an_expected_failure_is_none(self) -> None:
        report = CollectionRunReport(
            "Tour", [step(1, "met", MET, state="failed", problem=self.WHY)]
        )
        found = JUnitXml.fromstring(as_junit(report).encode())
        assert (found.failures, found.errors) == (0, 0)
        assert self.WHY not in as_text(report) + as_html(report)


class TestEarlyEnds:
    """Nothing but skipped requests would look like a success to whoever reads JUnit."""

    @pytest.mark.parametrize(
        ("state", "told"),
        [
            ("stopped", "The run was stopped. 1 of 2 requests passed."),
            (
                "interrupted",
                "The run was interrupted because the playground stopped. 1 of 2 requests passed.",
            ),
            ("running", "The run has not ended yet. 1 of 2 requests passed."),
        ],
    )
    def test_it_is_told(self, state: str, told: str) -> None:
        report = CollectionRunReport("Tour", [step(1, "met"), step(2, "skipped")], state)
        found = JUnitXml.fromstring(as_junit(report).encode())
        assert (found.tests, found.errors, found.skipped) == (3, 1, 1)
        _, (case,) = found
        (error,) = case.result
        assert (error.type, error.message) == (state, told)
        assert told in as_html(report)
        assert told in as_text(report)

    def test_one_that_came_to_its_end_has_none(self) -> None:
        report = CollectionRunReport("Tour", [step(1, "met"), step(2, "skipped")])
        assert report.ending == ""
        assert JUnitXml.fromstring(as_junit(report).encode()).tests == 2

    def test_every_state_of_a_run_is_known(self) -> None:
        tally = VerdictCounts(1, {})
        told = {state for state in CollectionRun.State.values if end_reason(state, tally)}
        assert told == set(CollectionRun.State.values) - {"completed"}


class TestTotals:
    def test_counts(self) -> None:
        assert MIXED.counts.counts == dict.fromkeys(WORDS.keys() - {"running", "waiting"}, 1)
        # What could not be judged is not met.
        assert (MIXED.checks, MIXED.checks_met, MIXED.checks_unmet) == (4, 2, 2)

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
        assert (report.all_met, report.status_label) == (all_met, word)


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


class TestText:
    def test_lines(self) -> None:
        assert as_text(MIXED).splitlines() == [
            "✓ Request 1 [1] (12 ms)",
            "✗ Soups / Request 2 [1] failed (1.5 s)",
            "    ✗ the HTTP status is 200; actual: 404",
            "    ✗ a path: inconclusive. It cannot be read.",
            "! Soups / Request 3 [1] not sent",
            "    There is no value for “city”.",
            "■ Salads / Request 4 [2] stopped (20 ms)",
            "    Halted.",
            "- Salads / Request 5 [2] skipped",
            "    Not begun.",
            "",
            "The run was stopped. 1 of 5 requests passed.",
            "Stopped: 3 of 5 requests done, 1 passed, 1 failed, 1 not sent, 1 stopped, 1 skipped;"
            " 2 of 4 expectations passed; 1 min 05 s",
        ]
