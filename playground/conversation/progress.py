"""Progress of a call as percent and text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from playground.protocols.events import Progress
from playground.ui.formatting import value_text

#: Characters of the agent's message that the status bar has room for.
MAX_TEXT = 120


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """The latest progress."""

    #: Whole percent; None without a total.
    percent: int | None
    text: str


def progress_of(event: Progress | None) -> ProgressLine | None:
    """Return the line of a progress event, None for None.

    Without a total the number is an amount and no share (MCP, progress).
    """
    if event is None:
        return None
    percent = None
    done, total = _finite(event.progress), _finite(event.total)
    if done is not None and total and 0 <= done <= total:
        percent = int(done / total * 100)
    text = value_text(event.message, MAX_TEXT)
    if not text and done is not None:
        text = f"{done:g} of {total:g}" if total is not None else f"{done:g} done"
    return ProgressLine(percent, text)


def _finite(number: float | None) -> float | None:
    """Return a number as a finite float; None for one that JSON allows and a float does not."""
    try:
        value = float(number) if number is not None else None
    except OverflowError:
        return None
    return value if value is not None and math.isfinite(value) else None


def progress_text(event: Progress) -> str:
    """Return a progress event in one line: percent and message."""
    line = progress_of(event)
    percent = f"{line.percent} %" if line and line.percent is not None else ""
    return " · ".join(filter(None, (percent, line.text if line else "")))
