"""A polled promise below its entry: status, times, warnings, polls and answer; its buttons."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.conversation import promises
from playground.models import PolledPromise, PollingStatus, Run, RunKind
from tests.support.action_runs import action
from tests.support.markup import Element
from tests.support.run_page import Viewer, part, streamed
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)


def update(at: float, progress: float | None = None, **more: Any) -> dict[str, Any]:
    return {"at": at, "progress": progress, "message": "", "estimated_time": None, **more}


def promised(*updates: dict[str, Any], **fields: Any) -> Run:
    """Return a run with a polled promise that was made ten seconds ago, in its frame 4."""
    run = streamed('event: promise\ndata: {"token": "t", "message": "<b>Soon</b>"}')
    shown = {"token": "t", "polling_seconds": 900, "started_at": NOW - timedelta(seconds=10)}
    found = PolledPromise.objects.create(
        run=run, entry_seq=4, updates=list(updates), **{**shown, **fields}
    )
    PolledPromise.objects.filter(pk=found.pk).update(**{**shown, **fields})
    return run


def poll(run: Run, state: str = "completed", **fields: Any) -> Run:
    own = {"kind": RunKind.POLL, "outcome": "promise", "status": 202, "heartbeat_at": NOW}
    child = Recording(
        parent=run, parent_entry_seq=4, parent_entry_part=0, state=state, **{**own, **fields}
    )
    Run.objects.filter(pk=child.run.pk).update(created_at=NOW - timedelta(seconds=8))
    return child.run


def status_of(run: Run) -> Element:
    (found,) = part(run).select("section", class_="promise-status")
    return found


def shown(*updates: dict[str, Any], **fields: Any) -> Element:
    return status_of(promised(*updates, **fields))


def head(found: Element) -> str:
    return found.select(class_="promise-head")[0].words


def warnings(found: Element) -> list[str]:
    return [each.words for each in found.select(class_="promise-warning")]


def spark(found: Element) -> tuple[str, str] | None:
    for line in found.select("svg", class_="spark"):
        points = line.find("polyline")[0].attributes["points"]
        return str(points), str(line.attributes["aria-label"])
    return None


class TestSparkline:
    @pytest.mark.parametrize(
        ("reported", "points", "label"),
        [
            ([(0, 0.0), (5, 0.5), (10, 1.0)], "2.0,22.0 60.0,12.0 118.0,2.0",
             "Progress: 0 %, 50 %, 100 %"),
            ([(0, 7.0), (1, 0.0), (3, -2.0), (5, 1e300), (6, 1.0)], "2.0,22.0 118.0,2.0",
             "Progress: 0 %, 100 %"),
        ],
    )  # fmt: skip
    def test_goes_from_corner_to_corner(self, reported: Any, points: str, label: str) -> None:
        assert spark(shown(*(update(*each) for each in reported))) == (points, label)

    def test_many_values_are_summed_up(self) -> None:
        found = spark(shown(*(update(n, n / 10) for n in range(10))))
        assert found
        assert found[1] == "Progress: from 0 % to 90 % in 10 reports"

    @pytest.mark.parametrize("reported", [[], [(0, 0.5)], [(0, 7.0), (1, 7.0)]])
    def test_one_value_is_no_curve(self, reported: Any) -> None:
        assert spark(shown(*(update(*each) for each in reported))) is None


@pytest.mark.parametrize(
    ("updates", "told"),
    [
        ([update(0, 0), update(1), update(2, 0.4), update(3, 0.4), update(4, 1)], []),
        ([update(0, 0.6), update(1, 0.4), update(2, 0.9)],
         ["Progress decreased from 60 % to 40 %."]),
        ([update(0, 1.5)], ["The agent reported 1.5, which is not between 0 and 1."]),
        ([update(0, 7.0)], ["The agent reported 7, which is not between 0 and 1."]),
        ([update(0, unread="half")], ["The agent reported “half”, which is not a number."]),
    ],
)  # fmt: skip
def test_errors_in_the_progress_are_told(updates: list[Any], told: list[str]) -> None:
    assert warnings(shown(*updates)) == told


class TestStatus:
    @pytest.mark.parametrize(
        ("status", "word"),
        [
            ("polling", "Polling"), ("paused", "Polling paused"),
            ("fulfilled", "Promise fulfilled"), ("cancelled", "Cancelled"),
            ("failed", "Promise failed"), ("timed_out", "Polling stopped after 1 min"),
        ],
    )  # fmt: skip
    def test_every_one_has_its_word(self, status: str, word: str) -> None:
        run = promised(update(0, estimated_time=60), status=status, ended_at=NOW,
                       polling_seconds=60, status_message="So.")  # fmt: skip
        found = status_of(run)
        assert found.attributes["data-status"] == status
        assert found.select(class_="promise-state")[0].words == word
        is_open = not PollingStatus(status).is_settled
        assert [each.words for each in found.find("button")][:2] == (
            ["Check now", "Cancel the task"] if is_open else []
        )
        assert ("left" in head(found)) == (status == "polling")
        assert "So." in found.words
        # A page follows what can still change.
        assert bool(part(run, "").select(ws_connect=None)) == (status == "polling")

    @pytest.mark.parametrize(
        ("fields", "state", "status", "word"),
        [
            ({}, "streaming", "checking", "Polling now"),
            (
                {"cancel_requested": True, "status": "paused"},
                "streaming",
                "cancelling",
                "Cancelling the task",
            ),
        ],
    )
    def test_a_poll_in_progress(self, fields: Any, state: str, status: str, word: str) -> None:
        run = promised(**fields)
        poll(run)
        poll(run, state)
        found = status_of(run)
        assert found.attributes["data-status"] == status
        assert found.select(class_="promise-state")[0].words == word

    def test_without_a_token_nobody_can_ask(self) -> None:
        assert not shown(token="", status="paused").find("button")

    @pytest.mark.parametrize(
        ("fields", "is_followed"),
        [
            ({"status": "paused", "leased_until": NOW + timedelta(seconds=9)}, True),
            ({"status": "paused", "cancel_requested": True}, True),
            ({"status": "paused"}, False),
        ],
    )
    def test_a_lease_and_a_cancellation_are_under_way(self, fields: Any, is_followed: bool) -> None:
        page = part(promised(**fields), "")
        assert bool(page.select(ws_connect=None)) == is_followed


class TestFigures:
    def test_progress_message_and_times(self) -> None:
        updates = [update(0, 0.0, message="<b>Begun"), update(4, 0.4, estimated_time=20)]
        found = shown(*updates, next_poll_at=NOW + timedelta(seconds=3))
        assert head(found) == "Polling 10.0 s so farabout 14 s left next poll in"
        assert found.find("elapsed-time")[0].attributes["data-ms"] == "10000"
        assert found.find("count-down")[0].attributes["data-ms"] == "3000"
        assert found.select(class_="promise-message")[0].words == "<b>Begun"
        (bar,) = found.find("progress")
        assert bar.attributes["value"] == "40"
        assert found.select(class_="promise-percent")[0].words == "40 %"
        assert spark(found)

    def test_what_is_not_known_is_not_made_up(self) -> None:
        found = shown(update(0, 0.4), update(2))
        (bar,) = found.find("progress")
        assert "value" not in bar.attributes
        assert head(found) == "Polling 10.0 s so far"

    @pytest.mark.parametrize(("progress", "value"), [(0, "0"), (1, "100")])
    def test_the_ends_of_the_scale_have_a_bar(self, progress: int, value: str) -> None:
        assert shown(update(0, progress)).find("progress")[0].attributes["value"] == value

    def test_progress_beyond_the_scale_has_no_bar(self) -> None:
        found = shown(update(0, 7.0), update(1, 7.0))
        assert not found.find("progress")
        assert found.select(class_="promise-percent")[0].words == "7"

    @pytest.mark.parametrize(
        ("updates", "remaining"),
        [
            ([update(0, estimated_time=9)], "any moment now"),
            ([update(0, estimated_time=11)], "about 1 s left"),
            ([update(0, estimated_time=-9)], ""),
            ([update(0, estimated_time=31_536_010)], "about 365 d left"),
            ([update(0, estimated_time=5), *(update(at, estimated_time=3) for at in (2, 6, 9))],
             "about 2 s left, unchanged for 8 s"),
            # Shown once it is older than its poll.
            ([update(0, estimated_time=5), update(2, estimated_time=3)], "any moment now"),
        ],
    )  # fmt: skip
    def test_how_long_it_will_take(self, updates: list[Any], remaining: str) -> None:
        assert head(shown(*updates)) == f"Polling 10.0 s so far{remaining}"

    def test_what_has_ended_stands_still(self) -> None:
        ended = NOW - timedelta(seconds=4)
        found = shown(status="fulfilled", ended_at=ended, next_poll_at=NOW)
        assert head(found) == "Promise fulfilled after 6.0 s"

    def test_a_clock_that_was_set_back(self) -> None:
        found = shown(started_at=NOW + timedelta(hours=1))
        assert head(found) == "Polling 0.0 ms so far"

    @pytest.mark.parametrize(
        ("patience", "chosen"),
        [(60, "1 min"), (900, "15 min"), (937, "15 min"), (90_000, "1 h"), (5, "5 s")],
    )
    def test_the_duration_that_holds(self, patience: int, chosen: str) -> None:
        found = shown(polling_seconds=patience).select("option", selected=None)
        assert [each.words for each in found] == [chosen]


class TestPolls:
    def test_rows(self) -> None:
        run = promised()
        poll(run)
        poll(run, kind=RunKind.CANCEL, outcome="failure", status=200)
        rows = [[c.words for c in row][:4] for row in status_of(run).find("tr")[1:]]
        assert [[each[0], each[1], each[2]] for each in rows] == [
            ["2.0 s", "poll", "202"], ["2.0 s", "cancellation", "200"],
        ]  # fmt: skip

    def test_the_latest_of_many(self) -> None:
        run = promised()
        for _ in range(53):
            poll(run)
        found = status_of(run)
        assert len(found.find("tr")) == 1 + 50
        assert " 3 earlier not listed." in found.words


class TestAnswer:
    PLACE = {"parent_entry_seq": 4, "parent_entry_part": 0}

    def test_has_its_own_cards_and_actions(self) -> None:
        run = promised()
        answer = action(run, kind=RunKind.POLL, **self.PLACE)
        PolledPromise.objects.update(
            status="fulfilled", final_run=answer, polls=1, ended_at=timezone.now()
        )
        inner = action(answer)
        page = part(run)
        (found,) = page.select("section", class_="child--answer")
        assert found.find("h3")[0].words == "Answer"
        assert "Soup" in found.words
        urls = [each.attributes.get("hx-get") for each in found.find("button")]
        assert f"/runs/{answer.pk}/actions/4/0/0/?page={run.pk}" in urls
        assert page.by_id(f"child-{inner.pk}")

    def test_of_a_cancelled_task_is_not_shown(self) -> None:
        run = promised()
        answer = action(run, kind=RunKind.CANCEL)
        PolledPromise.objects.update(status="cancelled", final_run=answer, ended_at=NOW)
        assert not part(run).select("section", class_="child--answer")


def test_what_became_of_it_waits_for_its_card() -> None:
    """It is stored after the run was read, and before its child runs are."""
    run = promised()
    viewer = Viewer(run, after=0)
    Run.objects.update(frames=3, state="streaming")
    assert "children-entry" not in viewer.follow()
    Run.objects.update(frames=run.frames, state="completed")
    viewer.follow()
    assert viewer.cards.select("section", class_="promise-status")


def press(run: Run, button: str, *, htmx: bool = True, **fields: str) -> HttpResponse:
    headers = {"HX-Request": "true"} if htmx else {}
    return Client().post(f"/runs/{run.pk}/promise/{button}/", fields, headers=headers)


class TestButtons:
    """What the engine is asked for, instead of doing it."""

    EVERY = ("polls", "cancellation", "polling")

    @pytest.fixture(autouse=True)
    def asked(self, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        for name in ("poll_now", "cancel_promise", "resume_polling", "stop_polling"):

            async def record(*arguments: Any, name: str = name) -> None:
                found.append((name, *arguments))

            monkeypatch.setattr(promises.promise_polling, name, record)
        return found

    @pytest.mark.parametrize(
        ("button", "fields", "wanted"),
        [
            ("polls", {}, ("poll_now",)),
            ("cancellation", {}, ("cancel_promise",)),
            ("polling", {"polling": "0", "polling_seconds": "60"}, ("stop_polling",)),
            ("polling", {"polling": "1"}, ("resume_polling",)),
            ("polling", {"polling": "1", "polling_seconds": "300"}, ("resume_polling", 300)),
            ("polling", {"polling_seconds": "3600"}, ("resume_polling", 3600)),
            ("polling", {"polling_seconds": "99999"}, ("resume_polling", 3600)),
        ],
    )
    def test_the_engine_is_asked(
        self, asked: list[Any], button: str, fields: dict[str, str], wanted: tuple[Any, ...]
    ) -> None:
        run = promised()
        response = press(run, button, **fields)
        assert response.status_code == 200
        assert asked == [(wanted[0], PolledPromise.objects.get().pk, *wanted[1:])]
        assert 'id="children-entry-4-0" data-patched hx-swap-oob="true"' in response.text
        assert f'ws-connect="/ws/runs/{run.pk}/"' in response.text

    @pytest.mark.database
    @pytest.mark.parametrize("seconds", ["-1", "1.5", "soon", "999999", "٣"])
    def test_a_duration_that_is_not_a_number_of_seconds(
        self, asked: list[Any], seconds: str
    ) -> None:
        response = press(promised(), "polling", htmx=False, polling_seconds=seconds)
        assert (response.status_code, asked) == (400, [])

    @pytest.mark.parametrize("button", EVERY)
    def test_without_scripts_it_leads_back(self, button: str) -> None:
        run = promised()
        response = press(run, button, htmx=False)
        assert (response.status_code, response["Location"]) == (302, f"/runs/{run.pk}/")

    @pytest.mark.database
    @pytest.mark.parametrize("button", EVERY)
    def test_a_run_without_a_promise(self, asked: list[Any], button: str) -> None:
        assert press(Recording().end(), button).status_code == 404
        assert asked == []


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_stopping_and_following_again() -> None:
    run = promised()
    html = press(run, "polling", polling="0").text
    assert "Polling paused" in html
    assert "Resume polling" in html
    assert "Stop polling" in press(run, "polling", polling="1", polling_seconds="300").text
    promise = PolledPromise.objects.get()
    assert promise.status == PollingStatus.POLLING
    assert promise.next_poll_at is not None


_numbers = st.none() | st.floats(-1e12, 1e12)
_updates = st.builds(
    update, st.floats(0, 1e9), _numbers,
    message=st.text(st.characters(exclude_categories=["Cs"])), estimated_time=_numbers,
    unread=st.none() | st.text("ab<&\"'", max_size=9),
)  # fmt: skip


@given(
    st.lists(_updates, max_size=12),
    st.sampled_from(PollingStatus),
    st.text("t<&", max_size=9),
    st.integers(0, 10**9),
)
def test_every_promise_can_be_shown(
    updates: list[dict[str, Any]], status: PollingStatus, token: str, patience: int
) -> None:
    run = promised(*updates, status=status, token=token, polling_seconds=patience)
    poll(run)
    assert status_of(run).attributes["data-status"] == status
