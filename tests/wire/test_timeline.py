"""Timeline tab: phases, marks, gaps and child runs as the page draws them."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Run, RunKind
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from tests.support.action_runs import action, offering
from tests.support.markup import Element
from tests.support.run_page import part
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, recorded, result

pytestmark = pytest.mark.django_db

K = FrameKind
SECOND = 1_000_000
_DATA = {K.OPEN: b"{}", K.ERROR: Problem("failed", Stage.CONNECT, "No.", "").to_bytes()}


def drawn(
    *moments: tuple[FrameKind, int] | Frame, end_us: int | None = None, **fields: Any
) -> Element:
    """Return the timeline of a run with frames at these times, which ended at `end_us`."""
    recording = Recording(**fields)
    frames = [
        each if isinstance(each, Frame) else Frame(0, each[1], each[0], _DATA.get(each[0], b""))
        for each in moments
    ]
    if frames:
        recording.add(*frames)
    run = recording.run if fields.get("state") else recording.end()
    Run.objects.filter(pk=run.pk).update(ended_us=end_us)
    return part(run, "timeline/")


def number(rect: Element, name: str) -> float:
    return float((rect.attributes[name] or "").rstrip("%"))


def places(page: Element, class_: str, *names: str) -> list[tuple[Any, ...]]:
    """Return attributes of the rectangles of a class, and where they are."""
    return [
        (*(rect.attributes.get(name) for name in names), round(number(rect, "x"), 2),
         *([round(number(rect, "width"), 2)] if class_ != "mark" else []))
        for rect in page.select("rect", class_=class_)
    ]  # fmt: skip


def marks(page: Element) -> list[tuple[Any, ...]]:
    return places(page, "mark", "data-kind", "data-seq")


def titles(page: Element, class_: str) -> list[str]:
    return [rect.words for rect in page.select("rect", class_=class_)]


def table(page: Element, caption: str) -> list[list[str]]:
    for found in page.find("table"):
        if found.find("caption")[0].words == caption:
            return [[c.words for c in row if c.tag in {"th", "td"}] for row in found.find("tr")]
    return []


def ticks(page: Element) -> list[float]:
    return [number(line, "x1") for line in page.find("line")]


def test_nothing_yet() -> None:
    page = drawn(state="queued")
    assert (marks(page), titles(page, "gap"), ticks(page)[0]) == ([], [], 0)


#: Frames by time, the end, the phases (name, place, width), and the marks (kind, frame, place).
RUNS: dict[str, tuple[list[tuple[K, int]], int, list[Any], list[Any]]] = {
    "waits": ([(K.CALL, 0), (K.OPEN, 2_000)], 10_000,
              [("connect", 0, 20), ("wait", 20, 80)], []),
    "streams": ([(K.CALL, 0), (K.OPEN, 100), (K.HEAD, 300), (K.EVENT, 600), (K.EVENT, 900),
                 (K.END, 1_000)], 1_000,
                [("connect", 0, 10), ("wait", 10, 20), ("first", 30, 30), ("stream", 60, 40)],
                [("event", "4", 60), ("event", "5", 90), ("end", "6", 100)]),
    "is refused": ([(K.CALL, 0), (K.ERROR, 4_000)], 4_000,
                   [("connect", 0, 100)], [("error", "2", 100)]),
    "calls twice": ([(K.CALL, 0), (K.HEAD, 10), (K.END, 20), (K.CALL, 80), (K.HEAD, 90),
                     (K.END, 100)], 100,
                    [("connect", 0, 10), ("first", 10, 10)],
                    [("end", "3", 20), ("call", "4", 80), ("end", "6", 100)]),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_phases_and_marks_of_a_run_that(name: str) -> None:
    moments, end_us, phases, found = RUNS[name]
    page = drawn(*moments, end_us=end_us)
    assert places(page, "phase", "data-phase") == phases
    assert marks(page) == found


@pytest.mark.parametrize(
    ("end_us", "labels"),
    [
        (1_000, ["0 ms", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms", "1 ms"]),
        (4_000_000, ["0 ms", "500 ms", "1 s", "1.5 s", "2 s", "2.5 s", "3 s", "3.5 s", "4 s"]),
        (70_000_000, ["0 ms", "10 s", "20 s", "30 s", "40 s", "50 s", "60 s", "70 s"]),
    ],
    ids=["1 ms", "4 s", "70 s"],
)
def test_labels_of_the_axis_are_round(end_us: int, labels: list[str]) -> None:
    page = drawn((K.CALL, 0), (K.HEAD, end_us), end_us=end_us)
    assert [each.words for each in page.select("text", class_="tick-label")] == labels


def test_a_reused_connection_has_no_phase_of_connecting() -> None:
    reused = Frame(0, 2_000, K.OPEN, b'{"tls": null, "peer": "a:80", "reused": true}')
    page = drawn((K.CALL, 0), reused, end_us=10_000)
    assert places(page, "phase", "data-phase") == [("wait", 20, 80)]
    assert table(page, "Phases")[-1] == ["Total", "10 ms"]


def test_everything_in_one_moment() -> None:
    page = drawn((K.CALL, 0), (K.HEAD, 0), (K.BODY, 0), (K.END, 0), end_us=0)
    assert all(0 <= x <= 100 for *_, x in marks(page))
    assert all(width >= 0.15 for *_, width in places(page, "phase"))


def test_many_arrivals_are_few_marks_that_count_all() -> None:
    page = drawn(*[(K.COMMENT, n * 10) for n in range(5_000)], end_us=50_000)
    found = page.select("rect", class_="mark")
    assert len(found) <= 251
    numbers = [(e.attributes["data-seq"], e.attributes.get("data-last")) for e in found]
    spans = [(int(first or 0), int(last or first or 0)) for first, last in numbers]
    assert (spans[0][0], spans[-1][1]) == (1, 5_000)
    assert all(after[0] == before[1] + 1 for before, after in pairwise(spans))
    assert table(page, "Events by type") == [["comment", "5000"]]


@pytest.mark.parametrize("count", [3, 6_000])
def test_arrivals_are_named_for_what_they_mean(count: int) -> None:
    run = recorded([[CALL, OPEN, HEAD], list(map(result, range(count))), [END]])
    found = table(part(run, "timeline/"), "Events by type")
    assert found == [["result", str(count)], ["end", "1"]]


def test_of_a_run_in_progress_only_new_frames_are_read() -> None:
    recording = Recording(state="streaming")
    recording.add(CALL, OPEN, HEAD)
    recording.add(result(0))
    assert table(part(recording.run, "timeline/"), "Events by type") == [["result", "1"]]
    recording.run.frame_batches.all().delete()
    recording.add(result(1))
    assert table(part(recording.run, "timeline/"), "Events by type") == [["result", "2"]]


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.mark.parametrize(
    ("header", "trace_id"),
    [
        (f"traceparent: 00-{TRACE}-00f067aa0ba902b7-01", [TRACE]),
        (f"Traceparent: 00-{TRACE}-00f067aa0ba902b7-00", [TRACE]),
        ("traceparent: mine", []),
        (f"Accept: 00-{TRACE}-00f067aa0ba902b7-01", []),
    ],
)
def test_the_trace_id_is_that_of_the_first_call(header: str, trace_id: list[str]) -> None:
    first = f"POST /ask HTTP/1.1\r\n{header}\r\n\r\ntraceparent: 00".encode()
    later = b"POST /ask HTTP/1.1\r\ntraceparent: 00-%b-%b-01\r\n\r\n" % (b"1" * 32, b"2" * 16)
    page = drawn(Frame(0, 0, K.CALL, first), (K.END, 10), Frame(0, 20, K.CALL, later), end_us=30)
    assert [each.words for each in page.select(id="trace-id")] == trace_id


def test_what_is_drawn_stays_in_place_while_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = timezone.now()
    fields = {"state": "streaming", "started_at": started, "heartbeat_at": started}
    moments = [(K.CALL, 0), (K.HEAD, 100_000), (K.COMMENT, 200_000)]
    for us, place in ((250_000, 20), (600_000, 20), (SECOND, 20), (SECOND + 1, 10)):
        now = started + timedelta(microseconds=us)
        monkeypatch.setattr("django.utils.timezone.now", lambda now=now: now)
        assert [x for *_, x in marks(drawn(*moments, **fields))] == [place], us
    # The axis ends with the run.
    assert [x for *_, x in marks(drawn(*moments, end_us=400_000))] == [50]


def test_silences_that_stand_out() -> None:
    page = drawn(*[(K.COMMENT, s * SECOND) for s in (0, 1, 2, 3, 10, 11)], end_us=11 * SECOND)
    assert titles(page, "gap") == [f"No data for {s}.0 s" for s in (1, 1, 1, 7, 1)]
    assert max(places(page, "gap"), key=lambda gap: gap[1]) == (27.27, 63.64)


@pytest.mark.parametrize(
    ("every_us", "count", "end_us", "gaps"),
    [(200_000, 2, 200_000, 0), (SECOND, 2, 600 * SECOND, 0), (300_000, 11, 3 * SECOND, 10)],
    ids=["short", "short compared with the run", "long enough"],
)
def test_short_silences_do_not(every_us: int, count: int, end_us: int, gaps: int) -> None:
    page = drawn(*[(K.COMMENT, n * every_us) for n in range(count)], end_us=end_us)
    assert len(titles(page, "gap")) == gaps


def check_drawing(page: Element) -> None:
    """Check that everything is on the drawing, and labels of the axis keep their distance."""
    for rect in page.find("rect"):
        x, width = number(rect, "x"), number(rect, "width")
        assert 0 <= x <= 100
        assert "mark" in str(rect.attributes["class"]) or 0 < width <= 100.2 - x
    found = ticks(page)
    assert 1 <= len(found) <= 9
    assert found[-1] <= 100
    assert all(b - a >= 5.9 for a, b in pairwise(found))


@given(
    st.lists(st.tuples(st.sampled_from(list(K)), st.integers(0, 10**12)), max_size=30),
    st.none() | st.integers(0, 10**13),
)
def test_everything_is_on_the_drawing(
    moments: list[tuple[FrameKind, int]], end: int | None
) -> None:
    check_drawing(drawn(*sorted(moments, key=lambda moment: moment[1]), end_us=end))


class TestChildRuns:
    BEGIN = timezone.now() - timedelta(days=30)

    def run_with(self, end_us: int, *spans: tuple[int, int | None], **fields: Any) -> Run:
        """Return a run with child runs that began and ended at these times in µs."""
        run = offering(started_at=self.BEGIN, created_at=self.BEGIN)
        Run.objects.filter(pk=run.pk).update(ended_us=end_us)
        for start, end in spans:
            at = self.BEGIN + timedelta(microseconds=start)
            values = {
                "state": "completed" if end is not None else "streaming", "started_at": at,
                "ended_us": None if end is None else end - start, "kind": RunKind.ACTION,
                "text": "add", "heartbeat_at": timezone.now(), **fields,
            }  # fmt: skip
            child = Recording(parent=run, parent_entry_seq=4, parent_entry_part=0, **values)
            Run.objects.filter(pk=child.run.pk).update(created_at=at)
        run.refresh_from_db()
        return run

    def bars(self, run: Run) -> list[tuple[Any, ...]]:
        return places(part(run, "timeline/"), "span", "y")

    def test_what_comes_later_lengthens_the_axis(self) -> None:
        run = self.run_with(2_000, (3_000, 4_000), (6_000, 8_000), kind=RunKind.POLL)
        page = part(run, "timeline/")
        assert places(page, "span") == [(37.5, 12.5), (75, 25)]
        assert table(page, "Phases")[-2:] == [
            ["Total", "2.0 ms"], ["Including polls and actions", "8.0 ms"],
        ]  # fmt: skip
        assert [row[2:] for row in table(page, "Polls and actions")] == [
            ["at 3.0 ms", "1.0 ms"], ["at 6.0 ms", "2.0 ms"],
        ]  # fmt: skip

    def test_those_at_one_time_have_lanes_of_their_own(self) -> None:
        for count in (1, 2, 8):
            page = part(self.run_with(1_000, *[(0, 1_000)] * count), "timeline/")
            ys = [int(y) for y, *_ in places(page, "span", "y")]
            assert ys == [106 + 16 * min(n, 5) for n in range(count)]
            # There is room for the last lane, a gap, and the labels of the axis.
            (drawing,) = page.select("svg", class_="timeline-plot")
            assert drawing.attributes["height"] == str(ys[-1] + 16 + 12 + 26)

    def test_each_run_below_has_a_row_that_can_be_read(self) -> None:
        began = timezone.now() - timedelta(hours=1)
        run = offering(started_at=began)
        child = action(run, started_at=began + timedelta(seconds=2))
        action(child, state="streaming", ended_us=None, started_at=began, text="add <b>")
        action(run, state="interrupted", ended_us=None)
        page = part(run, "timeline/")
        rows = table(page, "Polls and actions")
        assert [row[0] for row in rows] == ["Action add", "Action add <b>", "Action add"]
        assert rows[0][2:] == ["at 2.0 s", "1.0 ms"]
        # One in progress lasts until now; how long an interrupted one has taken is not known.
        assert "min" in rows[1][3]
        assert rows[2][3] == "0.0 ms"
        assert page.find("a")[0].attributes["href"] == child.get_absolute_url()
        assert not page.find("b")

    @pytest.mark.parametrize(
        ("first", "later"),
        [
            (4 * SECOND, (6 * SECOND, 7 * SECOND)),  # A silence shorter than the run.
            (SECOND // 10, (2 * SECOND, 2 * SECOND + 1)),  # A short one.
            (4 * SECOND, (SECOND, 9 * SECOND)),  # None.
        ],
    )
    def test_short_silences_stay(self, first: int, later: tuple[int, int]) -> None:
        assert not titles(part(self.run_with(first, later), "timeline/"), "break")

    def test_a_long_silence_is_left_out(self) -> None:
        hour = 3600 * SECOND
        page = part(self.run_with(3 * SECOND, (hour, hour + SECOND)), "timeline/")
        assert titles(page, "break") == ["59 min 57 s omitted"]
        # The run takes three quarters of the rest, the action one.
        assert places(page, "break") == [(72, 4)]
        assert places(page, "span") == [(76, 24)]

    def test_breaks_are_not_without_number(self) -> None:
        later = [(n * 100 * SECOND, n * 100 * SECOND + SECOND) for n in range(1, 10)]
        page = part(self.run_with(SECOND, *later), "timeline/")
        assert len(titles(page, "break")) == 8

    def test_nothing_is_before_the_beginning(self) -> None:
        assert self.bars(self.run_with(2_000, (-(10**9), 1_000)))[0][1] == 0

    @given(
        st.integers(1, 10**12),
        st.lists(st.tuples(st.integers(-(10**6), 10**12), st.none() | st.integers(0, 10**10)),
                 max_size=6),
    )  # fmt: skip
    def test_every_child_is_on_the_drawing_and_time_never_runs_backwards(
        self, end: int, moments: list[tuple[int, int | None]]
    ) -> None:
        spans = [
            (at, None if took is None else at + took)
            for at, took in sorted(moments, key=lambda each: each[0])
        ]
        page = part(self.run_with(end, *spans), "timeline/")
        check_drawing(page)
        found = [x for x, _ in places(page, "span")]
        assert len(found) == len(spans)
        # The narrowest bars are moved to the left, so that they end on the drawing.
        assert all(b >= a - 0.61 for a, b in pairwise(found))
