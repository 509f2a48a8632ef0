"""Status labels and metrics of a run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from playground.models import PolledPromise, Run, RunState
from playground.protocols.events import Outcome
from playground.rendering.run_status import run_metrics, status_label

#: Labels of a run with three results; that of a completed one depends on the outcome.
LABELS = {
    **{(state, outcome): str(state.label) for state in RunState for outcome in Outcome},
    **{(RunState.CONNECTING, outcome): "Sending" for outcome in Outcome},
    (RunState.STREAMING, Outcome.ELICITATION): "The agent asks",
    (RunState.COMPLETED, Outcome.ANSWER): "Complete",
    (RunState.COMPLETED, Outcome.ELICITATION): "The agent asks",
    (RunState.COMPLETED, Outcome.PROMISE): "Promised",
    (RunState.COMPLETED, Outcome.FAILURE): "Failure reported",
    (RunState.COMPLETED, Outcome.NONE): "Complete, no answer",
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
        ("polling", "Promised"),
        ("paused", "Promised"),
        ("fulfilled", "Promise kept"),
        ("cancelled", "Task cancelled"),
        ("failed", "Promise failed"),
        ("timed_out", "Promise given up"),
    ],
)
def test_what_became_of_a_promise(status: str, label: str) -> None:
    run = Run.objects.create(
        state="completed", outcome="promise", agent_name="scripted", request={}
    )
    PolledPromise.objects.create(run=run, entry_seq=1, token="t", status=status, polling_seconds=60)
    assert status_label(run) == label
    check = Run(state="completed", outcome="promise", kind="check")
    assert status_label(check) == "Promised"


@pytest.mark.parametrize(("entries", "label"), [(0, "Complete but empty"), (1, "Complete")])
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
    assert (metrics.results, metrics.events, metrics.size) == (2, 4, "2.0 KB")
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
