"""Timeline of a run: phases as bars, arrivals as marks, silences as gaps, child runs as lanes.

The calls after the first, of a handshake or a resumption, are marks, too.

Positions are percentages of the width of the drawing, so that the page needs no script and no
inline style to place them. The axis leaves out time in which nothing happened: an action that is
run an hour after the answer would otherwise press the answer into a hair's breadth. Time in which
the playground itself waits, for a promise for instance, is never left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from django.utils import timezone

from playground.conversation.status import elapsed_ms
from playground.conversation.thread import Thread
from playground.models import Run, RunKind
from playground.protocols.events import Event, event_label
from playground.protocols.frames import BODY_KINDS, LAST_KINDS, Frame, FrameKind, is_reused
from playground.protocols.headers import TRACEPARENT, trace_id_of
from playground.protocols.response import request_headers
from playground.stored_runs import RunReaders
from playground.ui.formatting import milliseconds

#: Width of the drawing.
WIDTH = 100
#: Width of an axis break, and the most breaks.
BREAK, MAX_BREAKS = 4, 8
#: A silence is left out if it is longer than this (µs), and than everything drawn before it.
SHORTEST = 2_000_000
#: Marks that fit side by side; arrivals at the same place become one mark.
_PLACES = 250
#: A silence is labelled if it takes this share of the run, and at least this many µs.
_GAP_SHARE, _GAP_US = 0.08, 250_000
#: Lanes of child runs, their height in pixels, and the space above them.
MAX_LANES, LANE, LANES_GAP = 6, 16, 12
#: Ends of the axis while the run is in progress, in µs: 1, 2, 5, 10, 20, 50 … seconds.
_AXIS_ENDS = [m * 10**power for power in range(6, 20) for m in (1, 2, 5)]
#: Runs in progress whose frame times are in memory.
MAX_READERS = 4
#: Ticks that are closer would have labels on top of each other.
_MIN_TICK_DISTANCE = 6
#: Narrower bars would not be visible.
_MIN_BAR_WIDTH = 0.6

#: Frames that are marks, with the label of those without an event. A table, because the name of
#: an enum member is slow to read, and a flood has tens of thousands of frames.
_ARRIVALS = {kind: kind.name.lower() for kind in BODY_KINDS | {FrameKind.ERROR, FrameKind.END}}

#: Time (µs), number of the frame, and label: the kind of the event, or of the frame.
Arrival = tuple[int, int, str]
#: Begin and end of a period, in µs since the first call of the run.
Stretch = tuple[int, int]


class Bar(NamedTuple):
    """A period on the drawing: its position, its width, and its duration as text."""

    x: float
    width: float
    duration: str


@dataclass(slots=True)
class TimelineMark:
    """One or more arrivals at one place of the axis."""

    x: float
    kind: str
    first: int
    last: int
    at: str
    count: int = 1

    @property
    def numbers(self) -> str:
        """Return the numbers of its frames, such as "4" or "4–9"."""
        return f"{self.first}–{self.last}" if self.count > 1 else str(self.first)


class ChildSpan(NamedTuple):
    """A child run: begin and end, or now, in µs since the first call of its run."""

    run: Run
    start: int
    end: int

    @property
    def label(self) -> str:
        if self.is_user_started and self.run.text:
            return f"Action {self.run.text}"
        return str(RunKind(self.run.kind).label)

    @property
    def is_user_started(self) -> bool:
        """Return whether a user started it at any time: the time before it means nothing."""
        return self.run.kind == RunKind.ACTION


@dataclass(slots=True)
class FrameTimes:
    """The times of a run's frames, in µs since its first call."""

    #: Time of the first frame of each kind.
    moments: dict[FrameKind, int] = field(default_factory=dict)
    arrivals: list[Arrival] = field(default_factory=list)
    last_us: int = 0
    #: Whether the first call used a kept connection, so that there was no connecting.
    is_reused: bool = False
    #: The trace id that the first call has sent; "" without one.
    trace_id: str = ""

    def add(self, frame: Frame, events: Sequence[Event]) -> None:
        at_us, kind = frame.at_us, frame.kind
        if kind not in self.moments:
            self.moments[kind] = at_us
            self.is_reused = self.is_reused or (kind is FrameKind.OPEN and is_reused(frame))
            if kind is FrameKind.CALL:
                self.trace_id = trace_id_of(request_headers((frame,)).get(TRACEPARENT, ""))
        elif kind is FrameKind.CALL:
            self.arrivals.append((at_us, frame.seq, "call"))
        if at_us > self.last_us:
            self.last_us = at_us
        if label := _ARRIVALS.get(kind):
            self.arrivals.append((at_us, frame.seq, event_label(events[0]) if events else label))

    def snapshot(self) -> FrameTimes:
        return replace(self, moments=dict(self.moments), arrivals=list(self.arrivals))


_READERS = RunReaders(lambda _: FrameTimes(), MAX_READERS)


def run_timeline(run: Run) -> dict[str, Any]:
    """Return what the drawing of a run and its child runs shows, as far as they are stored.

    While the run is in progress the axis ends at a round time, so that the drawing grows to the
    right and earlier marks do not move.
    """
    elapsed = elapsed_ms(run) or 0
    times = _READERS.read(run)
    arrivals = times.arrivals
    total = max(round(elapsed * 1000), times.last_us, 1)
    spans = _child_spans(run, total)
    end = max((span.end for span in spans), default=0)
    first = max([total, *(span.end for span in spans if not span.is_user_started)])
    if not run.is_final:
        first = next(end for end in _AXIS_ENDS if end >= first)
    axis = Axis(first, ((span.start, span.end) for span in spans if span.is_user_started))
    bars = list(_bars(spans, axis))
    return {
        "phases": list(_phases(times, total, axis.scale)),
        "marks": _marks(arrivals, axis.scale),
        "gaps": _gaps(arrivals, total, axis.scale),
        "breaks": axis.breaks,
        "ticks": _ticks(axis.first, axis.scale),
        # The legend of the marks.
        "counts": Counter(kind for _, _, kind in arrivals).most_common(),
        # Child runs, oldest first, and the height of their lanes in pixels.
        "bars": bars,
        "spans_height": max(y for _, y, _, _ in bars) + LANE + LANES_GAP if bars else 0,
        "total": _time(total),
        # Duration with all child runs, if that is longer than the run.
        "overall": _time(end) if end > total else "",
        "trace_id": times.trace_id,
    }


def _time(us: float) -> str:
    return milliseconds(us / 1000)


def microseconds_since(run: Run, moment: datetime) -> int:
    """Return the microseconds from the first call of a run to a moment."""
    began = run.started_at or run.created_at
    return max(0, round((moment - began).total_seconds() * 1_000_000))


def _child_spans(run: Run, total: int) -> list[ChildSpan]:
    """Return the child runs of a run, oldest first."""
    now = microseconds_since(run, timezone.now()) or total
    spans = []
    for child in sorted(Thread(run).child_runs, key=lambda child: child.created_at):
        start = microseconds_since(run, child.started_at or child.created_at)
        if child.ended_us is not None:
            end = start + child.ended_us
        else:
            # Of a refused or interrupted run no duration is known.
            end = start if child.is_final else max(start, now)
        spans.append(ChildSpan(child, start, end))
    return spans


class Axis:
    """Time axis that maps moments in µs to positions from 0 to `WIDTH`."""

    def __init__(self, first: int, later: Iterable[Stretch] = ()) -> None:
        """Draw the time from 0 to `first`, and `later` stretches with breaks before them."""
        self._stretches = _drawn_stretches(first, later)
        drawn = sum(end - start for start, end in self._stretches)
        self.scale = (WIDTH - BREAK * (len(self._stretches) - 1)) / max(1, drawn)

    @property
    def first(self) -> int:
        """Return the end of the part before the first break, in µs."""
        return self._stretches[0][1]

    @property
    def breaks(self) -> list[Bar]:
        """Return the time that is left out."""
        pairs = pairwise(self._stretches)
        return [Bar(round(self.x(a[1]), 2), BREAK, _time(b[0] - a[1])) for a, b in pairs]

    def x(self, moment: int) -> float:
        """Return the position of a moment; of one in a break, the end of the break."""
        x = 0.0
        for start, end in self._stretches:
            if moment <= end:
                # Rounding must not put it beyond the end.
                return min(float(WIDTH), x + max(0, moment - start) * self.scale)
            x += (end - start) * self.scale + BREAK
        return float(WIDTH)


def _drawn_stretches(first: int, later: Iterable[Stretch]) -> list[Stretch]:
    """Return the stretches that are drawn; those with a short silence between them are joined."""
    stretches = [(0, first)]
    drawn = first
    for start, end in sorted(later):
        last_start, last_end = stretches[-1]
        silence = start - last_end
        if silence > max(SHORTEST, drawn) and len(stretches) <= MAX_BREAKS:
            stretches.append((start, end))
            drawn += end - start
        elif end > last_end:
            stretches[-1] = (last_start, end)
            drawn += end - last_end
    return stretches


def _bars(spans: Iterable[ChildSpan], axis: Axis) -> Iterator[tuple[ChildSpan, int, str, Bar]]:
    """Yield child runs with their lane, in pixels below the first, their begin and their bar."""
    #: Position up to which each lane is taken.
    taken: list[float] = []
    for span in spans:
        width = max(_MIN_BAR_WIDTH, axis.x(span.end) - axis.x(span.start))
        x = min(axis.x(span.start), WIDTH - width)
        lane = next((n for n, upto in enumerate(taken) if upto <= x), len(taken))
        lane = min(lane, MAX_LANES - 1)
        taken[lane : lane + 1] = [x + width]
        bar = Bar(round(x, 2), round(width, 2), _time(span.end - span.start))
        yield span, lane * LANE, _time(span.start), bar


def _phases(times: FrameTimes, total: int, scale: float) -> Iterator[tuple[str, str, Bar]]:
    """Yield the named parts of the run, in their order: name, label and bar."""
    moments = times.moments
    opened, head = moments.get(FrameKind.OPEN), moments.get(FrameKind.HEAD)
    first = next((at for kind, at in moments.items() if kind in BODY_KINDS), None)
    # An error that was tolerated, as of MCP's discovery, comes before the end.
    finish = max((at for kind, at in moments.items() if kind in LAST_KINDS), default=total)
    connected = opened if opened is not None else head or finish
    phases = [
        ("connect", "Connect", None if times.is_reused else 0, connected),
        ("wait", "Waiting for response headers", opened, head if head is not None else finish),
        ("first", "Waiting for first byte (TTFB)", head, first if first is not None else finish),
        ("stream", "Download", first, finish),
    ]
    for name, label, start, stop in phases:
        if start is not None and stop is not None and stop >= start:
            width = round(max(0.15, (stop - start) * scale), 2)
            yield name, label, Bar(round(start * scale, 2), width, _time(stop - start))


def _marks(arrivals: list[Arrival], scale: float) -> list[TimelineMark]:
    marks: list[TimelineMark] = []
    places: dict[tuple[int, str], TimelineMark] = {}
    for at, seq, kind in arrivals:
        place = round(at * scale * _PLACES / WIDTH)
        if mark := places.get((place, kind)):
            mark.last, mark.count = seq, mark.count + 1
            continue
        mark = TimelineMark(round(at * scale, 2), kind, seq, seq, _time(at))
        places[place, kind] = mark
        marks.append(mark)
    return marks


def _gaps(arrivals: list[Arrival], total: int, scale: float) -> list[Bar]:
    """Return the silences that are long enough for a label."""
    shortest = max(_GAP_US, total * _GAP_SHARE)
    return [
        Bar(round(a * scale, 2), round((b - a) * scale, 2), _time(b - a))
        for a, b in pairwise(at for at, _, _ in arrivals)
        if b - a > shortest
    ][:20]


def _ticks(total: int, scale: float) -> list[tuple[float, str]]:
    """Return position and label of up to ten round times from 0 to `total` µs.

    There are at least four, unless later parts leave too little space for them.
    """
    shortest = max(total / 8, _MIN_TICK_DISTANCE / scale)
    power = 10 ** math.floor(math.log10(shortest))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= shortest)
    count = int(total / step)
    moments = [n * step for n in range(count + 1)]
    return [
        (
            round(at * scale, 2),
            f"{at / 1000:g} ms" if at < 1_000_000 else f"{at / 1_000_000:g} s",
        )
        for at in moments
    ]
