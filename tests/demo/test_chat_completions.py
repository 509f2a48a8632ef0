"""`/demo/v1/chat/completions`: every row keeps the rules, and what a request can ask for."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo.chat_completions import ROWS
from tests.demo import client
from tests.demo.conformance import problems, recorded, report

pytestmark = pytest.mark.django_db(transaction=True)

PANTRY = {"type": "function", "function": {"name": "get_pantry"}}
#: Rules that a row breaks on purpose.
BREAKS = {"Forget the end": {"chat-completions.done"}}


def asking(*texts: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": each} for each in texts], **more}


async def post(body: Any) -> Any:
    return await client.post("v1/chat/completions?pace=0", body)


async def said(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a whole response."""
    reply = await post(request)
    assert reply.status_code == 200, reply.content
    return [choice["message"] for choice in reply.json()["choices"]]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "request_",
    [
        *(pytest.param(asking(text), id=text) for text, _ in ROWS),
        pytest.param(asking("soup", n=3, stream_options={"include_usage": True}), id="choices"),
        pytest.param(asking("my pantry", tools=[PANTRY]), id="call"),
        pytest.param({"model": "m", "messages": []}, id="invalid"),
    ],
)
async def test_the_rules_are_kept(request_: dict[str, Any], stream: bool) -> None:
    asked = {**request_, "stream": stream}
    frames = await recorded(await post(asked))
    found = problems(report(frames, asked, "1", protocol="chat-completions"))
    text = next((each["content"] for each in request_["messages"]), "")
    assert set(found) == (BREAKS.get(text, set()) if stream else set())


async def test_the_conversation_is_in_the_messages() -> None:
    (message,) = await said(asking("soup", "What did I ask you?"))
    assert message["content"] == "You asked “soup”."


async def test_an_output_is_used() -> None:
    asked = asking("my pantry", tools=[PANTRY])
    (message,) = await said(asked)
    (call,) = message["tool_calls"]
    output = {"role": "tool", "tool_call_id": call["id"], "content": "eggs"}
    (answer,) = await said({**asked, "messages": [*asked["messages"], message, output]})
    assert answer["content"].startswith("With that output: ")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"oops", None),
        ({"messages": [{"role": "user", "content": "soup"}]}, "model"),
        (asking("soup", stream="yes"), "stream"),
        (asking("soup", n=True), "n"),
        (asking(" "), "messages"),
    ],
)
async def test_an_invalid_request(body: Any, param: str | None) -> None:
    reply = await post(body)
    error = reply.json()["error"]
    assert (reply.status_code, error["param"]) == (400, param)
    assert error["type"] == "invalid_request_error"
