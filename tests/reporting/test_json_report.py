"""The JSON report."""

from __future__ import annotations

import json

from playground.reporting import (
    CollectionRunReport,
    as_json,
)
from tests.reporting.samples import EVIL, MET, MIXED, UNJUDGED, UNMET, step


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
                {
                    "expectation": each.expectation, "met": each.passed, "wanted": each.expected,
                    "actual": each.actual, "value": each.value,
                }
                for each in (MET, UNMET, UNJUDGED)
            ],
        }  # fmt: skip

    def test_a_terminal_finds_nothing_to_obey(self) -> None:
        assert (
            as_json(CollectionRunReport(EVIL, [step(1, "met", name=EVIL)]))
            .replace("\n", "")
            .isprintable()
        )
