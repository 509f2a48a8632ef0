"""Trackers: promises that are followed until they are kept, broken or given up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import models
from django.utils import timezone

from playground.models.fields import EncryptedJSONField
from playground.models.json_text import JSONTextField, storable
from playground.models.runs import Run

#: Points of the history that are kept.
MAX_HISTORY = 500


class PollingStatus(models.TextChoices):
    """How it stands with a promise."""

    POLLING = "polling", "Following"
    PAUSED = "paused", "Not followed"
    FULFILLED = "fulfilled", "Answered"
    CANCELLED = "cancelled", "Cancelled"
    FAILED = "failed", "Failed"
    TIMED_OUT = "timed_out", "Given up"

    @property
    def is_settled(self) -> bool:
        """Whether nothing more can come of the promise."""
        return self in (self.FULFILLED, self.CANCELLED, self.FAILED)


class PolledPromiseQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Queries over trackers."""

    def open(self) -> PolledPromiseQuerySet:
        """Those that something can come of still."""
        return self.filter(status__in=[s for s in PollingStatus if not s.is_settled])

    def unleased(self) -> PolledPromiseQuerySet:
        """Those that can be asked after and that nobody asks after at the moment.

        Whoever claims one records a run for it soon; while that is under way, it is taken.
        A process that died leaves an interrupted run, so that its promises are free again.
        """
        now = timezone.now()
        unclaimed = models.Q(leased_until=None) | models.Q(leased_until__lt=now)
        checks = Run.objects.unfinished().filter(parent=models.OuterRef("run"), kind="check")
        return self.open().filter(unclaimed, ~models.Exists(checks))

    def locked(self) -> PolledPromiseQuerySet:
        """For a change: with their runs, and nobody else changes them in this transaction.

        SQLite has no locks of rows; there a transaction is the only one that writes.
        """
        return self.select_related("run").select_for_update(of=("self",))

    def due(self) -> PolledPromiseQuerySet:
        """Those that are followed, and are to be asked after now."""
        now = timezone.now()
        # Without a time: the process that was asking after it has died.
        due = models.Q(next_poll_at__lte=now) | models.Q(next_poll_at=None)
        return self.unleased().filter(due, status=PollingStatus.POLLING)


class PolledPromise(models.Model):
    """One promise of one run: how often it was asked after, what it said, what it became."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="polled_promise")
    #: The promise's place among the entries of its run.
    entry_seq = models.PositiveIntegerField()
    entry_part = models.PositiveIntegerField(default=0)
    token = JSONTextField()
    status = models.CharField(
        max_length=10, choices=PollingStatus, default=PollingStatus.POLLING, db_index=True
    )
    #: What the agent said each time, oldest first:
    #: [{"at": seconds since the start, "progress", "message", "estimated_time"}, ...];
    #: "unread" is progress that is no number.
    updates = JSONTextField(default=list)
    polls = models.PositiveIntegerField(default=0)
    #: Seconds after which following ends; checking by hand goes on.
    polling_seconds = models.PositiveIntegerField()
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    next_poll_at = models.DateTimeField(null=True, blank=True)
    #: The run that brought the end: the answer, or the failure.
    final_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    #: What the reader has to know about how it stands, a sentence.
    status_message = models.TextField(blank=True)
    #: Whether the user has cancelled the task and the agent has not confirmed it.
    cancel_requested = models.BooleanField(default=False)
    #: The request's own headers: checks are sent with them. Encrypted, gone with the end.
    headers = EncryptedJSONField(default=list, blank=True)
    #: Who checks at the moment, so that two processes do not ask at once.
    leased_until = models.DateTimeField(null=True, blank=True)

    objects = PolledPromiseQuerySet.as_manager()

    def __str__(self) -> str:
        return f"promise of {self.run_id}: {self.status}"

    @property
    def is_settled(self) -> bool:
        """Whether nothing more can come of the promise."""
        return PollingStatus(self.status).is_settled

    @property
    def is_leased(self) -> bool:
        """Whether somebody asks after it, or has it cancelled, at the moment."""
        claimed = self.leased_until is not None and self.leased_until > timezone.now()
        return claimed or self.cancel_requested

    @property
    def deadline(self) -> Any:
        """When following ends."""
        return self.started_at + timedelta(seconds=self.polling_seconds)

    @property
    def latest(self) -> dict[str, Any]:
        """What the agent said last, {} before it said anything."""
        return self.updates[-1] if self.updates else {}

    @property
    def progress(self) -> list[float]:
        """The progress that the agent reported, oldest first, where it is a number."""
        found = (entry.get("progress") for entry in self.updates)
        return [value for value in found if value is not None]

    def add_update(self, promise: Any) -> None:
        """Add what a `protocols.events.Promise` says to the history."""
        entry = {
            "at": round((timezone.now() - self.started_at).total_seconds(), 3),
            "progress": promise.progress,
            "message": promise.message[:1000],
            "estimated_time": promise.estimated_time,
        }
        told = promise.raw.get("progress") if isinstance(promise.raw, Mapping) else None
        if promise.progress is None and told is not None:
            entry["unread"] = storable(str(told)[:40])
        self.updates = [*self.updates, entry][-MAX_HISTORY:]


def earlier_progress(run: Run) -> list[float]:
    """The progress that the agent had reported for a promise when `run` asked after it."""
    if run.is_turn or run.started_at is None:
        return []
    tracker = PolledPromise.objects.filter(run=run.parent_id).first()
    if tracker is None:
        return []
    asked = (run.started_at - tracker.started_at).total_seconds()
    entries = (entry for entry in tracker.updates if entry["at"] < asked)
    return [entry["progress"] for entry in entries if entry.get("progress") is not None]
