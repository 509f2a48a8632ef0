"""Polling of promises: leases, await requests, cancellation, recovery and the background poller.

Every poll is a run of its own, sent like every other request. Promises that are polled are rows of
the database and not tasks, so that polling continues after a restart. A process that looks for due
promises defers a job for each; the process that does the job acquires the lease of the promise
before it polls, and renews the lease until the result is stored. So promises are polled once,
however many processes look for them.

A process that dies in between leaves a poll that has ended, with a response that was not applied to
its promise, or a cancellation that no process waits for: both are recovered here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from playground.base import jobs
from playground.base.executors import (
    read_when_available,
    run_in_reader,
    run_in_writer,
    write_when_available,
)
from playground.engine import tasks
from playground.engine.driver import Listener
from playground.engine.preparation import follow_up_request
from playground.engine.promises import (
    PROMISE_LIMIT_REACHED,
    PollResult,
    apply_poll_result,
    is_below_promise_limit,
    schedule_next_poll,
)
from playground.engine.request import PreparedRequest, SecretNotAllowedError
from playground.engine.runs import (
    RunParent,
    ShuttingDownError,
    check_accepting_runs,
    create_run,
    refuses_new_runs,
)
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind, RunState
from playground.models.conversations import branch_to
from playground.models.driving import database_now, mark_interrupted
from playground.models.storage import no_room_and_fix
from playground.notifications import notify_viewers
from playground.protocols import registry
from playground.protocols.events import Outcome
from playground.protocols.headers import is_credential
from playground.protocols.origins import same_origin
from playground.stored_runs import exchange_for

logger = logging.getLogger(__name__)

#: Seconds between two searches for due promises; other processes poll some, too.
POLLER_INTERVAL = 1.0
#: Polls that one search starts: after a long pause many promises are due at once.
MAX_POLLS_PER_ROUND = 50
#: Age after which a promise is paused that is due and whose agent is not saved: the command that
#: polled it has ended.
ORPHANED = timedelta(seconds=60)
#: The time until the lease of a process that died expires; a living process renews it.
LEASE = timedelta(seconds=15)

#: The tasks that lease a promise, send a poll or a cancellation, and have not stored its result.
sending: set[asyncio.Task[Any]] = set()


@dataclass(frozen=True, slots=True)
class PollOptions:
    """Options of a command that polls a promise in the foreground."""

    #: The agent, where it is not saved.
    agent: Agent | None = None
    #: Called with the run of a poll before it is driven, and the message about the last one.
    announce: Callable[[Run, str], None] = lambda run, message: None
    listeners: Sequence[Listener] = ()


_NONE = PollOptions()


class CannotPollError(Exception):
    """A poll or a cancellation cannot be sent; the message is a sentence for the user."""


# Commands of users. Each returns once it is recorded; the rest continues in the background.


async def poll_now(pk: int) -> None:
    """Poll a promise at once, also while its polling is paused; not if there is no room left.

    Raises `ShuttingDownError` if the process shuts down.
    """
    check_accepting_runs()
    if refusal := await run_in_reader(_refusal, pk):
        await update_promise(pk, status_message=refusal)
        return
    await _poll_at_once.defer(pk)


async def resume_polling(pk: int, patience: int | None = None) -> None:
    """Resume polling for `patience` seconds from now; None leaves the deadline as it is."""

    def resume(promise: PolledPromise) -> None:
        if promise.status != PollingStatus.POLLING and not is_below_promise_limit(promise.run):
            promise.status_message = PROMISE_LIMIT_REACHED
            return
        promise.status, promise.status_message = PollingStatus.POLLING, ""
        promise.cancel_requested = False  # Whatever its result: polling was asked for since.
        if patience is not None:
            elapsed = (database_now() - promise.started_at).total_seconds()
            promise.polling_seconds = round(elapsed + patience)
        schedule_next_poll(promise)

    await update_promise(pk, resume)


async def stop_polling(pk: int) -> None:
    """Pause polling; the agent is told nothing, and `poll_now` still works."""
    await update_promise(pk, status=PollingStatus.PAUSED, next_poll_at=None)


async def cancel_promise(pk: int) -> None:
    """Tell the agent once to cancel the task (section 4.2), and stop polling.

    Raises `ShuttingDownError` if the process shuts down.
    """
    check_accepting_runs()
    if await run_in_writer(acquire_cancellation, pk):
        await _send_cancellation.defer(pk)


async def update_promise(
    pk: int, change: Callable[[PolledPromise], None] = lambda _: None, **columns: Any
) -> PolledPromise | None:
    """Change a promise that is not settled and notify its viewers; None for a settled one.

    `columns` are set before `change` is called.
    """
    promise = await run_in_writer(_update, pk, change, columns)
    if promise:
        await notify_viewers(promise.run)
    return promise


def _update(
    pk: int, change: Callable[[PolledPromise], None], columns: Mapping[str, Any]
) -> PolledPromise | None:
    with transaction.atomic():
        promise: PolledPromise | None = PolledPromise.objects.locked().filter(pk=pk).first()
        if promise is None or promise.is_settled:
            return None
        for name, value in columns.items():
            setattr(promise, name, value)
        change(promise)
        promise.save()
    return promise


# The background poller of servers, and the foreground loop of commands


async def poll_until_settled(pk: int, options: PollOptions = _NONE) -> PolledPromise:
    while True:
        promise: PolledPromise = await run_in_reader(
            PolledPromise.objects.select_related("final_run").get, pk=pk
        )
        if promise.status != PollingStatus.POLLING:
            return promise
        if promise.next_poll_at:
            left = (promise.next_poll_at - timezone.now()).total_seconds()
            await asyncio.sleep(min(max(0.0, left), POLLER_INTERVAL))
        polled = await poll(pk, options=options)
        if not polled and (promise.next_poll_at is None or promise.next_poll_at <= timezone.now()):
            await asyncio.sleep(POLLER_INTERVAL / 4)  # Another process has the lease.


async def _poll_due_promises() -> None:
    for promise in await run_in_reader(recover_cancellations):
        await notify_viewers(promise.run)
    for pk in await run_in_reader(_due):
        await _poll_due.defer(pk)


poller = jobs.Loop(
    "Reading the due promises",
    POLLER_INTERVAL,
    _poll_due_promises,
    goes_on=lambda: not refuses_new_runs(),
)


def _due() -> list[int]:
    """Return the keys of the due promises; those whose polling process died are among them."""
    if not PolledPromise.objects.filter(status=PollingStatus.POLLING).exists():
        return []
    mark_interrupted()
    due = PolledPromise.objects.due()
    # Without a time: the process that was polling it has died.
    orphaned = Q(next_poll_at__lt=Now() - ORPHANED) | Q(next_poll_at=None)
    due.filter(orphaned, run__agent=None).update(
        status=PollingStatus.PAUSED,
        next_poll_at=None,
        status_message="Polling cannot continue: the agent is not saved.",
    )
    saved = due.exclude(run__agent=None).order_by("next_poll_at")
    return list(saved.values_list("pk", flat=True)[:MAX_POLLS_PER_ROUND])


# One poll, or the cancellation


async def poll(pk: int, *, at_once: bool = False, options: PollOptions = _NONE) -> bool:
    """Poll one promise unless it is leased or not due; return whether it was polled.

    With `at_once` it need not be due.
    """
    with _sending():
        if not await run_in_writer(acquire_lease, pk, at_once):
            return False
        await send_await_request(pk, RunKind.POLL, options)
        return True


@jobs.job("poll_promise")
async def _poll_due(key: str) -> None:
    await poll(int(key))


@jobs.job("poll_promise_at_once")
async def _poll_at_once(key: str) -> None:
    await poll(int(key), at_once=True)


@jobs.job("cancel_promise")
async def _send_cancellation(key: str) -> None:
    await send_await_request(int(key), RunKind.CANCEL)


@contextlib.contextmanager
def _sending() -> Iterator[None]:
    """Have the current task in `sending` for the block."""
    task = asyncio.current_task()
    assert task
    is_first = task not in sending
    sending.add(task)
    try:
        yield
    finally:
        if is_first:
            sending.discard(task)


async def send_await_request(pk: int, kind: RunKind, options: PollOptions = _NONE) -> None:
    """Send the poll or cancellation of a leased promise, and apply its result."""
    with _sending():
        try:
            async with hold_lease(pk):
                if settled := await write_when_available(recover_promise, pk):
                    await notify_viewers(settled.run)
                    return
                recorded = await write_when_available(_record, pk, kind, options.agent)
                if recorded is None:
                    return
                promise, run, prepared = recorded
                await notify_viewers(promise.run)
                options.announce(run, promise.status_message)
                result = PollResult(run)
                await tasks.send_here(run, prepared, listeners=[result, *options.listeners])
                await read_when_available(run.refresh_from_db)
                promise = await write_when_available(_store_result, pk, result)
            await notify_viewers(promise.run)
        except ShuttingDownError:
            await update_promise(pk, **_RELEASED)  # One that is to be polled is due at once.
        except (CannotPollError, SecretNotAllowedError) as error:
            message, paused = str(error), PollingStatus.PAUSED
            await update_promise(pk, **_RELEASED, status=paused, status_message=message)
        except Exception:
            # An error of the playground, not of the agent: the lease must not be kept for ever.
            logger.exception("Polling promise %s (%s) failed", pk, kind)
            await update_promise(pk, _schedule_next_poll, **_RELEASED, status_message=_ERROR)


def _record(
    pk: int, kind: RunKind, agent: Agent | None
) -> tuple[PolledPromise, Run, PreparedRequest] | None:
    """Record the run of a poll or a cancellation; None for a cancellation that has been recorded.

    Raises `CannotPollError`, and `SecretNotAllowedError` if a secret of the request may not be
    sent.
    """
    # Before it is recorded: polls that are refused would take room themselves.
    if refusal := _refusal(pk, is_begun=True):
        raise CannotPollError(refusal)
    with transaction.atomic():
        promise = (
            PolledPromise.objects.select_related("run__agent", "run__owner")
            .select_for_update(of=("self",))
            .get(pk=pk)
        )
        if kind == RunKind.CANCEL:  # Its job may be delivered twice, or late.
            in_progress = Run.objects.unfinished().filter(parent=promise.run_id, kind=kind)
            if not promise.cancel_requested or in_progress.exists():
                return None
        prepared = _await_request(promise, kind, agent)
        parent = RunParent(kind, promise.run, promise.entry_seq, promise.entry_part)
        return promise, create_run(prepared, promise.run.owner, parent), prepared


def _await_request(promise: PolledPromise, kind: RunKind, agent: Agent | None) -> PreparedRequest:
    turn = promise.run
    agent = agent or turn.target_agent
    if agent is None:
        raise CannotPollError("The agent was deleted.")
    document = registry.of(turn.protocol).await_request(
        turn.version,
        turn.request,
        token=promise.token,
        action="cancel" if kind == RunKind.CANCEL else "checkin",
        session_context=branch_to(turn)[-1].next_session_context,
        request_id=str(uuid.uuid4()),
    )
    # Credentials belong to the origin of the turn; the agent may have moved to another one since.
    moved = not same_origin(agent.url, turn.url)
    own = (pair for pair in promise.headers if not (moved and is_credential(pair[0])))
    headers = [(str(name), str(value)) for name, value in own]
    return follow_up_request(turn, document, headers, agent=agent)


def _refusal(pk: int, *, is_begun: bool = False) -> str:
    """Return why no poll of a promise can be stored, "" if one can; see `no_room`."""
    owner = PolledPromise.objects.filter(pk=pk).values_list("run__owner", flat=True).first()
    return no_room_and_fix(owner, is_begun=is_begun)


def _store_result(pk: int, result: PollResult) -> PolledPromise:
    # Read again: the user may have stopped polling, or cancelled, in the meantime.
    with transaction.atomic():
        promise: PolledPromise = PolledPromise.objects.locked().get(pk=pk)
        if result.run.kind == RunKind.POLL:  # A cancellation has no lease.
            promise.leased_until = None
        apply_poll_result(promise, result)
        promise.save()
    return promise


_RELEASED: Mapping[str, Any] = {"leased_until": None, "cancel_requested": False}
_ERROR = "Internal playground error while polling. See the playground’s log."


def _schedule_next_poll(promise: PolledPromise) -> None:
    if promise.status == PollingStatus.POLLING:
        schedule_next_poll(promise)


# Leases


def acquire_lease(pk: int, at_once: bool) -> bool:
    """Lease a promise that is due, or with `at_once` any open one; return False if leased."""
    promises = PolledPromise.objects.unleased() if at_once else PolledPromise.objects.due()
    return bool(promises.filter(pk=pk).update(next_poll_at=None, leased_until=Now() + LEASE))


def acquire_cancellation(pk: int) -> bool:
    """Pause polling to cancel the task; return False if a cancellation is in progress.

    One statement, so that of two concurrent callers one gets True.
    """
    promises = PolledPromise.objects.open().filter(pk=pk, cancel_requested=False)
    paused = {"status": PollingStatus.PAUSED, "next_poll_at": None, "status_message": ""}
    return bool(promises.update(cancel_requested=True, **paused))


@contextlib.asynccontextmanager
async def hold_lease(pk: int) -> AsyncIterator[None]:
    """Renew the lease, if there is one, while the block runs.

    The run of a poll ends before its result is stored: in between, only the lease prevents
    another poll.
    """
    renewing = asyncio.create_task(_renew_lease(pk))
    try:
        yield
    finally:
        renewing.cancel()


async def _renew_lease(pk: int) -> None:
    leased = PolledPromise.objects.filter(pk=pk, leased_until__isnull=False)
    while True:
        await asyncio.sleep(LEASE.total_seconds() / 3)
        with jobs.log_errors(f"Renewing the lease of promise {pk}"):
            await run_in_writer(leased.update, leased_until=Now() + LEASE)


# Recovery after a process has died

#: Outcomes of a poll that settle a promise; most failures do.
_SETTLING_OUTCOMES = (Outcome.ANSWER, Outcome.ELICITATION, Outcome.FAILURE)

#: Cancellations without a run in progress, and since when (`time.monotonic`).
_idle_cancellations: dict[int, float] = {}


def recover_promise(pk: int) -> PolledPromise | None:
    """Return a promise that is settled, also by a response that was not applied yet; else None."""
    with transaction.atomic():
        promise: PolledPromise = PolledPromise.objects.locked().get(pk=pk)
        if promise.is_settled:
            return promise
        answered = {"state": RunState.COMPLETED, "outcome__in": _SETTLING_OUTCOMES}
        run = _polls_of(promise).filter(**answered).first()
        if run is None:
            return None
        apply_poll_result(promise, _stored_result(run))
        if not promise.is_settled:
            return None  # A transient failure, which was applied long ago.
        promise.save()
        return promise


def recover_cancellations() -> list[PolledPromise]:
    """End the cancellations that no process waits for; return their promises.

    Between two steps of a living process a cancellation looks the same: it has to look so for
    the duration of a lease.
    """
    cancelling = PolledPromise.objects.open().filter(cancel_requested=True)
    if cancelling.exists():
        mark_interrupted()
    in_progress = Run.objects.unfinished().filter(parent=OuterRef("run"), kind=RunKind.CANCEL)
    now = time.monotonic()
    idle = cancelling.filter(~Exists(in_progress)).values_list("pk", flat=True)
    since = {pk: _idle_cancellations.get(pk, now) for pk in idle}
    _idle_cancellations.clear()
    _idle_cancellations.update(since)
    lost = [pk for pk, first in since.items() if now - first >= LEASE.total_seconds()]
    return [promise for pk in lost if (promise := _end_cancellation(pk))]


def _end_cancellation(pk: int) -> PolledPromise | None:
    with transaction.atomic():
        promise: PolledPromise | None = (
            PolledPromise.objects.locked().filter(pk=pk, cancel_requested=True).first()
        )
        if promise is None:
            return None
        run = _polls_of(promise).filter(kind=RunKind.CANCEL).first()
        if run is not None:
            apply_poll_result(promise, _stored_result(run))
        else:
            promise.cancel_requested = False
            promise.status_message = "The playground stopped before the cancellation was sent."
        promise.save()
        return promise


def _polls_of(promise: PolledPromise) -> QuerySet[Run]:
    """Return its polls and cancellations, the latest first."""
    kinds = (RunKind.POLL, RunKind.CANCEL)
    return Run.objects.filter(parent=promise.run_id, kind__in=kinds).order_by("-created_at")


def _stored_result(run: Run) -> PollResult:
    """Return the result of a poll that has ended, read from its stored frames."""
    reader, result = exchange_for(run), PollResult(run)
    for frame in run.read_frames():
        result(frame, reader.receive(frame))
    return result
