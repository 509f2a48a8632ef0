"""Tasks that take a while: made in answer to an ask, looked at and cancelled with await.

A task is not work going on somewhere but a start time: how far it has come follows from the
clock on the wall, so it goes on through a restart and costs nothing but its row.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from playground.demo.requests import AskRequest

#: How long a meal plan takes, in seconds, at pace 1.
SECONDS = 10.0
_LOOKING = (0.0, "Looking at what you like to eat…")
_STAGES: dict[str, Sequence[tuple[float, str]]] = {
    "plan": (
        _LOOKING,
        (0.25, "Choosing breakfasts, lunches and dinners…"),
        (0.6, "Balancing the week…"),
        (0.8, "Writing the shopping list…"),
    ),
    "failing": (
        _LOOKING,
        (0.25, "Choosing breakfasts, lunches and dinners…"),
        (0.6, "The cellar is empty, looking again…"),
    ),
}

now = time.time


@dataclass(frozen=True, slots=True)
class PromiseRequest:
    """A promise to be made: what it is for, and what will become of it."""

    ask: AskRequest
    #: plan ends in an answer, failing in a failure.
    plot: str

    @property
    def seconds(self) -> float:
        """How long it will take."""
        return SECONDS * self.ask.pace


@dataclass(frozen=True, slots=True)
class PromisedAnswer:
    """One promised answer: what was asked, and since when it has been in the making."""

    token: str
    ask: AskRequest
    plot: str
    #: Seconds since the epoch.
    started: float
    seconds: float
    cancelled: bool = False

    def progress(self) -> float:
        """How far it has come, from 0 to 1. A clock that is set back does not go below 0."""
        if self.seconds <= 0:
            return 1.0
        return min(1.0, max(0.0, (now() - self.started) / self.seconds))

    def describe(self) -> dict[str, object]:
        """The `promise` attribute of a reply (section 4.1.2)."""
        progress = self.progress()
        message = [text for least, text in _STAGES[self.plot] if progress >= least][-1]
        return {
            "token": self.token,
            "estimated_time": max(1, round(self.seconds * (1 - progress))),
            "message": message,
            "progress": round(progress, 2),
        }
