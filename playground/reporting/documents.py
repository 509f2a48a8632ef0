"""A report as JSON.

    {"format": "nlweb-playground.collection-run/1",
     "name": …, "state": "completed" | "stopped" | "interrupted" | "running",
     "all_met": true, "started_at": ISO 8601 in UTC, "took_ms": 812.4,
     "environment": name or "", "options": {…},
     "totals": {"steps", "done", "met", "unmet", "unsent", "stopped", "skipped", "open",
                "checks", "checks_unmet"},
     "ending": what kept the run from its end, or "",
     "steps": [
       {"number": 1, "iteration": 1, "folder": name or "", "name": …,
        "verdict": "met" | "unmet" | "unsent" | "stopped" | "skipped" | "waiting" | "running",
        "reason": why it was not sent, or not to its end, or "",
        "problem": why its run did not complete, or "", "took_ms": 12.3 or null,
        "run": key or "", "agent": …, "state": …, "outcome": …, "status": 200 or null,
        "checks": [{"expectation": as it was written, "met": true | false | null,
                    "wanted": words, "actual": words, "value": the JSON that there was}]}]}

`done` are those that came to an end of their own: met, unmet and unsent together. A request that
was under way when the run was stopped is `stopped`, one that was never begun `skipped`.

Written in ASCII, so that a terminal finds nothing in it to obey.
"""

from __future__ import annotations

import json
from typing import Any

from playground.reporting.results import CheckResult, CollectionRunReport, StepResult, Totals
from playground.reporting.verdicts import MET, OPEN, SKIPPED, STOPPED, UNMET, UNSENT

FORMAT = "nlweb-playground.collection-run/1"


def as_json(report: CollectionRunReport) -> str:
    """The report as a JSON document with a line break at its end."""
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
    return json.dumps(document, indent=2, default=str) + "\n"


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
