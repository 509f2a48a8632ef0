"""A run's frames read into what the thread shows.

Always derived: a viewer that joins late, a reload and a better reader all start from the
first frame and come to the same entries with the same numbers. What nobody looks at is passed
over by the counts that are stored with the frames.
"""

from __future__ import annotations

from playground.models import FrameBatch, Run
from playground.protocols.events import Progress
from playground.protocols.placement import PlacementAssigner
from playground.reading import exchange_for
from playground.rendering.entries import Entry, entry_of
from playground.rendering.messages import JOINED, MessageJoiner


class ThreadReader:
    """The state of a thread after some of the frames of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._exchange = exchange_for(run)
        self._placer = PlacementAssigner()
        #: Number of the last frame that was read or passed over.
        self.cursor = 0
        #: Entries so far, pinned ones not counted.
        self.entries = 0
        #: The latest word on how far the agent is, as far as it was read.
        self.progress: Progress | None = None
        #: The messages so far; the entries that they have go on changing with them.
        self.messages = MessageJoiner()

    def read_to(self, upto: int, wanted: int, most: int) -> list[Entry]:
        """Go on to frame `upto`, or until `most` frames were read, and return the new entries.

        Of the pinned ones none is missing; of the others only those below number `wanted`
        matter, so once there are that many, batches are passed over. `entries` stays exact.
        """
        added: list[Entry] = []
        for batch in self._run.batches(last__gt=self.cursor, first__lte=upto):
            whole = self.cursor < batch.first and batch.last <= upto
            if whole and self.entries >= wanted and batch.is_skippable:
                self._pass_over(batch)
                continue
            if most <= 0:
                break
            most -= batch.last - batch.first + 1
            added += self._read(batch, upto)
        return added

    def page(self, offset: int, count: int) -> list[Entry]:
        """The `count` entries from number `offset` on, pinned ones left out."""
        starts: dict[int, int] = {}
        entries = self.entries
        for batch in self._run.frame_batches.order_by("first").defer("data"):
            if entries >= offset + count:
                break
            if not batch.is_skippable or entries + batch.entries > offset:
                starts[batch.pk] = entries
            entries += batch.entries
        found: list[Entry] = []
        for batch in self._run.batches(pk__in=starts):
            read = [entry for entry in self._read(batch) if not entry.pinned]
            found += read[max(0, offset - starts[batch.pk]) :]
        if self.messages:
            # What belongs to a message can come long after it.
            for batch in self._run.batches(first__gt=self.cursor):
                self._read(batch)
        return found[:count]

    def by_index(self) -> list[Entry]:
        """All entries in the order of their `index`, those without one last. Reads everything."""
        entries = [entry for batch in self._run.batches() for entry in self._read(batch)]
        return sorted((entry for entry in entries if not entry.pinned), key=_place)

    def _pass_over(self, batch: FrameBatch) -> None:
        self.cursor = batch.last
        self.entries += batch.entries

    def _read(self, batch: FrameBatch, upto: int | None = None) -> list[Entry]:
        added: list[Entry] = []
        receive, after, place = self._exchange.receive, self.cursor, self._placer.assign
        for frame in batch.frames():
            if frame.seq <= after:
                continue
            if upto is not None and frame.seq > upto:
                break
            self.cursor = frame.seq
            for part, event in enumerate(receive(frame)):
                joined = self.messages.add(event, part) if type(event) in JOINED else None
                if type(event) is Progress:
                    self.progress = event
                if entry := entry_of(event, part, place(event), joined):
                    added.append(entry)
                    if joined:
                        joined.number = self.entries
                    self.entries += not entry.pinned
        return added

    def read_messages(self) -> MessageJoiner:
        """The messages with all that came of them. Reads everything."""
        for batch in self._run.batches():
            self._read(batch)
        return self.messages

    def entry_at(self, home: tuple[int, int]) -> Entry | None:
        """The entry at a place, a message's with all that came of it. Reads everything."""
        entries = (entry for batch in self._run.batches() for entry in self._read(batch))
        return next((each for each in list(entries) if (each.seq, each.part) == home), None)


def _place(entry: Entry) -> tuple[bool, int]:
    index = getattr(entry.event, "index", None)
    return index is None, index or 0
