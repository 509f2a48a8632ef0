"""Poll intervals, and the result of a poll."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine.promises import (
    PollResult,
    apply_poll_result,
    poll_interval,
    schedule_next_poll,
)
from playground.models import PolledPromise, PollingStatus, Run, RunKind, RunState
from playground.protocols.events import Outcome

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def polled(**fields: Any) -> PolledPromise:
    return PolledPromise(entry_seq=1, token="p1", polling_seconds=900, **fields)


@pytest.mark.parametrize(
    ("estimated", "checks", "least", "most"),
    [
        (None, 0, 2, 2),
        (None, 5, 2, 3),
        (0, 0, 1, 1),
        (12, 0, 2, 2),
        (31_536_000, 0, 30, 30),
        (-5, 0, 2, 2),
        (1, 10, 6, 7),
        (1, 10_000, 30, 30),
    ],
)
def test_the_wait_before_a_check(
    estimated: float | None, checks: int, least: float, most: float
) -> None:
    assert least <= poll_interval(estimated, checks) <= most


@pytest.mark.parametrize(
    ("asked", "seconds"), [(0.0, 1), (7.0, 7), (3600.0, 900), (1e12, 900), (1e18, 900)]
)
def test_an_agent_asks_to_wait(asked: float, seconds: float) -> None:
    """Within reason: not at once again and again, and not beyond the end of following."""
    followed = polled()
    schedule_next_poll(followed, asked)
    assert followed.next_poll_at is not None
    wait = (followed.next_poll_at - followed.started_at).total_seconds()
    assert wait == pytest.approx(seconds, abs=0.5)


@pytest.mark.parametrize(
    ("kind", "words"),
    [(RunKind.POLL, "The last poll failed: {} Attempt 2 of 5 follows."),
     (RunKind.CANCEL, "The cancellation failed: {}")],
)  # fmt: skip
def test_what_went_wrong_is_said_of_what_was_sent(kind: RunKind, words: str) -> None:
    followed = polled()
    problem = {"cause": "The agent said a\0b."}
    run = Run(kind=kind, state=RunState.FAILED, outcome=Outcome.NONE, problem=problem)
    apply_poll_result(followed, PollResult(run))
    assert followed.status_message == words.format("The agent said a\ufffdb.")


def test_a_check_that_was_stopped_leaves_a_cancellation_alone() -> None:
    followed = polled(status=PollingStatus.PAUSED, cancel_requested=True)
    apply_poll_result(followed, PollResult(Run(kind=RunKind.POLL, state=RunState.CANCELLED)))
    assert (followed.status, followed.cancel_requested) == (PollingStatus.PAUSED, True)
    apply_poll_result(followed, PollResult(Run(kind=RunKind.CANCEL, state=RunState.CANCELLED)))
    assert (followed.status, followed.cancel_requested) == (PollingStatus.PAUSED, False)
