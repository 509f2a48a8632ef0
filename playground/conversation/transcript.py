"""Transcript of a conversation: the turns of the branch that a run is on, and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from playground.conversation.status import is_unanswered, status_label
from playground.elicitation.form import build_form, with_labels
from playground.models import Run, RunKind, RunState
from playground.models.conversations import (
    Turn,
    branch_queries,
    branch_through,
    branch_to,
    turn_of,
)
from playground.protocols.diff.json_values import MISSING, ValueChange, Values
from playground.protocols.events import Elicitation, EntryRef
from playground.protocols.mcp import elicitation
from playground.protocols.nlweb.requests import previous_queries
from playground.stored_runs import event_at
from playground.ui.formatting import value_text

if TYPE_CHECKING:
    from playground.conversation.thread import Thread

#: Rows before and after the chosen turn that a page shows; the others are fetched.
WINDOW = 20
#: Characters of a value in a change.
MAX_VALUE = 160
_VERBS: Mapping[str, str] = {
    elicitation.ACCEPT: "Answered",
    elicitation.DECLINE: "Declined",
    elicitation.CANCEL: "Dismissed",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A member that differs between two JSON values."""

    #: `added`, `changed` or `dropped`.
    kind: str
    #: JSON pointer (RFC 6901) of the member.
    pointer: str
    #: Values as text; "" if there was none, or is none now.
    before: str = ""
    after: str = ""

    @property
    def sign(self) -> str:
        return {"added": "+", "dropped": "−"}.get(self.kind, "±")


def change_of(found: ValueChange) -> Change:
    if found.left is MISSING:
        return Change("added", found.pointer, after=_shown(found.right))
    if found.right is MISSING:
        return Change("dropped", found.pointer, before=_shown(found.left))
    return Change("changed", found.pointer, _shown(found.left), _shown(found.right))


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"“{value_text(value, MAX_VALUE)}”"
    return value_text(value, MAX_VALUE) or ("[]" if isinstance(value, list) else "{}")


@dataclass(frozen=True)
class TranscriptRow:
    """A turn as a row of the transcript."""

    turn: Turn
    #: The run of the row before, None for the first one.
    before: Run | None = None
    #: Whether it is the chosen turn, whose response the page shows.
    is_chosen: bool = False

    @property
    def run(self) -> Run:
        return self.turn.run

    @property
    def number(self) -> int:
        """Return its number in the branch, from 1."""
        return self.turn.number

    @property
    def agent_name(self) -> str:
        """Return the name of its agent, "" where that is the agent of the turn before."""
        name = self.run.agent_name
        return "" if self.before and self.before.agent_name == name else name

    @cached_property
    def difference(self) -> Change | None:
        """Return the first difference from the request before, where its text does not tell.

        That is: where the text is empty, or the same as that of the turn before.
        """
        if self.before is None or (self.run.text and self.run.text != self.before.text):
            return None
        found = Values(by_place=True).changes(self.before.request, self.run.request)
        # Every follow-up changes these.
        carried = (*self.run.spec.carried, "/context/@type")
        own = (each for each in found if not each.pointer.startswith(carried))
        return next(map(change_of, own), None)

    @property
    def branch_number(self) -> int:
        """Return its position among the turns that follow the turn before, from 1."""
        return list(self.turn.siblings).index(self.run.pk) + 1

    @property
    def previous_branch(self) -> str:
        """Return the URL of the branch before, "" for the first one."""
        return self._branch(-1)

    @property
    def next_branch(self) -> str:
        """Return the URL of the branch after, "" for the last one."""
        return self._branch(1)

    def _branch(self, step: int) -> str:
        at = self.branch_number - 1 + step
        known = self.turn.siblings
        return reverse("run", args=[known[at]]) if 0 <= at < len(known) else ""


@dataclass(frozen=True)
class Transcript:
    """The conversation around a run: its branch, with the chosen turn."""

    run: Run
    rows: Sequence[TranscriptRow]
    #: Index of the chosen row.
    at: int

    @property
    def current(self) -> TranscriptRow:
        """Return the turn that the run is, or belongs to."""
        return self.rows[self.at]

    @property
    def to_current(self) -> Sequence[TranscriptRow]:
        """Return the turns up to that of the run, oldest first."""
        return self.rows[: self.at + 1]

    @property
    def last(self) -> TranscriptRow:
        return self.rows[-1]

    @property
    def hidden_earlier(self) -> Sequence[TranscriptRow]:
        return self.rows[: max(0, self.at - WINDOW)]

    @property
    def shown_earlier(self) -> Sequence[TranscriptRow]:
        return self.rows[max(0, self.at - WINDOW) : self.at]

    @property
    def shown_later(self) -> Sequence[TranscriptRow]:
        return self.rows[self.at + 1 : self.at + 1 + WINDOW]

    @property
    def hidden_later(self) -> Sequence[TranscriptRow]:
        return self.rows[self.at + 1 + WINDOW :]

    @property
    def owner(self) -> Run | None:
        """Return the turn that a child run belongs to; None if the run is a turn."""
        return None if self.run.is_turn else self.current.run

    @property
    def offers_follow_up(self) -> bool:
        """Return whether the page has a form for a follow-up while the last turn is in progress."""
        return self.owner is None and self.last.run.can_be_continued

    @property
    def follow_up_label(self) -> str:
        """Return what the form asks; it names the last turn where that is not the chosen one."""
        return "a follow-up" + ("" if self.last.is_chosen else f" to turn {self.last.number}")

    @property
    def can_be_continued(self) -> bool:
        """Return whether a follow-up can be asked: not after a turn that reached no agent."""
        return self.offers_follow_up and not is_unanswered(self.last.run)

    @property
    def queries(self) -> list[str]:
        """Return the previous queries of the next request (`context.prev`, NLWeb 3.2)."""
        return previous_queries(branch_queries([row.turn for row in self.rows]))

    @property
    def omitted(self) -> str:
        """Return a sentence about previous queries that the next request omits, "" if none."""
        last = self.last.run
        return last.spec.omitted_previous(last.request, self.queries)


def transcript_of(run: Run, *, onward: bool = True) -> Transcript:
    """Return the transcript of the branch that `run` is on; without `onward`, up to its turn."""
    chosen = turn_of(run).pk
    turns = branch_through(run) if onward else branch_to(run)
    before = [None, *(turn.run for turn in turns)]
    rows = [
        TranscriptRow(turn, previous, turn.run.pk == chosen)
        for turn, previous in zip(turns, before, strict=False)
    ]
    at = next(number for number, row in enumerate(rows) if row.is_chosen)
    return Transcript(run, rows, at)


# What a turn answered


def answers(run: Run) -> list[tuple[str, str]]:
    """Return the answers of a turn as (question id, value as text); options by their labels.

    Empty for a turn that asked.
    """
    shown = _with_labels(run, run.answers or {}).items()
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


def declined(run: Run) -> str:
    """Return "Declined" or "Dismissed" if a turn answered a question that way, else ""."""
    action = elicitation.action_of(run.resume)
    return "" if action == elicitation.ACCEPT else _VERBS.get(action, "")


def answer_verb(run: Run) -> str:
    """Return what a turn did with the question that it follows, as a past participle."""
    verb = _VERBS.get(elicitation.action_of(run.resume))
    return verb or ("Answered" if run.answers else "Continued")


def undelivered(run: Run) -> str:
    """Return why the answer of a turn did not arrive, "" if it did or is in progress."""
    if not run.is_final or run.state == RunState.COMPLETED:
        return ""
    cause = (run.problem or {}).get("cause")
    return value_text(cause, 500) or f"Answer: {status_label(run).lower()}."


def child_runs(thread: Thread, ref: EntryRef) -> dict[str, Any]:
    """Return the turns that answered or followed an entry, and the responses in mid-call."""
    return {
        "answers": thread.runs_at(ref, RunKind.ASK, RunKind.ANSWER),
        "client_responses": thread.runs_at(ref, RunKind.CLIENT_RESPONSE),
    }
