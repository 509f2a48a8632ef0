"""Requests to `/demo/agent-api`, and parts of its responses."""

from __future__ import annotations

import json
from typing import Any

from tests.demo import client

PANTRY = {
    "type": "function",
    "function": {
        "name": "get_pantry",
        "description": "What is in the pantry.",
        "parameters": {
            "type": "object",
            "properties": {"shelf": {"type": "string", "enum": ["top", "bottom"]}},
            "required": ["shelf"],
        },
    },
}
CALENDAR = {"type": "function", "function": {"name": "get_calendar"}}


def user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}


def data_message(kind: str, **data: Any) -> dict[str, Any]:
    return {"role": "user", "type": kind, "content": [{"type": "data", "data": data}]}


async def post(body: Any, query: str = "") -> Any:
    return await client.post(f"agent-api?pace=0{query}", body)


async def objects(*messages: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The objects of a stream."""
    reply = await post({"input": list(messages), **more})
    assert reply.headers["Content-Type"] == "text/event-stream"
    frames = (await client.body_of(reply)).decode().split("\n\n")
    assert frames.pop() == ""
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


async def response(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The response in one piece."""
    reply = await post({"input": list(messages), "stream": False, **more})
    assert reply.status_code == 200
    return reply.json()


def kinds(document: dict[str, Any]) -> list[str]:
    return [message["type"] for message in document["output"]]


def data_of(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """The data of the only message of a type."""
    (message,) = [each for each in document["output"] if each["type"] == kind]
    return message["content"][0]["data"]


def text_of(document: dict[str, Any]) -> str:
    """What the last message says."""
    return str(document["output"][-1]["content"][0]["text"])
