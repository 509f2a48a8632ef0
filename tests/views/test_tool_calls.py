"""Tool calls of a client: shown, answered, approved or refused."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client

from playground.models import Agent, Conversation, Run, RunKind
from playground.protocols.frames import Frame
from tests.support.messages import a_call, an_output, data, message, piece, recording, response
from tests.support.stored_runs import CALL, END, HEAD, OPEN

PLACE = {"seq": "5", "part": "0"}
SESSION = {"session_id": "s1", "response_id": "response_1"}
ASKED = {"id": "a1", "name": "cart_add", "arguments": '{"items": ["salt"]}'}


@pytest.fixture
def agent(db: None) -> Agent:
    return Agent.objects.create(
        name="Talker", url="http://agent.example/process", protocol="agent-api", version="1"
    )


def reply(agent: Agent | None, *frames: Frame, **fields: Any) -> Run:
    """A run that ended with these frames, the first turn of a conversation."""
    own: dict[str, Any] = {"agent": agent, "agent_name": "Talker", "session_context": SESSION}
    own["conversation"] = Conversation.objects.create()
    made = recording(**{**own, **fields})
    begun = response("created", session_id="s1")
    made.add(CALL, OPEN, HEAD, begun, *frames, END)
    return made.end()


def calling(agent: Agent | None, **fields: Any) -> Run:
    return reply(agent, *a_call(), **fields)


def approving(agent: Agent | None) -> Run:
    kind = "mcp_approval_request"
    return reply(agent, message("m1", kind), data("m1", ASKED), message("m1", kind, "completed"))


def page(client: Client, run: Run) -> str:
    return str(client.get(f"/runs/{run.pk}/").content.decode())


class TestForm:
    def test_a_function_call_asks_for_its_output(self, client: Client, agent: Agent) -> None:
        shown = page(client, calling(agent))
        assert "Answer the call" in shown
        assert 'name="5-0-output"' in shown
        assert "Waiting for output" in shown

    def test_an_answered_call_no_longer_waits(self, client: Client, agent: Agent) -> None:
        run = calling(agent)
        about = {"kind": RunKind.ANSWER, "parent": run, "parent_entry_seq": 5}
        own = {"conversation": run.conversation, "answers": {"look_up": "42"}}
        reply(agent, **about, parent_entry_part=0, **own)
        shown = page(client, run)
        assert "Waiting for output" not in shown
        assert ">Answered</span>" in shown
        assert "Answer again" in shown

    def test_none_is_asked_for_by_a_reply_that_did_not_come_whole(
        self, client: Client, agent: Agent
    ) -> None:
        run = calling(agent)
        Run.objects.filter(pk=run.pk).update(state="cancelled")
        shown = page(client, run)
        assert "Answer the call" not in shown
        assert client.post(f"/runs/{run.pk}/calls/", PLACE).status_code == 404

    def test_an_approval_has_two_buttons(self, client: Client, agent: Agent) -> None:
        shown = page(client, approving(agent))
        assert 'value="approve"' in shown
        assert 'value="refuse"' in shown

    @pytest.mark.parametrize("kind", ["plugin_call", "mcp_call", "component_call"])
    def test_what_the_agent_calls_itself_is_not_asked_for(
        self, client: Client, agent: Agent, kind: str
    ) -> None:
        assert "Answer the call" not in page(client, reply(agent, *a_call(kind=kind)))

    def test_a_call_with_an_output_is_done(self, client: Client, agent: Agent) -> None:
        assert "Answer the call" not in page(client, reply(agent, *a_call(), *an_output()))

    def test_as_long_as_the_reply_goes_on_its_output_may_come(
        self, client: Client, agent: Agent
    ) -> None:
        made = recording(agent=agent)
        made.add(CALL, OPEN, HEAD, *a_call())
        assert "Answer the call" not in page(client, made.run)

    def test_a_deleted_agent_cannot_be_answered(self, client: Client) -> None:
        shown = page(client, calling(None))
        assert "can no longer be answered" in shown
        assert "Answer the call" not in shown


@pytest.mark.django_db(transaction=True)
class TestAnswering:
    async def post(self, client: AsyncClient, run: Run, **fields: str) -> Any:
        return await client.post(
            f"/runs/{run.pk}/calls/", filled(**fields), headers={"HX-Request": "true"}
        )

    async def test_the_output_goes_with_the_session(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        run = await made(calling, agent)
        response = await self.post(async_client, run, output="42 °C", format="text")
        assert response.status_code == 200
        ((sent, _),) = started
        assert sent.request == {
            "input": [
                {
                    "role": "user",
                    "type": "function_call_output",
                    "content": [{"type": "data", "data": {"call_id": "c1", "output": "42 °C"}}],
                }
            ],
            "stream": True,
            **SESSION,
        }
        assert (sent.kind, sent.parent_entry, sent.parent_id) == (RunKind.ANSWER, (5, 0), run.pk)
        assert sent.answers == {"look_up": "42 °C"}
        assert sent.conversation_id == run.conversation_id

    async def test_json_is_checked_first(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        run = await made(calling, agent)
        response = await self.post(async_client, run, output="{oops", format="json")
        assert response.status_code == 422
        assert "Line 1, column 2" in response.content.decode()
        assert "{oops" in response.content.decode()
        assert started == []
        await self.post(async_client, run, output='{"a": 1}', format="json")
        (part,) = started[0][0].request["input"][0]["content"]
        assert part["data"]["output"] == '{"a": 1}'

    @pytest.mark.parametrize(("decision", "approve"), [("approve", True), ("refuse", False)])
    async def test_an_approval(
        self,
        async_client: AsyncClient,
        agent: Agent,
        started: list[Any],
        decision: str,
        approve: bool,
    ) -> None:
        run = await made(approving, agent)
        await self.post(async_client, run, decision=decision, reason=" too much ")
        ((sent, _),) = started
        (said,) = sent.request["input"]
        assert said["type"] == "mcp_approval_response"
        assert said["content"][0]["data"] == {
            "approval_request_id": "a1",
            "approve": approve,
            "reason": "too much",
        }
        word = "approved" if approve else "denied"
        assert sent.answers == {"cart_add": f"{word}: too much"}

    async def test_an_approval_without_a_decision_is_none(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        run = await made(approving, agent)
        response = await self.post(async_client, run)
        assert response.status_code == 422
        assert started == []

    async def test_only_a_call_can_be_answered(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        run = await made(calling, agent)
        for place in ({"seq": "4"}, {"seq": "99"}, {"seq": "x"}, {"part": "7"}):
            response = await self.post(async_client, run, output="1", **place)
            assert response.status_code == 404
        assert started == []

    async def test_a_run_of_somebody_else_is_not_found(
        self, async_client: AsyncClient, started: list[Any], django_user_model: Any
    ) -> None:
        other = await django_user_model.objects.acreate(username="other")
        run = await made(calling, None, owner=other)
        assert (await self.post(async_client, run, output="1")).status_code == 404


def test_the_answer_is_previewed(client: Client, agent: Agent) -> None:
    run = calling(agent)
    url = f"/runs/{run.pk}/calls/preview/"
    shown = client.post(url, filled(output="42", format="text")).content.decode()
    assert "function_call_output" in shown
    assert "s1" in shown
    shown = client.post(url, filled(output="{", format="json")).content.decode()
    assert "Line 1" in shown


def test_only_what_is_there_can_be_fetched(client: Client, agent: Agent) -> None:
    base = f"/runs/{calling(agent).pk}/messages"
    for path in ("5/0/parts/9/", "1/0/parts/0/", "99/0/parts/0/", "1/0/", "99/0/"):
        assert client.get(f"{base}/{path}").status_code == 404, path
    assert client.get(f"{base}/5/0/").status_code == 200


def test_messages_of_somebody_else_are_not_found(
    client: Client, agent: Agent, django_user_model: Any
) -> None:
    other = django_user_model.objects.create(username="other")
    text = [message("m1"), piece("m1", "confidential")]
    mine, theirs = reply(agent, *text), reply(agent, *text, owner=other)
    for path in ("messages/5/0/", "messages/5/0/parts/0/"):
        assert "confidential" in client.get(f"/runs/{mine.pk}/{path}").content.decode()
        assert client.get(f"/runs/{theirs.pk}/{path}").status_code == 404


class TestComposer:
    def test_each_protocol_has_its_own(self, client: Client, agent: Agent) -> None:
        Agent.objects.create(name="Recipes", url="http://agent.example/api")
        for slug, protocol, words in (
            ("talker", "agent-api", '"input"'),
            ("recipes", "nlweb", '"query"'),
        ):
            shown = client.get(f"/?agent={slug}&text=eggs").content.decode()
            assert f'data-protocol="{protocol}"\n' in shown
            assert words.replace('"', "&quot;") in shown

    def test_a_run_brings_its_own_back(self, client: Client, agent: Agent) -> None:
        shown = page(client, calling(agent))
        assert 'data-protocol="agent-api"\n' in shown
        assert "Includes the session." in shown

    def test_what_follows_has_the_session(self, client: Client, agent: Agent) -> None:
        shown = client.get(f"/runs/{calling(agent).pk}/next/").content.decode()
        assert "&quot;session_id&quot;: &quot;s1&quot;" in shown


def filled(place: str = "5-0", **fields: str) -> dict[str, str]:
    """A form as its page sends it."""
    named = {name if name in PLACE else f"{place}-{name}": value for name, value in fields.items()}
    return {**PLACE, **named}


async def made(make: Any, *args: Any, **fields: Any) -> Run:
    return await sync_to_async(make)(*args, **fields)
