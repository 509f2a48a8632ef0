"""The frames of a run, as they are stored: raw, many to a row."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import models

from playground.models.runs import Run
from playground.protocols.frames import Frame, unpack


class FrameBatch(models.Model):
    """The frames of one flush, numbered `first` to `last`, packed into one row."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="frame_batches")
    first = models.PositiveIntegerField()
    last = models.PositiveIntegerField()
    data = models.BinaryField()
    # What a reader may pass over without unpacking it.
    #: Events that are entries of the thread, and those pinned above it.
    entries = models.PositiveIntegerField(default=0)
    pinned = models.PositiveIntegerField(default=0)
    #: Whether every frame is read by itself. Pieces of a body are not, and metadata that
    #: opens an answer changes how later metadata is read.
    is_independent = models.BooleanField(default=False)

    class Meta:
        ordering = ["run", "first"]
        constraints = [
            # The database's own word that no number is given twice.
            models.UniqueConstraint(fields=["run", "first"], name="frame_batch_first"),
        ]
        indexes = [models.Index(fields=["run", "last"], name="frame_batch_last")]

    def __str__(self) -> str:
        return f"frames {self.first}–{self.last}"

    @property
    def is_skippable(self) -> bool:
        """Whether a reader who only counts may pass over it."""
        return self.is_independent and not self.pinned

    def frames(self) -> Iterator[Frame]:
        """The frames, numbered."""
        return unpack(self.data, self.first)
