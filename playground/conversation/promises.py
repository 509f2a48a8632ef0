"""Polled promises: status, times, polls and a sparkline; poll, cancel, resume and stop."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, takewhile
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import aget_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from playground.base.fields import int_param
from playground.conversation.entries import Entry, Shown
from playground.conversation.status import status_label
from playground.conversation.thread import Thread
from playground.engine import promise_polling
from playground.models import PolledPromise, PollingStatus, Run, RunKind
from playground.protocols.events import EntryRef, Promise
from playground.ui.formatting import milliseconds, seconds_text, value_text
from playground.ui.helpers import is_htmx

#: Size of the sparkline in its own units, and the margin that its line needs.
WIDTH, HEIGHT, MARGIN = 120.0, 24.0, 2.0
#: Values that the label of the sparkline lists one by one.
MAX_LABEL_VALUES = 8
#: Choices of the polling duration, in seconds.
DURATION_CHOICES = (60, 300, 900, 3600)
#: Polls that are listed, the latest.
LISTED = 50

#: Time in seconds since the promise, and progress.
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Progress over time as a line."""

    #: The `points` of an SVG polyline.
    points: str
    #: The same as text.
    label: str
    width: float = WIDTH
    height: float = HEIGHT


def sparkline(reported: Sequence[Point]) -> Sparkline | None:
    """Return the sparkline of reported progress, oldest first; None for less than two points.

    Progress beyond 0 to 1 is left out.
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
    if len(values) > MAX_LABEL_VALUES:
        description = f"from {values[0]} to {values[-1]} in {len(values)} reports"
    else:
        description = ", ".join(values)
    return Sparkline(" ".join(place(*point) for point in reported), f"Progress: {description}")


def percent(progress: float) -> str:
    """Return progress as text: 40 %; beyond 0 to 1 as it was received."""
    if 0 <= progress <= 1:
        return f"{round(progress * 100)} %"
    return f"{progress:g}"


def warnings_of(updates: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each error in the progress that an agent reported."""
    found: list[str] = []
    steps = [p for entry in updates if (p := entry.get("progress")) is not None]
    back = [(a, b) for a, b in pairwise(steps) if b < a]
    if back:
        before, after = back[-1]
        found.append(f"Progress decreased from {percent(before)} to {percent(after)}.")
    beyond = [step for step in steps if not 0 <= step <= 1]
    if beyond:
        found.append(f"The agent reported {beyond[-1]:g}, which is not between 0 and 1.")
    unread = [entry["unread"] for entry in updates if entry.get("unread")]
    if unread:
        found.append(f"The agent reported “{unread[-1]}”, which is not a number.")
    return found


@dataclass(frozen=True, slots=True)
class PollRow:
    """A poll or cancellation as a row."""

    run: Run
    #: Time since the promise.
    at: str
    status_label: str
    kind: str


@dataclass(frozen=True, slots=True)
class PromiseView:
    """A polled promise as its template shows it."""

    #: A `PollingStatus`, `checking` or `cancelling`.
    css_state: str
    #: The state as text.
    status_label: str
    message: str
    #: For the progress bar: 0 to 100, None if it is not known.
    percent: int | None
    progress: str
    #: Remaining time by the latest estimate of the agent; "" if it is not polled.
    remaining: str
    elapsed: str
    #: Milliseconds so far, for the clock in the browser; None once it is settled.
    ticking_ms: int | None
    #: Milliseconds until the next poll, None if none is due.
    next_ms: int | None
    warnings: Sequence[str]
    spark: Sparkline | None
    polls: Sequence[PollRow]
    #: Number of polls that are not listed.
    hidden: int
    #: (seconds, label, chosen) of the choices of the polling duration.
    duration_choices: Sequence[tuple[int, str, bool]]
    is_polled: bool
    #: Whether it can still be polled.
    is_open: bool


def promise_view(
    promise: PolledPromise, runs: Sequence[Run], now: datetime | None = None
) -> PromiseView:
    """Return the view of a promise; `runs` are its polls and cancellations, oldest first."""
    now = now or timezone.now()
    elapsed = max(0.0, ((promise.ended_at or now) - promise.started_at).total_seconds())
    latest = promise.latest
    steps = promise.progress
    known = steps[-1] if steps and latest.get("progress") is not None else None
    css_state = _css_state(promise, runs)
    is_polled = promise.status == PollingStatus.POLLING
    wait = (promise.next_poll_at - now).total_seconds() if promise.next_poll_at else None
    return PromiseView(
        css_state=css_state,
        status_label=_status_label(promise, css_state),
        message=next((m for e in reversed(promise.updates) if (m := e.get("message"))), ""),
        percent=round(known * 100) if known is not None and 0 <= known <= 1 else None,
        progress=percent(known) if known is not None else "",
        remaining=_remaining(promise.updates, elapsed) if is_polled else "",
        elapsed=milliseconds(elapsed * 1000),
        ticking_ms=None if promise.is_settled else round(elapsed * 1000),
        next_ms=max(0, round(wait * 1000)) if is_polled and wait is not None else None,
        warnings=warnings_of(promise.updates),
        spark=sparkline(_points(promise.updates)),
        polls=[_poll_row(promise, run) for run in runs[-LISTED:]],
        hidden=max(0, len(runs) - LISTED),
        duration_choices=_duration_choices(promise.polling_seconds),
        is_polled=is_polled,
        is_open=bool(promise.token) and not promise.is_settled,
    )


def _css_state(promise: PolledPromise, runs: Sequence[Run]) -> str:
    if promise.is_settled:
        return str(promise.status)
    if promise.cancel_requested:
        return "cancelling"
    if any(not run.is_final for run in runs):
        return "checking"
    return str(promise.status)


def _status_label(promise: PolledPromise, css_state: str) -> str:
    if css_state == "checking":
        return "Polling now"
    if css_state == "cancelling":
        return "Cancelling the task"
    if css_state == PollingStatus.TIMED_OUT:
        return f"Polling stopped after {seconds_text(promise.polling_seconds)}"
    return _STATUS_LABELS[PollingStatus(promise.status)]


_STATUS_LABELS = {
    PollingStatus.POLLING: "Polling",
    PollingStatus.PAUSED: "Polling paused",
    PollingStatus.FULFILLED: "Promise fulfilled",
    PollingStatus.CANCELLED: "Cancelled",
    PollingStatus.FAILED: "Promise failed",
}


def _remaining(updates: Sequence[Mapping[str, Any]], elapsed: float) -> str:
    """Return the remaining time by the agent's estimate; with its age if it does not change."""
    latest = updates[-1] if updates else {}
    estimated = latest.get("estimated_time")
    if estimated is None or estimated < 0:
        return ""
    left = estimated - (elapsed - (latest.get("at") or 0))
    words = f"about {seconds_text(left)} left" if left >= 1 else "any moment now"
    same = list(takewhile(lambda e: e.get("estimated_time") == estimated, reversed(updates)))
    age = elapsed - (same[-1].get("at") or 0)
    if len(same) < 2 or age < 1:
        return words
    return f"{words}, unchanged for {seconds_text(age)}"


def _points(updates: Sequence[Mapping[str, Any]]) -> list[Point]:
    return [(e.get("at") or 0.0, p) for e in updates if (p := e.get("progress")) is not None]


def _poll_row(promise: PolledPromise, run: Run) -> PollRow:
    at = max(0.0, (run.created_at - promise.started_at).total_seconds())
    kind = "cancellation" if run.kind == RunKind.CANCEL else "poll"
    return PollRow(run, milliseconds(at * 1000), status_label(run), kind)


def _duration_choices(polling_seconds: int) -> list[tuple[int, str, bool]]:
    """Return the choices as (seconds, label, chosen), with that of a setting if it is shorter.

    A later choice counts from that moment, so the nearest choice is the chosen one.
    """
    choices = list(DURATION_CHOICES)
    if polling_seconds < DURATION_CHOICES[0]:
        choices.insert(0, polling_seconds)
    nearest = min(choices, key=lambda choice: abs(choice - polling_seconds))
    return [(choice, seconds_text(choice), choice == nearest) for choice in choices]


def show_promise(entry: Entry, _: Thread) -> Shown:
    event = entry.event
    assert isinstance(event, Promise)
    progress = event.progress
    if progress is None or 0 <= progress <= 1:
        return "conversation/promises.html#entry", {
            "percent": None if progress is None else round(progress * 100)
        }
    # Progress beyond 0 to 1 is shown as text, because no bar can draw it.
    return "conversation/promises.html#entry", {"percent": None, "beyond": value_text(progress, 20)}


def child_runs(thread: Thread, ref: EntryRef) -> dict[str, Any]:
    """Return the promise of an entry with its polls, and the run with its final response."""
    promise = thread.promise_at(ref)
    if promise is None:
        return {"promise": None, "promise_view": None, "answer": None}
    polls = thread.runs_at(ref, RunKind.POLL, RunKind.CANCEL)
    return {
        "promise": promise,
        "promise_view": promise_view(promise, polls),
        "answer": thread.child(promise.final_run) if promise.final_run else None,
    }


@require_POST
async def poll(request: HttpRequest, pk: str) -> HttpResponse:
    """Poll the promise now."""
    promise = await _get_promise(request, pk)
    return await _respond(request, promise, promise_polling.poll_now(promise.pk))


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Tell the agent to cancel the task."""
    promise = await _get_promise(request, pk)
    return await _respond(request, promise, promise_polling.cancel_promise(promise.pk))


@require_POST
async def polling(request: HttpRequest, pk: str) -> HttpResponse:
    """Poll the promise for `polling_seconds` from now, or with `polling=0` stop polling."""
    promise = await _get_promise(request, pk)
    if request.POST.get("polling") == "0":
        return await _respond(request, promise, promise_polling.stop_polling(promise.pk))
    if not request.POST.get("polling_seconds"):
        return await _respond(request, promise, promise_polling.resume_polling(promise.pk))
    seconds = int_param(request.POST, "polling_seconds", None, maximum=99_999)
    if seconds is None:
        return HttpResponseBadRequest("polling_seconds must be a number of seconds.")
    duration = min(seconds, DURATION_CHOICES[-1])
    return await _respond(request, promise, promise_polling.resume_polling(promise.pk, duration))


async def _get_promise(request: HttpRequest, pk: str) -> PolledPromise:
    """Return the user's promise of a run. Raises `Http404`."""
    user = await request.auser()
    runs = Run.objects.owned_by(user)
    found: PolledPromise = await aget_object_or_404(
        PolledPromise.objects.select_related("run"), run__in=runs, run=pk
    )
    return found


async def _respond(
    request: HttpRequest, promise: PolledPromise, work: Awaitable[Any]
) -> HttpResponse:
    await work
    if not is_htmx(request):
        return redirect(promise.run)
    return await sync_to_async(_render)(request, promise)


def _render(request: HttpRequest, promise: PolledPromise) -> HttpResponse:
    """Render the child runs of the promise, with a live connection."""
    thread = Thread(promise.run)
    children = thread.render_children((promise.entry_seq, promise.entry_part))
    context = {"children": children, "run": promise.run, "live": True}
    return render(request, "conversation/response.html#started", context)
