"""Runs and the rows of their frames."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Agent, FrameBatch, Run, RunState
from playground.protocols.frames import Frame, FrameKind, pack
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, batches, recorded, result

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@given(batches(), st.integers(0, 40))
def test_frames_come_back_numbered_from_any_place(parts: list[list[Frame]], after: int) -> None:
    run = recorded(parts)
    flat = [frame for part in parts for frame in part]
    numbered = [Frame(n, f.at_us, f.kind, f.data) for n, f in enumerate(flat, 1)]
    assert list(run.read_frames()) == numbered
    assert list(run.read_frames(after)) == numbered[after:]
    assert run.frames == len(flat)


def test_no_number_is_given_twice() -> None:
    run = recorded([[CALL, OPEN, HEAD], [result(0)], [END]])
    with pytest.raises(IntegrityError):
        FrameBatch.objects.create(run=run, first=4, last=4, data=pack([END]))


def test_which_states_are_final() -> None:
    final = {state for state in RunState if state.is_final}
    assert final == {
        RunState.COMPLETED, RunState.TRUNCATED, RunState.FAILED, RunState.REFUSED,
        RunState.CANCELLED, RunState.INTERRUPTED,
    }  # fmt: skip
    runs = [Recording(state=state.value).run for state in RunState]
    assert set(Run.objects.unfinished()) == {run for run in runs if not run.is_final}


def test_deleting_a_run_deletes_its_frames() -> None:
    run = recorded([[CALL], [END]])
    run.delete()
    assert not FrameBatch.objects.exists()


def test_names_of_agents_are_unique_for_their_owner_only() -> None:
    ada = User.objects.create(username="ada")
    for owner in (None, ada):
        agents = [Agent.objects.create(owner=owner, name="Same", url="http://a") for _ in "ab"]
        assert [agent.slug for agent in agents] == ["same", "same-2"]
    with pytest.raises(IntegrityError):
        Agent.objects.create(name="Other", slug="same", url="http://a")


def test_a_frame_kind_is_stored_by_its_number() -> None:
    """They are in databases already: append, never renumber."""
    assert {kind.name: kind.value for kind in FrameKind} == {
        "CALL": 1, "OPEN": 2, "HEAD": 3, "EVENT": 4, "COMMENT": 5, "BODY": 6, "TAIL": 7,
        "END": 8, "ERROR": 9,
    }  # fmt: skip
