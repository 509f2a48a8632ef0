"""The runs that came of a run, placed on its time axis."""

from __future__ import annotations

from datetime import datetime

from playground.models import Run, RunKind
from playground.rendering.bar import word_of
from playground.rendering.thread import Thread
from playground.rendering.timeline import Span


def spans_of(run: Run) -> list[Span]:
    """The checks, cancellations and actions that came of a run, oldest first."""
    return [
        Span(
            label=_label(child),
            state=child.state,
            word=word_of(child),
            start=(start := since(run, child.started_at or child.created_at)),
            end=_end(child, start),
            url=child.get_absolute_url(),
            apart=child.kind == RunKind.ACTION,
        )
        for child in sorted(Thread(run).work, key=lambda child: child.created_at)
    ]


def since(run: Run, moment: datetime) -> int:
    """Microseconds from the first call of a run to a moment."""
    began = run.started_at or run.created_at
    return max(0, round((moment - began).total_seconds() * 1_000_000))


def _end(child: Run, start: int) -> int | None:
    if child.ended_us is not None:
        return start + child.ended_us
    # One that was refused, or broken off, has taken no time that anybody measured.
    return start if child.is_final else None


def _label(child: Run) -> str:
    if child.kind == RunKind.ACTION and child.text:
        return f"Action {child.text}"
    return str(RunKind(child.kind).label)
