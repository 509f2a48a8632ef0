"""Queued work: requests and plans of runs that wait for a worker.

A row waits as long as the run has no worker. The worker that deletes it drives the run: a job that
is delivered twice finds no row the second time.
"""

from __future__ import annotations

from django.db import models

from playground.models.collection_runs import CollectionRun
from playground.models.fields import EncryptedJSONField
from playground.models.runs import Run


class QueuedWork(models.Model):
    """The request of a run, or the plan of a collection run, that waits for a worker."""

    run = models.OneToOneField(Run, null=True, on_delete=models.CASCADE, related_name="queued")
    collection_run = models.OneToOneField(
        CollectionRun, null=True, on_delete=models.CASCADE, related_name="queued"
    )
    #: With the values of secrets, so encrypted. A worker with another key reads {}.
    payload = EncryptedJSONField(default=dict)
    #: The version of the playground that has written the payload.
    version = models.CharField(max_length=40)
    #: By the clock of the database.
    queued_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run__isnull=True, collection_run__isnull=False)
                | models.Q(run__isnull=False, collection_run__isnull=True),
                name="queued_work_of_one",
            )
        ]

    def __str__(self) -> str:
        return f"queued {self.run_id or self.collection_run_id}"
