"""Thread reader: the frames of a run as entries and messages.

Always derived: a late viewer, a reload and an improved reader all start at the first frame and
get the same entries with the same numbers. Batches that no page shows are skipped with the counts
that are stored with the frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from django.http import Http404

from playground.conversation.entries import Entry
from playground.conversation.message_joiner import JOINED, MessageJoiner, MessagePart
from playground.models import FrameBatch, Run
from playground.models.frames import Batch
from playground.protocols.events import EntryRef, Event, Placement, PlacementAssigner, Progress
from playground.protocols.frames import Frame
from playground.stored_runs import exchange_for

#: Places of entries that are above the others.
_ABOVE = (Placement.PINNED, Placement.ASIDE)


class ThreadReader:
    """The state of a thread after some frames of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._reader = exchange_for(run)
        self._placer = PlacementAssigner()
        #: Number of the last frame that was read or skipped.
        self.cursor = 0
        #: Number of entries so far, without pinned ones.
        self.entries = 0
        #: The latest progress event that was read.
        self.progress: Progress | None = None
        #: The messages so far; their entries change with them.
        self.messages = MessageJoiner()

    def read_to(
        self,
        upto: int,
        window: int,
        max_frames: float = inf,
        rows: Iterable[FrameBatch] | None = None,
    ) -> list[Entry]:
        """Read stored frames to number `upto`, or until `max_frames` were read.

        Returns as `read` does. `rows` are those after the cursor, if they were read already.
        """
        if rows is None:
            rows = self._run.batches(last__gt=self.cursor, first__lte=upto)
        return self.read(rows, window, upto, max_frames)

    def read(
        self,
        batches: Iterable[Batch | FrameBatch],
        window: int,
        upto: float = inf,
        max_frames: float = inf,
    ) -> list[Entry]:
        """Read what follows the cursor in batches, or in rows of them; return the new entries.

        All pinned entries are returned, and all others below number `window`; once there are that
        many, batches are skipped. `entries` stays exact. A batch with its events is not decoded
        again.
        """
        added: list[Entry] = []
        for batch in batches:
            if batch.first > upto:
                break
            whole = self.cursor < batch.first and batch.last <= upto
            if whole and self.entries >= window and batch.is_skippable:
                self.cursor = batch.last
                self.entries += batch.entries
                continue
            if max_frames <= 0:
                break
            max_frames -= batch.last - batch.first + 1
            added += self._read(batch, window, upto)
        return added

    def page(self, offset: int, count: int) -> list[Entry]:
        """Return `count` entries from number `offset` on, without pinned ones."""
        starts: dict[int, int] = {}
        entries = self.entries
        for batch in self._run.frame_batches.order_by("first").defer("data"):
            if entries >= offset + count:
                break
            if not batch.is_skippable or entries + batch.entries > offset:
                starts[batch.pk] = entries
            entries += batch.entries
        page: list[Entry] = []
        for batch in self._run.batches(pk__in=starts):
            read = [entry for entry in self._read(batch) if not entry.pinned]
            page += read[max(0, offset - starts[batch.pk]) :]
        if self.messages:
            # Parts of a message can be received long after it began.
            for batch in self._run.batches(first__gt=self.cursor):
                self._read(batch)
        return page[:count]

    def read_all(self) -> list[Entry]:
        """Return all entries, reading all frames; the messages are complete then."""
        return [entry for batch in self._run.batches() for entry in self._read(batch)]

    def by_index(self) -> list[Entry]:
        """Return all entries in the order of their `index`, those without one last."""
        entries = [entry for entry in self.read_all() if not entry.pinned]
        indexed = [(getattr(entry.event, "index", None), entry) for entry in entries]
        indexed.sort(key=lambda pair: (pair[0] is None, pair[0] or 0))
        return [entry for _, entry in indexed]

    def _read(
        self, batch: Batch | FrameBatch, window: float = inf, upto: float = inf
    ) -> list[Entry]:
        added: list[Entry] = []
        batch = batch.read() if isinstance(batch, FrameBatch) else batch
        receive, after = self._reader.receive, self.cursor
        for number, frame in enumerate(batch.frames):
            if frame.seq > upto:
                break
            if frame.seq > after:
                events = receive(frame) if batch.events is None else batch.events[number]
                self._add(frame, events, added, window)
        return added

    def _add(
        self, frame: Frame, events: Sequence[Event], added: list[Entry], window: float
    ) -> None:
        self.cursor = frame.seq
        for part, event in enumerate(events):
            joined = self.messages.add(event, part) if type(event) in JOINED else None
            if type(event) is Progress:
                self.progress = event
            placement = self._placer.assign(event)
            if placement is not Placement.NONE:
                entry = Entry(event.seq, part, event, placement in _ABOVE, joined)
                # The others would keep everything of a large response.
                if entry.pinned or self.entries < window:
                    added.append(entry)
                if joined:
                    joined.number = self.entries
                self.entries += not entry.pinned

    def entry_at(self, ref: EntryRef) -> Entry | None:
        """Return an entry, of a message with everything that belongs to it; reads all frames."""
        return next((each for each in self.read_all() if each.ref == ref), None)


def message_part(run: Run, ref: EntryRef, number: int) -> MessagePart:
    """Return part `number` of a message of a run; reads all frames. Raises `Http404`."""
    entry = ThreadReader(run).entry_at(ref)
    parts = entry.message.parts.values() if entry and entry.message else ()
    found = next((each for each in parts if each.number == number), None)
    if found is None:
        raise Http404
    return found
