"""Promised tasks: their progress by the clock, and their storage (section 4.1.2).

A task is not work in progress but a start time: its progress follows from the wall clock, so
that it survives a restart and costs nothing but its stored state.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

from playground.demo import languages, state_store
from playground.demo.failures import FailureError
from playground.demo.languages import Language
from playground.demo.requests import AskRequest

#: Seconds that a meal plan takes at pace 1.
SECONDS = 10.0
_AREA = "promise"
#: Seconds after which a task is lost.
_LIFETIME = 86_400.0
#: Characters of a stored request.
_MAX_REQUEST = 20_000
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


async def save_task(request: PromiseRequest) -> PromisedAnswer:
    """Start a task. Raise `FailureError` TOKEN_LIMIT for a request too large to store."""
    token = f"promise_{secrets.token_urlsafe(12)}"
    task = PromisedAnswer(token, request.ask, request.script, now(), request.seconds)
    await _save(task)
    return task


async def task(token: str) -> PromisedAnswer:
    """Return the task of a token. Raise `FailureError` INVALID_QUERY for an unknown token."""
    state = await state_store.load(_AREA, token, _LIFETIME)
    if state is None:
        raise FailureError("INVALID_QUERY", "Unknown promise_token.")
    ask = state["ask"]
    language, modes = Language(**ask["language"]), frozenset(ask["modes"])
    restored = AskRequest(**{**ask, "language": language, "modes": modes})
    return PromisedAnswer(**{**state, "ask": restored})


async def cancel(token: str) -> PromisedAnswer:
    """Cancel a task and return it; a finished one stays finished. Raise `FailureError`."""
    found = await task(token)
    if found.progress() < 1:
        found = replace(found, cancelled=True)
        await _save(found)
    return found


async def _save(task: PromisedAnswer) -> None:
    # `asdict` would copy the filters by recursion.
    names = {each.name for each in fields(task.ask)} - {"streaming", "pace", "pending"}
    ask = {name: getattr(task.ask, name) for name in names}
    ask |= {"modes": sorted(task.ask.modes), "language": asdict(task.ask.language)}
    state = {each.name: getattr(task, each.name) for each in fields(task)} | {"ask": ask}
    if len(json.dumps(ask)) > _MAX_REQUEST:
        raise FailureError("TOKEN_LIMIT", "The request is too large to store.")
    await state_store.save(_AREA, task.token, state)
