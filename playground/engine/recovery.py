"""What a process that died left of a promise: replies that it did not take in.

A reply is stored before the tracker learns of it. A process that dies in between leaves a
check that has ended, or a cancellation that nobody waits for.
"""

from __future__ import annotations

import time

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from playground.engine.claims import CLAIM
from playground.engine.promises import Heard, Reply, take_in
from playground.models import Run, RunKind, RunState, Tracker
from playground.models.liveness import mark_interrupted
from playground.protocols import registry
from playground.protocols.events import Outcome
from playground.protocols.exchange import Target

#: Outcomes of a check that end a promise; of failures, most.
_ENDS = (Outcome.ANSWER, Outcome.ELICITATION, Outcome.FAILURE)

#: Cancellations that nobody seems to wait for, and since when (the clock is `time.monotonic`).
_quiet: dict[int, float] = {}


def settle_lost(pk: int) -> Tracker | None:
    """The tracker, where its promise has ended: also by a reply that was not taken in yet."""
    with transaction.atomic():
        tracker: Tracker = Tracker.objects.locked().get(pk=pk)
        if tracker.is_settled:
            return tracker
        ended = _sent(tracker).filter(state=RunState.COMPLETED, outcome__in=_ENDS).first()
        if ended is None:
            return None
        take_in(tracker, _reply_of(ended))
        if not tracker.is_settled:
            return None  # A failure that said nothing about the task, taken in long ago.
        tracker.save()
        return tracker


def settle_cancellations() -> list[Tracker]:
    """End the cancellations that nobody waits for; their trackers, for the viewers to be told.

    Between two steps of one that is alive it looks the same: it has to stay so for a while.
    """
    cancelling = Tracker.objects.open().filter(cancelling=True)
    if cancelling.exists():
        mark_interrupted()
    under_way = Run.objects.unfinished().filter(parent=OuterRef("run"), kind=RunKind.CANCEL)
    now = time.monotonic()
    found = cancelling.filter(~Exists(under_way)).values_list("pk", flat=True)
    since = {pk: _quiet.get(pk, now) for pk in found}
    _quiet.clear()
    _quiet.update(since)
    lost = [pk for pk, first in since.items() if now - first >= CLAIM.total_seconds()]
    return [tracker for pk in lost if (tracker := _end_cancellation(pk))]


def _end_cancellation(pk: int) -> Tracker | None:
    with transaction.atomic():
        tracker: Tracker | None = Tracker.objects.locked().filter(pk=pk, cancelling=True).first()
        if tracker is None:
            return None
        run = _sent(tracker).filter(kind=RunKind.CANCEL).first()
        if run is not None:
            take_in(tracker, _reply_of(run))
        else:
            tracker.cancelling = False
            tracker.note = "The playground went down before the cancellation was sent."
        tracker.save()
        return tracker


def _sent(tracker: Tracker) -> QuerySet[Run]:
    """Its checks and cancellations, the latest first."""
    kinds = (RunKind.CHECK, RunKind.CANCEL)
    return Run.objects.filter(parent=tracker.run_id, kind__in=kinds).order_by("-created_at")


def _reply_of(run: Run) -> Reply:
    """What a check that has ended brought, read again from its frames."""
    target = Target(**run.describe_target())
    depth = settings.RUN_LIMITS.max_depth
    exchange = registry.exchange(target, run.request, max_depth=depth)
    heard = Heard(run)
    for frame in run.read_frames():
        heard(frame, exchange.receive(frame))
    return heard.reply()
