"""Follows promises in the background: asks after each until it is kept, broken or given up.

Every check is a run of its own, on the same path as everything that is sent. What is followed
stands in the database and not in a task, so that it goes on after the playground was down;
several processes share the work, because whoever checks a promise claims it first.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from playground.engine import tasks
from playground.engine.claims import claim, claim_cancellation, kept
from playground.engine.drafts import Draft, origin_key
from playground.engine.launch import Link, create_run
from playground.engine.promises import (
    NO_ROOM,
    Heard,
    Listener,
    Reply,
    has_room,
    schedule,
    take_in,
)
from playground.engine.recovery import settle_cancellations, settle_lost
from playground.engine.secrets import WithheldError
from playground.engine.ways import draft_like
from playground.engine.writer import nudge
from playground.models import Agent, Run, RunKind, Tracker, TrackerStatus
from playground.models.conversations import turns_to
from playground.models.liveness import mark_interrupted
from playground.protocols import registry
from playground.threads import in_reader, in_writer
from playground.transport.redaction import is_credential

logger = logging.getLogger(__name__)

#: Told of the run of a check before it is driven.
Announce = Callable[[Run], None]

#: Seconds between two looks for promises that are due; other processes follow some, too.
LOOK = 1.0
#: Checks that are begun in one look: after a long night many promises are due at once.
MOST_AT_ONCE = 50
#: A promise of an agent that is not saved is followed by the command that asked, or nobody.
ORPHANED = timedelta(seconds=60)

#: Strong references: the event loop itself keeps only weak ones.
_background: set[asyncio.Task[Any]] = set()
_supervisor: asyncio.Task[None] | None = None


def supervise() -> asyncio.Task[None]:
    """Start to follow whatever promise is due, in this process; once is enough.

    Must be called on the event loop's thread.
    """
    global _supervisor
    loop = asyncio.get_running_loop()
    if _supervisor is None or _supervisor.done() or _supervisor.get_loop() is not loop:
        _supervisor = loop.create_task(_supervise(), name="promises", context=contextvars.Context())
    return _supervisor


async def _supervise() -> None:
    while True:
        try:
            for tracker in await in_reader(settle_cancellations):
                await nudge(tracker.run)
            for pk in await in_reader(_due):
                _in_background(check(pk))
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


def _in_background(work: Coroutine[Any, Any, Any]) -> None:
    task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
    _background.add(task)
    task.add_done_callback(_background.discard)


# What a user asks for. Each returns once it is recorded; the rest goes on in the background.


async def check_now(pk: int) -> None:
    """Ask after a promise at once, whether or not it is followed."""
    if await in_writer(claim, pk, True):
        _in_background(_send(pk, RunKind.CHECK))


async def follow(pk: int, patience: int | None = None) -> None:
    """Follow a promise (again), for `patience` seconds from now; None keeps when it ends."""

    def change(tracker: Tracker) -> None:
        if tracker.status != TrackerStatus.FOLLOWING and not has_room(tracker.run):
            tracker.note = NO_ROOM
            return
        tracker.status, tracker.note = TrackerStatus.FOLLOWING, ""
        tracker.cancelling = False  # Whatever became of that: it is to go on.
        if patience is not None:
            so_far = (timezone.now() - tracker.started_at).total_seconds()
            tracker.patience = round(so_far + patience)
        schedule(tracker)

    await _change(pk, change)


async def stop_following(pk: int) -> None:
    """Leave a promise alone; it can still be asked after by hand."""

    def change(tracker: Tracker) -> None:
        tracker.status, tracker.next_at = TrackerStatus.PAUSED, None

    await _change(pk, change)


async def cancel_promise(pk: int) -> None:
    """Tell the agent to cancel the task (section 4.2), once, and stop asking after it."""
    if await in_writer(claim_cancellation, pk):
        _in_background(_send(pk, RunKind.CANCEL))


async def _change(pk: int, change: Callable[[Tracker], None]) -> Tracker | None:
    """Change a tracker that is not settled, and tell its viewers. None if it is settled."""

    tracker = await in_writer(_apply, pk, change)
    if tracker:
        await nudge(tracker.run)
    return tracker


def _apply(pk: int, change: Callable[[Tracker], None]) -> Tracker | None:
    with transaction.atomic():
        tracker: Tracker | None = Tracker.objects.locked().filter(pk=pk).first()
        if tracker is None or tracker.is_settled:
            return None
        change(tracker)
        tracker.save()
    return tracker


# Checks


async def check(
    pk: int,
    *,
    at_once: bool = False,
    agent: Agent | None = None,
    announce: Announce | None = None,
    listener: Listener | None = None,
) -> bool:
    """Ask after one promise, unless somebody else does; returns whether it was asked after.

    Only one that is due is, except with `at_once`. `agent` stands in for one that is not
    saved; `announce` is told of the check's run, `listener` of its every frame.
    """
    if not await in_writer(claim, pk, at_once):
        return False
    await _send(pk, RunKind.CHECK, agent, announce, listener)
    return True


async def _send(
    pk: int,
    kind: RunKind,
    agent: Agent | None = None,
    announce: Announce | None = None,
    listener: Listener | None = None,
) -> None:
    """Send a check or a cancellation, wait for the reply, and take it in."""
    try:
        async with kept(pk):
            if ended := await in_writer(settle_lost, pk):
                await nudge(ended.run)
                return
            prepared = await in_writer(_prepare, pk, kind, agent)
            if prepared is None:
                return
            tracker, run, draft = prepared
            await nudge(tracker.run)
            if announce:
                announce(run)
            heard = Heard(run, listener)
            await tasks.send(run, draft, listener=heard)
            await in_reader(run.refresh_from_db)
            changed = await in_writer(_settle, pk, heard.reply())
        await nudge(changed.run)
    except Exception:
        # Our bug, not the agent's: the promise is not left claimed for ever.
        logger.exception("a promise could not be asked after")
        await _change(pk, _let_go)


def _let_go(tracker: Tracker) -> None:
    tracker.leased_until, tracker.cancelling = None, False
    tracker.note = "The playground itself failed when it asked; its log says why."
    if tracker.status == TrackerStatus.FOLLOWING:
        schedule(tracker)


def _give_way(tracker: Tracker, why: str) -> None:
    tracker.status, tracker.note = TrackerStatus.PAUSED, why
    tracker.leased_until, tracker.cancelling = None, False


def _prepare(pk: int, kind: RunKind, agent: Agent | None) -> tuple[Tracker, Run, Draft] | None:
    """Record the run of a check; None where there is nobody to ask, or nothing to ask with."""
    tracker = Tracker.objects.select_related("run__agent", "run__owner").get(pk=pk)
    turn = tracker.run
    agent = agent or turn.agent
    if agent is None:
        _apply(pk, partial(_give_way, why="The agent was deleted."))
        return None
    document = registry.follow_up(
        turn.protocol,
        turn.version,
        turn.request,
        token=tracker.token,
        action="cancel" if kind == RunKind.CANCEL else "checkin",
        session_context=turns_to(turn)[-1].echo,
    )
    # Credentials were given for where the turn went; its agent may have moved since.
    moved = origin_key(agent.url) != origin_key(turn.url)
    kept_ones = (pair for pair in tracker.headers if not (moved and is_credential(pair[0])))
    headers = [(str(name), str(value)) for name, value in kept_ones]
    try:
        draft = draft_like(turn, document, headers, agent=agent)
    except WithheldError as error:
        _apply(pk, partial(_give_way, why=str(error)))
        return None
    link = Link(kind, turn, tracker.seq, tracker.part)
    return tracker, create_run(draft, turn.owner, link), draft


def _settle(pk: int, reply: Reply) -> Tracker:
    # Read anew: the user may have stopped following, or cancelled, in the meantime.
    with transaction.atomic():
        tracker: Tracker = Tracker.objects.locked().get(pk=pk)
        if reply.run.kind == RunKind.CHECK:  # A cancellation claims nothing.
            tracker.leased_until = None
        take_in(tracker, reply)
        tracker.save()
    return tracker


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
