"""Promises of scenarios (sections 4.1.2 and 4.2).

A token has the start and the duration of its task, so that nothing is stored. The parameter
`every` is the duration in seconds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import json_response
from playground.demo.scenarios.parts import ScenarioRequest, dish, document, respond

_SECONDS = 6.0
_TOKEN = re.compile(r"promise_(\d{1,15})_(\d{1,8})", re.ASCII)

now = time.time


@dataclass(frozen=True, slots=True)
class Promise:
    """The progress and the end of a promise, in the table of scenarios."""

    #: The response at the end.
    end: Mapping[str, Any] = field(
        default_factory=lambda: document("answer", results=[dish(0), dish(1)])
    )
    end_status: int = 200
    #: The reported progress: the actual one, one for each quarter of the time, or always the same.
    progress: Any = None
    status: int = 202
    has_token: bool = True
    #: The reported time; None for the actual one.
    estimated_time: int | None = None
    cancels: bool = True

    def begin(self, request: ScenarioRequest) -> HttpResponseBase:
        """Return the promise, or an answer if the request answers the question at its end."""
        question = self.end.get("elicitation")
        if question and request.answers(question):
            return respond(request, 0, 1)
        return self._describe(now(), request.pause(_SECONDS))

    def follow(self, request: ScenarioRequest) -> HttpResponseBase:
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
            return self._describe(started, seconds)
        return json_response(self.end, self.end_status)

    def _describe(self, started: float, seconds: float) -> HttpResponseBase:
        left = max(0.0, started + seconds - now())
        promise: dict[str, Any] = {
            "estimated_time": self.estimated_time or max(1, round(left)),
            "message": "It is in the oven.",
            "progress": self._progress(1 - left / seconds if seconds else 1),
        }
        if self.has_token:
            promise["token"] = f"promise_{round(started * 1000)}_{round(seconds * 1000)}"
        return json_response(document("promise", promise=promise), self.status)

    def _progress(self, done: float) -> Any:
        if self.progress is None:
            return round(done, 2)
        if isinstance(self.progress, list):
            return self.progress[min(3, int(done * 4))]
        return self.progress
