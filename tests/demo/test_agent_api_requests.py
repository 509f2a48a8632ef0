"""Requests of the Agent API that cannot be answered, and odd ones that can."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo.corpus import Corpus
from tests.demo.test_agent_api import post, said

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def known(corpus: Corpus) -> Corpus:
    return corpus


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b"{", []),
        (b"[]", []),
        ({"foo": 1}, ["input"]),
        ({"input": "text"}, ["input"]),
        ({"input": [1]}, ["input", 0]),
        ({"input": []}, ["input", -1, "content"]),
        ({"input": [said(" ")]}, ["input", 0, "content"]),
        ({"input": [said("x" * 4001)]}, ["input", 0, "content"]),
        ({"input": [said("a")], "stream": "yes"}, ["stream"]),
        ({"input": [said("a")], "n": 6}, ["n"]),
        ({"input": [said("a")], "n": True}, ["n"]),
        ({"input": [said("a")], "tools": {}}, ["tools"]),
        ({"input": [said("a")], "session_id": 1}, ["session_id"]),
        ({"input": [said("a")], "session_id": "s" * 101}, ["session_id"]),
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
    reply = await post({"input": [said("soup"), message], "tools": tools, "stream": False})
    assert reply.json()["object"] == "response"
