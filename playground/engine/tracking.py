"""Follows promises in the background: asks after each until it is kept, broken or given up.

What is followed stands in the database and not in a task, so that it goes on after the playground
was down; several processes share the work, because whoever checks a promise claims it first.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from playground.engine.background import Single, begin
from playground.engine.checking import Announce, poll, send_await_request, update_promise
from playground.engine.claims import acquire_cancellation, acquire_lease
from playground.engine.promises import (
    PROMISE_LIMIT_REACHED,
    Listener,
    is_below_promise_limit,
    schedule_next_poll,
)
from playground.engine.recovery import recover_cancellations
from playground.engine.writer import notify_viewers
from playground.executors import run_in_reader, run_in_writer
from playground.models import Agent, PolledPromise, PollingStatus, RunKind
from playground.models.liveness import mark_interrupted

logger = logging.getLogger(__name__)

#: Seconds between two looks for promises that are due; other processes follow some, too.
LOOK = 1.0
#: Checks that are begun in one look: after a long night many promises are due at once.
MAX_POLLS_PER_ROUND = 50
#: A promise of an agent that is not saved is followed by the command that asked, or nobody.
ORPHANED = timedelta(seconds=60)


def start_promise_poller() -> asyncio.Task[None]:
    """Start to follow whatever promise is due, in this process; once is enough.

    Must be called on the event loop's thread.
    """
    return _supervisor.begin()


async def _supervise() -> None:
    while True:
        try:
            for tracker in await run_in_reader(recover_cancellations):
                await notify_viewers(tracker.run)
            for pk in await run_in_reader(_due):
                begin(poll(pk))
        except Exception:
            logger.exception("the promises that are due could not be read")
        await asyncio.sleep(LOOK)


def _due() -> list[int]:
    """Promises to be checked now; those that a dead process was checking are among them."""
    if not PolledPromise.objects.filter(status=PollingStatus.POLLING).exists():
        return []
    mark_interrupted()
    due = PolledPromise.objects.due()
    # Without a time: whoever was asking has died.
    waited = Q(next_poll_at__lt=timezone.now() - ORPHANED) | Q(next_poll_at=None)
    lost = due.filter(waited, run__agent=None)
    lost.update(
        status=PollingStatus.PAUSED,
        next_poll_at=None,
        status_message="Its agent is not among the saved ones, so nobody goes on asking it.",
    )
    saved = due.exclude(run__agent=None).order_by("next_poll_at")
    return list(saved.values_list("pk", flat=True)[:MAX_POLLS_PER_ROUND])


_supervisor = Single(_supervise, "promises")

# What a user asks for. Each returns once it is recorded; the rest goes on in the background.


async def poll_now(pk: int) -> None:
    """Ask after a promise at once, whether or not it is followed."""
    if await run_in_writer(acquire_lease, pk, True):
        begin(send_await_request(pk, RunKind.POLL))


async def resume_polling(pk: int, patience: int | None = None) -> None:
    """Follow a promise (again), for `patience` seconds from now; None keeps when it ends."""

    def go_on(tracker: PolledPromise) -> None:
        if tracker.status != PollingStatus.POLLING and not is_below_promise_limit(tracker.run):
            tracker.status_message = PROMISE_LIMIT_REACHED
            return
        tracker.status, tracker.status_message = PollingStatus.POLLING, ""
        tracker.cancel_requested = False  # Whatever became of that: it is to go on.
        if patience is not None:
            so_far = (timezone.now() - tracker.started_at).total_seconds()
            tracker.polling_seconds = round(so_far + patience)
        schedule_next_poll(tracker)

    await update_promise(pk, go_on)


async def stop_polling(pk: int) -> None:
    """Leave a promise alone; it can still be asked after by hand."""

    def pause(tracker: PolledPromise) -> None:
        tracker.status, tracker.next_poll_at = PollingStatus.PAUSED, None

    await update_promise(pk, pause)


async def cancel_promise(pk: int) -> None:
    """Tell the agent to cancel the task (section 4.2), once, and stop asking after it."""
    if await run_in_writer(acquire_cancellation, pk):
        begin(send_await_request(pk, RunKind.CANCEL))


# For the command line, which follows one promise in the foreground.


async def poll_until_settled(
    pk: int,
    *,
    agent: Agent | None = None,
    announce: Announce | None = None,
    listener: Listener | None = None,
) -> PolledPromise:
    """Ask after one promise until it is settled or given up; returns its tracker.

    The arguments are those of `check`.
    """
    while True:
        tracker: PolledPromise = await run_in_reader(
            PolledPromise.objects.select_related("final_run").get, pk=pk
        )
        if tracker.status != PollingStatus.POLLING:
            return tracker
        if tracker.next_poll_at:
            left = (tracker.next_poll_at - timezone.now()).total_seconds()
            await asyncio.sleep(min(max(0.0, left), LOOK))
        asked = await poll(pk, agent=agent, announce=announce, listener=listener)
        if not asked and (tracker.next_poll_at is None or tracker.next_poll_at <= timezone.now()):
            await asyncio.sleep(LOOK / 4)  # Somebody else asks at the moment.
