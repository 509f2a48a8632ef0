"""Connection doctor reports: steps with their calls for the page, and plain text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.utils.dateparse import parse_datetime

from playground.models import Agent
from playground.models.detection import proposed_changes, report_of
from playground.rendering.formatting import ago

#: Labels of the statuses in plain text, all of one width.
_STATUS_LABELS = {
    "passed": "passed ",
    "failed": "FAILED ",
    "skipped": "skipped",
    "waiting": "waiting",
}
_FIELDS = {"url": "Address", "protocol": "Protocol", "binding": "Binding", "version": "Version"}


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call below the last step that used it."""

    line: str
    #: `HTTP 404`, or `no reply`.
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

    steps: list[DoctorStepRow]
    #: Label of the detected endpoint; "" for none.
    found: str
    also: list[str]
    #: `3 steps passed, 1 failed`.
    summary: str
    #: The first step that failed, "" for none.
    error: str
    ago: str
    changes: list[SettingChange]
    #: The report as plain text, for the clipboard.
    text: str


def report_for(agent: Agent) -> DiagnosisView | None:
    """Return the latest report of an agent, None if there is none."""
    report = report_of(agent)
    if report is None or not isinstance(report.get("steps"), list):
        return None
    found = report.get("found") or {}
    failed = (step["label"] for step in report["steps"] if step["status"] == "failed")
    moment = parse_datetime(str(report.get("at", "")))
    return DiagnosisView(
        steps=steps_of(report),
        found=found.get("label", ""),
        also=report.get("also", []),
        summary=summary_of(report),
        error=next(failed, ""),
        ago=ago(moment) if moment else "",
        changes=changes_of(agent),
        text=text_of(report),
    )


def steps_of(report: dict[str, Any]) -> list[DoctorStepRow]:
    """Return the steps, with each call below the last step that used it."""
    at = {name: step["name"] for step in report["steps"] for name in step["calls"]}
    return [
        DoctorStepRow(
            step["label"],
            step["status"],
            step["cause"],
            step["fix"],
            [_call(call) for name, call in report["calls"].items() if at.get(name) == step["name"]],
        )
        for step in report["steps"]
    ]


def _call(call: dict[str, Any]) -> CallRow:
    outcome = f"HTTP {call['status']}" if call["status"] else "no reply"
    return CallRow(call["line"], outcome, call["sent"], call["received"] or call["error"])


def summary_of(report: dict[str, Any]) -> str:
    """Return the number of steps by status as text."""
    counts = Counter(step["status"] for step in report["steps"])
    parts = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    return ", ".join([*parts, f"{counts['skipped']} skipped"])


def changes_of(agent: Agent) -> list[SettingChange]:
    """Return the changes of “Use what was found”."""
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
        f"Examined {report.get('at', '')}: {summary_of(report)}",
        f"Found: {found['label']} at {found['url']}" if found else "Found: nothing that is known",
        *(f"Also: {each}" for each in report.get("also", [])),
        "",
    ]
    for step in report["steps"]:
        lines.append(
            f"{_STATUS_LABELS[step['status']]}  {step['label']}: {step['cause']}".rstrip(": ")
        )
        if step["fix"]:
            lines.append(f"{'':9}Fix: {step['fix']}")
    return "\n".join(lines) + "\n"
