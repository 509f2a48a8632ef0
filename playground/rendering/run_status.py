"""Status, metrics, version and binding of a run as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from playground.models import Agent, Run, RunState
from playground.protocols import registry
from playground.protocols.exchange import Version
from playground.rendering.error_card import error_card
from playground.rendering.formatting import milliseconds, size


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """The status label and the figures of the status bar."""

    #: Text of the badge: the state, or the outcome once the transfer is complete.
    status_label: str
    events: int
    results: int
    #: Number of entries that are no failures, for agents without results.
    messages: int
    size: str
    first: str
    elapsed: str
    #: Milliseconds so far, for the clock in the browser; None once the run has ended.
    ticking_ms: int | None


def run_metrics(run: Run) -> RunMetrics:
    """Return the current metrics of a run."""
    elapsed = elapsed_ms(run)
    return RunMetrics(
        status_label=status_label(run),
        events=run.events,
        results=run.results,
        messages=max(0, run.entries - run.failures),
        size=size(run.bytes),
        first=milliseconds(run.first_event_us / 1000) if run.first_event_us is not None else "",
        elapsed=milliseconds(elapsed) if elapsed is not None else "",
        ticking_ms=round(elapsed) if elapsed is not None and not run.is_final else None,
    )


def status_label(run: Run) -> str:
    """Return the status of a run in one to three words."""
    if run.state == RunState.COMPLETED:
        if run.outcome == "answer":
            if run.failures:
                return "Complete, 1 failure" if run.failures == 1 else "Complete, with failures"
            return "Complete" if run.entries else "Complete but empty"
        if run.outcome == "promise":
            return _PROMISE_LABELS.get(polling_label(run), "Promised")
        return {
            "elicitation": "The agent asks",
            "failure": "Failure reported",
        }.get(run.outcome, "Complete, no answer")
    if run.state == RunState.CONNECTING:
        return "Sending"
    if run.state == RunState.STREAMING and run.outcome == "elicitation":
        # The call stays open while it waits for its user (MCP up to 2025-11-25).
        return "The agent asks"
    return str(RunState(run.state).label)


#: Labels of the final polling statuses.
_PROMISE_LABELS = {
    "fulfilled": "Promise kept",
    "cancelled": "Task cancelled",
    "failed": "Promise failed",
    "timed_out": "Promise given up",
}


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
    protocol = registry.PROTOCOLS.get(run.protocol)
    versions = protocol.versions if protocol else ()
    unknown = Version(run.version, run.version)
    return next((each for each in versions if each.name == run.version), unknown)


def binding_of(run: Run) -> str:
    """Return the label of a run's binding; an unknown binding as it is stored."""
    known = run.binding in Agent.Binding.values
    return str(Agent.Binding(run.binding).label) if known else run.binding


def status_context(run: Run) -> dict[str, Any]:
    """Return the context of the templates of the status bar and of the end of a run."""
    return {"run": run, "bar": run_metrics(run), "error": error_card(run)}
