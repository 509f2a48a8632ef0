"""Conversation branch of a run: the turns before it, its siblings and the turns after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from playground.models import Run, RunKind
from playground.models.conversations import Turn, branch_queries, branch_to
from playground.protocols.nlweb.requests import previous_queries
from playground.rendering.formatting import ago
from playground.rendering.linked_turns import LinkedTurn, answer_values, declined_label
from playground.rendering.run_status import status_label

#: Turns that are linked from one place.
MAX_LINKS = 20


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn as a row."""

    turn: Turn
    #: The other turns with the same parent.
    siblings: Sequence[LinkedTurn] = ()

    @property
    def run(self) -> Run:
        """Return the run of the turn."""
        return self.turn.run

    @property
    def number(self) -> int:
        """Return its number in the branch, from 1."""
        return self.turn.number

    @property
    def status_label(self) -> str:
        """Return the status of its run."""
        return status_label(self.run)

    @property
    def ago(self) -> str:
        """Return the time since it was sent."""
        return ago(self.run.created_at)

    @property
    def answered(self) -> list[tuple[str, str]]:
        """Return its answers, empty for a turn that asked."""
        return answer_values(self.run)

    @property
    def refused(self) -> str:
        """Return "Declined" or "Dismissed" if it answered a question that way, else ""."""
        return declined_label(self.run)

    @property
    def branches(self) -> int:
        """Return the number of turns with the same parent, including itself."""
        return self.turn.siblings


@dataclass(frozen=True, slots=True)
class ConversationBranch:
    """The position of a run in its conversation."""

    run: Run
    rows: Sequence[TurnRow]
    #: The turns after the current one, oldest first.
    following: Sequence[LinkedTurn]

    @property
    def earlier(self) -> Sequence[TurnRow]:
        """Return the turns before that of the run, oldest first."""
        return self.rows[:-1]

    @property
    def current(self) -> TurnRow:
        """Return the turn that the run is, or belongs to."""
        return self.rows[-1]

    @property
    def owner(self) -> Run | None:
        """Return the turn that a child run belongs to; None if the run is a turn."""
        return None if self.run.is_turn else self.current.run

    @property
    def queries(self) -> list[str]:
        """Return the previous queries of the next request (`context.prev`, NLWeb 3.2)."""
        return previous_queries(branch_queries([row.turn for row in self.rows]))


def conversation_branch(run: Run) -> ConversationBranch:
    """Return the branch that ends with `run`, with at most six queries."""
    turns = branch_to(run)
    siblings = _siblings(turns)
    rows = [TurnRow(turn, siblings.get(turn.run.pk, ())) for turn in turns]
    return ConversationBranch(run, rows, _following(turns[-1].run))


def _siblings(turns: Sequence[Turn]) -> Mapping[Any, list[LinkedTurn]]:
    """Return the siblings of each turn that has some, by primary key."""
    forked = {turn.run.parent_id: turn.run.pk for turn in turns if turn.siblings > 1}
    found: dict[Any, list[LinkedTurn]] = defaultdict(list)
    if not forked:
        return found
    siblings = Run.objects.turns().filter(parent__in=forked).exclude(pk__in=forked.values())
    siblings = siblings.defer("request", "session_context").order_by("created_at")
    for sibling in siblings[: MAX_LINKS * len(forked)]:
        found[forked[sibling.parent_id]].append(LinkedTurn(sibling))
    return found


def _following(turn: Run) -> list[LinkedTurn]:
    """Return the turns after a turn, including those after the response of its promise."""
    direct = Q(parent=turn) | Q(parent__parent=turn, parent__kind=RunKind.POLL)
    found = Run.objects.turns().filter(direct).defer("request", "session_context")
    return [LinkedTurn(run) for run in found.order_by("created_at")[:MAX_LINKS]]
