"""Batches of frames, as they are stored and passed on to viewers, and their rows.

The writer stores what waits of a run in one `Flush`, and passes that on to the viewers of its
process. Readers that have none read the same batches from the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import models

from playground.models.columns import storable
from playground.protocols.events import (
    Completed,
    Content,
    Elicitation,
    Event,
    Failure,
    Handshake,
    Message,
    Note,
    Placement,
    PlacementAssigner,
    Result,
    Started,
    Status,
    ToolCall,
    ToolOutput,
    Tools,
)
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind, pack, unpack
from playground.protocols.response import read_head

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

    def read(self) -> Batch:
        """Return its frames, without their events."""
        return Batch(list(self.frames()))


# Batches in memory, and their packing into rows, for the writer of runs and for recordings

#: Frames and bytes of one row, which a reader of a single frame has to unpack.
ROW_FRAMES, ROW_BYTES = 500, 256 * 1024
#: Size of a frame together with its events, in sizes of the frame alone. In frames above the second
#: size, each value counts by itself: a small object takes 30 times as much as its text.
DECODED_SIZE, _LARGE, _VALUE_SIZE = 4, 16 * 1024, 64
#: Kinds of frames that are read without the frames before them.
INDEPENDENT_KINDS = frozenset({FrameKind.EVENT, FrameKind.COMMENT})


@dataclass(slots=True)
class Batch:
    """Consecutive numbered frames of a run, with what they are and how they count."""

    frames: list[Frame]
    #: The events of each frame; None if they have to be read from the frames.
    events: list[Sequence[Event]] | None = None
    entries: int = 0
    pinned: int = 0
    #: Whether later frames are read differently after these frames.
    changes_reading: bool = False
    #: When the first frame arrived, in seconds of `time.monotonic`; not stored.
    arrived_at: float | None = None

    @property
    def first(self) -> int:
        return self.frames[0].seq

    @property
    def last(self) -> int:
        return self.frames[-1].seq

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


@dataclass(slots=True)
class Flush:
    """What one transaction stores of a run: new frames, and the columns that change with them."""

    run: Run
    #: Those without frames are left out.
    batches: list[Batch] = field(default_factory=list)
    #: Columns of the run by name, without the number of its frames.
    changes: dict[str, Any] = field(default_factory=dict)
    #: Bytes that it holds in memory.
    bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.batches or self.changes)

    @property
    def columns(self) -> dict[str, Any]:
        """Return the changed columns, the number of the last frame among them."""
        if not self.batches:
            return self.changes
        return {**self.changes, "frames": self.batches[-1].last}


def build_rows(run: Run, batches: Iterable[Batch]) -> list[FrameBatch]:
    return [_row_of(run, together) for together in _rows(batches)]


def _rows(batches: Iterable[Batch]) -> Iterator[list[Batch]]:
    """Yield the batches of each row, in order; a batch is never divided."""
    row: list[Batch] = []
    frames = size = 0
    for batch in batches:
        if row and (frames + len(batch.frames) > ROW_FRAMES or size + batch.bytes > ROW_BYTES):
            yield row
            row, frames, size = [], 0, 0
        row.append(batch)
        frames, size = frames + len(batch.frames), size + batch.bytes
    if row:
        yield row


def _row_of(run: Run, batches: Sequence[Batch]) -> FrameBatch:
    return FrameBatch(
        run=run,
        first=batches[0].first,
        last=batches[-1].last,
        data=pack(frame for batch in batches for frame in batch.frames),
        entries=sum(batch.entries for batch in batches),
        pinned=sum(batch.pinned for batch in batches),
        is_independent=all(batch.is_independent for batch in batches),
    )


# Counters: frames and events counted as they arrive, for columns of the run and of the rows

#: Events that change how later frames are read: metadata at the beginning of an answer, and
#: messages, which later events belong to. A failure can be a message, and is not reported again
#: with that. Over MCP also the handshake, elicitations in mid-call, and the answer.
_CHANGES_READING = frozenset({Started, Message, Content, Status, ToolCall, ToolOutput, Failure})
_CHANGES_READING |= frozenset({Completed, Elicitation, Handshake, Note, Tools})
_SHOWN = (Placement.ENTRY, Placement.PINNED, Placement.ASIDE)


class RunCounters:
    """The counts and times of one run."""

    def __init__(self, other_bytes: int = 0) -> None:
        """Count from the beginning of a run that had these bytes when it was created."""
        self._assigner = PlacementAssigner()
        self._highest_index = -1
        self._placements = dict.fromkeys(Placement, 0)
        #: Columns of the run, by name. Times are in µs since the first call.
        self.columns: dict[str, Any] = {"events": 0, "results": 0, "bytes": 0, "entries": 0}
        self.columns |= {"other_bytes": other_bytes, "failures": 0, "terminated": False}

    def count(self, frames: list[Frame], events: list[Sequence[Event]]) -> Batch:
        """Count frames with their events; return them as a batch."""
        entries, pinned, aside = (self._placements[placement] for placement in _SHOWN)
        batch = Batch(frames, events)
        for frame, found in zip(frames, events, strict=True):
            for event in found:
                self._count_event(event)
                batch.changes_reading |= type(event) in _CHANGES_READING
            self._count_frame(frame, found)
        batch.entries = self._placements[Placement.ENTRY] - entries
        new_pinned = self._placements[Placement.PINNED] - pinned
        self.columns["entries"] += batch.entries + new_pinned
        batch.pinned = new_pinned + self._placements[Placement.ASIDE] - aside
        return batch

    def _count_event(self, event: Event) -> None:
        columns = self.columns
        columns["events"] += 1
        self._placements[self._assigner.assign(event)] += 1
        if type(event) is Failure:
            columns["failures"] += 1
        elif type(event) is Completed:
            columns["terminated"] = True
        elif type(event) is Result:
            columns["results"] += 1
            if event.index is not None:
                if event.index < self._highest_index:
                    columns["out_of_order"] = True
                self._highest_index = max(self._highest_index, event.index)

    def _count_frame(self, frame: Frame, events: Sequence[Event]) -> None:
        columns = self.columns
        if frame.kind in BODY_KINDS:
            columns["bytes"] += len(frame.data)
            if events or frame.kind is FrameKind.BODY:
                columns.setdefault("first_event_us", frame.at_us)
            return
        columns["other_bytes"] += len(frame.data)
        if frame.kind is FrameKind.HEAD:
            columns.setdefault("headers_us", frame.at_us)
            columns["status"], headers = read_head(frame.data)
            columns["retry_after"] = storable(headers.get("retry-after", "")[:60])
