"""Status, progress, metrics, version and binding of a run as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from playground.conversation.errors import error_card
from playground.models import Agent, CollectionRun, Run, RunState
from playground.protocols import registry
from playground.protocols.events import Progress
from playground.protocols.exchange import Version
from playground.ui.formatting import milliseconds, size, value_text


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The status label and the figures of the status bar."""

    #: Text of the badge: the state, or the outcome once the transfer is complete.
    status_label: str
    #: Name, label and number of what was received, of those that its protocol has.
    counts: Sequence[tuple[str, str, str]]
    size: str
    first: str
    elapsed: str
    #: Milliseconds so far, for the clock in the browser; None once the run has ended.
    ticking_ms: int | None


def run_metrics(run: Run) -> RunMetrics:
    elapsed = elapsed_ms(run)
    return RunMetrics(
        status_label=status_label(run),
        counts=_counts(run),
        size=size(run.bytes),
        first=milliseconds(run.first_event_us / 1000) if run.first_event_us is not None else "",
        elapsed=milliseconds(elapsed) if elapsed is not None else "",
        ticking_ms=round(elapsed) if elapsed is not None and not run.is_final else None,
    )


def result_label(run: Run) -> str:
    """Return the number of results, or of messages from agents without results.

    "" without a response.
    """
    count = run.results if run.spec.has_results else _message_count(run)
    return str(count) if run.bytes else ""


def _message_count(run: Run) -> int:
    """Return the number of entries that are no failures, for agents without results."""
    return max(0, run.entries - run.failures)


def _counts(run: Run) -> list[tuple[str, str, str]]:
    counts = [("events", "Event", run.events)]
    if run.spec.has_results:
        counts.append(("results", "Result", run.results))
    else:
        counts.append(("messages", "Message", _message_count(run)))
    if run.failures:
        counts.append(("failures", "Failure", run.failures))
    return [(name, label if n == 1 else f"{label}s", f"{n:,}") for name, label, n in counts]


def status_label(run: Run) -> str:
    state, problem = run.state, run.problem or {}
    if state == RunState.COMPLETED:
        return _outcome_label(run)
    if state == RunState.STREAMING and run.outcome == "elicitation":
        # The call stays open while it waits for its user (MCP up to 2025-11-25).
        return "Input required"
    if problem.get("stage") == "limit" or problem.get("limit"):
        # A limit of the playground is never blamed on the agent.
        return _LIMIT_LABELS.get(str(problem.get("limit")), "Limit exceeded (yours)")
    if state == RunState.REFUSED:
        return "Not allowed"
    if state == RunState.FAILED:
        return _STAGE_LABELS.get(str(problem.get("stage")), "Failed")
    return _STATE_LABELS.get(state, state)


def _outcome_label(run: Run) -> str:
    if is_unterminated(run):
        return "Completed, not terminated"
    if run.outcome == "answer":
        if run.failures:
            return f"Completed, {run.failures} failure{'s' if run.failures > 1 else ''}"
        return "Completed" if run.entries else "No results"
    if run.outcome == "promise":
        return _PROMISE_LABELS.get(polling_label(run), "Promise pending")
    labels = {"elicitation": "Input required", "failure": "Agent error"}
    return labels.get(run.outcome, "No usable answer")


#: Labels of the other states.
_STATE_LABELS = {str(value): str(label) for value, label in RunState.choices}

#: Labels of failed runs by the stage of their problem (`protocols.problems.Stage`).
_STAGE_LABELS = {
    "resolve": "Connection failed",
    "connect": "Connection failed",
    "tls": "Connection failed",
    "send": "Not sent",
    "headers": "No response",
    "decode": "Unreadable response",
}

#: Labels of exceeded time limits (fields of `playground.base.limits.RunLimits`).
_LIMIT_LABELS = {
    "connect_timeout": "Connection timed out",
    "idle_timeout": "Timed out (your limit)",
    "total_timeout": "Timed out (your limit)",
}

#: Labels of the final polling statuses.
_PROMISE_LABELS = {
    "fulfilled": "Promise fulfilled",
    "cancelled": "Task cancelled",
    "failed": "Promise failed",
    "timed_out": "Polling stopped",
}


def is_unterminated(run: Run) -> bool:
    """Return whether a complete transfer lacks the event that ends a response."""
    is_answer = run.declares_end and run.outcome == "answer"
    return is_answer and run.state == RunState.COMPLETED and not run.terminated


def is_unanswered(run: Run) -> bool:
    """Return whether a run ended without any response from its agent."""
    return run.state in (RunState.FAILED, RunState.REFUSED) and run.status is None


def phase_label(run: Run) -> str:
    """Return what a run waits for before its first event, "" once that was received."""
    if run.is_final or run.events:
        return ""
    if run.state == RunState.QUEUED:
        return waiting_label(run) or "Queued"
    if run.state == RunState.CONNECTING:
        # The first frame is the request, the second one the connection.
        return "Connecting" if run.frames < 2 else "Waiting for response headers"
    return "Waiting for the first event"


def waiting_label(run: Run | CollectionRun) -> str:
    """Return since when a run has waited for a worker, as a sentence; "" if it does not."""
    if run.is_final or run.driver or not settings.WORKERS:
        return ""
    return f"Waiting for a worker since {timezone.localtime(run.created_at):%H:%M:%S %Z}"


def polling_label(run: Run) -> str:
    """Return the polling status of a turn's promise; "" if it has none.

    Queries the database unless the promise was selected (`select_related("polled_promise")`).
    """
    promise = getattr(run, "polled_promise", None) if run.is_turn else None
    return str(promise.status) if promise else ""


def elapsed_ms(run: Run) -> float | None:
    """Return milliseconds from the first call to the end, or to now; None before the first call."""
    if run.ended_us is not None:
        return run.ended_us / 1000
    if run.started_at is None or run.is_final:
        return None
    return (timezone.now() - run.started_at).total_seconds() * 1000


def version_of(run: Run) -> Version:
    """Return the version of a run's protocol; one without traits if it is unknown."""
    return registry.version(run.protocol, run.version) or Version(run.version, run.version)


def binding_of(run: Run) -> str:
    """Return the label of a run's binding; an unknown binding as it is stored."""
    known = run.binding in Agent.Binding.values
    return str(Agent.Binding(run.binding).label) if known else run.binding


def target_label(run: Run) -> str:
    """Return the version and the binding, such as "NLWeb 0.55 over HTTP"."""
    return f"{version_of(run).label} over {binding_of(run)}"


def protocol_label(run: Run) -> str:
    """Return the version, and the binding if that is not HTTP."""
    label = version_of(run).label or run.protocol
    return label if run.binding in ("", Agent.Binding.HTTP) else f"{label} · {binding_of(run)}"


def status_context(run: Run) -> dict[str, Any]:
    """Return the context of the templates of the header and of the end of a run."""
    return {
        "run": run,
        "metrics": run_metrics(run),
        "phase": phase_label(run),
        "is_unterminated": is_unterminated(run),
        "error": error_card(run),
    }


#: Characters of the agent's message that the status bar has room for.
MAX_TEXT = 120


class ProgressLine(NamedTuple):
    """The latest progress."""

    #: Whole percent; None without a total.
    percent: int | None
    text: str


def progress_of(event: Progress | None) -> ProgressLine | None:
    """Return the line of a progress event, None for None.

    Without a total the number is an amount and no share (MCP, progress).
    """
    if event is None:
        return None
    percent = None
    done, total = _finite(event.progress), _finite(event.total)
    if done is not None and total and 0 <= done <= total:
        percent = int(done / total * 100)
    text = value_text(event.message, MAX_TEXT)
    if not text and done is not None:
        text = f"{done:g} of {total:g}" if total is not None else f"{done:g} done"
    return ProgressLine(percent, text)


def _finite(number: float | None) -> float | None:
    """Return a number as a finite float; None for one that JSON allows and a float does not."""
    try:
        value = float(number) if number is not None else None
    except OverflowError:
        return None
    return value if value is not None and math.isfinite(value) else None


def progress_text(event: Progress) -> str:
    """Return a progress event in one line: percent and message."""
    line = progress_of(event)
    percent = f"{line.percent} %" if line and line.percent is not None else ""
    return " · ".join(filter(None, (percent, line.text if line else "")))
