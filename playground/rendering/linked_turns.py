"""Turns as they are linked from elsewhere: what they asked or answered, and how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playground.models import Run, RunState
from playground.protocols.mcp import elicitation
from playground.rendering.run_status import status_label
from playground.rendering.words import value_text

_VERBS: Mapping[str, str] = {
    elicitation.ACCEPT: "Answered",
    elicitation.DECLINE: "Declined",
    elicitation.CANCEL: "Dismissed",
}


@dataclass(frozen=True, slots=True)
class LinkedTurn:
    """A turn that is not the one that is shown."""

    run: Run

    @property
    def answered(self) -> list[tuple[str, str]]:
        """What it answered, as (question id, value in words); empty for one that asked."""
        return answer_values(self.run)

    @property
    def verb(self) -> str:
        """What was done with the question."""
        if verb := _VERBS.get(elicitation.action_of(self.run.resume)):
            return verb
        return "Answered" if self.answered else "Followed"

    @property
    def failed(self) -> str:
        """Why the answer did not arrive, "" where it did or is under way."""
        if not self.run.is_final or self.run.state == RunState.COMPLETED:
            return ""
        problem = self.run.problem if isinstance(self.run.problem, Mapping) else {}
        return (
            value_text(problem.get("cause"), 500) or f"The answer was {self.status_label.lower()}."
        )

    @property
    def label(self) -> str:
        """What it answered or asked, in a line."""
        said = ", ".join(f"{name}: {value}" for name, value in self.answered)
        return said or self.run.text or "(no text)"

    @property
    def status_label(self) -> str:
        """How it stands."""
        return status_label(self.run)


def declined_label(run: Run) -> str:
    """What a turn did with a question instead of answering it; "" for anything else."""
    action = elicitation.action_of(run.resume)
    return "" if action == elicitation.ACCEPT else _VERBS.get(action, "")


def answer_values(run: Run) -> list[tuple[str, str]]:
    """What a turn answered, as (question id, value in words)."""
    values = run.answers if isinstance(run.answers, Mapping) else {}
    return [(name, value_text(value, 200) or "(nothing)") for name, value in values.items()]
