"""How far an agent is with a call that is under way, in a line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playground.protocols.events import Progress
from playground.rendering.words import value_text

#: Characters of the agent's words that the bar has room for.
MAX_TEXT = 120


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """The latest word on how far it is."""

    #: Whole percent; None where nobody says what 100 % would be.
    percent: int | None
    text: str


def progress_of(event: Progress | None) -> ProgressLine | None:
    """The line of a progress event, None for none.

    Without a total a number says how much was done and not how far it is (MCP, progress).
    """
    if event is None:
        return None
    percent = None
    done, total = _finite(event.progress), _finite(event.total)
    if done is not None and total and 0 <= done <= total:
        percent = int(done / total * 100)
    said = value_text(event.message, MAX_TEXT)
    if not said and done is not None:
        said = f"{done:g} of {total:g}" if total is not None else f"{done:g} so far"
    return ProgressLine(percent, said)


def _finite(number: float | None) -> float | None:
    """A number that can be written; None for those that JSON has and Python's floats have not."""
    try:
        found = float(number) if number is not None else None
    except OverflowError:
        return None
    return found if found is not None and math.isfinite(found) else None


def progress_text(event: Progress) -> str:
    """A progress event in one line of a list: how far, and what is being done."""
    line = progress_of(event)
    percent = f"{line.percent} %" if line and line.percent is not None else ""
    return " · ".join(filter(None, (percent, line.text if line else "")))
