"""Transcript of a conversation: the turns of the branch that a run is on, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from django.urls import reverse

from playground.conversation.linked_turns import answer_values, declined_label
from playground.conversation.session import Change, change_of
from playground.conversation.status import RunMetrics, is_unanswered, run_metrics, status_label
from playground.models import Run
from playground.models.conversations import (
    Turn,
    branch_queries,
    branch_through,
    branch_to,
    turn_of,
)
from playground.protocols import registry
from playground.protocols.diff.json_values import Values
from playground.protocols.nlweb.requests import previous_queries
from playground.ui.formatting import ago

#: Rows before and after the chosen turn that a page shows; the others are fetched.
WINDOW = 20
#: Members of a request that every follow-up changes.
_CONVERSATION_STATE = (
    "/context/prev",
    "/context/@type",
    "/meta/session_context",
    "/session_id",
    "/response_id",
)


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
    def status_label(self) -> str:
        return status_label(self.run)

    @cached_property
    def metrics(self) -> RunMetrics:
        return run_metrics(self.run)

    @property
    def ago(self) -> str:
        return ago(self.run.created_at)

    @property
    def agent_name(self) -> str:
        """Return the name of its agent, "" where that is the agent of the turn before."""
        name = self.run.agent_name
        return "" if self.before and self.before.agent_name == name else name

    @cached_property
    def answered(self) -> list[tuple[str, str]]:
        """Return its answers, empty for a turn that asked."""
        return answer_values(self.run)

    @property
    def declined(self) -> str:
        """Return "Declined" or "Dismissed" if it answered a question that way, else ""."""
        return declined_label(self.run)

    @cached_property
    def difference(self) -> Change | None:
        """Return the first difference from the request before, where its text does not tell.

        That is: where the text is empty, or the same as that of the turn before.
        """
        if self.before is None or (self.run.text and self.run.text != self.before.text):
            return None
        found = Values(by_place=True).changes(self.before.request, self.run.request)
        return next(
            (change_of(each) for each in found if not each.pointer.startswith(_CONVERSATION_STATE)),
            None,
        )

    @property
    def branch_number(self) -> int:
        """Return its position among the turns that follow the turn before, from 1."""
        return list(self.turn.siblings).index(self.run.pk) + 1

    @property
    def branches(self) -> int:
        """Return the number of turns that follow the turn before, including itself."""
        return len(self.turn.siblings)

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
    def earlier(self) -> Sequence[TranscriptRow]:
        """Return the turns before that of the run, oldest first."""
        return self.rows[: self.at]

    @property
    def to_current(self) -> Sequence[TranscriptRow]:
        """Return the turns up to that of the run, oldest first."""
        return self.rows[: self.at + 1]

    @property
    def later(self) -> Sequence[TranscriptRow]:
        """Return the turns after that of the run, oldest first."""
        return self.rows[self.at + 1 :]

    @property
    def last(self) -> TranscriptRow:
        return self.rows[-1]

    @property
    def shown_earlier(self) -> Sequence[TranscriptRow]:
        return self.earlier[-WINDOW:]

    @property
    def hidden_earlier(self) -> int:
        return len(self.earlier) - len(self.shown_earlier)

    @property
    def shown_later(self) -> Sequence[TranscriptRow]:
        return self.later[:WINDOW]

    @property
    def hidden_later(self) -> int:
        return len(self.later) - len(self.shown_later)

    @property
    def owner(self) -> Run | None:
        """Return the turn that a child run belongs to; None if the run is a turn."""
        return None if self.run.is_turn else self.current.run

    @property
    def offers_follow_up(self) -> bool:
        """Return whether the page has a form for a follow-up while the last turn is in progress."""
        return self.owner is None and self.last.run.can_be_continued

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
        return registry.omitted_previous(last.protocol, last.request, self.queries)


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
