"""Scenarios about promises (sections 4.1.2 and 4.2): each has its own `await`.

A token has the start and the duration of its task, so that nothing is stored. The parameter
`every` is the duration in seconds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import json_response
from playground.demo.scenarios.elicitations import is_answered
from playground.demo.scenarios.scenario import (
    Scenario,
    ScenarioRequest,
    dish,
    document,
    failed,
    respond,
)

_SECONDS = 6.0
_YEAR = 31_536_000
_SALTY = {
    "text": "Nearly there.",
    "questions": [{"id": "salty", "text": "Is it salty enough?", "type": "boolean"}],
}
_TOKEN = re.compile(r"promise_(\d{1,15})_(\d{1,8})", re.ASCII)

now = time.time


def _answer() -> HttpResponseBase:
    return json_response(document("answer", results=[dish(0), dish(1)]))


def _fail() -> HttpResponseBase:
    return failed(FailureError("INTERNAL_ERROR", "The kitchen burned down halfway through."))


def _ask() -> HttpResponseBase:
    return json_response(document("elicitation", elicitation=_SALTY))


def _back_and_forth(done: float) -> float:
    return (0.3, 0.6, 0.2, 0.8)[min(3, int(done * 4))]


@dataclass(frozen=True, slots=True)
class TaskScript:
    """The progress and the end of a promise."""

    end: Callable[[], HttpResponseBase] = _answer
    #: The reported progress, by the actual progress from 0 to 1.
    progress: Callable[[float], Any] = lambda done: round(done, 2)
    status: int = 202
    has_token: bool = True
    #: The reported time; None for the actual one.
    estimated_time: int | None = None
    cancels: bool = True

    def describe(self, started: float, seconds: float) -> HttpResponseBase:
        left = max(0.0, started + seconds - now())
        promise: dict[str, Any] = {
            "estimated_time": self.estimated_time or max(1, round(left)),
            "message": "It is in the oven.",
            "progress": self.progress(1 - left / seconds if seconds else 1),
        }
        if self.has_token:
            promise["token"] = f"promise_{round(started * 1000)}_{round(seconds * 1000)}"
        return json_response(document("promise", promise=promise), self.status)

    async def play(self, request: ScenarioRequest) -> HttpResponseBase:
        """Return a promise, or an answer if the request answers its question."""
        if self.end is _ask and is_answered(request.document, _SALTY):
            return await respond(request, dish(0), dish(1))
        return self.describe(now(), request.pause(_SECONDS))

    async def await_(self, request: ScenarioRequest) -> HttpResponseBase:
        """Return the response to `await`: the promise with its progress, or its end."""
        token, action = request.document.get("promise_token"), request.document.get("action")
        if action not in ("checkin", "cancel"):
            raise invalid_parameter("action", action, "checkin | cancel", "'checkin' or 'cancel'")
        if not (match := _TOKEN.fullmatch(str(token))):
            raise FailureError("INVALID_QUERY", "Unknown promise_token.")
        if action == "cancel" and self.cancels:
            raise FailureError("CANCELLED")
        started, seconds = int(match[1]) / 1000, int(match[2]) / 1000
        if now() < started + seconds:
            return self.describe(started, seconds)
        return self.end()


def _row(
    slug: str, title: str, description: str, demonstrates: str, script: TaskScript
) -> Scenario:
    return Scenario(
        slug, title, description, demonstrates, script.play, outcome="promise", await_=script.await_
    )


ROWS = (
    _row("promise-fails", "Failing promise", "A promise that fails with INTERNAL_ERROR after six"
         " seconds (change with ?every=).", "The progress is shown, then the agent's error.",
         TaskScript(_fail)),
    _row("promise-back", "Decreasing progress", "A promise whose progress is 0.3, 0.6, 0.2, 0.8.",
         "The progress is shown, with a note that it decreased.",
         TaskScript(progress=_back_and_forth)),
    _row("promise-stubborn", "Promise that ignores cancel", "A promise that responds to cancel"
         " with its progress and continues.", "A note says that the task was not cancelled.",
         TaskScript(cancels=False)),
    _row("promise-200", "Promise with status 200", "A promise with the status of an answer: 200"
         " instead of 202.", "The progress is shown, as for any promise.", TaskScript(status=200)),
    _row("promise-asks", "Promise that ends in a question", "A promise that becomes an"
         " elicitation.", "The progress is shown, then the form.", TaskScript(_ask)),
    _row("promise-no-token", "Promise without a token", "A promise that cannot be polled.",
         "The promise is shown, with a note that it cannot be polled.",
         TaskScript(has_token=False)),
    _row("promise-progress-7", "Progress 7", "A promise whose progress is always 7.",
         "The promise is shown without a progress bar, with the value received.",
         TaskScript(progress=lambda done: 7)),
    _row("promise-half", "Progress “half”", "A promise whose progress is a string.",
         "The promise is shown without a progress bar, with the value received.",
         TaskScript(progress=lambda done: "half")),
    _row("promise-year", "Estimate of a year", "A promise with an estimated time of one year that"
         " takes six seconds.", "The promise is polled long before the year is over.",
         TaskScript(estimated_time=_YEAR)),
)  # fmt: skip
