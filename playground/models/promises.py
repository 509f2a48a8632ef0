"""Promises that are polled: status, updates, the next poll and its lease."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from playground.models.columns import OBJECTS, PAIRS, EncryptedJSONField, JSONTextField, storable
from playground.models.driving import database_now
from playground.models.runs import Run

#: Updates that are stored, the latest ones.
MAX_HISTORY = 500


class PollingStatus(models.TextChoices):
    """The status of polling."""

    POLLING = "polling", "Polling"
    PAUSED = "paused", "Paused"
    FULFILLED = "fulfilled", "Fulfilled"
    CANCELLED = "cancelled", "Cancelled"
    FAILED = "failed", "Failed"
    TIMED_OUT = "timed_out", "Timed out"

    @property
    def is_settled(self) -> bool:
        return self in (self.FULFILLED, self.CANCELLED, self.FAILED)


class PolledPromiseQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Queries over polled promises."""

    def open(self) -> PolledPromiseQuerySet:
        return self.filter(status__in=[s for s in PollingStatus if not s.is_settled])

    def unleased(self) -> PolledPromiseQuerySet:
        """Return the open promises that no process polls at the moment.

        A process that has the lease soon records a poll; while that is unfinished, the promise is
        leased. A process that died leaves an interrupted poll, so its promises are free again.
        """
        no_lease = models.Q(leased_until=None) | models.Q(leased_until__lt=Now())
        polls = Run.objects.unfinished().filter(parent=models.OuterRef("run"), kind="check")
        return self.open().filter(no_lease, ~models.Exists(polls))

    def locked(self) -> PolledPromiseQuerySet:
        """Lock the promises, with their runs, for a change in this transaction.

        SQLite has no row locks; there a transaction is the only writer.
        """
        return self.select_related("run").select_for_update(of=("self",))

    def due(self) -> PolledPromiseQuerySet:
        # Without a time: the process that polled it has died.
        due = models.Q(next_poll_at__lte=Now()) | models.Q(next_poll_at=None)
        return self.unleased().filter(due, status=PollingStatus.POLLING)


class PolledPromise(models.Model):
    """The state of polling one promise of one run: updates, number of polls, status."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="polled_promise")
    #: The entry reference of the promise in its run.
    entry_seq = models.PositiveIntegerField()
    entry_part = models.PositiveIntegerField(default=0)
    token = JSONTextField()
    status = models.CharField(
        max_length=10, choices=PollingStatus, default=PollingStatus.POLLING, db_index=True
    )
    #: The updates that the agent sent, oldest first:
    #: [{"at": seconds since the start, "progress", "message", "estimated_time"}, ...];
    #: "unread" is progress that is not a number.
    updates = JSONTextField(default=list, shape=OBJECTS)
    polls = models.PositiveIntegerField(default=0)
    #: Seconds after which polling ends; a single poll is possible after that.
    polling_seconds = models.PositiveIntegerField()
    #: By the database's clock (`playground.models.driving`), as are the times of polls and leases.
    started_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    next_poll_at = models.DateTimeField(null=True, blank=True)
    #: The run with the answer or the failure that settled the promise.
    final_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    #: A sentence about the status for the page.
    status_message = models.TextField(blank=True)
    #: Whether the user has cancelled the task and the agent has not confirmed it.
    cancel_requested = models.BooleanField(default=False)
    #: The request's own headers, which polls are sent with. Encrypted; emptied when settled.
    headers = EncryptedJSONField(default=list, blank=True, shape=PAIRS)
    #: The end of the lease of the process that polls it, so that no two processes do.
    leased_until = models.DateTimeField(null=True, blank=True)

    objects = PolledPromiseQuerySet.as_manager()

    def __str__(self) -> str:
        return f"promise of {self.run_id}: {self.status}"

    @property
    def is_settled(self) -> bool:
        return PollingStatus(self.status).is_settled

    @property
    def is_leased(self) -> bool:
        """Return whether a poll or a cancellation is in progress."""
        leased = self.leased_until is not None and self.leased_until > timezone.now()
        return leased or self.cancel_requested

    @property
    def deadline(self) -> Any:
        return self.started_at + timedelta(seconds=self.polling_seconds)

    @property
    def latest(self) -> dict[str, Any]:
        """The latest update, {} without one."""
        return self.updates[-1] if self.updates else {}

    @property
    def progress(self) -> list[float]:
        """The reported progress, oldest first, as far as it is a number."""
        found = (entry.get("progress") for entry in self.updates)
        return [value for value in found if value is not None]

    def add_update(self, promise: Any) -> None:
        """Add a `protocols.events.Promise` to the updates."""
        entry = {
            "at": round((database_now() - self.started_at).total_seconds(), 3),
            "progress": promise.progress,
            "message": promise.message[:1000],
            "estimated_time": promise.estimated_time,
        }
        raw = promise.raw.get("progress") if isinstance(promise.raw, Mapping) else None
        if promise.progress is None and raw is not None:
            entry["unread"] = storable(str(raw)[:40])
        self.updates = [*self.updates, entry][-MAX_HISTORY:]


def promise_before(run: Run) -> PolledPromise | None:
    """Return the promise that the await request `run` concerns, None without one.

    That of its turn; for a turn of its own, the latest one in its conversation with its token.
    """
    if not run.is_turn:
        return PolledPromise.objects.filter(run=run.parent_id).first()
    token = run.request.get("promise_token") if isinstance(run.request, Mapping) else None
    if not token or run.conversation_id is None or run.started_at is None:
        return None
    before = PolledPromise.objects.filter(
        run__conversation=run.conversation_id, started_at__lt=run.started_at
    ).exclude(run=run)
    return next((each for each in before.order_by("-started_at") if each.token == token), None)


def progress_before(promise: PolledPromise, run: Run) -> list[float]:
    """Return the progress that was reported before `run` was sent, oldest first."""
    if run.started_at is None:
        return []
    sent = (run.started_at - promise.started_at).total_seconds()
    entries = (entry for entry in promise.updates if entry["at"] < sent)
    return [entry["progress"] for entry in entries if entry.get("progress") is not None]


def session_context_before(promise: PolledPromise, run: Run) -> Mapping[str, Any] | None:
    """Return the latest session context of the promise's turn before `run`; None without one."""
    polls = Run.objects.filter(
        parent=promise.run_id, kind__in=("check", "cancel"), created_at__lt=run.created_at
    )
    latest = polls.order_by("-created_at").values_list("session_context", flat=True)
    found = (each for each in (*latest, promise.run.session_context) if isinstance(each, Mapping))
    return next(found, None)
