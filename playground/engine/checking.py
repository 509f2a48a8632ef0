"""Asks after one promise: the request, and what its reply makes of the promise.

Every check is a run of its own, on the same path as everything that is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from django.db import transaction

from playground.engine import tasks
from playground.engine.claims import acquire_lease, hold_lease
from playground.engine.preparation import follow_up_request
from playground.engine.promises import (
    Listener,
    PollCollector,
    PollResult,
    apply_poll_result,
    schedule_next_poll,
)
from playground.engine.recovery import recover_promise
from playground.engine.request import PreparedRequest, WithheldError
from playground.engine.runs import RunParent, create_run
from playground.engine.writer import notify_viewers
from playground.executors import run_in_reader, run_in_writer
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind
from playground.models.conversations import branch_to
from playground.protocols import registry
from playground.protocols.origins import same_origin
from playground.transport.redaction import is_credential

logger = logging.getLogger(__name__)

#: Told of the run of a check before it is driven.
Announce = Callable[[Run], None]


async def update_promise(pk: int, how: Callable[[PolledPromise], None]) -> PolledPromise | None:
    """Change a tracker that is not settled, and tell its viewers. None if it is settled."""
    tracker = await run_in_writer(_apply, pk, how)
    if tracker:
        await notify_viewers(tracker.run)
    return tracker


def _apply(pk: int, how: Callable[[PolledPromise], None]) -> PolledPromise | None:
    with transaction.atomic():
        tracker: PolledPromise | None = PolledPromise.objects.locked().filter(pk=pk).first()
        if tracker is None or tracker.is_settled:
            return None
        how(tracker)
        tracker.save()
    return tracker


async def poll(
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
    if not await run_in_writer(acquire_lease, pk, at_once):
        return False
    await send_await_request(pk, RunKind.POLL, agent, announce, listener)
    return True


async def send_await_request(
    pk: int,
    kind: RunKind,
    agent: Agent | None = None,
    announce: Announce | None = None,
    listener: Listener | None = None,
) -> None:
    """Send a check or a cancellation that is claimed, wait for the reply, and take it in."""
    try:
        async with hold_lease(pk):
            if ended := await run_in_writer(recover_promise, pk):
                await notify_viewers(ended.run)
                return
            recorded = await run_in_writer(_record, pk, kind, agent)
            if recorded is None:
                return
            tracker, run, prepared = recorded
            await notify_viewers(tracker.run)
            if announce:
                announce(run)
            heard = PollCollector(run, listener)
            await tasks.send(run, prepared, listener=heard)
            await run_in_reader(run.refresh_from_db)
            changed = await run_in_writer(_settle, pk, heard.reply())
        await notify_viewers(changed.run)
    except Exception:
        # Our bug, not the agent's: the promise is not left claimed for ever.
        logger.exception("a promise could not be asked after")
        await update_promise(pk, _let_go)


def _let_go(tracker: PolledPromise) -> None:
    tracker.leased_until, tracker.cancel_requested = None, False
    tracker.status_message = "The playground itself failed when it asked; its log says why."
    if tracker.status == PollingStatus.POLLING:
        schedule_next_poll(tracker)


def _give_way(tracker: PolledPromise, why: str) -> None:
    tracker.status, tracker.status_message = PollingStatus.PAUSED, why
    tracker.leased_until, tracker.cancel_requested = None, False


def _record(
    pk: int, kind: RunKind, agent: Agent | None
) -> tuple[PolledPromise, Run, PreparedRequest] | None:
    """Record the run of a check; None where there is nobody to ask, or nothing to ask with."""
    tracker = PolledPromise.objects.select_related("run__agent", "run__owner").get(pk=pk)
    turn = tracker.run
    agent = agent or turn.agent
    if agent is None:
        _apply(pk, partial(_give_way, why="The agent was deleted."))
        return None
    document = registry.await_request(
        turn.protocol,
        turn.version,
        turn.request,
        token=tracker.token,
        action="cancel" if kind == RunKind.CANCEL else "checkin",
        session_context=branch_to(turn)[-1].next_session_context,
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
    link = RunParent(kind, turn, tracker.entry_seq, tracker.entry_part)
    return tracker, create_run(prepared, turn.owner, link), prepared


def _settle(pk: int, reply: PollResult) -> PolledPromise:
    # Read anew: the user may have stopped following, or cancelled, in the meantime.
    with transaction.atomic():
        tracker: PolledPromise = PolledPromise.objects.locked().get(pk=pk)
        if reply.run.kind == RunKind.POLL:  # A cancellation claims nothing.
            tracker.leased_until = None
        apply_poll_result(tracker, reply)
        tracker.save()
    return tracker
