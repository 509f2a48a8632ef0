"""Promises: the start of polling, the time of the next poll, and the result of each poll.

Decides and changes `PolledPromise` records; `playground.engine.promise_polling` sends the polls.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from typing import Any

from django.conf import settings

from playground.base.executors import write_until_stored
from playground.models import PolledPromise, PollingStatus, Run, RunKind, RunState
from playground.models.columns import storable
from playground.models.driving import database_now
from playground.protocols.events import Event, Failure, Outcome, Promise, Started
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.nlweb.failures import EXPLAINED, retry_after_seconds
from playground.protocols.problems import Stage
from playground.protocols.response import read_head

#: The shortest and the longest poll interval, in seconds.
MIN_POLL_INTERVAL, MAX_POLL_INTERVAL = 1.0, 30.0
#: Polls that are spread over the time that the agent estimates.
POLLS_PER_ESTIMATE = 6
#: The least factor by which each interval is longer than the previous one.
BACKOFF_FACTOR = 1.2
#: A failure that concerns the poll and not the task, and statuses without an NLWeb failure.
_TRANSIENT_CODE = "RATE_LIMITED"
_TRANSIENT_STATUSES = frozenset({408, 429, 502, 503, 504})
#: Stages of a failed poll at which the agent responded, or the playground refuses to go on.
_FINAL_STAGES = frozenset({Stage.DECODE, Stage.POLICY, Stage.LIMIT})
#: Polls in a row that may fail for such a reason before polling is paused.
MAX_ATTEMPTS = 5
#: The status message of a promise beyond the limit.
PROMISE_LIMIT_REACHED = (
    "Too many promises are being polled. Poll this one manually, stop polling another one, "
    "or raise PLAYGROUND_MAX_PROMISES."
)


def poll_interval(estimated: float | None, polls: int) -> float:
    """Return the seconds until the next poll, 1 to 30.

    `estimated` is the agent's latest estimate (seconds, section 4.1.2), `polls` the number of polls
    so far. The interval grows from poll to poll, so that an agent whose estimate never shrinks is
    not flooded with requests.
    """
    backoff = min(MAX_POLL_INTERVAL, MIN_POLL_INTERVAL * BACKOFF_FACTOR ** min(polls, 50))
    if estimated is None or estimated < 0:
        return max(2.0, backoff) if polls else 2.0
    return min(MAX_POLL_INTERVAL, max(backoff, estimated / POLLS_PER_ESTIMATE))


# The start


class PromiseObserver:
    """The listener that starts polling the promise that a turn ends with."""

    def __init__(self, run: Run, headers: Sequence[tuple[str, str]] = ()) -> None:
        """Observe `run`; `headers` are the request's own, and the polls are sent with them."""
        self._run = run
        self._headers = headers
        self._promise: Promise | None = None
        self._part = 0

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        """Note the latest promise among the events of one frame, and its number among them."""
        for part, event in enumerate(events):
            if type(event) is Promise:
                self._promise, self._part = event, part

    async def complete(self, outcome: Outcome) -> None:
        if outcome is Outcome.PROMISE:
            await write_until_stored(self.start_polling)

    def start_polling(self) -> None:
        """Store the promise to be polled, unless the run is no turn or has one already."""
        run, announced = self._run, self._promise
        if announced is None or not run.is_turn or PolledPromise.objects.filter(run=run).exists():
            return
        promise = PolledPromise(
            run=run,
            entry_seq=announced.seq,
            entry_part=self._part,
            token=announced.token,
            started_at=database_now(),
            polling_seconds=settings.PROMISE_PATIENCE,
        )
        promise.headers = [list(pair) for pair in self._headers]
        promise.add_update(announced)
        if not announced.token:
            promise.status = PollingStatus.PAUSED
            promise.status_message = "The promise has no token, so it cannot be polled."
        elif is_below_promise_limit(run):
            schedule_next_poll(promise)
        else:
            promise.status, promise.status_message = PollingStatus.PAUSED, PROMISE_LIMIT_REACHED
        promise.save()


def is_below_promise_limit(run: Run) -> bool:
    polling = PolledPromise.objects.filter(status=PollingStatus.POLLING, run__owner=run.owner_id)
    return polling.count() < settings.RUN_LIMITS.max_promises


def schedule_next_poll(promise: PolledPromise, wait: float | None = None) -> None:
    """Set the time of the next poll, or end polling after the deadline. Does not save.

    `wait` is the Retry-After of the agent, in seconds; None for `poll_interval`.
    """
    now = database_now()
    promise.leased_until = None
    if now >= promise.deadline:
        promise.status, promise.next_poll_at = PollingStatus.TIMED_OUT, None
        promise.status_message = "The promise was not fulfilled before polling stopped."
        return
    if wait is None:
        wait = poll_interval(promise.latest.get("estimated_time"), promise.polls)
    else:
        wait = max(MIN_POLL_INTERVAL, wait)  # Also where the agent says "at once".
    # Bounded before it is added: an agent may ask for a longer wait than dates can express.
    left = (promise.deadline - now).total_seconds()
    promise.next_poll_at = now + timedelta(seconds=min(wait, left))


# The result of a poll


@dataclass(slots=True)
class PollResult:
    """The result of one poll, or of the cancellation. It collects it as the listener of its run."""

    run: Run
    promise: Promise | None = None
    failure: Failure | None = None
    #: Retry-After in seconds, None without one.
    retry_after: float | None = None
    #: Whether the response is one of NLWeb.
    is_nlweb: bool = False

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        if frame.kind is FrameKind.HEAD:
            headers = read_head(frame.data)[1]
            retry_after = headers.get("retry-after", "")
            self.retry_after = retry_after_seconds(retry_after, headers.get("date") or time.time())
        for event in events:
            if isinstance(event, Promise):
                self.promise = event
            elif isinstance(event, Failure):
                self.failure = event
                self.is_nlweb |= event.code.upper() in EXPLAINED
            elif isinstance(event, Started):
                self.is_nlweb |= "response_type" in event.meta


def apply_poll_result(promise: PolledPromise, result: PollResult) -> None:
    """Change a promise by the result of a poll. Does not save; a settled promise stays as it is."""
    if promise.is_settled:
        return
    cancelling = result.run.kind == RunKind.CANCEL
    promise.polls += not cancelling
    if result.promise:
        promise.add_update(result.promise)
    if result.run.state != RunState.COMPLETED:
        _apply_failed_run(promise, result)
    elif result.run.outcome in (Outcome.ANSWER, Outcome.ELICITATION):
        _settle(promise, PollingStatus.FULFILLED, result.run)
        if cancelling:
            promise.status_message = "The task was cancelled, but the agent returned an answer."
    elif result.failure and not _is_transient(result):
        _apply_failure(promise, result.run, result.failure.code)
    elif cancelling:
        promise.cancel_requested = False
        promise.status, promise.next_poll_at = PollingStatus.PAUSED, None
        promise.status_message = (
            "The agent did not confirm the cancellation with a CANCELLED failure. It "
            f"returned {_describe(result)}."
        )
    elif result.promise is None:
        promise.status_message = f"The last poll returned {_describe(result)}."
        _repeat(promise, result, is_transient=result.failure is not None)
    else:
        _apply_pending(promise, result.promise, result.retry_after)


def _apply_pending(promise: PolledPromise, update: Promise, retry_after: float | None) -> None:
    promise.status_message = ""
    if update.token and update.token != promise.token:
        promise.token = update.token
        promise.status_message = (
            "The agent changed the token of the promise. The new token is used."
        )
    if promise.status == PollingStatus.POLLING:
        schedule_next_poll(promise, retry_after)


def _repeat(promise: PolledPromise, result: PollResult, *, is_transient: bool) -> None:
    """Schedule the next attempt after a poll that says nothing of the task, or pause polling."""
    if promise.status != PollingStatus.POLLING:
        return
    attempt = _attempts_before(promise, result.run) % MAX_ATTEMPTS + 1
    if is_transient and attempt < MAX_ATTEMPTS:
        promise.status_message += f" Attempt {attempt + 1} of {MAX_ATTEMPTS} follows."
        schedule_next_poll(promise, result.retry_after)
        return
    promise.status, promise.next_poll_at = PollingStatus.PAUSED, None
    if is_transient:
        promise.status_message += f" That was attempt {attempt} of {MAX_ATTEMPTS}."


def _attempts_before(promise: PolledPromise, run: Run) -> int:
    """Return how many polls before `run` have failed in a row, since the start or an update."""
    polls = Run.objects.filter(parent=promise.run_id, kind=RunKind.POLL).exclude(pk=run.pk)
    # A poll that was stopped says nothing of the agent.
    polls = polls.exclude(state__in=(RunState.CANCELLED, RunState.INTERRUPTED))
    outcomes = polls.order_by("-created_at").values_list("outcome", flat=True)
    return sum(1 for _ in takewhile(lambda outcome: outcome != Outcome.PROMISE, outcomes))


def _apply_failed_run(promise: PolledPromise, result: PollResult) -> None:
    """Apply a run that did not complete: that says nothing of the task."""
    run = result.run
    problem: dict[str, Any] = run.problem or {}
    cause = storable(str(problem.get("cause") or run.state))
    subject = "The cancellation" if run.kind == RunKind.CANCEL else "The last poll"
    promise.status_message = f"{subject} failed: {cause}"
    if run.kind == RunKind.CANCEL:
        promise.cancel_requested = False  # A poll that was stopped says nothing of a cancellation.
    if run.kind == RunKind.CANCEL or run.state == RunState.CANCELLED:
        promise.status, promise.next_poll_at = PollingStatus.PAUSED, None
    elif run.state == RunState.INTERRUPTED and promise.status == PollingStatus.POLLING:
        schedule_next_poll(promise)
    else:
        is_final = problem.get("stage") in _FINAL_STAGES and run.state != RunState.TRUNCATED
        is_transient = not is_final or run.status in _TRANSIENT_STATUSES
        _repeat(promise, result, is_transient=is_transient)


def _apply_failure(promise: PolledPromise, run: Run, code: str) -> None:
    requested = promise.cancel_requested or run.kind == RunKind.CANCEL
    if code.upper() == "CANCELLED":
        _settle(promise, PollingStatus.CANCELLED, run)
        if not requested:
            promise.status_message = "The agent reported that the task was cancelled."
        return
    _settle(promise, PollingStatus.FAILED, run)
    if requested:
        code = storable(code[:80]) or "an error without a code"
        promise.status_message = f"The agent returned {code} instead of CANCELLED."


def _settle(promise: PolledPromise, status: PollingStatus, run: Run) -> None:
    promise.status, promise.final_run, promise.status_message = status, run, ""
    promise.cancel_requested, promise.next_poll_at, promise.headers = False, None, []
    promise.ended_at, promise.leased_until = database_now(), None


def _is_transient(result: PollResult) -> bool:
    """Return whether a failure concerns the poll: a full server, or a gateway before it."""
    code = result.failure.code.upper() if result.failure else ""
    is_of_gateway = result.run.status in _TRANSIENT_STATUSES and not result.is_nlweb
    return code == _TRANSIENT_CODE or is_of_gateway


def _describe(result: PollResult) -> str:
    if result.failure:
        # Errors of gateways have no code.
        name = result.failure.code or f"“{result.failure.message[:80]}” (HTTP {result.run.status})"
        return f"the error {storable(name[:120])}"
    return "a promise" if result.promise else "no usable response"
