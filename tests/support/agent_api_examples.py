"""What stands in the specification, and streams as scripts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from playground.protocols.agent_api.reader import AgentAPIReader
from playground.protocols.events import Event

CAPTURES = Path(__file__).parents[1] / "captures" / "agentscope"

_PRINTED = Path(__file__).parents[1] / "examples" / "agent-api"
#: Section "Example Use Case".
REQUEST: dict[str, Any] = json.loads((_PRINTED / "request-use-case.json").read_text("utf-8"))

#: Section "Content Streaming", where contents name no message and a message's type is a role.
SEQUENCE: list[dict[str, Any]] = [
    {"status": "created", "id": "response_1", "object": "response"},
    {"status": "created", "id": "msg_1", "object": "message", "type": "assistant"},
    *(
        {"status": "in_progress", "type": "text", "index": 0, "delta": True, "text": text,
         "object": "content"}
        for text in ("Hello", ", ", "world")
    ),
    {"status": "completed", "type": "text", "index": 0, "delta": False, "text": "Hello, world!",
     "object": "content"},
    {"status": "completed", "id": "msg_1", "object": "message"},
    {"status": "completed", "id": "response_1", "object": "response"},
]  # fmt: skip

#: Section "Example Use Case".
USE_CASE: list[dict[str, Any]] = [
    json.loads(line)
    for line in (_PRINTED / "stream-use-case.jsonl").read_text("utf-8").splitlines()
]

STREAMS = (SEQUENCE, USE_CASE)


def captured(name: str) -> str:
    """The body of a captured reply."""
    head, _, body = (CAPTURES / f"{name}.txt").read_bytes().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    return body.decode()


def read(
    payloads: Iterable[Any], reader: AgentAPIReader | None = None
) -> tuple[list[Event], AgentAPIReader]:
    """The events of a stream of these objects, numbered from 1, and the reader after it."""
    reader = reader or AgentAPIReader("1")
    found: list[Event] = []
    for seq, payload in enumerate(payloads, 1):
        data = payload if isinstance(payload, str) else json.dumps(payload)
        found += reader.message(seq, None, data)
    reader.end()
    return found, reader


def response(status: str, **members: Any) -> dict[str, Any]:
    """A response object."""
    return {"object": "response", "id": "response_1", "status": status, **members}


def message(
    status: str = "in_progress", identifier: str = "msg_1", **members: Any
) -> dict[str, Any]:
    """A message object."""
    start = {"object": "message", "id": identifier, "status": status}
    return {**start, "type": "message", "role": "assistant", **members}


def delta(text: Any, index: int = 0, msg_id: Any = "msg_1", **members: Any) -> dict[str, Any]:
    """A piece of text."""
    return {
        "object": "content", "type": "text", "status": "in_progress", "index": index,
        "delta": True, "msg_id": msg_id, "text": text, **members,
    }  # fmt: skip


def content(status: str = "completed", msg_id: Any = "msg_1", **members: Any) -> dict[str, Any]:
    """A content that is no piece."""
    start = {"object": "content", "type": "text", "status": status, "index": 0, "delta": False}
    return {**start, "msg_id": msg_id, **members}


def data(status: str = "completed", msg_id: Any = "msg_1", **value: Any) -> dict[str, Any]:
    """A content of data."""
    return content(status, msg_id, type="data", data=value)
