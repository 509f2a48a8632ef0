"""Tasks that take a while: made in answer to an ask, looked at and cancelled with await.

A task is not work going on somewhere but a start time: how far it has come follows from the
clock, so nothing has to be cleaned up and a forgotten task costs a few bytes.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from playground.demo.asking import Ask
from playground.demo.failures import FailureError

#: How long a meal plan takes, in seconds, at pace 1.
SECONDS = 10.0
_KEPT = 256
_STAGES = (
    (0.0, "Looking at what you like to eat…"),
    (0.25, "Choosing breakfasts, lunches and dinners…"),
    (0.6, "Balancing the week…"),
    (0.8, "Writing the shopping list…"),
)


@dataclass(slots=True)
class Task:
    """One promised answer: what was asked, and since when it has been in the making."""

    ask: Ask
    started: float
    seconds: float
    cancelled: bool = False


class Promises:
    """The tasks of this process, the oldest forgotten when there are too many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tasks: OrderedDict[str, Task] = OrderedDict()

    def make(self, ask: Ask) -> str:
        """Start a task and return its token."""
        token = f"promise_{secrets.token_urlsafe(12)}"
        self._tasks[token] = Task(ask, self._clock(), SECONDS * ask.pace)
        while len(self._tasks) > _KEPT:
            self._tasks.popitem(last=False)
        return token

    def task(self, token: str) -> Task:
        """The task of a token. Raises `FailureError`: INVALID_QUERY if there is none."""
        try:
            return self._tasks[token]
        except KeyError:
            raise FailureError("INVALID_QUERY", "No task has this promise_token.") from None

    def cancel(self, token: str) -> None:
        """Cancel a task; one that is done stays done. Raises `FailureError`."""
        task = self.task(token)
        if self.progress(task) < 1:
            task.cancelled = True

    def progress(self, task: Task) -> float:
        """How far a task has come, from 0 to 1."""
        if task.seconds <= 0:
            return 1.0
        return min(1.0, (self._clock() - task.started) / task.seconds)

    def describe(self, token: str) -> dict[str, object]:
        """The `promise` attribute of a reply (section 4.1.2). Raises `FailureError`."""
        task = self.task(token)
        progress = self.progress(task)
        message = [text for least, text in _STAGES if progress >= least][-1]
        return {
            "token": token,
            "estimated_time": max(1, round(task.seconds * (1 - progress))),
            "message": message,
            "progress": round(progress, 2),
        }
