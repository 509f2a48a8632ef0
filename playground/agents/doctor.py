"""Connection doctor reports: steps with their calls for the page, and plain text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.dateparse import parse_datetime

from playground.models import Agent, Run
from playground.models.detection import detected_target, proposed_changes, report_of
from playground.ui.formatting import ago

#: Labels of the statuses in plain text, all of one width.
_STATUS_LABELS = {
    "passed": "passed ",
    "failed": "FAILED ",
    "skipped": "skipped",
    "waiting": "waiting",
}
_FIELDS = {"url": "URL", "protocol": "Protocol", "binding": "Binding", "version": "Version"}


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call below the last step that used it."""

    line: str
    #: `HTTP 404`, or `no response`.
    outcome: str
    sent: str
    received: str


@dataclass(frozen=True, slots=True)
class DoctorStepRow:
    """A step as its template shows it."""

    label: str
    status: str
    cause: str
    fix: str
    calls: list[CallRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A field of the agent that would change, with the labels of the agent's form."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """A report as its template shows it."""

    #: The steps that were not skipped, and those that were.
    steps: list[DoctorStepRow]
    skipped: list[DoctorStepRow]
    #: What was detected, or why nothing was.
    headline: str
    #: How to fix it, and facts such as the required authentication; empty if an agent was detected.
    fix: str
    facts: list[tuple[str, str]]
    also: list[str]
    #: `3 passed, 1 failed`.
    summary: str
    ago: str
    #: Of an agent the settings that would change; of a run the detected target, if it is another.
    changes: list[SettingChange]
    target: Mapping[str, str]
    #: The report as plain text, for the clipboard.
    text: str


def report_for(subject: Agent | Run) -> DiagnosisView | None:
    """Return the latest report of an agent or a run, None if there is none."""
    report = report_of(subject)
    if report is None or not isinstance(report.get("steps"), list):
        return None
    cause = cause_of_report(report)
    rows = steps_of(report)
    moment = parse_datetime(str(report.get("at", "")))
    return DiagnosisView(
        steps=[row for row in rows if row.status != "skipped"],
        skipped=[row for row in rows if row.status == "skipped"],
        headline=headline_of(report),
        fix=cause.get("fix", ""),
        facts=[(str(label), str(value)) for label, value in cause.get("facts", ())],
        also=report.get("also", []),
        summary=summary_of(report),
        ago=ago(moment) if moment else "",
        changes=changes_of(subject) if isinstance(subject, Agent) else [],
        target=detected_target(subject) if isinstance(subject, Run) else {},
        text=text_of(report),
    )


def cause_of_report(report: dict[str, Any]) -> dict[str, Any]:
    """Return why nothing was detected; {} if an agent was, or if the report does not say."""
    cause = report.get("cause")
    return cause if isinstance(cause, dict) and not report.get("found") else {}


def headline_of(report: dict[str, Any]) -> str:
    """Return what was detected, or why nothing was."""
    if found := report.get("found"):
        return f"Found: {found.get('label', '')}"
    if cause := cause_of_report(report):
        return str(cause.get("headline", ""))
    failed = (step["label"] for step in report["steps"] if step["status"] == "failed")
    first = next(failed, "")
    return f"No protocol detected. First failure: {first}" if first else "No protocol detected"


def steps_of(report: dict[str, Any]) -> list[DoctorStepRow]:
    """Return the steps, with each call below the last step that used it.

    A failure that the headline or an earlier step has named is not repeated.
    """
    at = {name: step["name"] for step in report["steps"] for name in step["calls"]}
    rows: list[DoctorStepRow] = []
    named = {headline_of(report)}
    for step in report["steps"]:
        cause, fix = step["cause"], step["fix"]
        if step["status"] == "failed":
            cause, fix = ("See above.", "") if cause in named else (cause, fix)
            named.add(step["cause"])
        calls = report["calls"].items()
        own = [_call(call) for name, call in calls if at.get(name) == step["name"]]
        rows.append(DoctorStepRow(step["label"], step["status"], cause, fix, own))
    return rows


def _call(call: dict[str, Any]) -> CallRow:
    outcome = f"HTTP {call['status']}" if call["status"] else "no response"
    return CallRow(call["line"], outcome, call["sent"], call["received"] or call["error"])


def summary_of(report: dict[str, Any]) -> str:
    """Return the number of steps by status as text."""
    counts = Counter(step["status"] for step in report["steps"])
    parts = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    return ", ".join([*parts, f"{counts['skipped']} skipped"])


def changes_of(agent: Agent) -> list[SettingChange]:
    """Return the changes of “Apply detected settings”."""
    proposed = proposed_changes(agent)
    after = Agent(**proposed)
    return [
        SettingChange(_FIELDS[name], _shown(agent, name), _shown(after, name))
        for name in _FIELDS
        if name in proposed
    ]


def _shown(agent: Agent, name: str) -> str:
    shown = getattr(agent, f"get_{name}_display", None)
    return str(shown() if shown else getattr(agent, name))


def text_of(report: dict[str, Any]) -> str:
    """Return the report as plain text, without the calls."""
    found = report.get("found")
    lines = [
        f"Connection of {report['url']}",
        f"Diagnosed {report.get('at', '')}: {summary_of(report)}",
        f"Found: {found['label']} at {found['url']}" if found else headline_of(report),
        *(f"Also: {each}" for each in report.get("also", [])),
        "",
    ]
    if cause := cause_of_report(report):
        lines.insert(3, f"Fix: {cause.get('fix', '')}")
    for row in steps_of(report):
        lines.append(f"{_STATUS_LABELS[row.status]}  {row.label}: {row.cause}".rstrip(": "))
        if row.fix:
            lines.append(f"{'':9}Fix: {row.fix}")
    return "\n".join(lines) + "\n"
