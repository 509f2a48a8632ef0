"""Polled promises: status, times, polls and a sparkline; poll, cancel, resume and stop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import aget_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from playground.base.fields import int_param
from playground.conversation.entries import Entry, Shown
from playground.conversation.thread import Thread, render_started
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
#: Labels of the statuses and of what is under way, by `PromiseView.css_state`.
_LABELS = {
    "checking": "Polling now",
    "cancelling": "Cancelling the task",
    PollingStatus.POLLING: "Polling",
    PollingStatus.PAUSED: "Polling paused",
    PollingStatus.FULFILLED: "Promise fulfilled",
    PollingStatus.CANCELLED: "Cancelled",
    PollingStatus.FAILED: "Promise failed",
    PollingStatus.TIMED_OUT: "Polling stopped after {}",
}


@dataclass(frozen=True)
class PromiseView:
    """A polled promise as its template shows it."""

    promise: PolledPromise
    #: Its polls and cancellations, oldest first.
    runs: Sequence[Run]
    now: datetime = field(default_factory=lambda: timezone.now())

    @cached_property
    def css_state(self) -> str:
        """Return a `PollingStatus`, `checking` or `cancelling`."""
        if not self.promise.is_settled:
            if self.promise.cancel_requested:
                return "cancelling"
            if any(not run.is_final for run in self.runs):
                return "checking"
        return str(self.promise.status)

    @property
    def status_label(self) -> str:
        return _LABELS[self.css_state].format(seconds_text(self.promise.polling_seconds))

    @property
    def message(self) -> str:
        messages = (entry.get("message") for entry in reversed(self.promise.updates))
        return next(filter(None, messages), "")

    @property
    def is_polled(self) -> bool:
        return self.promise.status == PollingStatus.POLLING

    @property
    def is_open(self) -> bool:
        """Return whether it can still be polled."""
        return bool(self.promise.token) and not self.promise.is_settled

    # Progress

    @property
    def _known(self) -> float | None:
        steps = self.promise.progress
        return steps[-1] if steps and self.promise.latest.get("progress") is not None else None

    @property
    def percent(self) -> int | None:
        """Return 0 to 100 for the progress bar, None if it is not known."""
        known = self._known
        return round(known * 100) if known is not None and 0 <= known <= 1 else None

    @property
    def progress(self) -> str:
        return percent(self._known) if self._known is not None else ""

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each error in the progress that the agent reported."""
        found: list[str] = []
        steps = self.promise.progress
        if back := [(before, after) for before, after in pairwise(steps) if after < before]:
            before, after = back[-1]
            found.append(f"Progress decreased from {percent(before)} to {percent(after)}.")
        if beyond := [step for step in steps if not 0 <= step <= 1]:
            found.append(f"The agent reported {beyond[-1]:g}, which is not between 0 and 1.")
        if unread := [each["unread"] for each in self.promise.updates if each.get("unread")]:
            found.append(f"The agent reported “{unread[-1]}”, which is not a number.")
        return found

    @cached_property
    def spark(self) -> dict[str, Any] | None:
        points = ((each.get("at") or 0.0, each.get("progress")) for each in self.promise.updates)
        return sparkline([(at, progress) for at, progress in points if progress is not None])

    # Times

    @property
    def _seconds(self) -> float:
        end = self.promise.ended_at or self.now
        return max(0.0, (end - self.promise.started_at).total_seconds())

    @property
    def elapsed_ms(self) -> int:
        """Return the milliseconds so far, or until it was settled."""
        return round(self._seconds * 1000)

    @property
    def elapsed(self) -> str:
        return milliseconds(self._seconds * 1000)

    @property
    def next_ms(self) -> int | None:
        """Return the milliseconds until the next poll, None if none is due."""
        if not self.is_polled or self.promise.next_poll_at is None:
            return None
        return max(0, round((self.promise.next_poll_at - self.now).total_seconds() * 1000))

    @property
    def remaining(self) -> str:
        """Return the remaining time by the agent's estimate; with its age if it does not change.

        "" if it is not polled.
        """
        updates, elapsed = self.promise.updates, self._seconds
        latest = updates[-1] if updates else {}
        estimated = latest.get("estimated_time")
        if not self.is_polled or estimated is None or estimated < 0:
            return ""
        left = estimated - (elapsed - (latest.get("at") or 0))
        words = f"about {seconds_text(left)} left" if left >= 1 else "any moment now"
        same = list(takewhile(lambda e: e.get("estimated_time") == estimated, reversed(updates)))
        age = elapsed - (same[-1].get("at") or 0)
        if len(same) < 2 or age < 1:
            return words
        return f"{words}, unchanged for {seconds_text(age)}"

    @property
    def duration_choices(self) -> list[tuple[int, str, bool]]:
        """Return the choices of the polling duration as (seconds, label, chosen).

        With that of a setting if it is shorter. A later choice counts from that moment, so the
        nearest choice is the chosen one.
        """
        chosen, choices = self.promise.polling_seconds, list(DURATION_CHOICES)
        if chosen < DURATION_CHOICES[0]:
            choices.insert(0, chosen)
        nearest = min(choices, key=lambda choice: abs(choice - chosen))
        return [(choice, seconds_text(choice), choice == nearest) for choice in choices]

    # Polls

    @property
    def polls(self) -> list[tuple[Run, str, str]]:
        """Return the latest polls and cancellations as (run, time since the promise, kind)."""
        started = self.promise.started_at
        return [
            (
                run,
                milliseconds(max(0.0, (run.created_at - started).total_seconds()) * 1000),
                "cancellation" if run.kind == RunKind.CANCEL else "poll",
            )
            for run in self.runs[-LISTED:]
        ]

    @property
    def hidden(self) -> int:
        """Return the number of polls that are not listed."""
        return max(0, len(self.runs) - LISTED)


def sparkline(reported: Sequence[tuple[float, float]]) -> dict[str, Any] | None:
    """Return the sparkline of (time in seconds, progress), oldest first; None for less than two.

    `points` are those of an SVG polyline, `label` says the same as text. Progress
    beyond 0 to 1 is left out.
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
    return {
        "points": " ".join(place(*point) for point in reported),
        "label": f"Progress: {description}",
        "width": WIDTH,
        "height": HEIGHT,
    }


def percent(progress: float) -> str:
    """Return progress as text: 40 %; beyond 0 to 1 as it was received."""
    if 0 <= progress <= 1:
        return f"{round(progress * 100)} %"
    return f"{progress:g}"


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
    promise = thread.promise
    if promise is None or (promise.entry_seq, promise.entry_part) != ref:
        return {"promise": None, "promise_view": None, "answer": None}
    polls = thread.runs_at(ref, RunKind.POLL, RunKind.CANCEL)
    return {
        "promise": promise,
        "promise_view": PromiseView(promise, polls),
        "answer": thread.child(promise.final_run) if promise.final_run else None,
    }


@require_POST
async def poll(request: HttpRequest, pk: str) -> HttpResponse:
    """Poll the promise now."""
    return await _respond(request, pk, promise_polling.poll_now)


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Tell the agent to cancel the task."""
    return await _respond(request, pk, promise_polling.cancel_promise)


@require_POST
async def polling(request: HttpRequest, pk: str) -> HttpResponse:
    """Poll the promise for `polling_seconds` from now, or with `polling=0` stop polling."""
    if request.POST.get("polling") == "0":
        return await _respond(request, pk, promise_polling.stop_polling)
    if not request.POST.get("polling_seconds"):
        return await _respond(request, pk, promise_polling.resume_polling)
    seconds = int_param(request.POST, "polling_seconds", None, maximum=99_999)
    if seconds is None:
        return HttpResponseBadRequest("polling_seconds must be a number of seconds.")
    duration = min(seconds, DURATION_CHOICES[-1])
    return await _respond(request, pk, promise_polling.resume_polling, duration)


async def _respond(
    request: HttpRequest, pk: str, work: Callable[..., Awaitable[Any]], *values: int
) -> HttpResponse:
    """Do the work on the user's promise of a run, and show it. Raises `Http404`."""
    promises = PolledPromise.objects.select_related("run")
    runs = Run.objects.owned_by(await request.auser())
    promise = await aget_object_or_404(promises, run__in=runs, run=pk)
    await work(promise.pk, *values)
    if not is_htmx(request):
        return redirect(promise.run)
    ref = (promise.entry_seq, promise.entry_part)
    return await sync_to_async(render_started)(request, promise.run, ref)
