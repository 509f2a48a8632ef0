"""The states of a run and the ways between them, in one table.

A state says how the *transfer* went and nothing about what the agent answered. A run moves
forward only: queued, connecting once its first call is made, streaming once a response head
is there, and then exactly one final state, from which nothing leads on. Every state but the
final ones can end in each of them, because a user can stop, a limit can be crossed and a
process can die at any moment; only `completed` and `truncated` need a response first.
"""

from __future__ import annotations

from playground.models import RunState as S

_ALWAYS = frozenset({S.FAILED, S.REFUSED, S.CANCELLED, S.INTERRUPTED})

TRANSITIONS: dict[S, frozenset[S]] = {
    S.QUEUED: _ALWAYS | {S.CONNECTING},
    S.CONNECTING: _ALWAYS | {S.STREAMING},
    S.STREAMING: _ALWAYS | {S.COMPLETED, S.TRUNCATED},
    S.COMPLETED: frozenset(),
    S.TRUNCATED: frozenset(),
    S.FAILED: frozenset(),
    S.REFUSED: frozenset(),
    S.CANCELLED: frozenset(),
    S.INTERRUPTED: frozenset(),
}


class InvalidTransitionError(Exception):
    """The playground's own bug: a run was to make a step that the table does not have."""


def transition(state: S, target: S) -> S:
    """`target`, if the table leads there from `state` (staying is always allowed)."""
    if target != state and target not in TRANSITIONS[state]:
        raise InvalidTransitionError(f"{state} → {target}")
    return target
