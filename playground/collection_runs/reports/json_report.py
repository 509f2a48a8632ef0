"""JSON report.

    {"format": "nlweb-playground.collection-run/1",
     "name": …, "state": "completed" | "stopped" | "interrupted" | "running",
     "all_met": true, "started_at": ISO 8601 in UTC, "took_ms": 812.4,
     "environment": name or "", "options": {…},
     "totals": {"steps", "done", "met", "unmet", "unsent", "stopped", "skipped", "open",
                "checks", "checks_unmet"},
     "ending": reason for an early end, or "",
     "steps": [
       {"number": 1, "iteration": 1, "folder": name or "", "name": …,
        "verdict": "met" | "unmet" | "unsent" | "stopped" | "skipped" | "waiting" | "running",
        "reason": why it was not sent or not finished, or "",
        "problem": why its run did not complete, or "", "took_ms": 12.3 or null,
        "run": key or "", "agent": …, "state": …, "outcome": …, "status": 200 or null,
        "checks": [{"expectation": as it was written, "met": true | false | null,
                    "wanted": text, "actual": text, "value": the actual JSON}]}]}

`done` counts finished steps: met, unmet and unsent. A request that was in progress when the run
was stopped is `stopped`, one that had not started is `skipped`.

Written in ASCII, so that it contains no control sequences for a terminal, and without commands of
CI runners.
"""

from __future__ import annotations

import json
from typing import Any

from playground.collection_runs.reports.results import (
    MET,
    OPEN,
    SKIPPED,
    STOPPED,
    UNMET,
    UNSENT,
    CheckResult,
    CollectionRunReport,
    StepResult,
    Totals,
)
from playground.protocols.text import printable_json

FORMAT = "nlweb-playground.collection-run/1"


def as_json(report: CollectionRunReport) -> str:
    """Return the report as a JSON document with a final line break."""
    document = {
        "format": FORMAT,
        "name": report.name,
        "state": report.state,
        "all_met": report.all_passed,
        "started_at": report.started_at,
        "took_ms": round(report.took_ms, 1),
        "environment": report.environment,
        "options": dict(report.options),
        "totals": _totals(report.totals),
        "ending": report.ending,
        "steps": [_step(step) for step in report.steps],
    }
    return printable_json(json.dumps(document, indent=2, default=str)) + "\n"


def _totals(totals: Totals) -> dict[str, int]:
    tally = totals.tally
    return {
        "steps": tally.steps,
        "done": tally.done,
        **{verdict: tally.of(verdict) for verdict in (MET, UNMET, UNSENT, STOPPED, SKIPPED)},
        "open": tally.of(*OPEN),
        "checks": totals.checks,
        "checks_unmet": totals.checks_failed,
    }


def _step(step: StepResult) -> dict[str, Any]:
    return {
        "number": step.number,
        "iteration": step.iteration,
        "folder": step.folder,
        "name": step.name,
        "verdict": step.verdict,
        "reason": step.reason,
        "problem": step.problem,
        "took_ms": None if step.duration_ms is None else round(step.duration_ms, 1),
        "run": step.run,
        "agent": step.agent,
        "state": step.state,
        "outcome": step.outcome,
        "status": step.status,
        "checks": [_check(each) for each in step.checks],
    }


def _check(check: CheckResult) -> dict[str, Any]:
    return {
        "expectation": check.expectation,
        "met": check.passed,
        "wanted": check.expected,
        "actual": check.actual,
        "value": check.value,
    }
