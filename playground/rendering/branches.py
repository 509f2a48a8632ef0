"""A run's branch of its conversation: the turns before it, beside it and after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from playground.models import Run, RunKind
from playground.models.conversations import Turn, branch_queries, branch_to
from playground.protocols.nlweb.turns import previous_queries
from playground.rendering.linked_turns import LinkedTurn, answer_values, declined_label
from playground.rendering.run_status import ago, status_label

#: Turns of a branching that are linked.
MAX_LINKS = 20


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn, in a line."""

    turn: Turn
    #: The turns that follow on the same turn as this one, itself left out.
    siblings: Sequence[LinkedTurn] = ()

    @property
    def run(self) -> Run:
        """The run of the turn."""
        return self.turn.run

    @property
    def number(self) -> int:
        """Its place in the branch, from 1."""
        return self.turn.number

    @property
    def status_label(self) -> str:
        """How it stands."""
        return status_label(self.run)

    @property
    def ago(self) -> str:
        """How long ago it was sent."""
        return ago(self.run.created_at)

    @property
    def answered(self) -> list[tuple[str, str]]:
        """What it answered, empty for a turn that asked."""
        return answer_values(self.run)

    @property
    def refused(self) -> str:
        """What it did with a question instead of answering it: "Declined" or "Dismissed"."""
        return declined_label(self.run)

    @property
    def branches(self) -> int:
        """How many turns follow where this one does."""
        return self.turn.siblings


@dataclass(frozen=True, slots=True)
class ConversationBranch:
    """Where a run stands in its conversation."""

    run: Run
    rows: Sequence[TurnRow]
    #: The turns that follow on this one, oldest first.
    following: Sequence[LinkedTurn]

    @property
    def earlier(self) -> Sequence[TurnRow]:
        """The turns before that of the run, oldest first."""
        return self.rows[:-1]

    @property
    def current(self) -> TurnRow:
        """The turn that the run is, or belongs to."""
        return self.rows[-1]

    @property
    def owner(self) -> Run | None:
        """The turn that a check or an action belongs to; None for a turn itself."""
        return None if self.run.is_turn else self.current.run

    @property
    def queries(self) -> list[str]:
        """The queries that the next request carries in `context.prev`."""
        return previous_queries(branch_queries([row.turn for row in self.rows]))


def conversation_branch(run: Run) -> ConversationBranch:
    """The branch that ends with `run`. At most six queries."""
    turns = branch_to(run)
    beside = _beside(turns)
    rows = [TurnRow(turn, beside.get(turn.run.pk, ())) for turn in turns]
    return ConversationBranch(run, rows, _following(turns[-1].run))


def _beside(turns: Sequence[Turn]) -> Mapping[Any, list[LinkedTurn]]:
    """For each turn that has some: those that follow on the same one."""
    forked = {turn.run.parent_id: turn.run.pk for turn in turns if turn.siblings > 1}
    found: dict[Any, list[LinkedTurn]] = defaultdict(list)
    if not forked:
        return found
    others = Run.objects.turns().filter(parent__in=forked).exclude(pk__in=forked.values())
    others = others.defer("request", "session_context").order_by("created_at")
    for other in others[: MAX_LINKS * len(forked)]:
        found[forked[other.parent_id]].append(LinkedTurn(other))
    return found


def _following(turn: Run) -> list[LinkedTurn]:
    """Turns that follow on a turn, also those that answer what its promise became."""
    direct = Q(parent=turn) | Q(parent__parent=turn, parent__kind=RunKind.POLL)
    found = Run.objects.turns().filter(direct).defer("request", "session_context")
    return [LinkedTurn(run) for run in found.order_by("created_at")[:MAX_LINKS]]
