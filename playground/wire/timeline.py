"""Timeline of a run: phases as bars, arrivals as marks, silences as gaps, child runs as lanes.

The calls after the first, of a handshake or a resumption, are marks, too.

Positions are percentages of the width of the drawing, so that the page needs no script and no
inline style to place them. The axis leaves out time in which nothing happened: an action that is
run an hour after the answer would otherwise press the answer into a hair's breadth. Time in which
the playground itself waits, for a promise for instance, is never left out.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from threading import Lock
from uuid import UUID

from django.utils import timezone

from playground.conversation.status import elapsed_ms, status_label
from playground.conversation.thread import Thread
from playground.models import Run, RunKind
from playground.protocols.events import Event, event_label
from playground.protocols.frames import BODY_KINDS, LAST_KINDS, Frame, FrameKind, is_reused
from playground.protocols.trace_context import sent_trace_id
from playground.stored_runs import exchange_for
from playground.ui.formatting import kind_label, milliseconds

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


@dataclass(frozen=True, slots=True)
class TimelinePhase:
    """A named part of the run as a bar."""

    name: str
    label: str
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
    def label(self) -> str:
        return kind_label(self.kind)


@dataclass(frozen=True, slots=True)
class Gap:
    """A silence that is long enough for a label."""

    x: float
    width: float
    duration: str


@dataclass(frozen=True, slots=True)
class ChildSpan:
    """A child run: begin and end in µs since the first call of its run."""

    label: str
    state: str
    status_label: str
    start: int
    #: None while it is in progress.
    end: int | None
    url: str = ""
    #: Whether a user started it at any time, so that the time before it means nothing.
    is_user_started: bool = False


@dataclass(frozen=True, slots=True)
class SpanBar:
    """A child run as a bar."""

    span: ChildSpan
    x: float
    width: float
    #: Number of the lane; overlapping bars have different ones.
    lane: int
    at: str
    duration: str

    @property
    def y(self) -> int:
        """Return the position of the lane, in pixels below the first."""
        return self.lane * LANE


@dataclass(slots=True)
class Timeline:
    """Everything that the drawing shows."""

    phases: list[TimelinePhase] = field(default_factory=list)
    marks: list[TimelineMark] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)
    #: (kind, label, number of arrivals): the legend of the marks.
    counts: list[tuple[str, str, int]] = field(default_factory=list)
    total: str = ""
    #: Child runs, oldest first, and the height of their lanes in pixels.
    bars: list[SpanBar] = field(default_factory=list)
    spans_height: int = 0
    #: Duration with all child runs, if that is longer than the run.
    overall: str = ""
    #: Time that is left out.
    breaks: list[Gap] = field(default_factory=list)
    #: The trace id of the `traceparent` header of the first call; "" without one.
    trace_id: str = ""


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
            self.trace_id = self.trace_id or (
                sent_trace_id(frame) if kind is FrameKind.CALL else ""
            )
        elif kind is FrameKind.CALL:
            self.arrivals.append((at_us, frame.seq, "call"))
        if at_us > self.last_us:
            self.last_us = at_us
        if label := _ARRIVALS.get(kind):
            self.arrivals.append((at_us, frame.seq, event_label(events[0]) if events else label))


class TimesReader:
    """Reader of a run's frame times that continues where it ended.

    The timeline of a run in progress is drawn twice a second: of a flood only new frames are read.
    """

    def __init__(self, run: Run) -> None:
        self.times = FrameTimes()
        self._reader = exchange_for(run)
        self._cursor = 0
        self._lock = Lock()

    def read(self, run: Run) -> FrameTimes:
        """Read the frames that were stored since the last call."""
        with self._lock:
            for frame in run.read_frames(self._cursor):
                self.times.add(frame, list(self._reader.receive(frame)))
                self._cursor = frame.seq
            return FrameTimes(
                dict(self.times.moments),
                list(self.times.arrivals),
                self.times.last_us,
                self.times.is_reused,
                self.times.trace_id,
            )


#: Readers of runs in progress, the latest last.
_readers: OrderedDict[UUID, TimesReader] = OrderedDict()
_readers_lock = Lock()


def _reader_of(run: Run) -> TimesReader:
    """Return the reader of a run, the same one while the run is in progress."""
    with _readers_lock:
        reader = _readers.pop(run.pk, None) or TimesReader(run)
        if not run.is_final:
            _readers[run.pk] = reader
        while len(_readers) > MAX_READERS:
            _readers.popitem(last=False)
    return reader


def run_timeline(run: Run) -> Timeline:
    """Return the timeline of a run and its child runs as far as they are stored."""
    elapsed = elapsed_ms(run)
    return timeline_of(
        _reader_of(run).read(run),
        round(elapsed * 1000) if elapsed is not None else None,
        spans_of(run),
        microseconds_since(run, timezone.now()),
        in_progress=not run.is_final,
    )


def timeline_of(
    times: FrameTimes,
    end_us: int | None,
    spans: Sequence[ChildSpan] = (),
    now_us: int | None = None,
    *,
    in_progress: bool = False,
) -> Timeline:
    """Return the timeline of a run and of its child runs.

    `end_us` is the end of the run, or now while it is in progress, in µs since its first call;
    `now_us` is the end of child runs in progress. While it is in progress the axis ends at a round
    time, so that the drawing grows to the right and earlier marks do not move.
    """
    arrivals = times.arrivals
    total = max(end_us or 0, times.last_us, 1)
    now = now_us or total
    axis = _axis(total, spans, now, in_progress=in_progress)
    bars = _bars(spans, axis, now)
    counts = Counter(kind for _, _, kind in arrivals).most_common()
    return Timeline(
        phases=_phases(times, total, axis.scale),
        marks=_marks(arrivals, axis.scale),
        gaps=_gaps(arrivals, total, axis.scale),
        ticks=_ticks(axis.first, axis.scale),
        counts=[(kind, kind_label(kind), count) for kind, count in counts],
        total=milliseconds(total / 1000),
        bars=bars,
        spans_height=(max(bar.lane for bar in bars) + 1) * LANE + LANES_GAP if bars else 0,
        overall=_overall(total, spans, now),
        breaks=[Gap(each.x, BREAK, milliseconds(each.length / 1000)) for each in axis.breaks],
        trace_id=times.trace_id,
    )


def spans_of(run: Run) -> list[ChildSpan]:
    """Return the child runs of a run, oldest first."""
    return [
        ChildSpan(
            label=_span_label(child),
            state=child.state,
            status_label=status_label(child),
            start=(start := microseconds_since(run, child.started_at or child.created_at)),
            end=_span_end(child, start),
            url=child.get_absolute_url(),
            is_user_started=child.kind == RunKind.ACTION,
        )
        for child in sorted(Thread(run).child_runs, key=lambda child: child.created_at)
    ]


def microseconds_since(run: Run, moment: datetime) -> int:
    """Return the microseconds from the first call of a run to a moment."""
    began = run.started_at or run.created_at
    return max(0, round((moment - began).total_seconds() * 1_000_000))


def _span_end(child: Run, start: int) -> int | None:
    if child.ended_us is not None:
        return start + child.ended_us
    # Of a refused or interrupted run no duration is known.
    return start if child.is_final else None


def _span_label(child: Run) -> str:
    if child.kind == RunKind.ACTION and child.text:
        return f"Action {child.text}"
    return str(RunKind(child.kind).label)


@dataclass(frozen=True, slots=True)
class AxisBreak:
    """Time that is left out."""

    x: float
    #: Duration in µs.
    length: int


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
    def end(self) -> int:
        """Return the end of the axis, in µs."""
        return self._stretches[-1][1]

    @property
    def breaks(self) -> list[AxisBreak]:
        pairs = pairwise(self._stretches)
        return [AxisBreak(round(self.x(a[1]), 2), b[0] - a[1]) for a, b in pairs]

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


def _overall(total: int, spans: Sequence[ChildSpan], now: int) -> str:
    end = max((_end(span, now) for span in spans), default=0)
    return milliseconds(end / 1000) if end > total else ""


def _axis(total: int, spans: Sequence[ChildSpan], now: int, *, in_progress: bool) -> Axis:
    first = max([total, *(_end(span, now) for span in spans if not span.is_user_started)])
    if in_progress:
        first = next(end for end in _AXIS_ENDS if end >= first)
    return Axis(first, ((max(0, s.start), _end(s, now)) for s in spans if s.is_user_started))


def _end(span: ChildSpan, now: int) -> int:
    return max(0, span.start, now if span.end is None else span.end)


def _bars(spans: Sequence[ChildSpan], axis: Axis, now: int) -> list[SpanBar]:
    #: Position up to which each lane is taken.
    taken: list[float] = []
    bars: list[SpanBar] = []
    for span in spans:
        start, end = max(0, span.start), _end(span, now)
        width = max(_MIN_BAR_WIDTH, axis.x(end) - axis.x(start))
        x = min(axis.x(start), WIDTH - width)
        lane = next((n for n, upto in enumerate(taken) if upto <= x), len(taken))
        lane = min(lane, MAX_LANES - 1)
        taken[lane : lane + 1] = [x + width]
        duration, at = milliseconds((end - start) / 1000), milliseconds(start / 1000)
        bars.append(SpanBar(span, round(x, 2), round(width, 2), lane, at, duration))
    return bars


def _phases(times: FrameTimes, total: int, scale: float) -> list[TimelinePhase]:
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
    return [
        TimelinePhase(
            name,
            label,
            round(start * scale, 2),
            round(max(0.15, (stop - start) * scale), 2),
            milliseconds((stop - start) / 1000),
        )
        for name, label, start, stop in phases
        if start is not None and stop is not None and stop >= start
    ]


def _marks(arrivals: list[Arrival], scale: float) -> list[TimelineMark]:
    marks: list[TimelineMark] = []
    places: dict[tuple[int, str], TimelineMark] = {}
    for at, seq, kind in arrivals:
        place = round(at * scale * _PLACES / WIDTH)
        if mark := places.get((place, kind)):
            mark.last, mark.count = seq, mark.count + 1
            continue
        mark = TimelineMark(round(at * scale, 2), kind, seq, seq, milliseconds(at / 1000))
        places[place, kind] = mark
        marks.append(mark)
    return marks


def _gaps(arrivals: list[Arrival], total: int, scale: float) -> list[Gap]:
    times = [at for at, _, _ in arrivals]
    shortest = max(_GAP_US, total * _GAP_SHARE)
    return [
        Gap(round(a * scale, 2), round((b - a) * scale, 2), milliseconds((b - a) / 1000))
        for a, b in pairwise(times)
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
    return [(round(n * step * scale, 2), _tick_label(n * step)) for n in range(count + 1)]


def _tick_label(us: float) -> str:
    if us < 1_000_000:
        return f"{us / 1000:g} ms"
    return f"{us / 1_000_000:g} s"
