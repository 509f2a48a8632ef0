"""State machine of a run: the states and the transitions between them, in one table.

A state describes the *transfer* and not the answer of the agent. A run moves
forward only: queued, connecting once its first call is made, streaming once a response head
is received, and then exactly one final state, without further transitions. Every other state
can end in each of the final ones, because a user can stop the run, a limit can be exceeded and a
process can die at any time; only `completed` and `truncated` need a response first.
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
    """A transition that the table does not have: a bug of the playground."""


def transition(state: S, target: S) -> S:
    """Return `target`, if the table has that transition from `state`, or it is the same state."""
    if target != state and target not in TRANSITIONS[state]:
        raise InvalidTransitionError(f"{state} → {target}")
    return target
