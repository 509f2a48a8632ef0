"""Invalid requests of the Agent API, and unusual valid ones."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from tests.demo.agent_api.client import post, user_message

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"{", []),
        (b"[]", []),
        ({"foo": 1}, ["input"]),
        ({"input": "text"}, ["input"]),
        ({"input": [1]}, ["input", 0]),
        ({"input": []}, ["input", -1, "content"]),
        ({"input": [user_message(" ")]}, ["input", 0, "content"]),
        ({"input": [user_message("x" * 4001)]}, ["input", 0, "content"]),
        ({"input": [user_message("a")], "stream": "yes"}, ["stream"]),
        ({"input": [user_message("a")], "n": 6}, ["n"]),
        ({"input": [user_message("a")], "n": True}, ["n"]),
        ({"input": [user_message("a")], "tools": {}}, ["tools"]),
        ({"input": [user_message("a")], "session_id": 1}, ["session_id"]),
        ({"input": [user_message("a")], "session_id": "s" * 101}, ["session_id"]),
        (b'"' + b"x" * 200_001 + b'"', []),
    ],
)
async def test_what_is_no_request(body: Any, where: list[Any]) -> None:
    reply = await post(body)
    assert reply.status_code == 422
    (detail,) = reply.json()["detail"]
    assert detail["loc"] == ["body", *where]
    assert detail["msg"]


async def test_other_methods() -> None:
    reply = await AsyncClient().get("/demo/agent-api")
    assert (reply.status_code, reply.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "message",
    [
        {"content": "text"}, {"content": None, "role": 1}, {"content": [1, {"text": 1}]}, {},
        {"type": "function_call_output", "content": [{"data": {"call_id": [], "output": {}}}]},
        {"type": ["x"], "content": [{"text": "\ud800"}]},
    ],
)  # fmt: skip
async def test_odd_messages_are_answered(message: Any) -> None:
    tools = [None, {"function": 1}, {"function": {"name": "x", "parameters": {"required": 1}}}]
    reply = await post({"input": [user_message("soup"), message], "tools": tools, "stream": False})
    assert reply.json()["object"] == "response"
