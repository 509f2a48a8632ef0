"""Status of an elicitation, from its run and the child runs of its entry."""

from __future__ import annotations

from typing import Any

import pytest

from playground.models import Run, RunKind, RunState
from playground.models.elicitation_status import ElicitationStatus, declined_key
from playground.protocols import a2a
from playground.protocols.mcp import elicitation

REF = (4, 0)
IN_CALL = {"kind": elicitation.RESPONSE}


def status(
    *children: Run, resume: dict[str, Any] | None = None, state: str = "streaming", **fields: Any
) -> ElicitationStatus:
    run = Run(state=state, **{"kind": RunKind.ASK, **fields})
    return ElicitationStatus(run, REF, resume, children)


def child(kind: RunKind, state: RunState = RunState.COMPLETED) -> Run:
    return Run(kind=kind, state=state)


def test_who_asks() -> None:
    assert not status().is_binding_elicitation
    assert status(resume=IN_CALL).is_server_request
    assert status(resume={"kind": a2a.KIND}).is_task
    assert status(kind=RunKind.ACTION).is_of_action
    again = status(resume={"kind": elicitation.AGAIN})
    assert (again.is_binding_elicitation, again.is_server_request) == (True, False)


@pytest.mark.parametrize(
    ("resume", "state", "closed"),
    [
        (IN_CALL, "streaming", False),
        (IN_CALL, "completed", True),
        (IN_CALL, "failed", True),
        ({"kind": elicitation.AGAIN}, "completed", False),
        (None, "completed", False),
    ],
)
def test_only_an_open_call_can_be_too_late(resume: Any, state: str, closed: bool) -> None:
    assert status(resume=resume, state=state).is_closed is closed


@pytest.mark.parametrize("kind", [RunKind.CLIENT_RESPONSE, RunKind.ACTION])
def test_an_answer_settles_unless_it_failed(kind: RunKind) -> None:
    assert not status().is_settled
    assert status(child(kind)).is_settled
    assert status(child(kind, RunState.STREAMING)).is_settled
    assert not status(child(kind, RunState.FAILED)).is_settled
    assert status(child(kind, RunState.FAILED), child(kind)).is_settled


def test_turns_never_settle() -> None:
    answers = status(child(RunKind.ANSWER), child(RunKind.ASK))
    assert not answers.is_settled
    assert [run.kind for run in answers.answers] == [RunKind.ANSWER, RunKind.ASK]


def test_declined_by_its_entry() -> None:
    assert not status().is_declined
    assert status(declined_elicitations=[declined_key(REF)]).is_declined
    assert not status(declined_elicitations=[declined_key((4, 1))]).is_declined
