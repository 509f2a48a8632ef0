"""A promise that is followed, as the page shows it: words, figures and a small curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, takewhile
from typing import Any

from django.utils import timezone

from playground.models import PolledPromise, PollingStatus, Run, RunKind
from playground.rendering.run_status import milliseconds, status_label

#: The curve's drawing, in its own units, and the room that its line needs at the edges.
WIDTH, HEIGHT, MARGIN = 120.0, 24.0, 2.0
#: Values that are read out one by one.
STATUS_LABELS = 8
#: How long a promise can be followed, in seconds.
DURATION_CHOICES = (60, 300, 900, 3600)
#: Checks that are listed, the latest.
LISTED = 50

#: What the agent reported and when, in seconds since the promise.
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The progress over time as one line."""

    #: The `points` of an SVG polyline.
    points: str
    #: The same in words.
    label: str
    width: float = WIDTH
    height: float = HEIGHT


def sparkline(reported: Sequence[Point]) -> Sparkline | None:
    """The curve of what was reported, oldest first; None where two points are wanting.

    Progress beyond 0 to 1 is left out: the curve has no place for it.
    """
    reported = [(at, progress) for at, progress in reported if 0 <= progress <= 1]
    if len(reported) < 2:
        return None
    first, last = reported[0][0], reported[-1][0]
    span = max(last - first, 0.001)
    inner = HEIGHT - 2 * MARGIN

    def place(at: float, progress: float) -> str:
        x = MARGIN + (WIDTH - 2 * MARGIN) * min(1.0, max(0.0, (at - first) / span))
        y = HEIGHT - MARGIN - inner * progress
        return f"{x:.1f},{y:.1f}"

    values = [percent(progress) for _, progress in reported]
    if len(values) > STATUS_LABELS:
        spoken = f"from {values[0]} to {values[-1]} in {len(values)} reports"
    else:
        spoken = ", ".join(values)
    return Sparkline(" ".join(place(*point) for point in reported), f"Progress: {spoken}")


def percent(progress: float) -> str:
    """Progress in words: 40 %, and what is beyond the scale as it came."""
    if 0 <= progress <= 1:
        return f"{round(progress * 100)} %"
    return f"{progress:g}"


def seconds_text(seconds: float) -> str:
    """A duration as people say it, in its two largest units: 8 s, 3 min 20 s, 2 h 5 min."""
    left = max(0, round(seconds))
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def warnings_of(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is wrong with the progress that an agent reported, a sentence each."""
    found: list[str] = []
    steps = [p for entry in history if (p := entry.get("progress")) is not None]
    back = [(a, b) for a, b in pairwise(steps) if b < a]
    if back:
        before, after = back[-1]
        found.append(f"The progress went back, from {percent(before)} to {percent(after)}.")
    beyond = [step for step in steps if not 0 <= step <= 1]
    if beyond:
        found.append(f"The agent reported {beyond[-1]:g}, which is not between 0 and 1.")
    unread = [entry["unread"] for entry in history if entry.get("unread")]
    if unread:
        found.append(f"The agent reported “{unread[-1]}”, which is no number.")
    return found


@dataclass(frozen=True, slots=True)
class PollRow:
    """One row of the list of checks."""

    run: Run
    #: Since the promise was made.
    at: str
    what: str
    kind: str


@dataclass(frozen=True, slots=True)
class PromiseView:
    """Everything that the tracker shows."""

    #: The look: a `TrackerStatus`, `checking` or `cancelling`.
    css_state: str
    #: How it stands, in words.
    status_label: str
    message: str
    #: For the bar: 0 to 100, None where it is not known.
    percent: int | None
    progress: str
    #: How long it takes still, by what the agent said last; "" where nobody waits for it.
    remaining: str
    elapsed: str
    #: For a clock that runs on in the browser; None once it stands.
    ticking_ms: int | None
    #: Milliseconds until the next check, None where none is due.
    next_ms: int | None
    warnings: Sequence[str]
    spark: Sparkline | None
    checks: Sequence[PollRow]
    #: Checks that are not listed.
    hidden: int
    #: (seconds, words, whether it holds now) for the choice of when to give up.
    duration_choices: Sequence[tuple[int, str, bool]]
    is_followed: bool
    #: Whether anybody can ask after it still.
    is_open: bool


def promise_view(
    tracker: PolledPromise, runs: Sequence[Run], now: datetime | None = None
) -> PromiseView:
    """The tracker as it is now; `runs` are its checks and cancellations, oldest first."""
    now = now or timezone.now()
    elapsed = max(0.0, ((tracker.ended_at or now) - tracker.started_at).total_seconds())
    latest = tracker.latest
    steps = tracker.progress
    known = steps[-1] if steps and latest.get("progress") is not None else None
    look = _look(tracker, runs)
    is_followed = tracker.status == PollingStatus.POLLING
    wait = (tracker.next_poll_at - now).total_seconds() if tracker.next_poll_at else None
    return PromiseView(
        css_state=look,
        status_label=_word(tracker, look),
        message=next((m for e in reversed(tracker.updates) if (m := e.get("message"))), ""),
        percent=round(known * 100) if known is not None and 0 <= known <= 1 else None,
        progress=percent(known) if known is not None else "",
        remaining=_remaining(tracker.updates, elapsed) if is_followed else "",
        elapsed=milliseconds(elapsed * 1000),
        ticking_ms=None if tracker.is_settled else round(elapsed * 1000),
        next_ms=max(0, round(wait * 1000)) if is_followed and wait is not None else None,
        warnings=warnings_of(tracker.updates),
        spark=sparkline(_points(tracker.updates)),
        checks=[_check(tracker, run) for run in runs[-LISTED:]],
        hidden=max(0, len(runs) - LISTED),
        duration_choices=_choices(tracker.polling_seconds),
        is_followed=is_followed,
        is_open=bool(tracker.token) and not tracker.is_settled,
    )


def _look(tracker: PolledPromise, runs: Sequence[Run]) -> str:
    if tracker.is_settled:
        return str(tracker.status)
    if tracker.cancel_requested:
        return "cancelling"
    if any(not run.is_final for run in runs):
        return "checking"
    return str(tracker.status)


def _word(tracker: PolledPromise, look: str) -> str:
    if look == "checking":
        return "Checking now"
    if look == "cancelling":
        return "Cancelling the task"
    if look == PollingStatus.TIMED_OUT:
        return f"Given up after {seconds_text(tracker.polling_seconds)}"
    if look == PollingStatus.FULFILLED:
        return "Promise kept"
    return str(PollingStatus(tracker.status).label)


def _remaining(history: Sequence[Mapping[str, Any]], elapsed: float) -> str:
    """The estimate, counted from when it was said; with its age where it does not shrink."""
    latest = history[-1] if history else {}
    estimated = latest.get("estimated_time")
    if estimated is None or estimated < 0:
        return ""
    left = estimated - (elapsed - (latest.get("at") or 0))
    words = f"about {seconds_text(left)} left" if left >= 1 else "any moment now"
    same = list(takewhile(lambda e: e.get("estimated_time") == estimated, reversed(history)))
    age = elapsed - (same[-1].get("at") or 0)
    if len(same) < 2 or age < 1:
        return words
    return f"{words}, as the agent has said for {seconds_text(age)}"


def _points(history: Sequence[Mapping[str, Any]]) -> list[Point]:
    return [(e.get("at") or 0.0, p) for e in history if (p := e.get("progress")) is not None]


def _check(tracker: PolledPromise, run: Run) -> PollRow:
    at = max(0.0, (run.created_at - tracker.started_at).total_seconds())
    kind = "cancellation" if run.kind == RunKind.CANCEL else "check"
    return PollRow(run, milliseconds(at * 1000), status_label(run), kind)


def _choices(patience: int) -> list[tuple[int, str, bool]]:
    """The choices, and beside them what a setting chose, if that is none of them.

    What was chosen later on counts from then, so that the nearest choice is the one.
    """
    choices = list(DURATION_CHOICES)
    if patience < DURATION_CHOICES[0]:
        choices.insert(0, patience)
    nearest = min(choices, key=lambda choice: abs(choice - patience))
    return [(choice, seconds_text(choice), choice == nearest) for choice in choices]
