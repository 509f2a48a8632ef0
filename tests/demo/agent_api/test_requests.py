"""Invalid requests of the Agent API, and unusual valid ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.agent_api.client import data_message, post, user_message

pytestmark = pytest.mark.django_db(transaction=True)

SOUP = user_message("soup")


def message(**more: Any) -> dict[str, Any]:
    return {"input": [{**SOUP, **more}]}


def content(**part: Any) -> dict[str, Any]:
    return message(content=[{"type": "text", "text": "soup"}, part])


def tool(**function: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": function}]}


#: Requests with the member that is wrong in them.
INVALID: list[tuple[dict[str, Any], str]] = [
    ({"input": None}, "input"),
    ({"input": "text"}, "input"),
    ({"input": []}, "input"),
    ({"input": [1]}, "input.0"),
    ({"input": [user_message(" ")]}, "input"),
    ({"input": [user_message("x" * 4001)]}, "input"),
    ({"input": [SOUP, {}, {"role": "ghost"}]}, "input.2.role"),
    (message(role=["user"]), "input.0.role"),
    (message(type=7), "input.0.type"),
    (message(content="soup"), "input.0.content"),
    (message(content=["soup"]), "input.0.content.0"),
    (content(), "input.0.content.1.type"),
    (content(type="video", video_url="x"), "input.0.content.1.type"),
    (content(type=["text"]), "input.0.content.1.type"),
    (content(type="text", text=7), "input.0.content.1.text"),
    (content(type="image", image_url={}), "input.0.content.1.image_url"),
    (content(type="data", data=[]), "input.0.content.1.data"),
    *(({"stream": value}, "stream") for value in ("yes", 1)),
    *(({"model": value}, "model") for value in (1, [])),
    *(({"temperature": value}, "temperature") for value in ("hot", -0.1, 2.1, True)),
    *(({"top_p": value}, "top_p") for value in ("1", -0.1, 1.1, False)),
    *(({"frequency_penalty": value}, "frequency_penalty") for value in ("1", -2.1, 2.1)),
    *(({"presence_penalty": value}, "presence_penalty") for value in ("1", -2.1, 2.1)),
    *(({"max_tokens": value}, "max_tokens") for value in ("1", 0, 1.5, True)),
    *(({"n": value}, "n") for value in (0, 6, 1.5, "1", True)),
    *(({"stop": value}, "stop") for value in (1, [1], {})),
    *(({"seed": value}, "seed") for value in ("1", 1.5, True)),
    *(({"session_id": value}, "session_id") for value in (1, "s" * 101)),
    ({"response_id": 1}, "response_id"),
    ({"tools": {}}, "tools"),
    ({"tools": ["get_pantry"]}, "tools.0"),
    ({"tools": [{"type": 1}]}, "tools.0.type"),
    ({"tools": [{"function": 1}]}, "tools.0.function"),
    (tool(), "tools.0.function.name"),
    (tool(name=1), "tools.0.function.name"),
    (tool(name="x", description=1), "tools.0.function.description"),
    (tool(name="x", parameters=[]), "tools.0.function.parameters"),
]


@pytest.mark.parametrize(("members", "name"), INVALID)
@pytest.mark.parametrize("stream", [True, False])
async def test_errors_name_the_member(members: dict[str, Any], name: str, stream: bool) -> None:
    reply = await post({"input": [SOUP], "stream": stream, **members})
    assert reply.status_code == 400
    # Section 7.
    error = reply.json()["error"]
    assert set(error) == {"code", "message"}
    assert error["code"] == "INVALID_REQUEST"
    assert error["message"].startswith(f"The parameter '{name}' must be ")


async def test_a_pace_that_is_none() -> None:
    error = (await post({"input": [SOUP]}, "&pace=fast")).json()["error"]
    assert (error["code"], "pace" in error["message"]) == ("INVALID_REQUEST", True)


@pytest.mark.parametrize(
    "members",
    [
        {
            "model": "m", "temperature": 0, "top_p": 1, "frequency_penalty": -2,
            "presence_penalty": 2.0, "max_tokens": 1, "n": 5, "stop": ["a"], "seed": -1,
            "session_id": "s" * 100, "response_id": "r",
        },
        dict.fromkeys(("stream", "temperature", "n", "stop", "tools", "session_id")),
        {"stop": "a", "top_p": 0.5, "unknown": {"x": 1}},
        {"tools": [{"type": "web_search", "anything": 1}]},
        tool(name="x", parameters={"required": 1}),
    ],
)  # fmt: skip
async def test_valid_parameters(members: dict[str, Any]) -> None:
    reply = await post({"input": [SOUP], "stream": False, **members})
    if members.get("stream", False) is None:
        # The default.
        assert reply.headers["Content-Type"] == "text/event-stream"
    else:
        assert reply.json()["status"] == "completed"


@pytest.mark.parametrize(
    "other",
    [
        {}, {"content": None}, {"role": None, "content": []}, {"type": "reasoning"},
        {"content": [{"type": "text", "text": None}]},
        {"content": [{"type": "text", "text": "\ud800"}]},
        {"content": [{"type": "image", "image_url": "https://example.com/soup.png"}]},
        data_message("function_call_output", call_id=[], output={}),
    ],
)  # fmt: skip
async def test_odd_messages_are_answered(other: Any) -> None:
    reply = await post({"input": [other, SOUP], "stream": False})
    assert reply.json()["object"] == "response"
