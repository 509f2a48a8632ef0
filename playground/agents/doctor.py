"""Connection doctor: its calls and their diagnosis, and the report for pages and terminals."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from playground.base.executors import run_in_writer
from playground.base.jobs import TaskRegistry
from playground.engine.calls import OwnerSlots, collect_frames, narrow_transport
from playground.engine.preparation import follow_up_request, without_empty_credentials
from playground.engine.request import PreparedRequest, request_to
from playground.models import Agent, Run
from playground.models.agents import detected_target, proposed_changes, report_of
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.doctor.diagnosis import AnnouncedCall, Diagnosis, announce
from playground.protocols.frames import Frame
from playground.transport import check_url
from playground.ui.formatting import ago

#: Labels of the statuses in plain text, all of one width.
_STATUS_LABELS = {
    "passed": "passed ",
    "failed": "FAILED ",
    "skipped": "skipped",
    "waiting": "waiting",
}
_FIELDS = {"url": "URL", "protocol": "Protocol", "binding": "Binding", "version": "Version"}


def report_for(subject: Agent | Run) -> dict[str, Any] | None:
    """Return the stored report as `agents/doctor.html` shows it.

    `changes` are the settings of an agent that would change: (label, before, after). `target` is
    the detected target of a run, if it is another one. `text` is for the clipboard.
    """
    report = report_of(subject)
    if report is None or not isinstance(report.get("steps"), list):
        return None
    steps = steps_of(report)
    moment = parse_datetime(str(report.get("at", "")))
    return {
        "headline": headline_of(report),
        "cause": cause_of_report(report),
        "also": report.get("also", []),
        "steps": [step for step in steps if step["status"] != "skipped"],
        "skipped": [step for step in steps if step["status"] == "skipped"],
        "summary": summary_of(report),
        "ago": ago(moment) if moment else "",
        "changes": _changes_of(subject) if isinstance(subject, Agent) else [],
        "target": detected_target(subject) if isinstance(subject, Run) else {},
        "text": text_of(report),
    }


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


def steps_of(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps, with each call below the last step that used it.

    A failure that the headline or an earlier step has named is not repeated.
    """
    last = {name: step["name"] for step in report["steps"] for name in step["calls"]}
    found: list[dict[str, Any]] = []
    named = {headline_of(report)}
    for step in report["steps"]:
        calls = [call for name, call in report["calls"].items() if last.get(name) == step["name"]]
        found.append({**step, "calls": calls})
        if step["status"] == "failed":
            if step["cause"] in named:
                found[-1] |= {"cause": "See above.", "fix": ""}
            named.add(step["cause"])
    return found


def summary_of(report: dict[str, Any]) -> str:
    """Return the number of steps by status as text."""
    counts = Counter(step["status"] for step in report["steps"])
    parts = [f"{counts['passed']} passed", f"{counts['failed']} failed"]
    return ", ".join([*parts, f"{counts['skipped']} skipped"])


def _changes_of(agent: Agent) -> list[tuple[str, str, str]]:
    """Return the changes of “Apply detected settings”, with the labels of the agent's form."""
    proposed = proposed_changes(agent)
    after = Agent(**proposed)
    return [
        (label, _shown(agent, name), _shown(after, name))
        for name, label in _FIELDS.items()
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
    for step in steps_of(report):
        label = _STATUS_LABELS[step["status"]]
        lines.append(f"{label}  {step['label']}: {step['cause']}".rstrip(": "))
        if step["fix"]:
            lines.append(f"{'':9}Fix: {step['fix']}")
    return "\n".join(lines) + "\n"


logger = logging.getLogger(__name__)

#: Seconds of a diagnosis, of its first call, and of each of the others.
TOTAL, FIRST, EACH = 20.0, 8.0, 4.0
#: Bytes and frames of a response that are read: enough to detect the protocol.
MAX_BYTES, MAX_FRAMES = 256 * 1024, 1_000
#: Diagnoses of one user at once.
MAX_AT_ONCE = 3

Listener = Callable[[dict[str, Any]], Awaitable[None]]

#: What a diagnosis is about: both have a URL, an owner and detected settings.
Subject = Agent | Run

#: Diagnoses in progress by model and key of the subject, with the key of its owner.
_registry: TaskRegistry[tuple[str, object], int | None] = TaskRegistry("diagnosis of")
_detections = OwnerSlots(MAX_AT_ONCE)


def request_of(subject: Subject) -> PreparedRequest:
    """Return an empty request to the subject, with its credentials.

    Raises `SecretNotAllowedError`, as `follow_up_request`.
    """
    if isinstance(subject, Agent):
        return request_to(subject, {})
    return follow_up_request(subject, {}, without_empty_credentials(subject.headers))


def planned_calls(subject: Subject) -> list[AnnouncedCall]:
    """Return the calls that a diagnosis of the subject may make, to be shown before it starts."""
    if check_url(subject.url):
        return []
    return announce(request_of(subject).redacted_target)


async def diagnose(
    prepared: PreparedRequest, listener: Listener | None = None, *, is_brief: bool = False
) -> dict[str, Any]:
    """Diagnose the target of a request and return the report, see `Diagnosis.report`.

    `listener` gets the report so far after every call. Never raises because of the network or the
    agent.
    """
    target = prepared.target
    url_error = check_url(target.url) or ""
    if target.url != prepared.url:
        # The report is stored and shown with the URL.
        url_error = "A URL that contains a secret cannot be diagnosed."
        target = replace(target, url=prepared.url)
    diagnosis = Diagnosis(target, url_error, is_brief=is_brief)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TOTAL
    allowed = FIRST
    while call := diagnosis.next_call():
        left = deadline - loop.time()
        if left <= 0:
            diagnosis.give_up()
            break
        diagnosis.add(await _frames(call, min(left, allowed), prepared.redact))
        allowed = EACH
        if listener:
            await listener(_dated(diagnosis, "running"))
    if end_call := diagnosis.end_call():
        await _frames(end_call, EACH, prepared.redact)
    return _dated(diagnosis, "done")


async def _frames(call: HttpCall, seconds: float, secrets: list[str]) -> list[Frame]:
    bounds = {
        "max_bytes": MAX_BYTES,
        "max_frames": MAX_FRAMES,
        # Shorter than the total, so that the report can name the slow stage.
        "connect_timeout": 0.6 * seconds,
        "idle_timeout": 0.9 * seconds,
        "total_timeout": seconds,
    }
    mask = registry.of(registry.DEFAULT).mask
    return await collect_frames(call, narrow_transport(bounds, redact=secrets, mask=mask))


class TooManyError(Exception):
    """The owner has as many detections in progress as allowed."""


async def detect(prepared: PreparedRequest, owner_id: int | None) -> dict[str, Any]:
    """Return the report of a brief diagnosis, which ends at the first agent at the very URL.

    Raises `TooManyError`.
    """
    with _detections.take(owner_id) as is_free:
        if not is_free:
            raise TooManyError
        return await diagnose(prepared, is_brief=True)


def _dated(diagnosis: Diagnosis, state: str) -> dict[str, Any]:
    return {**diagnosis.report(), "state": state, "at": timezone.now().isoformat()}


# The stored report of a subject


def start(subject: Subject, prepared: PreparedRequest) -> bool:
    """Diagnose a saved subject in the background; return False if the owner's limit is reached.

    `prepared` is its `request_of`. A diagnosis in progress continues. Must be called on the event
    loop's thread.
    """
    if _key(subject) in _registry:
        return True
    if _registry.values().count(subject.owner_id) >= MAX_AT_ONCE:
        return False
    _registry.begin(_key(subject), subject.owner_id, _diagnose_and_store(subject, prepared))
    return True


def _key(subject: Subject) -> tuple[str, object]:
    return subject._meta.model_name or "", subject.pk


async def _diagnose_and_store(subject: Subject, prepared: PreparedRequest) -> None:
    async def store(report: dict[str, Any]) -> None:
        await run_in_writer(_store_report, subject, report)

    try:
        await store({"state": "running", "at": timezone.now().isoformat()})
        await store(await diagnose(prepared, store))
    except Exception:
        # An error of the playground, not of the agent: the page must not wait for ever.
        logger.exception("Diagnosis of %s %s failed", *_key(subject))
        await store({"state": "broken", "at": timezone.now().isoformat()})


def _store_report(subject: Subject, report: dict[str, Any]) -> None:
    """Store a report, and the detected settings once it is done."""
    rows = (Agent if isinstance(subject, Agent) else Run)._default_manager.filter(pk=subject.pk)
    before = rows.values_list("detected", flat=True).first()
    stored = before if isinstance(before, dict) and report["state"] != "done" else {}
    found = report.get("found")
    facts = {**found, "at": report["at"]} if isinstance(found, dict) else {}
    rows.update(detected={**stored, **facts, "report": report})


def is_running(subject: Subject) -> bool:
    """Return whether a diagnosis of the subject is in progress, in this or another process.

    A report that has not changed for longer than a diagnosis takes belongs to a dead process.
    """
    if _key(subject) in _registry:
        return True
    report = report_of(subject)
    changed_at = parse_datetime(str(report.get("at", ""))) if report else None
    if report is None or report.get("state") != "running" or changed_at is None:
        return False
    return timezone.now() - changed_at < timedelta(seconds=TOTAL)
