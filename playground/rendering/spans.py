"""The runs that came of a run, placed on its time axis."""

from __future__ import annotations

from datetime import datetime

from playground.models import Run, RunKind
from playground.rendering.run_status import status_label
from playground.rendering.thread import Thread
from playground.rendering.timeline import ChildSpan


def spans_of(run: Run) -> list[ChildSpan]:
    """The checks, cancellations and actions that came of a run, oldest first."""
    return [
        ChildSpan(
            label=_label(child),
            state=child.state,
            status_label=status_label(child),
            start=(start := microseconds_since(run, child.started_at or child.created_at)),
            end=_end(child, start),
            url=child.get_absolute_url(),
            is_user_started=child.kind == RunKind.ACTION,
        )
        for child in sorted(Thread(run).child_runs, key=lambda child: child.created_at)
    ]


def microseconds_since(run: Run, moment: datetime) -> int:
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
