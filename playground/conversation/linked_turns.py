"""Linked turns: label, answers and status of a turn that another page links to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from playground.conversation.entry_runs import EntryRuns
from playground.conversation.status import status_label
from playground.elicitation import build_form, with_labels
from playground.models import Run, RunKind, RunState
from playground.protocols.events import Elicitation, EntryRef
from playground.protocols.mcp import elicitation
from playground.stored_runs import event_at
from playground.ui.formatting import value_text

_VERBS: Mapping[str, str] = {
    elicitation.ACCEPT: "Answered",
    elicitation.DECLINE: "Declined",
    elicitation.CANCEL: "Dismissed",
}


@dataclass(frozen=True)
class LinkedTurn:
    """A turn other than the one that is shown."""

    run: Run

    @cached_property
    def answered(self) -> list[tuple[str, str]]:
        """Return its answers as (question id, value as text); empty for a turn that asked."""
        return answer_values(self.run)

    @property
    def verb(self) -> str:
        """Return what the turn did with the question, as a past participle."""
        if verb := _VERBS.get(elicitation.action_of(self.run.resume)):
            return verb
        return "Answered" if self.answered else "Continued"

    @property
    def failed(self) -> str:
        """Return why the answer did not arrive, "" if it did or is in progress."""
        if not self.run.is_final or self.run.state == RunState.COMPLETED:
            return ""
        problem = self.run.problem if isinstance(self.run.problem, Mapping) else {}
        return value_text(problem.get("cause"), 500) or f"Answer: {self.status_label.lower()}."

    @property
    def label(self) -> str:
        """Return its answers or its text in one line."""
        answers = ", ".join(f"{name}: {value}" for name, value in self.answered)
        return answers or self.run.text or "(no text)"

    @property
    def status_label(self) -> str:
        return status_label(self.run)


def declined_label(run: Run) -> str:
    """Return "Declined" or "Dismissed" if a turn answered a question that way, else ""."""
    action = elicitation.action_of(run.resume)
    return "" if action == elicitation.ACCEPT else _VERBS.get(action, "")


def answer_values(run: Run) -> list[tuple[str, str]]:
    """Return the answers of a turn as (question id, value as text); options by their labels."""
    values = run.answers if isinstance(run.answers, Mapping) else {}
    shown = _with_labels(run, values).items()
    return [(name, value_text(value, 200) or "(nothing)") for name, value in shown]


def _with_labels(run: Run, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return answers with the labels of options, which are in the question that was answered.

    Only bindings have labels (MCP), so that most questions need not be read.
    """
    if not values or run.resume is None or run.parent is None or run.parent_entry is None:
        return values
    question = event_at(run.parent, run.parent_entry)
    return (
        with_labels(build_form(question), values) if isinstance(question, Elicitation) else values
    )


def child_runs(thread: EntryRuns, ref: EntryRef) -> dict[str, Any]:
    """Return the turns that answered or followed an entry, and the responses in mid-call."""
    responses = thread.runs_at(ref, RunKind.CLIENT_RESPONSE)
    return {
        "answers": thread.runs_at(ref, RunKind.ASK, RunKind.ANSWER),
        "client_responses": [LinkedTurn(run) for run in responses],
    }
