"""The HTML report."""

from __future__ import annotations

import re

from playground.reporting import (
    CheckResult,
    CollectionRunReport,
    as_html,
)
from tests.reporting.samples import EVIL, MIXED, step
from tests.support.markup import read


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
        assert figures == ["200 · answer · 12 ms", "404 · 1.5 s", "", "20 ms", ""]

    def test_options_that_are_not_set_are_left_out(self) -> None:
        options = {"parallel": 1, "iterations": 2, "bail": False, "agent": ""}
        page = as_html(CollectionRunReport("One", [step(1, "met")], options=options))
        assert re.findall(r"(parallel|iterations|bail|agent)", page) == ["iterations"]

    def test_it_is_one_file_without_anything_that_runs(self) -> None:
        check = CheckResult(False, EVIL, EVIL, EVIL)
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
