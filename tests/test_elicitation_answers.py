"""Answers to elicitations: how each kind travels, and when none is expected any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from playground import engine
from playground.elicitation import ElicitationForm
from playground.elicitation_answers import (
    AGENT_DELETED,
    ALREADY_ANSWERED,
    CALL_ENDED,
    ORIGIN_CHANGED,
    ElicitationAnswer,
    NotExpectedError,
    prepare_answer,
    record_answer,
)
from playground.models import Agent, Run, RunKind
from playground.models.elicitation_status import ElicitationStatus
from playground.protocols import a2a
from playground.protocols.mcp import elicitation as mcp

pytestmark = pytest.mark.django_db

REF = (4, 0)
IN_CALL = {"kind": mcp.RESPONSE, "id": "q1"}
AGAIN = {"kind": mcp.AGAIN, "requests": {"w": {}}, "state": "x"}
TASK = {"kind": a2a.KIND, "taskId": "t1", "contextId": "c1"}
FORM = ElicitationForm("Who comes?", ())


@pytest.fixture
def agent() -> Agent:
    found: Agent = Agent.objects.create(name="Asks", url="http://agent.example/mcp")
    return found


def asked(
    agent: Agent | None, resume: Mapping[str, Any] | None, **fields: Any
) -> ElicitationAnswer:
    facts = {
        "kind": RunKind.ASK,
        "protocol": "nlweb",
        "state": "streaming",
        "url": "http://agent.example/mcp",
        "version": "0.55",
        "request": {"query": {"text": "dinner"}},
        "headers": [],
    }
    run = Run.objects.create(agent=agent, agent_name="Asks", **{**facts, **fields})
    status = ElicitationStatus.load(run, REF, resume)
    return ElicitationAnswer(status, FORM, {"guests": 3}, strategy="text")


@pytest.mark.parametrize(
    ("resume", "of", "kind"),
    [
        (None, RunKind.ASK, RunKind.ANSWER),
        (AGAIN, RunKind.ASK, RunKind.ANSWER),
        (IN_CALL, RunKind.ASK, RunKind.CLIENT_RESPONSE),
        (TASK, RunKind.ACTION, RunKind.ACTION),
        (AGAIN, RunKind.ACTION, RunKind.ACTION),
        (IN_CALL, RunKind.ACTION, RunKind.CLIENT_RESPONSE),
    ],
)
def test_the_kind_of_run_that_an_answer_is(
    agent: Agent, resume: Any, of: RunKind, kind: RunKind
) -> None:
    assert asked(agent, resume, kind=of).kind == kind


class TestPrepare:
    def test_nlweb_gets_the_next_request(self, agent: Agent) -> None:
        prepared = prepare_answer(asked(agent, None, state="completed")).prepared
        assert prepared
        assert prepared.target.resume is None
        assert prepared.request["query"]["text"] != "dinner"

    @pytest.mark.parametrize("resume", [AGAIN, IN_CALL])
    def test_mcp_gets_what_resumes_the_exchange(self, agent: Agent, resume: Any) -> None:
        answer = asked(agent, resume, binding="mcp")
        prepared = prepare_answer(answer, [("X-A", "1")]).prepared
        assert prepared
        assert prepared.target.resume == mcp.resume_of(resume, mcp.ACCEPT, {"guests": 3})
        assert prepared.request == answer.run.request
        assert ("X-A", "1") in prepared.target.headers

    def test_an_open_call_stays_with_its_server(self, agent: Agent) -> None:
        elsewhere = asked(agent, IN_CALL, binding="mcp", url="http://old.example/mcp")
        assert [each.message for each in prepare_answer(elsewhere).errors] == [ORIGIN_CHANGED]

    def test_an_action_is_sent_again_without_credentials(self, agent: Agent) -> None:
        agent.auth, agent.auth_secret = "bearer", "confidential"
        agent.save()
        action = {"name": "order", "protocol": "A2A"}
        headers = [["Authorization", ""], ["X-A", "1"]]
        answer = asked(agent, TASK, kind=RunKind.ACTION, request=action, headers=headers)
        first, again = prepare_answer(answer).prepared, prepare_answer(answer).prepared
        assert first
        assert again
        assert first.target.headers == (("X-A", "1"),)
        assert first.target.resume
        assert first.target.resume["taskId"] == "t1"
        assert first.target.resume == again.target.resume

    def test_without_the_agent_there_is_none(self) -> None:
        action = prepare_answer(asked(None, TASK, kind=RunKind.ACTION))
        turn = prepare_answer(asked(None, AGAIN))
        assert (action.prepared, turn.prepared) == (None, None)
        assert [each.message for each in action.errors] == [AGENT_DELETED]
        assert "was deleted" in turn.errors[0].message


class TestRecord:
    def prepared(self, answer: ElicitationAnswer) -> engine.PreparedRequest:
        prepared = prepare_answer(answer).prepared
        assert prepared
        return prepared

    def test_an_open_call_takes_one_answer(self, agent: Agent) -> None:
        answer = asked(agent, IN_CALL, binding="mcp")
        run = record_answer(answer, self.prepared(answer), None)
        assert (run.kind, run.parent, run.parent_entry) == ("reply", answer.run, REF)
        with pytest.raises(NotExpectedError, match=ALREADY_ANSWERED):
            record_answer(answer, self.prepared(answer), None)

    def test_at_another_entry_it_takes_another(self, agent: Agent) -> None:
        answer = asked(agent, IN_CALL, binding="mcp")
        record_answer(answer, self.prepared(answer), None)
        other = ElicitationStatus.load(answer.run, (5, 1), IN_CALL)
        assert not other.is_settled
        assert record_answer(ElicitationAnswer(other, FORM, {}), self.prepared(answer), None)

    def test_a_call_that_has_ended_takes_none(self, agent: Agent) -> None:
        answer = asked(agent, IN_CALL, binding="mcp")
        Run.objects.update(state="completed")
        with pytest.raises(NotExpectedError, match=CALL_ENDED):
            record_answer(answer, self.prepared(answer), None)

    def test_a_turn_takes_any_number(self, agent: Agent) -> None:
        answer = asked(agent, None, state="completed")
        runs = [record_answer(answer, self.prepared(answer), None) for _ in range(2)]
        assert [run.kind for run in runs] == ["answer", "answer"]
