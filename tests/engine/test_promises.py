"""What becomes of a promise: when to ask next, and what a reply makes of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.engine.promises import Reply, schedule, take_in
from playground.models import Run, RunKind, RunState, Tracker, TrackerStatus
from playground.protocols.events import Outcome

pytestmark = pytest.mark.database


def tracker(**fields: Any) -> Tracker:
    return Tracker(seq=1, token="p1", patience=900, **fields)


@pytest.mark.parametrize(
    ("asked", "seconds"), [(0.0, 1), (7.0, 7), (3600.0, 900), (1e12, 900), (1e18, 900)]
)
def test_an_agent_asks_to_wait(asked: float, seconds: float) -> None:
    """Within reason: not at once again and again, and not beyond the end of following."""
    followed = tracker()
    schedule(followed, asked)
    assert followed.next_at is not None
    wait = (followed.next_at - followed.started_at).total_seconds()
    assert wait == pytest.approx(seconds, abs=0.5)


def test_a_promise_that_is_followed_no_longer() -> None:
    old = tracker(started_at=timezone.now() - timedelta(seconds=901))
    schedule(old, 5.0)
    assert (old.status, old.next_at) == (TrackerStatus.GAVE_UP, None)


@pytest.mark.parametrize(
    ("kind", "words"),
    [(RunKind.CHECK, "The last check did not work"),
     (RunKind.CANCEL, "The cancellation did not work")],
)  # fmt: skip
def test_what_went_wrong_is_said_of_what_was_sent(kind: RunKind, words: str) -> None:
    followed = tracker()
    problem = {"cause": "The agent said a\0b."}
    run = Run(kind=kind, state=RunState.FAILED, outcome=Outcome.NONE, problem=problem)
    take_in(followed, Reply(run))
    assert followed.note == f"{words}: The agent said a\ufffdb."


def test_a_check_that_was_stopped_leaves_a_cancellation_alone() -> None:
    followed = tracker(status=TrackerStatus.PAUSED, cancelling=True)
    take_in(followed, Reply(Run(kind=RunKind.CHECK, state=RunState.CANCELLED)))
    assert (followed.status, followed.cancelling) == (TrackerStatus.PAUSED, True)
    take_in(followed, Reply(Run(kind=RunKind.CANCEL, state=RunState.CANCELLED)))
    assert (followed.status, followed.cancelling) == (TrackerStatus.PAUSED, False)
