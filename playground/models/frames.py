"""Frame batches: the frames of a run as they are stored, verbatim, many to a row."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import models

from playground.protocols.frames import Frame, unpack


class FrameBatch(models.Model):
    """The frames of one flush, numbered `first` to `last`, packed into one row."""

    run = models.ForeignKey(
        "playground.Run", on_delete=models.CASCADE, related_name="frame_batches"
    )
    first = models.PositiveIntegerField()
    last = models.PositiveIntegerField()
    data = models.BinaryField()
    # Columns that tell a reader which batches it may skip without unpacking them.
    #: Events that are entries of the thread, and events pinned above it.
    entries = models.PositiveIntegerField(default=0)
    pinned = models.PositiveIntegerField(default=0)
    #: Whether every frame is read without the others. Pieces of a body are not, and metadata at
    #: the beginning of an answer changes how later metadata is read.
    is_independent = models.BooleanField(default=False)

    class Meta:
        ordering = ["run", "first"]
        constraints = [
            # No frame number is assigned twice.
            models.UniqueConstraint(fields=["run", "first"], name="frame_batch_first"),
        ]
        indexes = [models.Index(fields=["run", "last"], name="frame_batch_last")]

    def __str__(self) -> str:
        return f"frames {self.first}–{self.last}"

    @property
    def is_skippable(self) -> bool:
        """Return whether a reader that only counts entries may skip it."""
        return self.is_independent and not self.pinned

    def frames(self) -> Iterator[Frame]:
        return unpack(self.data, self.first)
