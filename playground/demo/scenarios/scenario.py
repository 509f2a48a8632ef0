"""One scripted agent: a row of the table of scenarios."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError
from playground.demo.scenarios.scene import ScenarioRequest

Play = Callable[[ScenarioRequest], Awaitable[HttpResponseBase]]


async def await_unknown(scene: ScenarioRequest) -> HttpResponseBase:
    """What `await` gets from a scenario that has promised nothing (section 4.2)."""
    raise FailureError("INVALID_QUERY", "This scenario has promised nothing.")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table."""

    slug: str
    title: str
    #: What the agent does.
    description: str
    #: What the playground makes of it.
    demonstrates: str
    #: How a run ends that nobody stops, in the words of the playground.
    state: str
    outcome: str
    play: Play
    #: Its `await`.
    await_: Play = await_unknown
