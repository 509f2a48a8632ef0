"""Evaluation of a step: collects its response, and checks expectations and captures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.engine import tasks
from playground.engine.collection_runs.iteration_state import IterationState
from playground.engine.collection_runs.plan import PlannedStep
from playground.engine.request import PreparedRequest
from playground.expectations import StepLimit, capture, evaluate
from playground.models import Run, RunState, Step
from playground.models.collection_runs import INTERRUPTED_REASON
from playground.protocols.events import Elicitation, Event
from playground.protocols.frames import Frame
from playground.protocols.mcp import elicitation
from playground.stored_runs import run_facts

#: Bytes of a response that is evaluated from memory; a longer one is read from the database.
MAX_HELD = 256 * 1024
#: The expectations of a request that has none.
DEFAULT_EXPECTATIONS = [{"type": "state", "equals": "completed"}]

Verdict = Step.Verdict

#: Reasons for a step whose run was stopped, as parts of sentences, by the state of the run.
_STOP_REASONS: dict[str, str] = {
    RunState.CANCELLED: "it was stopped",
    RunState.INTERRUPTED: INTERRUPTED_REASON,
}


class ResponseCollector:
    """The listener of a step's run: keeps a small response, and cancels questions."""

    def __init__(self, run: Run, prepared: PreparedRequest) -> None:
        self._run = run
        self._prepared = prepared
        self._remaining = MAX_HELD
        self._frames: list[Frame] = []

    @property
    def all(self) -> list[Frame] | None:
        """All frames, None where there were too many bytes."""
        return self._frames if self._remaining >= 0 else None

    def __call__(self, frame: Frame, events: Sequence[Event]) -> None:
        self._remaining -= len(frame.data)
        if self._remaining >= 0:
            self._frames.append(frame)
        for event in events:
            if isinstance(event, Elicitation) and event.resume is not None:
                self._cancel_question(event.resume)

    def _cancel_question(self, question: Mapping[str, Any]) -> None:
        """Cancel a question for which a server waits: there is no user to answer it."""
        if elicitation.is_server_request(question):
            resume = elicitation.resume_of(question, elicitation.CANCEL, {})
            if resume is not None:
                sent = self._prepared
                tasks.send_automatic_response(
                    self._run, sent.target, sent.document, sent.redact, resume
                )


def evaluate_step(
    planned: PlannedStep, run: Run, frames: list[Frame] | None, iteration: IterationState
) -> None:
    """Store the verdict on a run in the step's row, and captured values in `iteration`."""
    step, saved = planned.step, planned.saved
    if not run.is_final:  # Ended by another process, or not stored completely.
        run.refresh_from_db()
    step.duration_ms = run.ended_us / 1000 if run.ended_us is not None else None
    if reason := _STOP_REASONS.get(run.state):
        step.end(reason)
        return
    facts = run_facts(run, frames)
    limit = StepLimit()
    evaluated = evaluate(run.expectations or DEFAULT_EXPECTATIONS, facts, limit)
    checks = [each.to_json() for each in evaluated]
    if saved.captures:
        values, problems = capture(saved.captures, facts.document, limit)
        iteration.values.update(values)
        checks += [_failed_capture(problem.pointer[1:], problem.message) for problem in problems]
    step.checks = checks
    step.verdict = Verdict.MET if all(each["met"] for each in checks) else Verdict.UNMET


def _failed_capture(name: str, reason: str) -> dict[str, Any]:
    """Return the failed check of a capture that found nothing."""
    return {
        "expectation": {"capture": name},
        "met": False,
        "wanted": f"a value for “{name}”, used by later requests",
        "actual": reason,
        "value": None,
        "message": f"Failed: a value for “{name}”; actual: {reason}",
    }
