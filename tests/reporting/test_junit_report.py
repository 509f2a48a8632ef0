"""The JUnit report, and what every report says of requests without a response and early ends."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml

from playground.models import CollectionRun
from playground.reporting import (
    FORMATS,
    CheckResult,
    CollectionRunReport,
    as_html,
    as_junit,
    as_text,
    end_reason,
)
from playground.reporting.results import VerdictCounts
from tests.reporting.samples import MET, MIXED, UNJUDGED, UNMET, step


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
        check = CheckResult(False, text, text)
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
