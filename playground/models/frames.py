"""Frame batches: the frames of a run as they are stored, verbatim, many to a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models

from playground.protocols.frames import Frame, FrameKind, pack, unpack

if TYPE_CHECKING:
    from playground.models.runs import Run


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


# Packing of numbered frames into rows, for the writer of runs and for recordings

#: Frames and bytes of one row, which a reader of a single frame has to unpack.
ROW_FRAMES, ROW_BYTES = 500, 256 * 1024
#: Size of a frame together with its events, in sizes of the frame alone. In frames above the second
#: size, each value counts by itself: a small object takes 30 times as much as its text.
DECODED_SIZE, _LARGE, _VALUE_SIZE = 4, 16 * 1024, 64
#: Kinds of frames that are read without the frames before them.
INDEPENDENT_KINDS = frozenset({FrameKind.EVENT, FrameKind.COMMENT})


@dataclass(slots=True)
class FramePart:
    """Consecutive numbered frames and their counts, which become columns of the row."""

    frames: list[Frame]
    entries: int = 0
    pinned: int = 0
    #: Whether later frames are read differently after these frames.
    changes_reading: bool = False
    #: When the first frame arrived, in seconds of `time.monotonic`; not stored.
    arrived_at: float | None = None

    @property
    def is_independent(self) -> bool:
        """Return whether every frame is read without the others."""
        return not self.changes_reading and all(
            frame.kind in INDEPENDENT_KINDS for frame in self.frames
        )

    @property
    def is_skippable(self) -> bool:
        """Return whether a reader that only counts entries may skip it."""
        return self.is_independent and not self.pinned

    @property
    def bytes(self) -> int:
        return sum(len(frame.data) for frame in self.frames)

    @property
    def decoded_bytes(self) -> int:
        """An estimate of the memory of the frames with their events."""
        large = (frame.data for frame in self.frames if len(frame.data) > _LARGE)
        values = sum(data.count(sign) for data in large for sign in (b"{", b"[", b","))
        return DECODED_SIZE * self.bytes + _VALUE_SIZE * values


def build_batches(run: Run, parts: Iterable[FramePart]) -> list[FrameBatch]:
    """Return the rows for the frames of these parts, in order and not saved."""
    return [_row_of(run, row) for row in _rows(parts)]


def _rows(parts: Iterable[FramePart]) -> Iterator[list[FramePart]]:
    """Yield the parts of each row, in order; a part is never divided."""
    row: list[FramePart] = []
    frames = size = 0
    for part in parts:
        if row and (frames + len(part.frames) > ROW_FRAMES or size + part.bytes > ROW_BYTES):
            yield row
            row, frames, size = [], 0, 0
        row.append(part)
        frames, size = frames + len(part.frames), size + part.bytes
    if row:
        yield row


def _row_of(run: Run, parts: Sequence[FramePart]) -> FrameBatch:
    frames = [frame for part in parts for frame in part.frames]
    return FrameBatch(
        run=run,
        first=frames[0].seq,
        last=frames[-1].seq,
        data=pack(frames),
        entries=sum(part.entries for part in parts),
        pinned=sum(part.pinned for part in parts),
        is_independent=all(part.is_independent for part in parts),
    )
