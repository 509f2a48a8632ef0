"""The table of state transitions."""

from __future__ import annotations

import pytest

from playground.engine.states import TRANSITIONS, InvalidTransitionError, transition
from playground.models import RunState

pytestmark = pytest.mark.database


def test_every_state_has_its_row() -> None:
    assert set(TRANSITIONS) == set(RunState)


@pytest.mark.parametrize("state", RunState)
def test_final_states_lead_nowhere_and_the_others_to_every_kind_of_end(state: RunState) -> None:
    if state.is_final:
        assert not TRANSITIONS[state]
    else:
        assert TRANSITIONS[state] >= {RunState.FAILED, RunState.CANCELLED, RunState.INTERRUPTED}


def test_staying_is_no_step() -> None:
    assert transition(RunState.STREAMING, RunState.STREAMING) is RunState.STREAMING


@pytest.mark.parametrize(
    ("state", "target"),
    [
        (RunState.QUEUED, RunState.COMPLETED),
        (RunState.COMPLETED, RunState.STREAMING),
        (RunState.CANCELLED, RunState.COMPLETED),
        (RunState.STREAMING, RunState.CONNECTING),
    ],
)
def test_impossible_steps_are_our_bug_and_say_so(state: RunState, target: RunState) -> None:
    with pytest.raises(InvalidTransitionError):
        transition(state, target)
