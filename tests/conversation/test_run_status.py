"""Status and figures of a run, in the header of its page and in the history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from playground.models import CollectionRun, PolledPromise, Run, RunState
from playground.protocols.events import Outcome
from tests.support.markup import read
from tests.support.run_page import part, shared
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db

ANSWER = {"state": "completed", "outcome": "answer"}
OPEN_ENDED = {**ANSWER, "terminated": False}

#: Columns of a run with three results, and its status.
LABELS: list[tuple[dict[str, Any], str]] = [
    *(({"state": state, "outcome": outcome}, {
        "connecting": "Connecting", "streaming": "Streaming", "queued": "Queued",
    }[state] if (state, outcome) != ("streaming", "elicitation") else "Input required")
      for state in ("queued", "connecting", "streaming") for outcome in Outcome),
    *(({"state": state, "outcome": outcome}, label)
      for state, label in (("truncated", "Truncated"), ("failed", "Failed"),
                           ("refused", "Not allowed"), ("cancelled", "Cancelled"),
                           ("interrupted", "Interrupted"))
      for outcome in ("answer", "none", "failure")),
    (ANSWER, "Completed"),
    ({**ANSWER, "results": 0}, "Completed"),
    ({**ANSWER, "results": 0, "entries": 0}, "No results"),
    ({**ANSWER, "outcome": "elicitation"}, "Input required"),
    ({**ANSWER, "outcome": "promise"}, "Promise pending"),
    ({**ANSWER, "outcome": "failure"}, "Agent error"),
    ({**ANSWER, "outcome": "none"}, "No usable answer"),
    # A stream without its last event.
    (OPEN_ENDED, "Completed, not terminated"),
    ({**OPEN_ENDED, "failures": 1}, "Completed, not terminated"),
    ({**OPEN_ENDED, "outcome": "failure"}, "Agent error"),
    ({**OPEN_ENDED, "outcome": "none"}, "No usable answer"),
    ({**OPEN_ENDED, "protocol": "agent-api", "version": "1"}, "Completed"),
    # Why a run did not complete.
    *(({"state": state, "problem": {"stage": stage, "limit": limit, "cause": "C."}}, label)
      for state, stage, limit, label in (
          ("refused", "limit", "max_bytes", "Limit exceeded (yours)"),
          ("refused", "policy", None, "Not allowed"),
          ("failed", "body", "idle_timeout", "Timed out (your limit)"),
          ("failed", "connect", "connect_timeout", "Connection timed out"),
          ("failed", "tls", None, "Connection failed"),
          ("failed", "decode", None, "Unreadable response"),
          ("failed", "internal", None, "Failed"),
          ("truncated", "body", None, "Truncated"))),
]  # fmt: skip


def a_run(**fields: Any) -> Run:
    return Recording(**{"results": 3, "entries": 3, "terminated": True, "events": 3,
                        "heartbeat_at": timezone.now(), **fields}).run  # fmt: skip


def labels(*runs: Run) -> list[str]:
    """Return the status of runs in the history."""
    page = read(Client().get("/history/?all=1"))
    found = {row.attributes["data-run"]: row.select("span", class_="state")[0].words
             for row in page.select("tr", data_run=None)}  # fmt: skip
    return [found[str(run.pk)] for run in runs]


def test_every_state_and_outcome_has_its_word() -> None:
    runs = [a_run(**fields) for fields, _ in LABELS]
    for start in range(0, len(runs), 20):
        chosen = runs[start : start + 20]
        Run.objects.filter(pk__in=[run.pk for run in chosen]).update(created_at=timezone.now())
        assert labels(*chosen) == [label for _, label in LABELS[start : start + 20]]
    assert {fields["state"] for fields, _ in LABELS} == set(RunState)


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("polling", "Promise pending"),
        ("paused", "Promise pending"),
        ("fulfilled", "Promise fulfilled"),
        ("cancelled", "Task cancelled"),
        ("failed", "Promise failed"),
        ("timed_out", "Polling stopped"),
    ],
)
def test_what_became_of_a_promise(status: str, label: str) -> None:
    run = a_run(state="completed", outcome="promise")
    PolledPromise.objects.create(run=run, entry_seq=1, token="t", status=status, polling_seconds=60)
    check = a_run(state="completed", outcome="promise", kind="check", parent=run)
    assert labels(run, check) == [label, "Promise pending"]


class TestHeader:
    def stats(self, run: Run) -> dict[str, str]:
        return part(run).by_id("run-stats").facts  # type: ignore[union-attr]

    def test_figures_of_a_run_that_ended(self) -> None:
        run = a_run(**ANSWER, bytes=2048, first_event_us=84_400, ended_us=1_234_000,
                    started_at=timezone.now(), status=200)  # fmt: skip
        Run.objects.filter(pk=run.pk).update(results=2, events=4)
        found = self.stats(run)
        assert (found["HTTP status"], found["Size"]) == ("200", "2.0 KB")
        assert (found["Time"], found["First event"]) == ("1.2 s", "84 ms")
        assert (found["Events"], found["Results"]) == ("4", "2")

    @pytest.mark.parametrize(
        ("fields", "ticks"),
        [({"state": "queued"}, False), ({"state": "interrupted", "age": 86_400}, False),
         ({"state": "streaming", "age": 5}, True)],
    )  # fmt: skip
    def test_the_clock_runs_while_the_run_does(self, fields: dict[str, Any], ticks: bool) -> None:
        age = fields.pop("age", None)
        started = timezone.now() - timedelta(seconds=age) if age else None
        now = part(a_run(**fields, started_at=started)).by_id("run-stats-now")
        assert now
        clocks = now.find("elapsed-time")
        assert len(clocks) == ticks
        for clock in clocks:
            assert 5_000 <= int(clock.attributes["data-ms"] or "") < 60_000

    @pytest.mark.parametrize(
        ("fields", "phase"),
        [
            ({"state": "queued"}, "Queued…"),
            ({"state": "connecting", "frames": 1}, "Connecting…"),
            ({"state": "connecting", "frames": 2}, "Waiting for response headers…"),
            ({"state": "streaming", "frames": 3}, "Waiting for the first event…"),
            ({"state": "streaming", "events": 1}, ""),
            ({"state": "failed"}, ""),
        ],
    )
    def test_what_a_run_waits_for(self, fields: dict[str, Any], phase: str) -> None:
        page = part(a_run(**{"events": 0, "entries": 0, "results": 0, **fields}))
        assert [each.words for each in page.select(class_="phase-line")] == [phase] * bool(phase)


@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(
    ("fields", "waits"),
    [
        ({"state": "queued"}, True),
        ({"state": "queued", "driver": "host:1:1"}, False),
        ({"state": "interrupted"}, False),
    ],
)
def test_a_run_that_waits_for_a_worker(
    fields: dict[str, Any], waits: bool, workers: bool, settings: LazySettings
) -> None:
    settings.WORKERS = workers
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    run = a_run(events=0, entries=0, results=0, **fields)
    Run.objects.filter(pk=run.pk).update(created_at=at)
    shown = "Waiting for a worker since 03:04:05 UTC" in part(run).words
    assert shown is (waits and workers)


@pytest.mark.parametrize("workers", [False, True])
@pytest.mark.parametrize(
    ("fields", "waits"),
    [({}, True), ({"driver": "host:1:1"}, False), ({"state": "stopped"}, False)],
)
def test_a_collection_run_that_waits_for_a_worker(
    fields: dict[str, Any], waits: bool, workers: bool, settings: LazySettings
) -> None:
    settings.WORKERS = workers
    run = CollectionRun.objects.create(name="Tour", heartbeat_at=timezone.now(), **fields)
    text = read(Client().get(run.get_absolute_url())).text
    assert ("Waiting for a worker since" in text) is (waits and workers)


def test_when_it_was_sent_is_a_moment_for_the_browser_to_format(settings: LazySettings) -> None:
    """The text is that of readers without scripts: in the time zone of the server."""
    settings.TIME_ZONE = "Asia/Kathmandu"
    run = Recording().end()
    sent = datetime(2026, 3, 29, 0, 30, 5, tzinfo=UTC)
    Run.objects.filter(pk=run.pk).update(created_at=sent)
    run.refresh_from_db()
    texts = []
    for page in (part(run), shared(run)):
        for element in page.find("local-time"):
            (time,) = element.find("time")
            assert datetime.fromisoformat(str(time.attributes["datetime"])) == sent
            texts.append(time.words)
    with_seconds = "29 March 2026, 06:15:05"
    assert texts == [with_seconds, "29 March 2026, 06:15", with_seconds]
