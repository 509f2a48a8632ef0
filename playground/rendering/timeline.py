"""Frames to one time axis: phases as bars, arrivals as marks, silences as gaps.

Below them the runs that came of this one, each a bar on a lane: checks, cancellations, actions.

Positions are percentages of the drawing's width, so that the page needs no script and no
inline style to place them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from playground.protocols.events import Event
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.kinds import event_label
from playground.rendering.axis import BREAK, WIDTH, Axis
from playground.rendering.run_status import milliseconds

#: Marks that a drawing can hold apart; arrivals that fall on one place become one mark.
_PLACES = 250
#: A silence is worth a label if it takes this share of the whole, and this many µs.
_GAP_SHARE, _GAP_US = 0.08, 250_000
#: Lanes for the runs below, their height in pixels, and the space above them.
MAX_LANES, LANE, LANES_GAP = 6, 16, 12
#: Narrower bars would not be seen.
_NARROWEST = 0.6

#: The frames that are marks, with the word for one that means nothing. A table, because to ask
#: an enum for its name is slow and a flood has tens of thousands of them.
_ARRIVALS = {kind: kind.name.lower() for kind in BODY_KINDS | {FrameKind.ERROR, FrameKind.END}}

#: When (µs), the frame's number, and what came: an event's kind, or the frame's own.
Arrival = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class TimelinePhase:
    """One bar: a part of the run with a name."""

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


@dataclass(frozen=True, slots=True)
class Gap:
    """A silence that stands out."""

    x: float
    width: float
    duration: str


@dataclass(frozen=True, slots=True)
class ChildSpan:
    """A run that came of this one: when it began, and how long it took, in µs."""

    label: str
    state: str
    status_label: str
    start: int
    #: None while it goes on.
    end: int | None
    url: str = ""
    #: Whether a user began it when they liked: the time before it says nothing then.
    is_user_started: bool = False


@dataclass(frozen=True, slots=True)
class SpanBar:
    """A span on the drawing."""

    span: ChildSpan
    x: float
    width: float
    #: The lane: bars that overlap do not share one.
    lane: int
    at: str
    duration: str

    @property
    def y(self) -> int:
        """Where the lane is, in pixels below the first."""
        return self.lane * LANE


@dataclass(slots=True)
class Timeline:
    """Everything the drawing needs."""

    phases: list[TimelinePhase] = field(default_factory=list)
    marks: list[TimelineMark] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    ticks: list[tuple[float, str]] = field(default_factory=list)
    #: How many arrivals of each kind there were, the legend of the marks.
    counts: list[tuple[str, int]] = field(default_factory=list)
    total: str = ""
    #: The runs that came of this one, oldest first, and the pixels that their lanes take.
    bars: list[SpanBar] = field(default_factory=list)
    spans_height: int = 0
    #: How long all of it took, where that is longer than the run.
    overall: str = ""
    #: Time that is left out, as x, width and duration.
    breaks: list[Gap] = field(default_factory=list)


def timeline_of(
    readings: Iterable[tuple[Frame, Sequence[Event]]],
    end_us: int | None,
    spans: Sequence[ChildSpan] = (),
    now_us: int | None = None,
) -> Timeline:
    """The timeline of frames and their events, and of the runs that came of them.

    `end_us` is the end of the run, or now while it goes on, in µs since its first call;
    `now_us` is where spans end that go on.
    """
    moments: dict[FrameKind, int] = {}
    arrivals: list[Arrival] = []
    last_us = 0
    for frame, events in readings:
        at_us, kind = frame.at_us, frame.kind
        if kind not in moments:
            moments[kind] = at_us
        if at_us > last_us:
            last_us = at_us
        if word := _ARRIVALS.get(kind):
            arrivals.append((at_us, frame.seq, event_label(events[0]) if events else word))
    total = max(end_us or 0, last_us, 1)
    now = now_us or total
    axis = _axis(total, spans, now)
    bars = _bars(spans, axis, now)
    return Timeline(
        phases=_phases(moments, total, axis.scale),
        marks=_marks(arrivals, axis.scale),
        gaps=_gaps(arrivals, total, axis.scale),
        ticks=_ticks(axis.first, axis.scale),
        counts=Counter(kind for _, _, kind in arrivals).most_common(),
        total=milliseconds(total / 1000),
        bars=bars,
        spans_height=(max(bar.lane for bar in bars) + 1) * LANE + LANES_GAP if bars else 0,
        overall=milliseconds(axis.end / 1000) if axis.end > total else "",
        breaks=[Gap(one.x, BREAK, milliseconds(one.length / 1000)) for one in axis.breaks],
    )


def _end(span: ChildSpan, now: int) -> int:
    return max(0, span.start, now if span.end is None else span.end)


def _axis(total: int, spans: Sequence[ChildSpan], now: int) -> Axis:
    first = max([total, *(_end(span, now) for span in spans if not span.is_user_started)])
    return Axis(first, ((max(0, s.start), _end(s, now)) for s in spans if s.is_user_started))


def _bars(spans: Sequence[ChildSpan], axis: Axis, now: int) -> list[SpanBar]:
    #: For each lane, up to where it is taken.
    taken: list[float] = []
    bars: list[SpanBar] = []
    for span in spans:
        start, end = max(0, span.start), _end(span, now)
        width = max(_NARROWEST, axis.x(end) - axis.x(start))
        x = min(axis.x(start), WIDTH - width)
        lane = next((n for n, upto in enumerate(taken) if upto <= x), len(taken))
        lane = min(lane, MAX_LANES - 1)
        taken[lane : lane + 1] = [x + width]
        took, at = milliseconds((end - start) / 1000), milliseconds(start / 1000)
        bars.append(SpanBar(span, round(x, 2), round(width, 2), lane, at, took))
    return bars


def _phases(moments: dict[FrameKind, int], total: int, scale: float) -> list[TimelinePhase]:
    opened, head = moments.get(FrameKind.OPEN), moments.get(FrameKind.HEAD)
    first = next((at for kind, at in moments.items() if kind in BODY_KINDS), None)
    finish = moments.get(FrameKind.ERROR, moments.get(FrameKind.END, total))
    cuts = [
        ("connect", "Connect", 0, opened if opened is not None else head or finish),
        ("wait", "Wait for the head", opened, head if head is not None else finish),
        ("first", "Wait for the first byte", head, first if first is not None else finish),
        ("stream", "Receive", first, finish),
    ]
    return [
        TimelinePhase(
            name,
            label,
            round(start * scale, 2),
            round(max(0.15, (stop - start) * scale), 2),
            milliseconds((stop - start) / 1000),
        )
        for name, label, start, stop in cuts
        if start is not None and stop is not None and stop >= start
    ]


def _marks(arrivals: list[Arrival], scale: float) -> list[TimelineMark]:
    marks: list[TimelineMark] = []
    places: dict[tuple[int, str], TimelineMark] = {}
    for at, seq, kind in arrivals:
        place = round(at * scale * _PLACES / WIDTH)
        if found := places.get((place, kind)):
            found.last, found.count = seq, found.count + 1
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
    """Four to ten round times along the axis."""
    power = 10 ** math.floor(math.log10(total / 4))
    step = next(power * m for m in (1, 2, 5, 10) if total / (power * m) <= 8)
    count = int(total / step)
    return [(round(n * step * scale, 2), _tick(n * step)) for n in range(count + 1)]


def _tick(us: float) -> str:
    if us < 1_000_000:
        return f"{us / 1000:g} ms"
    return f"{us / 1_000_000:g} s"
