"""The A2A agent, driven by the official client in both versions."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest
from a2a.client import A2ACardResolver, Client, ClientConfig, create_client
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskState,
)
from a2a.utils.errors import A2AError

from tests.support.playground_server import PlaygroundServer

VERSIONS = ("1.0", "0.3")


async def card_of(playground: PlaygroundServer, path: str = "/demo/a2a") -> AgentCard:
    async with httpx.AsyncClient() as http:
        return await A2ACardResolver(http, playground.url + path).get_agent_card()


@pytest.fixture(params=VERSIONS)
async def card(playground: PlaygroundServer, request: pytest.FixtureRequest) -> AgentCard:
    """The card as a client sees it that speaks one version; nothing dawdles."""
    card = await card_of(playground)
    (spoken,) = [
        each for each in card.supported_interfaces if each.protocol_version == request.param
    ]
    spoken.url += "?pace=0"
    del card.supported_interfaces[:]
    card.supported_interfaces.append(spoken)
    return card


def request_of(text: str, *, task: str = "", skill: str = "", now: bool = False) -> Any:
    message = Message(
        message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], task_id=task
    )
    if skill:
        message.metadata.update({"skill": skill})
    options = SendMessageConfiguration(return_immediately=now)
    return SendMessageRequest(message=message, configuration=options)


async def send(client: Client, text: str, **options: Any) -> list[Any]:
    return [reply async for reply in client.send_message(request_of(text, **options))]


def states(replies: list[Any]) -> list[str]:
    """The states that a task went through."""
    found = []
    for reply in replies:
        if reply.HasField("task"):
            found.append(TaskState.Name(reply.task.status.state))
        elif reply.HasField("status_update"):
            found.append(TaskState.Name(reply.status_update.status.state))
    return [state.removeprefix("TASK_STATE_").lower() for state in found]


@pytest.mark.parametrize("path", ["", "/demo/a2a"])
async def test_the_card_is_found(playground: PlaygroundServer, path: str) -> None:
    card = await card_of(playground, path)
    assert [skill.id for skill in card.skills] == ["ask", "plan_shopping", "reserve_table"]
    found = {(each.protocol_version, each.url) for each in card.supported_interfaces}
    assert found == {(version, f"{playground.url}/demo/a2a") for version in VERSIONS}


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_question_gets_a_message(card: AgentCard, streaming: bool) -> None:
    async with await create_client(card, ClientConfig(streaming=streaming)) as client:
        (reply,) = await send(client, "tomato soup")
    text, data = reply.message.parts
    assert "Tomato Soup" in text.text
    document = data.data.struct_value
    assert document["_meta"]["response_type"] == "answer"
    assert document["results"][0]["@type"] == "Recipe"


async def test_a_task_is_worked_on(card: AgentCard) -> None:
    async with await create_client(card) as client:
        replies = await send(client, "Plan the shopping for tiramisu")
        assert states(replies) == ["submitted", "working", "completed"]
        updates = [each.artifact_update for each in replies if each.HasField("artifact_update")]
        assert [update.append for update in updates] == [False, True, True]
        assert [update.last_chunk for update in updates] == [False, False, True]
        assert len({update.artifact.artifact_id for update in updates}) == 1
        task = await client.get_task(GetTaskRequest(id=updates[0].task_id))
    assert TaskState.Name(task.status.state) == "TASK_STATE_COMPLETED"
    (artifact,) = task.artifacts
    assert len(artifact.parts) == 3
    assert "mascarpone" in artifact.parts[1].text


async def test_a_task_in_one_piece(card: AgentCard) -> None:
    async with await create_client(card, ClientConfig(streaming=False)) as client:
        replies = await send(client, "Plan the shopping for tiramisu")
    assert states(replies) == ["completed"]
    assert len(replies[0].task.artifacts[0].parts) == 3


@pytest.mark.parametrize("streaming", [True, False])
async def test_what_is_missing_is_asked_for(card: AgentCard, streaming: bool) -> None:
    async with await create_client(card, ClientConfig(streaming=streaming)) as client:
        asked = await send(client, "A table for two at Trattoria Nonna, please.")
        assert states(asked)[-1] == "input_required"
        last = asked[-1].status_update if streaming else asked[-1].task
        task = last.task_id if streaming else last.id
        assert "What time" in last.status.message.parts[0].text
        again = await send(client, "whenever you like", task=task)
        assert states(again)[-1] == "input_required"
        done = await send(client, "at 7:30 pm", task=task)
        assert states(done)[-1] == "completed"
        found = await client.get_task(GetTaskRequest(id=task))
        with pytest.raises(A2AError):
            await send(client, "and a view", task=task)
    assert (
        "A table for 2 at Trattoria Nonna is reserved for 19:30."
        in found.artifacts[0].parts[0].text
    )
    assert [message.parts[0].text for message in found.history][1:] == [
        "whenever you like", "at 7:30 pm",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("A table for 50 at 8 pm", "rejected"),
        ("Plan the shopping for zzzzz", "rejected"),
        ("Plan the shopping for soup that fails", "failed"),
        ("Reserve a table at noon that fails", "failed"),
        ("Plan my shopping", "input_required"),
    ],
)
async def test_other_ends(card: AgentCard, text: str, state: str) -> None:
    async with await create_client(card) as client:
        assert states(await send(client, text))[-1] == state


async def test_a_skill_can_be_named(card: AgentCard) -> None:
    async with await create_client(card) as client:
        assert states(await send(client, "tiramisu", skill="plan_shopping"))[-1] == "completed"
        with pytest.raises(A2AError):
            await send(client, "tiramisu", skill="fly")


async def test_a_task_is_cancelled(card: AgentCard) -> None:
    async with await create_client(card) as client:
        asked = await send(client, "A table for two, please.")
        task = asked[0].task.id
        cancelled = await client.cancel_task(CancelTaskRequest(id=task))
        assert TaskState.Name(cancelled.status.state) == "TASK_STATE_CANCELED"
        with pytest.raises(A2AError):
            await client.cancel_task(CancelTaskRequest(id=task))
        with pytest.raises(A2AError):
            await client.get_task(GetTaskRequest(id="nobody"))


async def test_a_task_goes_on_without_its_caller(
    playground: PlaygroundServer, card: AgentCard
) -> None:
    card.supported_interfaces[0].url = f"{playground.url}/demo/a2a?pace=0.2"
    async with await create_client(card, ClientConfig(streaming=False)) as client:
        (reply,) = await send(client, "Plan the shopping for tiramisu", now=True)
        assert states([reply]) == ["working"]
        task = await client.get_task(GetTaskRequest(id=reply.task.id))
        while TaskState.Name(task.status.state) == "TASK_STATE_WORKING":
            task = await client.get_task(GetTaskRequest(id=reply.task.id))
    assert TaskState.Name(task.status.state) == "TASK_STATE_COMPLETED"
    assert task.artifacts
