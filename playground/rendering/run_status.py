"""A run to the figures of the sticky bar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from playground.models import Run, RunState
from playground.rendering.http_errors import http_error_view


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """Words and figures, ready to print."""

    #: What the badge says: the state, or the outcome once the transfer is complete.
    status_label: str
    events: int
    results: int
    #: Entries that are no failures: what an agent says that knows no results.
    messages: int
    size: str
    first: str
    elapsed: str
    #: Milliseconds so far, for a clock that runs on in the browser; None once it stands.
    ticking_ms: int | None


def run_metrics(run: Run) -> RunMetrics:
    """The bar of `run` as it is now."""
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
    """The one word (or three) that says how it stands."""
    if run.state == RunState.COMPLETED:
        if run.outcome == "answer":
            if run.failures:
                return "Complete, 1 failure" if run.failures == 1 else "Complete, with failures"
            return "Complete" if run.entries else "Complete but empty"
        if run.outcome == "promise":
            return _PROMISES.get(polling_label(run), "Promised")
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


#: What became of a promise, where that is settled.
_PROMISES = {
    "fulfilled": "Promise kept",
    "cancelled": "Task cancelled",
    "failed": "Promise failed",
    "timed_out": "Promise given up",
}


def polling_label(run: Run) -> str:
    """How it stands with the promise of a turn, "" where none is followed.

    Asks the database, unless the tracker is at hand (`select_related("polled_promise")`).
    """
    tracker = getattr(run, "polled_promise", None) if run.is_turn else None
    return str(tracker.status) if tracker else ""


def elapsed_ms(run: Run) -> float | None:
    """Milliseconds from the first call to the end, or to now; None before the first call."""
    if run.ended_us is not None:
        return run.ended_us / 1000
    if run.started_at is None or run.is_final:
        return None
    return (timezone.now() - run.started_at).total_seconds() * 1000


def milliseconds(value: float) -> str:
    """A duration as people read it: 84 ms, 1.2 s, 3 min 05 s."""
    if value < 10:
        return f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    if value < 60_000:
        return f"{value / 1000:.1f} s"
    return f"{int(value // 60_000)} min {int(value % 60_000 // 1000):02d} s"


#: Seconds of a unit and its name, the longest first.
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def ago(moment: datetime) -> str:
    """How long ago something was, in a word or two: now, 7 min ago, 3 h ago, 5 d ago."""
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 60:
        return "now"
    length, name = next(unit for unit in _UNITS if seconds >= unit[0])
    return f"{int(seconds // length)} {name} ago"


def size(count: int) -> str:
    """A number of bytes as people read it."""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{count / 1024:.1f} KB"
    return f"{count / 1024 / 1024:.1f} MB"


def status_context(run: Run) -> dict[str, Any]:
    """The context of the bar's templates, and of those that say how the run ended."""
    return {"run": run, "bar": run_metrics(run), "refusal": http_error_view(run)}
