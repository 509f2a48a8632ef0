"""What a process that died left of a promise: replies that it did not take in.

A reply is stored before the tracker learns of it. A process that dies in between leaves a
check that has ended, or a cancellation that nobody waits for.
"""

from __future__ import annotations

import time

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from playground.engine.claims import LEASE
from playground.engine.promises import PollCollector, PollResult, apply_poll_result
from playground.models import PolledPromise, Run, RunKind, RunState
from playground.models.liveness import mark_interrupted
from playground.protocols import registry
from playground.protocols.events import Outcome
from playground.protocols.exchange import Target

#: Outcomes of a check that end a promise; of failures, most.
_ENDS = (Outcome.ANSWER, Outcome.ELICITATION, Outcome.FAILURE)

#: Cancellations that nobody seems to wait for, and since when (the clock is `time.monotonic`).
_quiet: dict[int, float] = {}


def recover_promise(pk: int) -> PolledPromise | None:
    """The tracker, where its promise has ended: also by a reply that was not taken in yet."""
    with transaction.atomic():
        tracker: PolledPromise = PolledPromise.objects.locked().get(pk=pk)
        if tracker.is_settled:
            return tracker
        ended = _sent(tracker).filter(state=RunState.COMPLETED, outcome__in=_ENDS).first()
        if ended is None:
            return None
        apply_poll_result(tracker, _reply_of(ended))
        if not tracker.is_settled:
            return None  # A failure that said nothing about the task, taken in long ago.
        tracker.save()
        return tracker


def recover_cancellations() -> list[PolledPromise]:
    """End the cancellations that nobody waits for; their trackers, for the viewers to be told.

    Between two steps of one that is alive it looks the same: it has to stay so for a while.
    """
    cancelling = PolledPromise.objects.open().filter(cancel_requested=True)
    if cancelling.exists():
        mark_interrupted()
    under_way = Run.objects.unfinished().filter(parent=OuterRef("run"), kind=RunKind.CANCEL)
    now = time.monotonic()
    found = cancelling.filter(~Exists(under_way)).values_list("pk", flat=True)
    since = {pk: _quiet.get(pk, now) for pk in found}
    _quiet.clear()
    _quiet.update(since)
    lost = [pk for pk, first in since.items() if now - first >= LEASE.total_seconds()]
    return [tracker for pk in lost if (tracker := _end_cancellation(pk))]


def _end_cancellation(pk: int) -> PolledPromise | None:
    with transaction.atomic():
        tracker: PolledPromise | None = (
            PolledPromise.objects.locked().filter(pk=pk, cancel_requested=True).first()
        )
        if tracker is None:
            return None
        run = _sent(tracker).filter(kind=RunKind.CANCEL).first()
        if run is not None:
            apply_poll_result(tracker, _reply_of(run))
        else:
            tracker.cancel_requested = False
            tracker.status_message = "The playground went down before the cancellation was sent."
        tracker.save()
        return tracker


def _sent(tracker: PolledPromise) -> QuerySet[Run]:
    """Its checks and cancellations, the latest first."""
    kinds = (RunKind.POLL, RunKind.CANCEL)
    return Run.objects.filter(parent=tracker.run_id, kind__in=kinds).order_by("-created_at")


def _reply_of(run: Run) -> PollResult:
    """What a check that has ended brought, read again from its frames."""
    target = Target(**run.describe_target())
    depth = settings.RUN_LIMITS.max_depth
    exchange = registry.exchange(target, run.request, max_depth=depth)
    heard = PollCollector(run)
    for frame in run.read_frames():
        heard(frame, exchange.receive(frame))
    return heard.reply()
