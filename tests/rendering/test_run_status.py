"""The words and figures of the sticky bar."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from playground.models import PolledPromise, Run, RunState
from playground.protocols.events import Outcome
from playground.rendering.run_status import ago, milliseconds, run_metrics, size, status_label

#: What the badge says of a run with three results; of a completed one the outcome says it.
WORDS = {
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
@pytest.mark.parametrize(("state", "outcome"), WORDS)
def test_every_state_and_outcome_has_its_word(state: RunState, outcome: Outcome) -> None:
    run = Run(state=state.value, outcome=outcome.value, results=3, entries=3)
    assert status_label(run) == WORDS[state, outcome]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("polling", "Promised"),
        ("paused", "Promised"),
        ("fulfilled", "Promise kept"),
        ("cancelled", "Task cancelled"),
        ("failed", "Promise failed"),
        ("timed_out", "Promise given up"),
    ],
)
def test_what_became_of_a_promise(status: str, word: str) -> None:
    run = Run.objects.create(
        state="completed", outcome="promise", agent_name="scripted", request={}
    )
    PolledPromise.objects.create(run=run, entry_seq=1, token="t", status=status, polling_seconds=60)
    assert status_label(run) == word
    check = Run(state="completed", outcome="promise", kind="check")
    assert status_label(check) == "Promised"


@pytest.mark.parametrize(("entries", "word"), [(0, "Complete but empty"), (1, "Complete")])
def test_an_answer_may_be_empty(entries: int, word: str) -> None:
    """A summary or a text is an answer, too."""
    run = Run(state="completed", outcome="answer", results=0, events=3, entries=entries)
    assert status_label(run) == word


def test_figures_of_a_run_that_ended() -> None:
    run = Run(
        state="completed", outcome="answer", results=2, events=4, bytes=2048,
        first_event_us=84_400, ended_us=1_234_000, started_at=timezone.now(),
    )  # fmt: skip
    bar = run_metrics(run)
    assert (bar.results, bar.events, bar.size) == (2, 4, "2.0 KB")
    assert (bar.first, bar.elapsed, bar.ticking_ms) == ("84 ms", "1.2 s", None)


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
    ("value", "text"),
    [
        (0, "0.0 ms"), (9.94, "9.9 ms"), (84.4, "84 ms"), (999, "999 ms"), (1000, "1.0 s"),
        (59_900, "59.9 s"), (60_000, "1 min 00 s"), (185_400, "3 min 05 s"),
    ],
)  # fmt: skip
def test_durations(value: float, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (1024**2, "1.0 MB"), (3_500_000, "3.3 MB")],
)
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"), (0, "now"), (59, "now"), (60, "1 min ago"), (3_599, "59 min ago"),
        (3_600, "1 h ago"), (86_399, "23 h ago"), (90_000, "1 d ago"), (10**8, "1157 d ago"),
    ],
)  # fmt: skip
def test_how_long_ago(seconds: int, text: str) -> None:
    assert ago(timezone.now() - timedelta(seconds=seconds)) == text
