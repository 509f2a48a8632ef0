"""A run's frames with what they mean: read again from the first one, whoever asks.

Events are always derived: a better reader serves old runs, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.conf import settings

from playground.models import Run
from playground.protocols import registry
from playground.protocols.events import Event
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame


def exchange_for(run: Run) -> Exchange:
    """A fresh exchange that reads this run's frames. It is never asked for a call."""
    target = Target(**run.describe_target())
    return registry.exchange(target, run.request, max_depth=settings.RUN_LIMITS.max_depth)


def read_events(run: Run, after: int = 0) -> Iterator[tuple[Frame, list[Event]]]:
    """The frames numbered above `after` with their events.

    What comes before is passed over where that makes no difference: a stream's events are
    read one by one, the pieces of a body only together.
    """
    reader = exchange_for(run)
    rows = run.frame_batches.order_by("first").defer("data")
    needed = [batch.pk for batch in rows if batch.last > after or not batch.is_skippable]
    for batch in run.batches(pk__in=needed):
        for frame in batch.frames():
            events = list(reader.receive(frame))
            if frame.seq > after:
                yield frame, events


def frames_without_events(run: Run) -> Iterator[tuple[Frame, list[Event]]]:
    """All frames as `readings` gives them, without asking what they mean."""
    for frame in run.read_frames():
        yield frame, []
