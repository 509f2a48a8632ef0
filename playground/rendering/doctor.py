"""An examination's report for people: steps with their calls, and all of it as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.utils.dateparse import parse_datetime

from playground.models import Agent
from playground.models.detection import proposed_changes, report_of
from playground.rendering.run_status import ago

#: How the statuses are called in text, all of one width.
_WORDS = {"passed": "passed ", "failed": "FAILED ", "skipped": "skipped", "waiting": "waiting"}
_FIELDS = {"url": "Address", "protocol": "Protocol", "binding": "Binding", "version": "Version"}


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call under the last step that it says something about."""

    line: str
    #: `HTTP 404`, or why there was no reply.
    outcome: str
    sent: str
    received: str


@dataclass(frozen=True, slots=True)
class DoctorStepRow:
    """A step as a page shows it."""

    label: str
    status: str
    cause: str
    fix: str
    calls: list[CallRow] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A field of the agent that would change, in the words of the agent's form."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """A report as a page shows it."""

    steps: list[DoctorStepRow]
    #: What was found, in words; "" for nothing.
    found: str
    also: list[str]
    #: `3 steps passed, 1 failed`.
    summary: str
    #: The first step that failed, "" for none.
    error: str
    ago: str
    changes: list[SettingChange]
    #: All of it as text, to be copied.
    text: str


def report_for(agent: Agent) -> DiagnosisView | None:
    """The agent's latest report, None where there is none."""
    kept = report_of(agent)
    if kept is None or not isinstance(kept.get("steps"), list):
        return None
    found = kept.get("found") or {}
    failed = (step["label"] for step in kept["steps"] if step["status"] == "failed")
    moment = parse_datetime(str(kept.get("at", "")))
    return DiagnosisView(
        steps=steps_of(kept),
        found=found.get("label", ""),
        also=kept.get("also", []),
        summary=summary_of(kept),
        error=next(failed, ""),
        ago=ago(moment) if moment else "",
        changes=changes_of(agent),
        text=text_of(kept),
    )


def steps_of(report: dict[str, Any]) -> list[DoctorStepRow]:
    """The steps, each call under the last of those that were judged by it."""
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
    """How many steps went which way."""
    counts = Counter(step["status"] for step in report["steps"])
    parts = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    return ", ".join([*parts, f"{counts['skipped']} skipped"])


def changes_of(agent: Agent) -> list[SettingChange]:
    """What “Use what was found” would change."""
    wanted = proposed_changes(agent)
    after = Agent(**wanted)
    return [
        SettingChange(_FIELDS[name], _shown(agent, name), _shown(after, name))
        for name in _FIELDS
        if name in wanted
    ]


def _shown(agent: Agent, name: str) -> str:
    shown = getattr(agent, f"get_{name}_display", None)
    return str(shown() if shown else getattr(agent, name))


def text_of(report: dict[str, Any]) -> str:
    """The report as plain text, without the calls."""
    found = report.get("found")
    lines = [
        f"Connection of {report['url']}",
        f"Examined {report.get('at', '')}: {summary_of(report)}",
        f"Found: {found['label']} at {found['url']}" if found else "Found: nothing that is known",
        *(f"Also: {each}" for each in report.get("also", [])),
        "",
    ]
    for step in report["steps"]:
        lines.append(f"{_WORDS[step['status']]}  {step['label']}: {step['cause']}".rstrip(": "))
        if step["fix"]:
            lines.append(f"{'':9}Fix: {step['fix']}")
    return "\n".join(lines) + "\n"
