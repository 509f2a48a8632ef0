"""Requests to the demo through the test client of Django, and what a client reads of a response."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import AsyncClient


@dataclass
class Reply:
    """A response as a client sees it."""

    status: int
    headers: dict[str, str]
    body: bytes
    #: Of a stream: (event name, data), in order.
    events: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.body)

    @property
    def meta(self) -> dict[str, Any]:
        return self.document["_meta"]

    @property
    def names(self) -> list[str]:
        return [item["name"] for item in self.document["results"] if "name" in item]

    @property
    def code(self) -> str:
        assert self.meta["response_type"] == "failure", self.document
        return str(self.document["error"]["code"])

    def data_of(self, name: str) -> list[Any]:
        return [data for event, data in self.events if event == name]


async def post(path: str, body: Any, **headers: str) -> Any:
    """Post a body (bytes as they are, all else as JSON) to a path below /demo/."""
    data = body if isinstance(body, bytes) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return await AsyncClient().post(
        f"/demo/{path}", data, content_type="application/json", headers=named
    )


async def reply_to(path: str, body: Any, **headers: str) -> Reply:
    """Post a body, and read the response with its events."""
    response = await post(path, body, **headers)
    data = await body_of(response)
    events = read_events(data) if response.streaming else []
    return Reply(response.status_code, dict(response.headers), data, events)


async def body_of(response: Any) -> bytes:
    """Return the body of a response, which may be a stream."""
    if response.streaming:
        return b"".join([chunk async for chunk in response])
    content: bytes = response.content
    return content


def read_events(body: bytes) -> list[tuple[str, Any]]:
    """Return the events of a stream; each has a name and one line of JSON."""
    events = []
    assert body.endswith(b"\n\n")
    for block in body.decode().removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events
