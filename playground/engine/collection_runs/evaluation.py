"""What came back for one step: listened to while it comes in, and judged when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.engine import tasks
from playground.engine.collection_runs.iteration import IterationState
from playground.engine.collection_runs.plan import PlannedStep
from playground.engine.request import PreparedRequest
from playground.expectations import capture, evaluate
from playground.models import Run, RunState, Step
from playground.observing import run_facts
from playground.protocols.events import Elicitation, Event
from playground.protocols.frames import Frame
from playground.protocols.mcp import elicitation

#: Bytes of a reply that is judged from memory; a longer one is read again from the database.
MAX_HELD = 256 * 1024
#: What a request is held to that says nothing of its own.
DEFAULT_EXPECTATIONS = [{"type": "state", "equals": "completed"}]

Verdict = Step.Verdict


class ResponseCollector:
    """What comes in of a run: kept as long as it is little, and cancelled where it asks."""

    def __init__(self, run: Run, prepared: PreparedRequest) -> None:
        self._run = run
        self._prepared = prepared
        self._left = MAX_HELD
        self._frames: list[Frame] = []

    @property
    def all(self) -> list[Frame] | None:
        """Every frame, None where there were too many to be held."""
        return self._frames if self._left >= 0 else None

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        """Take note of a frame."""
        self._left -= len(frame.data)
        if self._left >= 0:
            self._frames.append(frame)
        for event in events:
            if isinstance(event, Elicitation) and event.resume is not None:
                self._answer(event.resume)

    def _answer(self, reply: Mapping[str, Any]) -> None:
        """Cancel a question that a server waits with: nobody is there to answer it."""
        if reply.get("kind") == elicitation.RESPONSE:
            resume = elicitation.resume_of(reply, elicitation.CANCEL, {})
            if resume is not None:
                sent = self._prepared
                tasks.send_errand(self._run, sent.target, resume, sent.wire_document, sent.redact)


def evaluate_step(
    planned: PlannedStep, run: Run, frames: list[Frame] | None, carried: IterationState
) -> None:
    """Say in the step's row what became of the run, and take from it what is captured."""
    step, saved = planned.step, planned.saved
    if not run.is_final:  # Ended by somebody else, or not stored to its end.
        run.refresh_from_db()
    step.duration_ms = run.ended_us / 1000 if run.ended_us is not None else None
    if run.state == RunState.CANCELLED:
        step.end("it was stopped")
        return
    observed = run_facts(run, frames)
    checks = [
        each.to_json() for each in evaluate(run.expectations or DEFAULT_EXPECTATIONS, observed)
    ]
    if saved.captures:
        values, problems = capture(saved.captures, observed.document)
        carried.values.update(values)
        checks += [_missing(problem.pointer[1:], problem.message) for problem in problems]
    step.checks = checks
    step.verdict = Verdict.MET if all(each["met"] for each in checks) else Verdict.UNMET


def _missing(name: str, why: str) -> dict[str, Any]:
    """A capture that found nothing, in the shape of a check."""
    return {
        "expectation": {"capture": name},
        "met": False,
        "wanted": f"a value for “{name}”, for the requests that follow",
        "actual": why,
        "value": None,
        "message": f"Not met: a value for “{name}”; it was: {why}",
    }
