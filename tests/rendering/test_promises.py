"""Polled promises: status, times, warnings and sparkline."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import get_template
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.models import PolledPromise, PollingStatus, Run, RunKind
from playground.rendering.promises import (
    HEIGHT,
    LISTED,
    WIDTH,
    PromiseView,
    percent,
    promise_view,
    sparkline,
    warnings_of,
)
from playground.rendering.run_status import status_label
from tests.support.markup import read

NOW = timezone.now()


def update(at: float, progress: float | None = None, **more: Any) -> dict[str, Any]:
    return {"at": at, "progress": progress, "message": "", "estimated_time": None, **more}


def promise(*updates: dict[str, Any], **fields: Any) -> PolledPromise:
    """Return a polled promise made ten seconds ago."""
    shown = {
        "entry_seq": 5,
        "token": "t",
        "polling_seconds": 900,
        "started_at": NOW - timedelta(seconds=10),
    }
    return PolledPromise(run=Run(), updates=list(updates), **{**shown, **fields})


def poll(state: str = "completed", kind: str = RunKind.POLL, **fields: Any) -> Run:
    shown = {"outcome": "promise", "created_at": NOW - timedelta(seconds=8), "status": 202}
    return Run(state=state, kind=kind, **{**shown, **fields})


def view(found: PolledPromise, *runs: Run) -> PromiseView:
    return promise_view(found, runs, NOW)


class TestSparkline:
    def test_goes_from_corner_to_corner(self) -> None:
        line = sparkline([(0, 0.0), (5, 0.5), (10, 1.0)])
        assert line is not None
        assert line.points == "2.0,22.0 60.0,12.0 118.0,2.0"
        assert line.label == "Progress: 0 %, 50 %, 100 %"

    def test_leaves_out_what_is_beyond_the_scale(self) -> None:
        line = sparkline([(0, 7.0), (1, 0.0), (3, -2.0), (5, 1e300), (6, 1.0)])
        assert line is not None
        assert line.points == "2.0,22.0 118.0,2.0"
        assert line.label == "Progress: 0 %, 100 %"

    def test_many_values_are_summed_up(self) -> None:
        line = sparkline([(n, n / 10) for n in range(10)])
        assert line is not None
        assert line.label == "Progress: from 0 % to 90 % in 10 reports"

    @pytest.mark.parametrize("reported", [[], [(0, 0.5)], [(0, 7.0), (1, 7.0)]])
    def test_one_value_is_no_curve(self, reported: list[tuple[float, float]]) -> None:
        assert sparkline(reported) is None

    @given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1)), min_size=2))
    def test_every_point_is_on_it(self, reported: list[tuple[float, float]]) -> None:
        line = sparkline(sorted(reported))
        assert line is not None
        places = [tuple(map(float, point.split(","))) for point in line.points.split()]
        assert len(places) == len(reported)
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


@pytest.mark.parametrize(
    ("progress", "words"), [(0, "0 %"), (0.126, "13 %"), (1, "100 %"), (7, "7")]
)
def test_percent(progress: float, words: str) -> None:
    assert percent(progress) == words


class TestWarnings:
    def test_none_for_progress_that_goes_on(self) -> None:
        assert (
            warnings_of([update(0, 0), update(1), update(2, 0.4), update(3, 0.4), update(4, 1)])
            == []
        )

    def test_progress_that_goes_back(self) -> None:
        assert warnings_of([update(0, 0.6), update(1, 0.4), update(2, 0.9)]) == [
            "Progress decreased from 60 % to 40 %."
        ]

    def test_progress_beyond_the_scale(self) -> None:
        assert warnings_of([update(0, 7.0)]) == [
            "The agent reported 7, which is not between 0 and 1."
        ]

    def test_progress_that_is_no_number(self) -> None:
        assert warnings_of([update(0, unread="half")]) == [
            "The agent reported “half”, which is not a number."
        ]


class TestLook:
    @pytest.mark.parametrize("status", PollingStatus)
    def test_every_state_has_its_look_and_its_word(self, status: PollingStatus) -> None:
        shown = view(promise(status=status, ended_at=NOW, polling_seconds=60))
        words = {
            "polling": "Polling", "paused": "Polling paused", "fulfilled": "Promise fulfilled",
            "cancelled": "Cancelled", "failed": "Promise failed",
            "timed_out": "Polling stopped after 1 min",
        }  # fmt: skip
        assert (shown.css_state, shown.status_label) == (status, words[status])
        assert shown.is_open is not status.is_settled

    def test_a_check_under_way(self) -> None:
        shown = view(promise(), poll(), poll("streaming"))
        assert (shown.css_state, shown.status_label) == ("checking", "Polling now")

    def test_a_cancellation_that_is_not_confirmed(self) -> None:
        shown = view(promise(cancel_requested=True, status="paused"), poll("streaming"))
        assert (shown.css_state, shown.status_label) == ("cancelling", "Cancelling the task")

    def test_without_a_token_nobody_can_ask(self) -> None:
        assert not view(promise(token="", status="paused")).is_open


def rendered(found: PolledPromise) -> str:
    context = {"promise": found, "promise_view": view(found), "run": Run(), "anchor": "a"}
    html: str = get_template("runs/children/promise.html").render(context)
    return html


class TestFigures:
    def test_progress_message_and_times(self) -> None:
        updates = [update(0, 0.0, message="Begun"), update(4, 0.4, estimated_time=20)]
        shown = view(promise(*updates, next_poll_at=NOW + timedelta(seconds=3)))
        assert (shown.message, shown.percent, shown.progress) == ("Begun", 40, "40 %")
        assert (shown.elapsed, shown.ticking_ms) == ("10.0 s", 10_000)
        assert (shown.remaining, shown.next_ms) == ("about 14 s left", 3_000)
        assert shown.spark is not None

    def test_what_is_not_known_is_not_made_up(self) -> None:
        shown = view(promise(update(0, 0.4), update(2)))
        assert (shown.percent, shown.progress, shown.remaining) == (None, "", "")
        assert shown.next_ms is None

    def test_progress_beyond_the_scale_has_no_bar(self) -> None:
        shown = view(promise(update(0, 7.0), update(1, 7.0)))
        assert (shown.percent, shown.progress, shown.spark) == (None, "7", None)
        markup = read(rendered(promise(update(0, 7.0))))
        assert not markup.find("progress")
        assert "7" in markup.text

    def test_an_estimate_that_is_over(self) -> None:
        assert view(promise(update(0, estimated_time=9))).remaining == "any moment now"
        assert view(promise(update(0, estimated_time=-9))).remaining == ""

    @pytest.mark.parametrize("status", [s for s in PollingStatus if s != "polling"])
    def test_nobody_waits_for_what_is_not_followed(self, status: PollingStatus) -> None:
        shown = view(promise(update(0, estimated_time=60), status=status))
        assert shown.remaining == ""

    def test_an_estimate_that_does_not_shrink_shows_its_age(self) -> None:
        updates = [update(0, estimated_time=5), *(update(at, estimated_time=3) for at in (2, 6, 9))]
        words = "about 2 s left, unchanged for 8 s"
        assert view(promise(*updates)).remaining == words
        # Shown once it is older than its poll.
        assert view(promise(*updates[:2])).remaining == "any moment now"

    def test_a_year(self) -> None:
        shown = view(promise(update(0, estimated_time=31_536_010)))
        assert shown.remaining == "about 365 d left"

    def test_what_has_ended_stands_still(self) -> None:
        ended = promise(status="fulfilled", ended_at=NOW - timedelta(seconds=4), next_poll_at=NOW)
        shown = view(ended)
        assert (shown.elapsed, shown.ticking_ms) == ("6.0 s", None)
        assert (shown.next_ms, shown.remaining) == (None, "")

    def test_a_clock_that_was_set_back(self) -> None:
        shown = view(promise(started_at=NOW + timedelta(hours=1)))
        assert shown.elapsed == "0.0 ms"

    @pytest.mark.parametrize(
        ("patience", "chosen"),
        [(60, "1 min"), (900, "15 min"), (937, "15 min"), (90_000, "1 h"), (5, "5 s")],
    )
    def test_the_patience_that_holds(self, patience: int, chosen: str) -> None:
        choices = view(promise(polling_seconds=patience)).duration_choices
        assert [words for _, words, holds in choices if holds] == [chosen]


class TestPolls:
    def test_rows(self) -> None:
        runs = [poll(), poll(kind=RunKind.CANCEL, outcome="failure", status=200)]
        rows = view(promise(), *runs).polls
        assert [(row.at, row.kind, row.status_label) for row in rows] == [
            ("2.0 s", "poll", "Promise pending"),
            ("2.0 s", "cancellation", status_label(runs[1])),
        ]

    def test_the_latest_of_many(self) -> None:
        shown = view(promise(), *[poll() for _ in range(LISTED + 3)])
        assert (len(shown.polls), shown.hidden) == (LISTED, 3)


_numbers = st.none() | st.floats(-1e12, 1e12)
_said = st.builds(
    update, st.floats(0, 1e9), _numbers,
    message=st.text(), estimated_time=_numbers, unread=st.none() | st.text(max_size=40),
)  # fmt: skip


@given(
    st.lists(_said, max_size=12),
    st.sampled_from(PollingStatus),
    st.text(max_size=20),
    st.integers(0, 10**9),
)
def test_every_promise_can_be_shown(
    updates: list[dict[str, Any]], status: PollingStatus, token: str, patience: int
) -> None:
    found = promise(*updates, status=status, token=token, polling_seconds=patience)
    run = Run()
    html = get_template("runs/children/promise.html").render(
        {"promise": found, "promise_view": view(found, poll()), "run": run, "anchor": "a"}
    )
    assert read(html).find("section")[0].attributes["data-status"] == status
