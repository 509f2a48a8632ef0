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
from playground.engine.checking import Announce, change, check, send
from playground.engine.claims import claim, claim_cancellation
from playground.engine.promises import NO_ROOM, Listener, has_room, schedule
from playground.engine.recovery import settle_cancellations
from playground.engine.writer import nudge
from playground.models import Agent, RunKind, Tracker, TrackerStatus
from playground.models.liveness import mark_interrupted
from playground.threads import in_reader, in_writer

logger = logging.getLogger(__name__)

#: Seconds between two looks for promises that are due; other processes follow some, too.
LOOK = 1.0
#: Checks that are begun in one look: after a long night many promises are due at once.
MOST_AT_ONCE = 50
#: A promise of an agent that is not saved is followed by the command that asked, or nobody.
ORPHANED = timedelta(seconds=60)


def supervise() -> asyncio.Task[None]:
    """Start to follow whatever promise is due, in this process; once is enough.

    Must be called on the event loop's thread.
    """
    return _supervisor.begin()


async def _supervise() -> None:
    while True:
        try:
            for tracker in await in_reader(settle_cancellations):
                await nudge(tracker.run)
            for pk in await in_reader(_due):
                begin(check(pk))
        except Exception:
            logger.exception("the promises that are due could not be read")
        await asyncio.sleep(LOOK)


def _due() -> list[int]:
    """Promises to be checked now; those that a dead process was checking are among them."""
    if not Tracker.objects.filter(status=TrackerStatus.FOLLOWING).exists():
        return []
    mark_interrupted()
    due = Tracker.objects.due()
    # Without a time: whoever was asking has died.
    waited = Q(next_at__lt=timezone.now() - ORPHANED) | Q(next_at=None)
    lost = due.filter(waited, run__agent=None)
    lost.update(
        status=TrackerStatus.PAUSED,
        next_at=None,
        note="Its agent is not among the saved ones, so nobody goes on asking it.",
    )
    saved = due.exclude(run__agent=None).order_by("next_at")
    return list(saved.values_list("pk", flat=True)[:MOST_AT_ONCE])


_supervisor = Single(_supervise, "promises")

# What a user asks for. Each returns once it is recorded; the rest goes on in the background.


async def check_now(pk: int) -> None:
    """Ask after a promise at once, whether or not it is followed."""
    if await in_writer(claim, pk, True):
        begin(send(pk, RunKind.CHECK))


async def follow(pk: int, patience: int | None = None) -> None:
    """Follow a promise (again), for `patience` seconds from now; None keeps when it ends."""

    def go_on(tracker: Tracker) -> None:
        if tracker.status != TrackerStatus.FOLLOWING and not has_room(tracker.run):
            tracker.note = NO_ROOM
            return
        tracker.status, tracker.note = TrackerStatus.FOLLOWING, ""
        tracker.cancelling = False  # Whatever became of that: it is to go on.
        if patience is not None:
            so_far = (timezone.now() - tracker.started_at).total_seconds()
            tracker.patience = round(so_far + patience)
        schedule(tracker)

    await change(pk, go_on)


async def stop_following(pk: int) -> None:
    """Leave a promise alone; it can still be asked after by hand."""

    def pause(tracker: Tracker) -> None:
        tracker.status, tracker.next_at = TrackerStatus.PAUSED, None

    await change(pk, pause)


async def cancel_promise(pk: int) -> None:
    """Tell the agent to cancel the task (section 4.2), once, and stop asking after it."""
    if await in_writer(claim_cancellation, pk):
        begin(send(pk, RunKind.CANCEL))


# For the command line, which follows one promise in the foreground.


async def follow_to_end(
    pk: int,
    *,
    agent: Agent | None = None,
    announce: Announce | None = None,
    listener: Listener | None = None,
) -> Tracker:
    """Ask after one promise until it is settled or given up; returns its tracker.

    The arguments are those of `check`.
    """
    while True:
        tracker: Tracker = await in_reader(Tracker.objects.select_related("answer").get, pk=pk)
        if tracker.status != TrackerStatus.FOLLOWING:
            return tracker
        if tracker.next_at:
            left = (tracker.next_at - timezone.now()).total_seconds()
            await asyncio.sleep(min(max(0.0, left), LOOK))
        asked = await check(pk, agent=agent, announce=announce, listener=listener)
        if not asked and (tracker.next_at is None or tracker.next_at <= timezone.now()):
            await asyncio.sleep(LOOK / 4)  # Somebody else asks at the moment.
