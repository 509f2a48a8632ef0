"""Sample reports with every verdict."""

from __future__ import annotations

from typing import Any

from playground.reporting import (
    CheckResult,
    CollectionRunReport,
    StepResult,
)

EVIL = "<script>alert(1)</script> \"&'\x00\x1b[2J\ud800 {{x}}"

MET = CheckResult(True, "the HTTP status is 200", "200", 200, {"type": "status", "equals": 200})
UNMET = CheckResult(False, "the HTTP status is 200", "404", 404, {"type": "status", "equals": 200})
UNJUDGED = CheckResult(None, "a path", "It cannot be read.", None, {"type": "json"})


def step(number: int, verdict: str, *checks: CheckResult, **facts: Any) -> StepResult:
    facts = {"iteration": 1, "folder": "", "name": f"Request {number}", **facts}
    return StepResult(number=number, verdict=verdict, checks=checks, **facts)


MIXED = CollectionRunReport(
    "Tour",
    [
        step(1, "met", MET, duration_ms=12.34, run="r1", agent="Demo", state="completed",
             outcome="answer", status=200),
        step(2, "unmet", MET, UNMET, UNJUDGED, folder="Soups", duration_ms=1500.0, status=404),
        step(3, "unsent", folder="Soups", reason="There is no value for “city”."),
        step(4, "stopped", folder="Salads", iteration=2, reason="Halted.", duration_ms=20.0),
        step(5, "skipped", folder="Salads", iteration=2, reason="Not begun."),
    ],
    state="stopped",
    started_at="2026-01-02T03:04:05+00:00",
    took_ms=65_000,
    environment="Staging",
    options={"parallel": 2, "bail": True, "agent": "", "variables": ["a", "b"]},
)  # fmt: skip
