"""A run's frames read into what the thread shows.

Always derived: a viewer that joins late, a reload and a better reader all start from the
first frame and come to the same entries with the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings

from playground.models import Run
from playground.protocols import registry
from playground.protocols.events import Event
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame
from playground.rendering.entries import Entry, entry_of


def reader_for(run: Run) -> Exchange:
    """A fresh exchange that reads this run's frames. It is never asked for a call."""
    target = Target(**run.describe_target())
    return registry.exchange(target, run.request, max_depth=settings.RUN_LIMITS.max_depth)


class Fold:
    """The state of a thread after some frames."""

    def __init__(self, run: Run) -> None:
        self._exchange = reader_for(run)
        #: Number of the last frame that was read.
        self.cursor = 0
        #: Entries so far, pinned ones not counted.
        self.entries = 0

    def feed(self, frames: Iterable[Frame]) -> list[Entry]:
        """The entries that `frames`, which follow those fed before, add to the thread."""
        added: list[Entry] = []
        for frame in frames:
            self.cursor = frame.seq
            for part, event in enumerate(self.read(frame)):
                if entry := entry_of(event, part):
                    added.append(entry)
                    self.entries += not entry.pinned
        return added

    def read(self, frame: Frame) -> list[Event]:
        """The events of the next frame."""
        return list(self._exchange.receive(frame))
