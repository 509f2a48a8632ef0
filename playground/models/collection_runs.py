"""Collection runs and their steps: the requests of a collection that were sent together."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from playground.models.collections import Collection, SavedRequest
from playground.models.columns import OBJECT, OBJECTS, JSONTextField
from playground.models.rows import Owned, OwnedQuerySet, WeakForeignKey
from playground.models.runs import Run

#: Reasons for steps that did not end, as parts of sentences: the process that drove them stopped,
#: or the user stopped the run.
INTERRUPTED_REASON = "the playground stopped"
STOPPED_REASON = "the run was stopped"


class CollectionRunQuerySet(OwnedQuerySet):
    """Queries over collection runs."""

    def unfinished(self) -> CollectionRunQuerySet:
        """Return the collection runs in progress, and those whose process died."""
        return self.filter(state=CollectionRun.State.RUNNING)


class CollectionRun(Owned):
    """One run of a collection."""

    class State(models.TextChoices):
        """The state of a collection run."""

        RUNNING = "running", "Running"
        COMPLETED = "completed", "Completed"
        STOPPED = "stopped", "Stopped"
        #: The playground process died.
        INTERRUPTED = "interrupted", "Interrupted"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    #: None once it was deleted, and for a run from a file.
    collection = WeakForeignKey(
        Collection, null=True, blank=True, on_delete=models.SET_NULL, related_name="collection_runs"
    )
    name = models.CharField(max_length=120)
    #: The environment's name; "" for none.
    environment = models.CharField(max_length=80, blank=True)
    #: {"agent": slug or URL, "parallel": N, "iterations": N, "bail": true, ...}; no secret.
    options = JSONTextField(default=dict, blank=True, shape=OBJECT)
    state = models.CharField(max_length=12, choices=State, default=State.RUNNING)
    #: Requests to send, all iterations together.
    planned = models.PositiveIntegerField(default=0)
    stop_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    #: The process that drives it, and its latest heartbeat: see `playground.models.driving`.
    driver = models.CharField(max_length=120, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    objects = CollectionRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["owner", "-created_at"], name="collection_run_latest"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("collection-run", args=[self.pk])

    @property
    def group(self) -> str:
        """The channel-layer group that is notified when a step has changed."""
        return collection_run_group(self.pk)

    @property
    def viewer_groups(self) -> tuple[str, ...]:
        return (self.group,)

    @property
    def is_final(self) -> bool:
        return self.state != self.State.RUNNING

    def duration_ms(self) -> float:
        """Return the milliseconds from the start to the end, or to now."""
        end = self.ended_at or timezone.now()
        return max(0.0, (end - self.created_at).total_seconds() * 1000)


def collection_run_group(pk: uuid.UUID) -> str:
    return f"collection-run.{pk.hex}"


def end_interrupted(dead: models.QuerySet[Any]) -> int:
    """End collection runs whose process has died, with their steps; return their number."""
    return sum(map(_end_interrupted, list(dead.values_list("pk", flat=True))))


def _end_interrupted(key: uuid.UUID) -> bool:
    # The latest heartbeat of the run and of its requests: no later moment is known.
    latest = CollectionRun.objects.filter(pk=key).aggregate(
        own=models.Max("heartbeat_at"), runs=models.Max("steps__run__heartbeat_at")
    )
    ended_at = max(filter(None, latest.values()), default=None)
    columns = {"state": CollectionRun.State.INTERRUPTED, "ended_at": ended_at}
    return end_unfinished(key, INTERRUPTED_REASON, **columns)


def end_unfinished(key: uuid.UUID, cause: str, **columns: Any) -> bool:
    """End a collection run with these columns, and its steps; return False if it has ended.

    Steps in progress become stopped, the others skipped.
    """
    with transaction.atomic():
        # The row first: it is locked from now on, and steps of an ended run do not change.
        is_ended = bool(CollectionRun.objects.unfinished().filter(pk=key).update(**columns))
        if is_ended:
            steps = Step.objects.filter(collection_run=key)
            for verdict, (ended, reason) in _ENDS.items():
                steps.filter(verdict=verdict).update(verdict=ended, reason=reason.format(cause))
    return is_ended


class Step(models.Model):
    """One request of a collection run, and its verdict."""

    class Verdict(models.TextChoices):
        """The verdict on a step."""

        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        MET = "met", "Passed"
        UNMET = "unmet", "Failed"
        #: It could not be sent: a variable without a value, a refused URL, ...
        UNSENT = "unsent", "Not sent"
        #: In progress when the run was stopped, or the playground process died.
        STOPPED = "stopped", "Stopped"
        #: Not started: the run was stopped, or bailed out.
        SKIPPED = "skipped", "Skipped"

    collection_run = models.ForeignKey(
        CollectionRun, on_delete=models.CASCADE, related_name="steps"
    )
    #: From 1, over all iterations.
    number = models.PositiveIntegerField()
    iteration = models.PositiveIntegerField(default=1)
    saved_request = WeakForeignKey(
        SavedRequest, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    folder = models.CharField(max_length=120, blank=True)
    name = models.CharField(max_length=120)
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    verdict = models.CharField(max_length=8, choices=Verdict, default=Verdict.WAITING)
    #: The results of the expectations: `playground.expectations.Check` as JSON, in order.
    checks = JSONTextField(default=list, blank=True, shape=OBJECTS)
    #: Why it was not sent; "" where it was.
    reason = models.TextField(blank=True)
    #: Milliseconds from the start of the run to its end; None where it was not sent.
    duration_ms = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["collection_run", "number"], name="step_number"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.verdict in _ENDS

    def end(self, cause: str) -> None:
        """End the step, if it is open, as `end_unfinished` does. Does not save."""
        if self.is_open:
            self.verdict, reason = _ENDS[self.verdict]
            self.reason = reason.format(cause)


def count_verdicts(runs: Iterable[CollectionRun]) -> dict[uuid.UUID, Counter[str]]:
    """Return the number of steps by verdict of each of these runs, with one query."""
    found: dict[uuid.UUID, Counter[str]] = {run.pk: Counter() for run in runs}
    steps = Step.objects.filter(collection_run__in=found).order_by()
    rows = steps.values_list("collection_run", "verdict").annotate(number=models.Count("pk"))
    for key, verdict, number in rows:
        found[key][verdict] = number
    return found


#: Final verdict and reason of an unfinished step, by its verdict so far.
_ENDS: dict[str, tuple[str, str]] = {
    Step.Verdict.WAITING: (Step.Verdict.SKIPPED, "Not started: {}."),
    Step.Verdict.RUNNING: (Step.Verdict.STOPPED, "Not completed: {}."),
}
