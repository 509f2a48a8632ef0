"""Promised tasks: their progress by the clock, and the rows that hold them (section 4.1.2).

A task is not work in progress but a start time: its progress follows from the wall clock, so
that it survives a restart and costs nothing but its row. Rows are shared by everyone who uses
the demo and bounded: the oldest are deleted.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from asgiref.sync import sync_to_async

from playground.demo import languages
from playground.demo.failures import FailureError
from playground.demo.languages import Language
from playground.demo.models import PromisedTask, prune
from playground.demo.requests import AskRequest

#: Seconds that a meal plan takes at pace 1.
SECONDS = 10.0
#: Rows that are kept.
TASKS = 256
#: Characters of a stored request.
_MAX_REQUEST = 20_000
_TOKEN = re.compile(r"[\w-]{1,80}", re.ASCII)
_FIRST_STAGE = (0.0, "Checking your preferences…")
#: (least progress, message) of each stage, by script.
STAGES: dict[str, Sequence[tuple[float, str]]] = {
    "plan": (
        _FIRST_STAGE,
        (0.25, "Choosing breakfasts, lunches and dinners…"),
        (0.6, "Balancing the week…"),
        (0.8, "Writing the shopping list…"),
    ),
    "failing": (
        _FIRST_STAGE,
        (0.25, "Choosing breakfasts, lunches and dinners…"),
        (0.6, "Retrying: a recipe is missing…"),
    ),
}

now = time.time


@dataclass(frozen=True, slots=True)
class PromiseRequest:
    """A request that is answered with a promise, before its task is stored."""

    ask: AskRequest
    #: plan ends in an answer, failing in a failure.
    script: str

    @property
    def seconds(self) -> float:
        """Return the seconds that the task will take."""
        return SECONDS * self.ask.pace


@dataclass(frozen=True, slots=True)
class PromisedAnswer:
    """A promised answer: its request, and when its task was started."""

    token: str
    ask: AskRequest
    script: str
    #: Seconds since the epoch.
    started: float
    seconds: float
    cancelled: bool = False

    def progress(self) -> float:
        """Return the progress from 0 to 1; a clock that is set back does not go below 0."""
        if self.seconds <= 0:
            return 1.0
        return min(1.0, max(0.0, (now() - self.started) / self.seconds))

    def describe(self) -> dict[str, object]:
        """Return the `promise` attribute of a response (section 4.1.2)."""
        progress = self.progress()
        message = [text for least, text in STAGES[self.script] if progress >= least][-1]
        return {
            "token": self.token,
            "estimated_time": max(1, round(self.seconds * (1 - progress))),
            "message": languages.say(self.ask.language, message),
            "progress": round(progress, 2),
        }


@sync_to_async
def save_task(request: PromiseRequest) -> PromisedAnswer:
    """Start a task. Raise `FailureError` TOKEN_LIMIT for a request too large to store."""
    ask = request.ask
    stored = {
        "version": ask.version,
        "text": ask.text,
        "filters": ask.filters,
        "context": ask.context,
        "session": ask.session,
        "answers": ask.answers,
        "response_format": ask.response_format,
        "modes": sorted(ask.modes),
        "language": asdict(ask.language),
    }
    text = json.dumps(stored)
    if len(text) > _MAX_REQUEST:
        raise FailureError("TOKEN_LIMIT", "The request is too large to store.")
    row = PromisedTask.objects.create(
        token=f"promise_{secrets.token_urlsafe(12)}",
        ask=text,
        script=request.script,
        started=now(),
        seconds=request.seconds,
    )
    prune(PromisedTask.objects.all(), TASKS)
    return _answer_of(row)


@sync_to_async
def task(token: str) -> PromisedAnswer:
    """Return the task of a token. Raise `FailureError` INVALID_QUERY for an unknown token."""
    return _answer_of(_row_of(token))


@sync_to_async
def cancel(token: str) -> PromisedAnswer:
    """Cancel a task and return it; a finished one stays finished. Raise `FailureError`."""
    row = _row_of(token)
    if _answer_of(row).progress() < 1:
        row.cancelled = True
        row.save(update_fields=["cancelled"])
    return _answer_of(row)


def _row_of(token: str) -> PromisedTask:
    found = PromisedTask.objects.filter(token=token).first() if _TOKEN.fullmatch(token) else None
    if found is None:
        raise FailureError("INVALID_QUERY", "Unknown promise_token.")
    return found


def _answer_of(row: PromisedTask) -> PromisedAnswer:
    stored = json.loads(row.ask)
    # Tasks of earlier versions of the demo have no language.
    language = Language(**stored.get("language", {}))
    ask = AskRequest(**{**stored, "modes": frozenset(stored["modes"]), "language": language})
    return PromisedAnswer(row.token, ask, row.script, row.started, row.seconds, row.cancelled)
