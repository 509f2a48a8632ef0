"""Status labels and metrics of a run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from playground.models import CollectionRun, PolledPromise, Run, RunState
from playground.protocols.events import Outcome
from playground.rendering.run_status import (
    phase_label,
    run_metrics,
    status_label,
    waiting_label,
)

#: Labels of a run with three results; that of a completed one depends on the outcome.
LABELS = {
    **{(state, outcome): str(state.label) for state in RunState for outcome in Outcome},
    **{(RunState.CONNECTING, outcome): "Connecting" for outcome in Outcome},
    **{(RunState.REFUSED, outcome): "Not allowed" for outcome in Outcome},
    (RunState.STREAMING, Outcome.ELICITATION): "Input required",
    (RunState.COMPLETED, Outcome.ANSWER): "Completed",
    (RunState.COMPLETED, Outcome.ELICITATION): "Input required",
    (RunState.COMPLETED, Outcome.PROMISE): "Promise pending",
    (RunState.COMPLETED, Outcome.FAILURE): "Agent error",
    (RunState.COMPLETED, Outcome.NONE): "No usable answer",
}


@pytest.mark.django_db
@pytest.mark.parametrize(("state", "outcome"), LABELS)
def test_every_state_and_outcome_has_its_word(state: RunState, outcome: Outcome) -> None:
    run = Run(state=state.value, outcome=outcome.value, results=3, entries=3)
    assert status_label(run) == LABELS[state, outcome]


@pytest.mark.django_db
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
    run = Run.objects.create(
        state="completed", outcome="promise", agent_name="scripted", request={}
    )
    PolledPromise.objects.create(run=run, entry_seq=1, token="t", status=status, polling_seconds=60)
    assert status_label(run) == label
    check = Run(state="completed", outcome="promise", kind="check")
    assert status_label(check) == "Promise pending"


@pytest.mark.parametrize(("entries", "label"), [(0, "No results"), (1, "Completed")])
def test_an_answer_may_be_empty(entries: int, label: str) -> None:
    """A summary or a text is an answer as well."""
    run = Run(state="completed", outcome="answer", results=0, events=3, entries=entries)
    assert status_label(run) == label


def test_figures_of_a_run_that_ended() -> None:
    run = Run(
        state="completed", outcome="answer", results=2, events=4, bytes=2048,
        first_event_us=84_400, ended_us=1_234_000, started_at=timezone.now(),
    )  # fmt: skip
    metrics = run_metrics(run)
    assert [count for _, _, count in metrics.counts] == ["4", "2"]
    assert metrics.size == "2.0 KB"
    assert (metrics.first, metrics.elapsed, metrics.ticking_ms) == ("84 ms", "1.2 s", None)


def test_the_clock_runs_while_the_run_does() -> None:
    assert run_metrics(Run(state="queued")).ticking_ms is None
    run = Run(state="streaming", started_at=timezone.now() - timedelta(seconds=5))
    ticking = run_metrics(run).ticking_ms
    assert ticking
    assert 5_000 <= ticking < 60_000


def test_a_run_that_was_interrupted_has_no_clock() -> None:
    run = Run(state="interrupted", started_at=timezone.now() - timedelta(days=1))
    assert (run_metrics(run).elapsed, run_metrics(run).ticking_ms) == ("", None)


@pytest.mark.parametrize(
    ("state", "problem", "label"),
    [
        ("refused", {"stage": "limit", "limit": "max_bytes"}, "Limit exceeded (yours)"),
        ("refused", {"stage": "policy"}, "Not allowed"),
        ("failed", {"stage": "body", "limit": "idle_timeout"}, "Timed out (your limit)"),
        ("failed", {"stage": "connect", "limit": "connect_timeout"}, "Connection timed out"),
        ("failed", {"stage": "tls"}, "Connection failed"),
        ("failed", {"stage": "decode"}, "Unreadable response"),
        ("failed", {"stage": "internal"}, "Failed"),
        ("failed", None, "Failed"),
        ("truncated", {"stage": "body"}, "Truncated"),
    ],
)
def test_why_a_run_did_not_complete(state: str, problem: object, label: str) -> None:
    assert status_label(Run(state=state, problem=problem)) == label


@pytest.mark.parametrize(
    ("fields", "phase"),
    [
        ({"state": "queued"}, "Queued"),
        ({"state": "connecting", "frames": 1}, "Connecting"),
        ({"state": "connecting", "frames": 2}, "Waiting for response headers"),
        ({"state": "streaming", "frames": 3}, "Waiting for the first event"),
        ({"state": "streaming", "events": 1}, ""),
        ({"state": "failed"}, ""),
    ],
)
def test_what_a_run_waits_for(fields: dict[str, object], phase: str) -> None:
    assert phase_label(Run(**fields)) == phase


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"outcome": "answer"}, "Completed, not terminated"),
        ({"outcome": "answer", "failures": 1}, "Completed, not terminated"),
        ({"outcome": "failure"}, "Agent error"),
        ({"outcome": "none"}, "No usable answer"),
        ({"outcome": "answer", "protocol": "agent-api"}, "Completed"),
        ({"outcome": "answer", "terminated": True}, "Completed"),
    ],
)
def test_a_stream_without_its_last_event(fields: dict[str, object], label: str) -> None:
    run = Run(
        **{"state": "completed", "protocol": "nlweb", "terminated": False, "entries": 1, **fields}
    )
    assert status_label(run) == label


@pytest.mark.parametrize(
    ("model", "fields", "waits"),
    [
        (Run, {"state": "queued"}, True),
        (Run, {"state": "queued", "driver": "host:1:1"}, False),
        (Run, {"state": "interrupted"}, False),
        (CollectionRun, {}, True),
        (CollectionRun, {"driver": "host:1:1"}, False),
        (CollectionRun, {"state": "stopped"}, False),
    ],
)
def test_a_run_that_waits_for_a_worker(
    model: type[Run | CollectionRun], fields: dict[str, Any], waits: bool, settings: LazySettings
) -> None:
    run = model(created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), **fields)
    assert waiting_label(run) == ""
    settings.WORKERS = True
    assert waiting_label(run) == ("Waiting for a worker since 03:04:05 UTC" if waits else "")
    if waits and isinstance(run, Run):
        assert phase_label(run) == waiting_label(run)
