"""What is known of a promise: when to ask after it, and what a reply makes of it.

Decisions only; `playground.engine.tracking` makes the calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from playground.models import PolledPromise, PollingStatus, Run, RunKind, RunState
from playground.models.json_text import storable
from playground.protocols.events import Event, Failure, Outcome, Promise
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.nlweb.failures import retry_after_seconds

Listener = Callable[[Frame, Sequence[Event]], None]

#: Seconds between two checks, at least and at most.
MIN_POLL_INTERVAL, MAX_POLL_INTERVAL = 1.0, 30.0
#: Checks that are spread over the time that the agent estimates.
POLLS_PER_ESTIMATE = 6
#: How much longer each wait is at least than the one before it.
BACKOFF_FACTOR = 1.2
#: Failures that say nothing about the task, only about this check.
TRANSIENT_CODES = frozenset({"RATE_LIMITED", "TIMEOUT"})
_PASSING_STATUS = frozenset({408, 425, 429, 502, 503, 504})


def poll_interval(estimated: float | None, checks: int) -> float:
    """Seconds until the next check, 1 to 30.

    `estimated` is what the agent said last (seconds, section 4.1.2), `checks` how many there
    were. Longer from check to check, so that an estimate that never shrinks is not hammered.
    """
    backing_off = min(MAX_POLL_INTERVAL, MIN_POLL_INTERVAL * BACKOFF_FACTOR ** min(checks, 50))
    if estimated is None or estimated < 0:
        return max(2.0, backing_off) if checks else 2.0
    return min(MAX_POLL_INTERVAL, max(backing_off, estimated / POLLS_PER_ESTIMATE))


@dataclass(slots=True)
class PromiseObserver:
    """The promise that a run ends with, and where it stands among its entries."""

    promise: Promise | None = None
    part: int = 0

    def observe(self, events: Sequence[Event]) -> None:
        """Take in the events of one frame."""
        for part, event in enumerate(events):
            if type(event) is Promise:
                self.promise, self.part = event, part


def start_polling(
    run: Run, sighting: PromiseObserver, headers: Sequence[tuple[str, str]]
) -> PolledPromise | None:
    """Start to follow the promise that a turn ended with; None where there is no token."""
    promise = sighting.promise
    if promise is None or not run.is_turn or PolledPromise.objects.filter(run=run).exists():
        return None
    tracker = PolledPromise(
        run=run,
        entry_seq=promise.seq,
        entry_part=sighting.part,
        token=promise.token,
        polling_seconds=settings.PROMISE_PATIENCE,
    )
    tracker.headers = [list(pair) for pair in headers]
    tracker.add_update(promise)
    if not promise.token:
        tracker.status = PollingStatus.PAUSED
        tracker.status_message = "The promise has no token, so nobody can ask after it."
    elif is_below_promise_limit(run):
        schedule_next_poll(tracker)
    else:
        tracker.status, tracker.status_message = PollingStatus.PAUSED, PROMISE_LIMIT_REACHED
    tracker.save()
    return tracker


#: Said of a promise that is one too many.
PROMISE_LIMIT_REACHED = (
    "As many promises are followed as may be at once. Ask after this one by hand, leave another"
    " one alone, or raise PLAYGROUND_MAX_PROMISES."
)


def is_below_promise_limit(run: Run) -> bool:
    """Whether the user of a run may have one more promise followed."""
    following = PolledPromise.objects.filter(status=PollingStatus.POLLING, run__owner=run.owner_id)
    return following.count() < settings.RUN_LIMITS.max_promises


def schedule_next_poll(tracker: PolledPromise, wait: float | None = None) -> None:
    """Set when to check next, or give up where the patience is at its end. Does not save.

    `wait` is what the agent asked for, in seconds; None for the usual wait.
    """
    now = timezone.now()
    tracker.leased_until = None
    if now >= tracker.deadline:
        tracker.status, tracker.next_poll_at = PollingStatus.TIMED_OUT, None
        tracker.status_message = "The promise was not kept in the time that it was followed."
        return
    if wait is None:
        wait = poll_interval(tracker.latest.get("estimated_time"), tracker.polls)
    else:
        wait = max(MIN_POLL_INTERVAL, wait)  # An agent that says "at once" is not hammered either.
    # First of all bounded: an agent can ask to wait for longer than there are dates.
    left = (tracker.deadline - now).total_seconds()
    tracker.next_poll_at = now + timedelta(seconds=min(wait, left))


@dataclass(frozen=True, slots=True)
class PollResult:
    """What one check, or the cancellation, brought."""

    run: Run
    promise: Promise | None = None
    failure: Failure | None = None
    #: Seconds that the agent asked to wait, None where it asked for nothing.
    retry_after: float | None = None


def apply_poll_result(tracker: PolledPromise, reply: PollResult) -> None:
    """What a reply makes of a tracker. Does not save; a settled tracker stays as it is."""
    if tracker.is_settled:
        return
    cancelling = reply.run.kind == RunKind.CANCEL
    tracker.polls += not cancelling
    if reply.promise:
        tracker.add_update(reply.promise)
    if reply.run.state != RunState.COMPLETED:
        _missed(tracker, reply)
    elif reply.run.outcome in (Outcome.ANSWER, Outcome.ELICITATION):
        _end(tracker, PollingStatus.FULFILLED, reply.run)
        if cancelling:
            tracker.status_message = (
                "The task was cancelled, and the agent answered it all the same."
            )
    elif reply.failure and not _is_passing(reply):
        _failed(tracker, reply.run, reply.failure.code)
    elif cancelling:
        tracker.cancel_requested = False
        tracker.status, tracker.next_poll_at = PollingStatus.PAUSED, None
        tracker.status_message = (
            "The agent did not confirm the cancellation with a CANCELLED failure:"
            f" it answered with {_words(reply)}."
        )
    else:
        _go_on(tracker, reply)


def _go_on(tracker: PolledPromise, reply: PollResult) -> None:
    tracker.status_message = ""
    if reply.promise is None:
        tracker.status_message = f"The last check brought {_words(reply)}."
    elif reply.promise.token and reply.promise.token != tracker.token:
        tracker.token = reply.promise.token
        tracker.status_message = (
            "The agent gave the promise another token, which is used from now on."
        )
    if tracker.status == PollingStatus.POLLING:
        schedule_next_poll(tracker, reply.retry_after)


def _missed(tracker: PolledPromise, reply: PollResult) -> None:
    """The check itself went wrong, which says nothing about the task."""
    run = reply.run
    problem: dict[str, Any] = run.problem if isinstance(run.problem, dict) else {}
    cause = storable(str(problem.get("cause") or run.state))
    what = "The cancellation" if run.kind == RunKind.CANCEL else "The last check"
    tracker.status_message = f"{what} did not work: {cause}"
    if run.kind == RunKind.CANCEL:
        tracker.cancel_requested = False  # A check that was stopped says nothing of a cancellation.
    if run.kind == RunKind.CANCEL or run.state == RunState.CANCELLED:
        tracker.status, tracker.next_poll_at = PollingStatus.PAUSED, None
    elif tracker.status == PollingStatus.POLLING:
        schedule_next_poll(tracker)


def _failed(tracker: PolledPromise, run: Run, code: str) -> None:
    asked = tracker.cancel_requested or run.kind == RunKind.CANCEL
    if code.upper() == "CANCELLED":
        _end(tracker, PollingStatus.CANCELLED, run)
        tracker.status_message = "" if asked else "The agent says that the task was cancelled."
        return
    _end(tracker, PollingStatus.FAILED, run)
    if asked:
        code = storable(code[:80]) or "a failure without a code"
        tracker.status_message = f"Cancelling was answered with {code} and not with CANCELLED."


def _end(tracker: PolledPromise, status: PollingStatus, run: Run) -> None:
    tracker.status, tracker.final_run, tracker.status_message = status, run, ""
    tracker.cancel_requested, tracker.next_poll_at, tracker.headers = False, None, []
    tracker.ended_at, tracker.leased_until = timezone.now(), None


def _is_passing(reply: PollResult) -> bool:
    code = reply.failure.code.upper() if reply.failure else ""
    return code in TRANSIENT_CODES or (reply.run.status or 0) in _PASSING_STATUS


def _words(reply: PollResult) -> str:
    if reply.failure:
        return f"the failure {storable(reply.failure.code[:80])}"
    return "a promise" if reply.promise else "nothing that could be read as a reply"


class PollCollector:
    """Listens to a check: keeps what its last promise, its failure and its head said."""

    def __init__(self, run: Run, listener: Listener | None = None) -> None:
        self._run = run
        self._listener = listener
        self._promise: Promise | None = None
        self._failure: Failure | None = None
        self._wait: float | None = None

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        """Take in one frame."""
        if frame.kind is FrameKind.HEAD:
            headers = read_head(frame.data)[1]
            asked = headers.get("retry-after", "")
            self._wait = retry_after_seconds(asked, headers.get("date") or time.time())
        for event in events:
            if isinstance(event, Promise):
                self._promise = event
            elif isinstance(event, Failure):
                self._failure = event
        if self._listener:
            self._listener(frame, events)

    def reply(self) -> PollResult:
        """What the check brought. To be asked once its run has ended."""
        return PollResult(self._run, self._promise, self._failure, self._wait)
