"""Runs of Agent API agents: requests, tool calls and follow-up requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from playground.engine.follow_ups import follow_up_document
from playground.models.conversations import branch_to
from playground.protocols.agent_api import requests
from playground.protocols.events import Content, Message, ToolCall
from tests.engine.conftest import Send, events_of
from tests.support.agent_api_examples import (
    REQUEST,
    USE_CASE,
    data,
    delta,
    message,
    response,
)
from tests.support.servers import LAST_CHUNK, STREAM_HEAD, Step, chunk, serve

AGENT = {"protocol": "agent-api", "version": "1"}


def streamed(*payloads: Any) -> tuple[Step, ...]:
    frames = (
        chunk(f"data: {json.dumps(each, ensure_ascii=False)}\n\n".encode()) for each in payloads
    )
    return (STREAM_HEAD, *frames, LAST_CHUNK)


@pytest.fixture
def converse(send: Send) -> Callable[..., Any]:
    """Run a request against a scripted reply: the run, and the requests as they came."""

    async def run_it(*answer: Step, document: dict[str, Any] | None = None) -> Any:
        async with serve(*answer) as server:
            run = await send(f"{server.url}/process", document or REQUEST, agent=dict(AGENT))
        return run, server.requests

    return run_it


async def test_the_request_goes_to_the_address_as_it_is(converse: Any) -> None:
    run, (sent,) = await converse(*streamed(*USE_CASE))
    head, _, body = sent.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /process HTTP/1.1")
    assert b"Accept: text/event-stream" in head
    assert json.loads(body) == REQUEST
    assert (run.state, run.outcome, run.entries) == ("completed", "answer", 1)


async def test_no_batch_is_passed_over(converse: Any) -> None:
    """What a piece belongs to is known only to those who have read what came before it."""
    pieces = [delta(f"{number} ") for number in range(3_000)]
    run, _ = await converse(*streamed(message(), *pieces, message("completed")))
    assert run.entries == 1
    assert {batch.is_independent async for batch in run.frame_batches.all()} == {False}
    events = await events_of(run)
    assert sum(isinstance(event, Message) for event in events) == 1
    text = "".join(event.value for event in events if isinstance(event, Content))
    assert text == "".join(piece["text"] for piece in pieces)


class TestConversations:
    async def test_the_session_goes_on(self, converse: Any) -> None:
        run, _ = await converse(*streamed(response("completed", session_id="s-1")))
        document = await sync_to_async(follow_up_document)(run, "And that one?")
        assert document["session_id"] == "s-1"
        assert document["response_id"] == "response_1"
        assert document["model"] == REQUEST["model"]
        (only,) = document["input"]
        assert only["content"] == [{"type": "text", "text": "And that one?"}]

    async def test_what_was_sent_holds_where_nothing_came_back(self, converse: Any) -> None:
        run, _ = await converse(
            *streamed(response("completed")), document={**REQUEST, "session_id": "mine"}
        )
        (turn,) = await sync_to_async(branch_to)(run)
        assert turn.sent_session_context == {"session_id": "mine"}
        assert turn.next_session_context == {"session_id": "mine", "response_id": "response_1"}
        assert turn.query == "Describe this image"

    async def test_a_function_is_answered_by_the_next_request(self, converse: Any) -> None:
        run, _ = await converse(
            *streamed(
                response("created", session_id="s-1"),
                message(type="function_call"),
                data(call_id="call_1", name="get_weather", arguments='{"city": "Paris"}'),
                message("completed", type="function_call"),
                response("completed", session_id="s-1"),
            )
        )
        assert (run.state, run.outcome) == ("completed", "elicitation")
        (call,) = (event for event in await events_of(run) if isinstance(event, ToolCall))
        assert json.loads(call.arguments) == {"city": "Paris"}
        answer = requests.with_input(
            REQUEST, [requests.output_message(call, "21 C")], run.session_context
        )
        run, (sent,) = await converse(*streamed(*USE_CASE), document=answer)
        body = json.loads(sent.partition(b"\r\n\r\n")[2])
        assert body["session_id"] == "s-1"
        assert body["input"][0]["content"][0]["data"] == {"call_id": "call_1", "output": "21 C"}
        assert run.text == "21 C"
