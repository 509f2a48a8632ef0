"""Asks after one promise: the request, and what its reply makes of the promise.

Every check is a run of its own, on the same path as everything that is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from django.db import transaction

from playground.engine import tasks
from playground.engine.claims import claim, kept
from playground.engine.launch import Link, create_run
from playground.engine.preparation import follow_up_request
from playground.engine.promises import Heard, Listener, Reply, schedule, take_in
from playground.engine.recovery import settle_lost
from playground.engine.request import PreparedRequest, WithheldError
from playground.engine.writer import nudge
from playground.models import Agent, Run, RunKind, Tracker, TrackerStatus
from playground.models.conversations import turns_to
from playground.protocols import registry
from playground.protocols.origins import same_origin
from playground.threads import in_reader, in_writer
from playground.transport.redaction import is_credential

logger = logging.getLogger(__name__)

#: Told of the run of a check before it is driven.
Announce = Callable[[Run], None]


async def change(pk: int, how: Callable[[Tracker], None]) -> Tracker | None:
    """Change a tracker that is not settled, and tell its viewers. None if it is settled."""
    tracker = await in_writer(_apply, pk, how)
    if tracker:
        await nudge(tracker.run)
    return tracker


def _apply(pk: int, how: Callable[[Tracker], None]) -> Tracker | None:
    with transaction.atomic():
        tracker: Tracker | None = Tracker.objects.locked().filter(pk=pk).first()
        if tracker is None or tracker.is_settled:
            return None
        how(tracker)
        tracker.save()
    return tracker


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
    await send(pk, RunKind.CHECK, agent, announce, listener)
    return True


async def send(
    pk: int,
    kind: RunKind,
    agent: Agent | None = None,
    announce: Announce | None = None,
    listener: Listener | None = None,
) -> None:
    """Send a check or a cancellation that is claimed, wait for the reply, and take it in."""
    try:
        async with kept(pk):
            if ended := await in_writer(settle_lost, pk):
                await nudge(ended.run)
                return
            recorded = await in_writer(_record, pk, kind, agent)
            if recorded is None:
                return
            tracker, run, prepared = recorded
            await nudge(tracker.run)
            if announce:
                announce(run)
            heard = Heard(run, listener)
            await tasks.send(run, prepared, listener=heard)
            await in_reader(run.refresh_from_db)
            changed = await in_writer(_settle, pk, heard.reply())
        await nudge(changed.run)
    except Exception:
        # Our bug, not the agent's: the promise is not left claimed for ever.
        logger.exception("a promise could not be asked after")
        await change(pk, _let_go)


def _let_go(tracker: Tracker) -> None:
    tracker.leased_until, tracker.cancelling = None, False
    tracker.note = "The playground itself failed when it asked; its log says why."
    if tracker.status == TrackerStatus.FOLLOWING:
        schedule(tracker)


def _give_way(tracker: Tracker, why: str) -> None:
    tracker.status, tracker.note = TrackerStatus.PAUSED, why
    tracker.leased_until, tracker.cancelling = None, False


def _record(
    pk: int, kind: RunKind, agent: Agent | None
) -> tuple[Tracker, Run, PreparedRequest] | None:
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
    moved = not same_origin(agent.url, turn.url)
    kept_ones = (pair for pair in tracker.headers if not (moved and is_credential(pair[0])))
    headers = [(str(name), str(value)) for name, value in kept_ones]
    try:
        prepared = follow_up_request(turn, document, headers, agent=agent)
    except WithheldError as error:
        _apply(pk, partial(_give_way, why=str(error)))
        return None
    link = Link(kind, turn, tracker.seq, tracker.part)
    return tracker, create_run(prepared, turn.owner, link), prepared


def _settle(pk: int, reply: Reply) -> Tracker:
    # Read anew: the user may have stopped following, or cancelled, in the meantime.
    with transaction.atomic():
        tracker: Tracker = Tracker.objects.locked().get(pk=pk)
        if reply.run.kind == RunKind.CHECK:  # A cancellation claims nothing.
            tracker.leased_until = None
        take_in(tracker, reply)
        tracker.save()
    return tracker
