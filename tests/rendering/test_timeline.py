"""Phases, marks, gaps and child runs on the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from django.template.loader import get_template
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.events import Event, Result
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.timeline import (
    LANE,
    LANES_GAP,
    MAX_LANES,
    WIDTH,
    ChildSpan,
    FrameTimes,
    Timeline,
    run_timeline,
)
from playground.rendering.timeline import timeline_of as timeline_of_times
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, recorded, result

K = FrameKind


def frames(*moments: tuple[FrameKind, int]) -> list[Frame]:
    return [
        Frame(seq, at, kind, b"{}" if kind is K.OPEN else b"")
        for seq, (kind, at) in enumerate(moments, 1)
    ]


def drawing_of(
    readings: Sequence[tuple[Frame, Sequence[Event]]], *times: Any, **options: Any
) -> Timeline:
    found = FrameTimes()
    for frame, events in readings:
        found.add(frame, events)
    return timeline_of_times(found, *times, **options)


def timeline_of(found: list[Frame], end_us: int | None, **options: Any) -> Timeline:
    return drawing_of([(frame, ()) for frame in found], end_us, **options)


def test_nothing_yet() -> None:
    drawing = timeline_of([], None)
    assert (drawing.marks, drawing.gaps) == ([], [])
    assert drawing.ticks[0] == (0.0, "0 ms")


def test_a_request_that_waits() -> None:
    drawing = timeline_of(frames((K.CALL, 0), (K.OPEN, 2_000)), 10_000)
    assert [(p.name, p.x, p.width) for p in drawing.phases] == [
        ("connect", 0, 20),
        ("wait", 20, 80),
    ]
    assert drawing.total == "10 ms"


def test_a_reused_connection_has_no_phase_of_connecting() -> None:
    found = frames((K.CALL, 0), (K.OPEN, 2_000))
    found[1] = replace(found[1], data=b'{"tls": null, "peer": "a:80", "reused": true}')
    drawing = timeline_of(found, 10_000)
    assert [(p.name, p.x, p.width) for p in drawing.phases] == [("wait", 20, 80)]


def test_every_phase_of_a_stream() -> None:
    moments = [(K.CALL, 0), (K.OPEN, 100), (K.HEAD, 300), (K.EVENT, 600), (K.EVENT, 900)]
    drawing = timeline_of(frames(*moments, (K.END, 1_000)), 1_000)
    assert [(p.name, p.x, p.width) for p in drawing.phases] == [
        ("connect", 0, 10), ("wait", 10, 20), ("first", 30, 30), ("stream", 60, 40),
    ]  # fmt: skip
    assert [(m.kind, m.x, m.first) for m in drawing.marks] == [
        ("event", 60, 4), ("event", 90, 5), ("end", 100, 6),
    ]  # fmt: skip


def test_a_refused_connection_is_one_phase() -> None:
    drawing = timeline_of(frames((K.CALL, 0), (K.ERROR, 4_000)), 4_000)
    assert [(p.name, p.width) for p in drawing.phases] == [("connect", 100)]
    assert [m.kind for m in drawing.marks] == ["error"]


def test_everything_in_one_moment() -> None:
    drawing = timeline_of(frames((K.CALL, 0), (K.HEAD, 0), (K.BODY, 0), (K.END, 0)), 0)
    assert all(0 <= m.x <= WIDTH for m in drawing.marks)
    assert all(p.width >= 0.15 for p in drawing.phases)


def test_many_arrivals_are_few_marks_that_count_all() -> None:
    flood = [(K.EVENT, n * 10) for n in range(20_000)]
    drawing = timeline_of(frames(*flood), 200_000)
    assert len(drawing.marks) <= 251
    assert sum(m.count for m in drawing.marks) == 20_000
    assert drawing.marks[0].first == 1
    assert drawing.marks[-1].last == 20_000


def test_arrivals_are_named_for_what_they_mean() -> None:
    found = frames((K.HEAD, 0), (K.EVENT, 10), (K.EVENT, 20), (K.COMMENT, 30), (K.END, 40))
    readings = [(f, [Result(f.seq, "a")] if f.at_us == 10 else []) for f in found]
    drawing = drawing_of(readings, 40)
    assert [m.kind for m in drawing.marks] == ["result", "event", "comment", "end"]
    assert drawing.counts == [
        ("result", "result", 1), ("event", "SSE event", 1), ("comment", "comment", 1),
        ("end", "end", 1),
    ]  # fmt: skip


def test_every_call_after_the_first_is_a_mark() -> None:
    one = [(K.CALL, 0), (K.HEAD, 10), (K.END, 20)]
    drawing = timeline_of(frames(*one, *((kind, at + 80) for kind, at in one)), 100)
    assert [(m.kind, m.x, m.first) for m in drawing.marks] == [
        ("end", 20, 3), ("call", 80, 4), ("end", 100, 6),
    ]  # fmt: skip
    assert drawing.counts == [("end", "end", 2), ("call", "request", 1)]


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("header", "trace_id"),
    [
        (f"traceparent: 00-{TRACE}-00f067aa0ba902b7-01", TRACE),
        (f"Traceparent: 00-{TRACE}-00f067aa0ba902b7-00", TRACE),
        ("traceparent: mine", ""),
        (f"Accept: 00-{TRACE}-00f067aa0ba902b7-01", ""),
    ],
)
def test_the_trace_id_is_that_of_the_first_call(header: str, trace_id: str) -> None:
    first = f"POST /ask HTTP/1.1\r\n{header}\r\n\r\ntraceparent: 00".encode()
    later = b"POST /ask HTTP/1.1\r\ntraceparent: 00-%b-%b-01\r\n\r\n" % (b"1" * 32, b"2" * 16)
    found = [Frame(1, 0, K.CALL, first), Frame(2, 10, K.END), Frame(3, 20, K.CALL, later)]
    assert timeline_of(found[:2], 30).trace_id == trace_id
    assert timeline_of(found, 30).trace_id == trace_id


def test_what_is_drawn_stays_in_place_while_the_run_goes_on() -> None:
    moments = [(K.CALL, 0), (K.HEAD, 100_000), (K.EVENT, 200_000)]
    places = [
        [mark.x for mark in timeline_of(frames(*moments), end, in_progress=True).marks]
        for end in (250_000, 600_000, 1_000_000)
    ]
    assert places == [[20.0]] * 3
    assert timeline_of(frames(*moments), 1_000_001, in_progress=True).marks[0].x == 10
    # The axis ends with the run.
    assert timeline_of(frames(*moments), 400_000).marks[0].x == 50


@pytest.mark.django_db
@pytest.mark.parametrize("count", [3, 6_000])
def test_a_flood_names_its_events_like_a_small_run(count: int) -> None:
    run = recorded([[CALL, OPEN, HEAD], list(map(result, range(count))), [END]])
    assert run_timeline(run).counts == [("result", "result", count), ("end", "end", 1)]


@pytest.mark.django_db
def test_of_a_run_in_progress_only_new_frames_are_read() -> None:
    recording = Recording(state="streaming")
    recording.add(CALL, OPEN, HEAD)
    recording.add(result(0))
    assert run_timeline(recording.run).counts == [("result", "result", 1)]
    recording.run.frame_batches.all().delete()
    recording.add(result(1))
    assert run_timeline(recording.run).counts == [("result", "result", 2)]


def test_silences_that_stand_out() -> None:
    seconds = [0, 1, 2, 3, 10, 11]
    drawing = timeline_of(frames(*[(K.EVENT, s * 1_000_000) for s in seconds]), 11_000_000)
    assert [g.duration for g in drawing.gaps] == ["1.0 s", "1.0 s", "1.0 s", "7.0 s", "1.0 s"]
    longest = max(drawing.gaps, key=lambda g: g.width)
    assert (round(longest.x), round(longest.width)) == (27, 64)
    # Short in absolute terms, or compared with the run.
    assert not timeline_of(frames((K.EVENT, 0), (K.EVENT, 200_000)), 200_000).gaps
    assert not timeline_of(frames((K.EVENT, 0), (K.EVENT, 1_000_000)), 600_000_000).gaps
    assert len(timeline_of(frames(*[(K.EVENT, n * 300_000) for n in range(11)]), None).gaps) == 10


@given(
    st.lists(st.tuples(st.sampled_from(list(K)), st.integers(0, 10**12)), max_size=30),
    st.none() | st.integers(0, 10**13),
)
def test_everything_is_on_the_drawing(
    moments: list[tuple[FrameKind, int]], end: int | None
) -> None:
    moments.sort(key=lambda moment: moment[1])
    drawing = timeline_of(frames(*moments), end)
    assert all(0 <= mark.x <= WIDTH for mark in drawing.marks)
    assert all(p.x >= 0 and p.x + p.width <= WIDTH + 0.2 for p in drawing.phases)
    assert all(g.width > 0 and g.x + g.width <= WIDTH + 0.02 for g in drawing.gaps)
    places = [x for x, _ in drawing.ticks]
    assert 4 <= len(places) <= 9
    assert all(a < b for a, b in pairwise(places))
    assert places[-1] <= WIDTH
    html = get_template("runs/timeline.html").render({"timeline": drawing, "run": None})
    marks = [e for e in read(html).find("rect") if e.attributes["class"] == "mark"]
    assert len(marks) == len(drawing.marks)


class TestSpans:
    def test_labels_keep_their_distance_where_later_parts_take_the_space(self) -> None:
        minute = 60_000_000
        later = [
            ChildSpan("Action", "completed", "Completed", minute, 3 * minute, is_user_started=True)
        ]
        drawing = drawing_of([], 500_000, later)
        places = [x for x, _ in drawing.ticks]
        assert all(b - a >= 6 for a, b in pairwise(places))

    def test_what_comes_later_lengthens_the_axis(self) -> None:
        spans = [
            ChildSpan("Check", "completed", "Promise pending", 3_000, 4_000),
            ChildSpan("Check", "streaming", "Streaming", 6_000, None),
        ]
        drawing = drawing_of([], 2_000, spans, 8_000)
        assert [(b.x, b.width, b.lane) for b in drawing.bars] == [(37.5, 12.5, 0), (75, 25, 0)]
        assert (drawing.total, drawing.overall) == ("2.0 ms", "8.0 ms")
        assert [(b.at, b.duration) for b in drawing.bars] == [
            ("3.0 ms", "1.0 ms"), ("6.0 ms", "2.0 ms"),
        ]  # fmt: skip

    def test_those_at_one_time_have_lanes_of_their_own(self) -> None:
        spans = [ChildSpan("Action", "completed", "Completed", 0, 1_000)] * (MAX_LANES + 2)
        drawing = drawing_of([], 1_000, spans)
        assert [b.lane for b in drawing.bars] == [*range(MAX_LANES), MAX_LANES - 1, MAX_LANES - 1]
        assert drawing.overall == ""
        assert drawing.spans_height == MAX_LANES * LANE + LANES_GAP

    def test_each_has_a_row_that_can_be_read(self) -> None:
        span = ChildSpan("Action <b>", "failed", "Failed", 0, 500, "/runs/1/")
        html = get_template("runs/timeline.html").render(
            {"timeline": drawing_of([], 1_000, [span])}
        )
        markup = read(html)
        assert "Action <b>" in markup.text
        assert "<b>" not in html
        assert markup.find("a")[0].attributes["href"] == "/runs/1/"

    @given(
        st.lists(st.tuples(st.integers(-(10**9), 10**13), st.none() | st.integers(0, 10**13))),
        st.none() | st.integers(0, 10**13),
        st.none() | st.integers(0, 10**13),
    )
    def test_every_span_is_on_the_drawing(
        self, moments: list[tuple[int, int | None]], end: int | None, now: int | None
    ) -> None:
        spans = [
            ChildSpan(
                "Check", "completed", "Promise pending", *moment, is_user_started=number % 2 == 1
            )
            for number, moment in enumerate(moments)
        ]
        drawing = drawing_of([], end, spans, now)
        assert len(drawing.bars) == len(spans)
        assert all(b.x >= 0 and b.x + b.width <= WIDTH + 0.02 for b in drawing.bars)
        assert all(b.y < drawing.spans_height for b in drawing.bars)
